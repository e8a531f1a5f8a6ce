package endpoint

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/tmaxmax/go-sse"
)

const maxEvent = 32 << 20

func (a Address) post(ctx context.Context, body any) (*http.Request, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	at, err := url.Parse(a.Usual)
	if address := os.Getenv(a.Base); address != "" {
		at, err = url.Parse(address)
	}
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, at.JoinPath(a.Path).String(), bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set("User-Agent", "obelus")
	for line := range strings.Lines(os.Getenv(a.Custom)) {
		if name, value, ok := strings.Cut(line, ":"); ok {
			r.Header.Set(strings.TrimSpace(name), strings.TrimSpace(value))
		}
	}
	for _, h := range a.Headers {
		if value := os.Getenv(h.Variable); value != "" || h.Variable == "" {
			r.Header.Set(h.Name, h.Prefix+value)
		}
	}
	return r, nil
}

// ask sends a body and hands the events of the answer to hear until it wants no
// more.
func (w *wire) ask(ctx context.Context, x *exchange, body any,
	hear func(event, data string) (more bool, err error)) error {
	r, err := w.address.post(ctx, body)
	if err != nil {
		return err
	}
	answer, err := w.do(r, x)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode >= 300 {
		return fmt.Errorf("status %d", answer.StatusCode)
	}
	for e, err := range sse.Read(answer.Body, &sse.ReadConfig{MaxEventSize: w.maxEvent}) {
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

// A StreamError is an error that a stream brought, as it came.
type StreamError struct{ Data []byte }

func (e *StreamError) Error() string { return "the stream brought an error" }

// ErrUnfit is the error for an event of a stream that isn't in its format.
var ErrUnfit = errors.New("it brought an event of another form")
