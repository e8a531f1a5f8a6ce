package activity

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/obelus-dev/obelus/compiler/kinds"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/runtime/activity/mcp"
)

func (e environment) endpoint(of *plan.Server) string {
	return kinds.Filled(of.URL, func(name string) string { return url.PathEscape(e.get(name)) })
}

// address is the way to a server that isn't started here. What is lost on it isn't sent
// again: nobody knows whether it came.
func (s *server) address() sdk.Transport {
	d := &dressed{next: s.client.Transport, headers: http.Header{}}
	for _, h := range s.of.Headers {
		d.headers.Set(h.Name, kinds.Filled(h.Value, s.env.get))
	}
	client := *s.client
	client.Transport = d
	return &sdk.StreamableClientTransport{
		Endpoint:   s.env.endpoint(s.of),
		HTTPClient: &client, MaxRetries: -1, DisableStandaloneSSE: true, MaxEventSize: maxOutput + envelope,
	}
}

// A dressed way to a server puts its headers on each request, and bounds each answer.
type dressed struct {
	next    http.RoundTripper
	headers http.Header
	version atomic.Value // of the protocol, once that is agreed on
}

func (d *dressed) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx := r.Context()
	// the answer may take long, and others needn't wait for it
	sent := func(httptrace.WroteRequestInfo) { mcp.OnItsWay(ctx) }
	r = r.Clone(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteRequest: sent}))
	maps.Copy(r.Header, d.headers)
	if version, ok := d.version.Load().(string); ok {
		r.Header.Set("Mcp-Protocol-Version", version)
	}
	answer, err := d.next.RoundTrip(r)
	if err == nil && r.Method == http.MethodPost && answer.StatusCode >= 400 { // which is this request's alone
		defer answer.Body.Close()
		content, _ := io.ReadAll(io.LimitReader(answer.Body, maxRefusal))
		return nil, &errStatus{answer.StatusCode, answer.Header, content}
	}
	// whose events are bounded one by one
	if err == nil && !strings.HasPrefix(answer.Header.Get("Content-Type"), "text/event-stream") {
		answer.Body = &atMost{answer.Body, maxOutput + envelope}
	}
	return answer, err
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
	f := (&caller{hide: s.hide}).refusal(no.status, no.header, no.content, "")
	f.Message = s.hide.Message(what+": it ") + f.Message
	return f
}
