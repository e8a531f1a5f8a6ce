package planner

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/obelus-dev/obelus/runtime/request"
)

// plain is a format in which an event is a piece of the answer, and an empty
// object its end.
var plain = format{
	base: "PLAIN_BASE_URL", path: "ask", keys: []string{"PLAIN_KEY"},
	body: func(_ string, _ int, p prompt, _ json.RawMessage) any { return p.user },
	read: func(_, data string) (chunk, error) {
		if data == "{}" {
			return chunk{last: true, reason: "end"}, nil
		}
		return chunk{text: data}, nil
	},
}

// asked is what comes of a request to an endpoint on this machine, and how often it
// was sent.
func asked(t *testing.T, handle http.HandlerFunc) (answer string, times int, err error) {
	t.Helper()
	var count atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		count.Add(1)
		handle(w, r)
	}))
	defer server.Close()
	t.Setenv("PLAIN_BASE_URL", server.URL)
	p, err := open("plain:m", "m", &plain, Options{})
	if err != nil {
		t.Fatal(err)
	}
	p.maxEvent, p.patience = 16<<10, time.Millisecond
	_, err = p.Answer(t.Context(), &request.Request{Tick: 1, Schema: true}, func(s string) { answer += s })
	return answer, int(count.Load()), err
}

// pours writes without an end until nobody listens; it gives the number of bytes.
func pours(w http.ResponseWriter, text string) (written int) {
	for {
		n, err := io.WriteString(w, text)
		if written += n; err != nil {
			return written
		}
	}
}

// PLANNERS.md#waiting: an event without an end, and a refusal without one, are heard no
// longer than anything of sense could be, and aren't asked for again.
func TestEndlessEvents(t *testing.T) {
	const most = 16 << 20 // with what lies in the buffers of two sockets
	junk := strings.Repeat("y", 64<<10)
	var written atomic.Int64
	flood := func(status int, kind, first string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.WriteHeader(status)
			io.WriteString(w, first)
			w.(http.Flusher).Flush()
			written.Store(int64(pours(w, junk)))
		}
	}
	for name, c := range map[string]struct {
		handle       http.HandlerFunc
		answer, says string
	}{
		"an event":        {flood(200, "text/event-stream", "data: "), "", "sent an event of a stream that doesn't end; resume the run"},
		"behind a piece":  {flood(200, "text/event-stream", "data: piece\n\ndata: "), "piece", "after 5 bytes of it"},
		"a refusal":       {flood(400, "application/json", `{"error":"`), "", "said 400 Bad Request"},
		"a page":          {flood(200, "text/html", "<html>"), "", "sent no answer but"},
		"a name, no data": {flood(200, "text/event-stream", "event: "), "", "sent an event of a stream that doesn't end"},
	} {
		answer, times, err := asked(t, c.handle)
		if err == nil || !strings.Contains(err.Error(), c.says) || len(err.Error()) > 700 || answer != c.answer || times != 1 {
			t.Errorf("%s: asked %d times, answer %q, error %v", name, times, answer, err)
		}
		if cut := errors.Is(err, request.ErrCut); cut != (answer != "") {
			t.Errorf("%s: cut is %v", name, cut)
		}
		if n := written.Load(); n > most {
			t.Errorf("%s: %d bytes were taken", name, n)
		}
	}
}

// What no format can read is handed on as trouble, in a line.
func TestGarbage(t *testing.T) {
	for text, says := range map[string]string{
		"":                        "the stream ended before the answer",
		"\x00\xff\n\n\r\r":        "the stream ended before the answer",
		"data\n\ndata:\n\n":       "the stream ended before the answer",
		": only comments\n\n":     "the stream ended before the answer",
		"data: half of an answer": "the stream",
	} {
		_, _, err := asked(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, text)
		})
		if err == nil || !strings.Contains(err.Error(), says) || strings.ContainsAny(err.Error(), "\n\x00") {
			t.Errorf("%q: %v", text, err)
		}
	}
	answer, _, err := asked(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, ": hello\r\n\r\nid: 7\r\nretry: 5\r\ndata: a\r\n\r\nevent: x\rdata: b\r\rdata: {}\n\n")
	})
	if answer != "ab" || err != nil {
		t.Errorf("got %q, %v", answer, err)
	}
}
