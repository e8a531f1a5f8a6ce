package activity

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/tmaxmax/go-sse"

	"github.com/obelus-dev/obelus/compiler/kinds"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/runtime/activity/mcp"
	"github.com/obelus-dev/obelus/runtime/web"
)

func (e environment) endpoint(of *plan.Server) string {
	return kinds.Filled(of.URL, func(name string) string { return url.PathEscape(e.get(name)) })
}

// A remote is the way to a server that isn't started here (MCP's streamable HTTP). What is lost on it isn't sent
// again: nobody knows whether it came.
type remote struct {
	*server
	headers http.Header
	session *mcp.Session

	mu sync.Mutex
	id string // of the session, by the server
}

func (s *server) address() *remote {
	w := &remote{server: s, headers: http.Header{}}
	for _, h := range s.of.Headers {
		w.headers.Set(h.Name, kinds.Filled(h.Value, s.env.get))
	}
	return w
}

func (w *remote) request(ctx context.Context, method string, body []byte) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, w.env.endpoint(w.of), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	id := w.id
	w.mu.Unlock()
	for name, value := range map[string]string{"Content-Type": "application/json",
		"Accept": "application/json, text/event-stream", "Mcp-Session-Id": id,
		"Mcp-Protocol-Version": w.session.Version()} {
		if value != "" {
			r.Header.Set(name, value)
		}
	}
	maps.Copy(r.Header, w.headers)
	answer, err := web.Send(w.transport, r)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode < 200 || answer.StatusCode >= 300 { // which is this request's alone
		defer answer.Body.Close()
		content, _ := io.ReadAll(io.LimitReader(answer.Body, maxRefusal))
		return nil, &errStatus{answer.StatusCode, answer.Header, content}
	}
	w.mu.Lock()
	w.id = cmp.Or(w.id, answer.Header.Get("Mcp-Session-Id"))
	w.mu.Unlock()
	return answer, nil
}

// send sends a message, and has the session receive what comes for it: the error is [io.EOF] then.
func (w *remote) send(ctx context.Context, text []byte, isAnswered bool) error {
	answer, err := w.request(ctx, http.MethodPost, text)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if !isAnswered { // nothing comes
		return io.EOF
	}
	kind, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	if kind != "text/event-stream" {
		text, err := io.ReadAll(io.LimitReader(answer.Body, maxOutput+envelope))
		if err == nil {
			_, err = w.session.Receive(text)
		}
		return cmp.Or(err, io.EOF)
	}
	body := io.MultiReader(answer.Body, strings.NewReader("\n\n")) // the last event may lack its end
	for e, err := range sse.Read(body, &sse.ReadConfig{MaxEventSize: maxOutput + envelope}) {
		if err != nil {
			return fmt.Errorf("its answer broke off: %w", err)
		}
		if e.Data == "" || e.Type != "" && e.Type != "message" {
			continue
		}
		if answered, err := w.session.Receive([]byte(e.Data)); err != nil || answered {
			return cmp.Or(err, io.EOF)
		}
	}
	return io.EOF
}

// leave ends the session.
func (w *remote) leave() {
	ctx, cancel := context.WithTimeout(context.Background(), w.options.Grace)
	defer cancel()
	w.mu.Lock()
	id := w.id
	w.mu.Unlock()
	if id == "" {
		return
	}
	if answer, err := w.request(ctx, http.MethodDelete, nil); err == nil {
		answer.Body.Close()
	}
}

// An errStatus is why a server at an address has no answer to a request: what it was sent instead.
type errStatus struct {
	status  int
	header  http.Header
	content []byte
}

func (e *errStatus) Error() string {
	return fmt.Sprintf("it got %d %s", e.status, http.StatusText(e.status))
}

// refused is the failure of what a server at an address says no to. Others that it is at go
// on; where the session is gone, or the server may be, the next call begins anew.
func (s *server) refused(c *contact, what string, no *errStatus) *Failure {
	if no.status == http.StatusNotFound || no.status >= 500 {
		c.end(nil)
	}
	f := s.refusal(no.status, no.header, no.content, "")
	f.Message = s.hide.Message(what+": it ") + f.Message
	return f
}
