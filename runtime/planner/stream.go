package planner

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

// maxEvent bounds one event of a stream, in bytes.
const maxEvent = 32 << 20

// post makes the request that sends a body to an endpoint. base is the variable
// that may hold its address, usual the address where it doesn't; custom is the
// variable that may hold further headers, one "Name: value" a line, as gateways
// want them.
func post(ctx context.Context, base, usual, path, custom string, body any) (*http.Request, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	at, err := url.Parse(usual)
	if address := os.Getenv(base); address != "" {
		at, err = url.Parse(address)
	}
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, at.JoinPath(path).String(), bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set("User-Agent", "obelus")
	for line := range strings.Lines(os.Getenv(custom)) {
		if name, value, ok := strings.Cut(line, ":"); ok {
			r.Header.Set(strings.TrimSpace(name), strings.TrimSpace(value))
		}
	}
	return r, nil
}

// setHeader sets a header to what a variable holds, if anything.
func setHeader(r *http.Request, header, prefix, variable string) {
	if v := os.Getenv(variable); v != "" {
		r.Header.Set(header, prefix+v)
	}
}

// events sends a request and hands the events of the answer to hear until it
// wants no more.
func (w *wire) events(r *http.Request, hear func(event, data string) (more bool, err error)) error {
	answer, err := w.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode >= 300 {
		return fmt.Errorf("status %d", answer.StatusCode)
	}
	for e, err := range sse.Read(answer.Body, &sse.ReadConfig{MaxEventSize: maxEvent}) {
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

// A streamError is an error that a stream brought, as it came.
type streamError struct{ data []byte }

func (e *streamError) Error() string { return "the stream brought an error" }

// streamed is the error that a stream brought; nil when it brought none.
func streamed(err error) []byte {
	if e := (*streamError)(nil); errors.As(err, &e) {
		return e.data
	}
	return nil
}
