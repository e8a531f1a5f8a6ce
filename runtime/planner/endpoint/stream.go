package endpoint

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/obelus-dev/obelus/runtime/request"
	"github.com/tmaxmax/go-sse"
)

const maxEvent = 32 << 20

// maxRefusal is how much is kept of an answer that isn't a stream, in bytes.
const maxRefusal = 64 << 10

// open gives the endpoint's address. The error is for settings that hold none, or nothing that a planner could ask
// with: neither a key nor the address of an endpoint that may want none.
func (a Address) open(planner string) (*url.URL, error) {
	text, set := os.LookupEnv(a.Base)
	if !set {
		text = a.Usual
	}
	at, err := url.Parse(text)
	if err != nil || at.Host == "" || at.Scheme != "http" && at.Scheme != "https" {
		// It isn't shown: there may be a password in it.
		return nil, fmt.Errorf(
			"%s holds no address of an endpoint; write it like https://example.com/v1, or unset it", a.Base)
	}
	for line := range strings.Lines(os.Getenv(a.Custom)) {
		if strings.TrimSpace(line) != "" && !strings.Contains(line, ":") {
			return nil, fmt.Errorf("%s holds a line that is no header; write each like \"X-Team: search\"", a.Custom)
		}
	}
	for _, variable := range append(a.Keys, a.Base) {
		if os.Getenv(variable) != "" {
			return at.JoinPath(a.Path), nil
		}
	}
	return nil, &request.Unavailable{Planner: planner, Why: "there is no key for it",
		Remedy: fmt.Sprintf("set %s, or %s to the address of an endpoint that wants none", a.Keys[0], a.Base)}
}

func (p *Planner) post(ctx context.Context, body any) (*http.Request, error) {
	text, _ := json.Marshal(body)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url.String(), bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set("User-Agent", "obelus")
	for line := range strings.Lines(os.Getenv(p.address.Custom)) {
		if name, value, ok := strings.Cut(line, ":"); ok {
			r.Header.Set(strings.TrimSpace(name), strings.TrimSpace(value))
		}
	}
	for _, h := range p.address.Headers {
		if value := os.Getenv(h.Variable); value != "" || h.Variable == "" {
			r.Header.Set(h.Name, h.Prefix+value)
		}
	}
	return r, nil
}

// ask sends a body and hands the events of the answer to hear until it wants no
// more. One that isn't streamed is one event.
func (p *Planner) ask(ctx context.Context, x *exchange, body any,
	hear func(event, data string) (more bool, err error)) error {
	r, err := p.post(ctx, body)
	if err != nil {
		return err
	}
	learn(p.hide, r)
	answer, err := p.client.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	x.status, x.header, x.body = answer.StatusCode, answer.Header, answer.Body
	if x.status == http.StatusSwitchingProtocols { // what would follow isn't HTTP, nor held to the request's context
		x.body = http.NoBody
	}
	kind, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	most, isGood, isOneAnswer := maxRefusal, x.status/100 == 2, kind == "application/json"
	switch {
	case !isGood || kind == "text/html":
		isOneAnswer = false
	case isOneAnswer:
		most = p.maxEvent
	default:
		stream := io.MultiReader(x, strings.NewReader("\n\n")) // which some leave out behind the last event
		for e, err := range sse.Read(stream, &sse.ReadConfig{MaxEventSize: p.maxEvent}) {
			if err != nil {
				return err
			}
			if e.Data == "" {
				continue
			}
			if more, err := hear(e.Type, e.Data); err != nil || !more {
				return err
			}
		}
		return nil
	}
	text, err := io.ReadAll(io.LimitReader(x, int64(most)))
	if isOneAnswer && err != nil {
		return err
	}
	if x.refusal = text[:min(len(text), maxRefusal)]; isOneAnswer {
		_, err = hear("", string(text))
		return err
	}
	return fmt.Errorf("status %d", x.status)
}

// A StreamError is an error that a stream brought, as it came.
type StreamError struct{ Data []byte }

func (e *StreamError) Error() string { return "the stream brought an error" }

// ErrUnfit is the error for an event of a stream that isn't in its format.
var ErrUnfit = errors.New("it brought an event of another form")

// unmoved hears of no other address: a client that isn't told where to go on
// can't carry a key there.
type unmoved struct{ http.RoundTripper }

func (u unmoved) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := u.RoundTripper.RoundTrip(r)
	if err == nil {
		answer.Header.Del("Location")
	}
	return answer, err
}

// An exchange is one request, and what came of it.
type exchange struct {
	status  int // 0 when no answer came
	header  http.Header
	body    io.Reader
	refusal []byte       // the body of an answer that isn't a stream, as much as anybody reads
	timer   *time.Timer  // until the next notice
	silent  atomic.Int64 // for how long nothing has come
}

// How long an endpoint may send nothing before a notice, and before the request fails.
const (
	quietAfter = 20 * time.Second
	maxSilence = 10 * time.Minute
)

// begin makes ready for one request. The context that it returns ends when the endpoint is
// silent for too long.
func (p *Planner) begin(ctx context.Context) (context.Context, *exchange, func()) {
	x := &exchange{}
	ctx, cancel := context.WithCancel(ctx)
	x.timer = time.AfterFunc(maxSilence, func() {
		if ctx.Err() != nil {
			return
		}
		silent := time.Duration(x.silent.Add(int64(quietAfter)))
		if silent >= maxSilence {
			cancel()
			return
		}
		p.notice(fmt.Sprintf("%s has sent nothing for %v, and is waited for up to %v", p.name, silent, maxSilence))
		x.timer.Reset(quietAfter)
	})
	x.timer.Reset(quietAfter) // only now, since the function reads the field
	return ctx, x, func() {
		x.timer.Stop()
		cancel()
	}
}

// Read reads what comes, and notes that it does.
func (x *exchange) Read(p []byte) (int, error) {
	n, err := x.body.Read(p)
	if n > 0 {
		x.silent.Store(0)
		x.timer.Reset(quietAfter)
	}
	return n, err
}
