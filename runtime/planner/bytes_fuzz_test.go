package planner

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/obelus-dev/obelus/runtime/request"
)

// next stands between what an endpoint sends on one connection and on the next; the
// last is sent again and again.
const next = "\n\x00\n"

// FuzzEndpoint: whatever bytes an endpoint sends, in whatever pieces, and whether it
// hangs up or falls silent then, there is an answer in pieces of valid UTF-8 and an
// end, or an error of a kind that a run knows, in words of one line. It comes within
// bounded time, and neither shows the key.
func FuzzEndpoint(f *testing.F) {
	head := "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
	sized := func(status, kind, body string) string {
		return fmt.Sprintf("HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s", status, kind, len(body), body)
	}
	for name, p := range protocols {
		whole := p.stream(solution[:20], solution[20:])
		chunked := head + "Transfer-Encoding: chunked\r\n\r\n"
		for event := range strings.SplitAfterSeq(whole, "\n\n") {
			chunked += fmt.Sprintf("%x\r\n%s\r\n", len(event), event)
		}
		busy := sized("429 Too Many Requests", "application/json", `{"error":{"type":"rate_limit_error","message":"slow down, `+testKey+`"}}`)
		for i, answer := range []string{
			head + "\r\n" + whole,
			chunked,
			chunked[:len(chunked)/2],
			sized("200 OK", "text/event-stream", p.begin()+p.event(`{"calls":[],"note":"`+testKey[:9])+p.event(testKey[9:]+`"}`)+p.end(p.stop["done"], 1, 2)),
			sized("200 OK", "text/event-stream", p.begin()+p.event("{}")+p.end(p.stop["full"], 1, 2)),
			sized("200 OK", "text/event-stream", p.begin()+p.event("{}")+p.end(p.stop["refused"], -1, 1<<40)),
			sized("200 OK", "text/event-stream", p.begin()+p.failure("overloaded_error", "busy\x1b[31m "+testKey)) + next + head + "\r\n" + whole,
			sized("200 OK", "application/json", `{"answer":1}`),
			sized("200 OK", "text/html", "<h1>hello</h1>"),
			sized("200 OK", "text/event-stream", "data: {\"choices\":7,\"message\":7}\n\n"),
			busy + next + busy + next + chunked,
			strings.Replace(busy, "\r\n", "\r\nRetry-After: 86400\r\n", 1),
			sized("400 Bad Request", "application/json", `{"error":{"type":"invalid_request_error","message":"response_format: this schema isn't supported"}}`) + next + head + "\r\n" + whole,
			sized("500 Internal Server Error", "application/json", `{"type":"error","error":{"type":5,"message":["tools"]}}`),
			"HTTP/1.1 307 Temporary Redirect\r\nLocation: http://elsewhere.test/\r\nContent-Length: 0\r\n\r\n",
			"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + head + "\r\n" + whole,
			"HTTP/1.1 204 No Content\r\n\r\n",
			"HTTP/1.1 999 \x1b[2J" + testKey + "\r\n\r\n",
			"HTTP/1.1 101 Switching Protocols\r\nUpgrade: " + testKey + "\r\nConnection: upgrade\r\n\r\n",
			head + "Content-Encoding: gzip\r\n\r\n\x1f\x8b\x08\x00",
			head + "Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n",
			head + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
			"\xff\xfe" + testKey,
			"",
			next,
		} {
			for _, hangs := range []bool{false, true} {
				f.Add(name == "openai", i%2 == 0, hangs, uint16(i), []byte(answer))
			}
		}
	}
	f.Fuzz(func(t *testing.T, openai, solves, hangs bool, piece uint16, sent []byte) {
		if len(sent) > 256<<10 {
			t.Skip("there are tests of floods")
		}
		p := protocols["anthropic"]
		if openai {
			p = protocols["openai"]
		}
		settings(t, p)
		synctest.Test(t, func(t *testing.T) {
			e := &rawEndpoint{turns: bytes.Split(sent, []byte(next)), piece: int(piece), hangs: hangs}
			planner, err := Open(p.spec, Options{Transport: e.roundTripper()})
			if err != nil {
				t.Fatal(err)
			}
			r := greeting()
			if !solves {
				r.Call = &request.Call{}
			}
			began := time.Now()
			var said strings.Builder
			usage, err := planner.Answer(t.Context(), r, func(text string) {
				if text == "" && solves || !utf8.ValidString(text) {
					t.Errorf("handed out %q", text)
				}
				said.WriteString(text)
			})
			if usage.InputTokens < 0 || usage.OutputTokens < 0 || usage.Cost < 0 {
				t.Errorf("the answer cost %+v", usage)
			}
			if took := time.Since(began); took > 6*10*time.Minute+5*time.Minute+time.Duration(6*len(sent)+1)*time.Second {
				t.Errorf("it took %v", took)
			}
			inspect(t, said.String(), err)
			e.transport.CloseIdleConnections()
			e.over()
			e.senders.Wait()
		})
	})
}

// inspect looks at what came of a request.
func inspect(t *testing.T, said string, err error) {
	shown := said
	if err != nil {
		words := err.Error()
		shown += "\n" + words
		var refused *request.Refused
		var unavailable *request.Unavailable
		switch {
		case errors.As(err, &unavailable):
			if said != "" {
				t.Errorf("%q was handed out, and then there is none: %v", said, err)
			}
			if unavailable.Why == "" || unavailable.Remedy == "" {
				t.Errorf("no reason, or nothing to be done: %v", err)
			}
		case errors.Is(err, request.ErrCut):
			if said == "" {
				t.Errorf("nothing was handed out, and it is cut: %v", err)
			}
		case errors.As(err, &refused), errors.Is(err, request.ErrTooLong):
		default:
			t.Errorf("an error of no kind: %v", err)
		}
		if strings.Contains(words, "Go struct") || strings.Contains(words, "Go value") {
			t.Errorf("it speaks of how it was made: %s", words)
		}
		if strings.ContainsFunc(words, unicode.IsControl) || !utf8.ValidString(words) || len(words) > 100<<10 {
			t.Errorf("it is said as %q", words)
		}
	}
	if strings.Contains(shown, testKey) {
		t.Errorf("the key is shown: %s", shown)
	}
}

// A rawEndpoint sends bytes on every connection that is made to it, a piece at a
// time, and then hangs up or says nothing more. It lives in virtual time.
type rawEndpoint struct {
	turns     [][]byte
	piece     int // bytes; 0 is all at once
	hangs     bool
	transport *http.Transport
	over      context.CancelFunc
	senders   sync.WaitGroup
	asked     int
}

func (e *rawEndpoint) roundTripper() http.RoundTripper {
	ctx, over := context.WithCancel(context.Background())
	e.over = over
	e.transport = &http.Transport{DialContext: func(_ context.Context, _, address string) (net.Conn, error) {
		if address != "models.test:80" {
			return nil, fmt.Errorf("%s is nobody's endpoint", address)
		}
		here, there := net.Pipe()
		turn := e.turns[min(e.asked, len(e.turns)-1)]
		e.asked++
		e.senders.Go(func() { e.send(ctx, there, turn) })
		return here, nil
	}}
	return e.transport
}

func (e *rawEndpoint) send(ctx context.Context, c net.Conn, text []byte) {
	defer c.Close()
	in := bufio.NewReader(c)
	asked, err := http.ReadRequest(in)
	if err != nil {
		return
	}
	if _, err := io.Copy(io.Discard, asked.Body); err != nil {
		return
	}
	gone, left := context.WithCancel(ctx)
	go func() { // what is sent to us is taken
		_, _ = io.Copy(io.Discard, in)
		left()
	}()
	for len(text) > 0 {
		n := len(text)
		if e.piece > 0 {
			n = min(n, e.piece)
			time.Sleep(time.Second)
		}
		if _, err := c.Write(text[:n]); err != nil {
			return
		}
		text = text[n:]
	}
	if e.hangs {
		<-gone.Done()
	}
}
