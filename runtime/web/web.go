// Package web is what requests over HTTP have in common: connections that go where the lists of hosts let them and
// nowhere else, and what a server asks of anyone who comes again.
package web

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/obelus-dev/obelus/compiler/hosts"
)

// A Transport carries requests to the hosts that its rules allow. The address that a name leads to is judged where the
// connection is made, so that no second answer about the name counts. Where the environment names a proxy (HTTP_PROXY,
// HTTPS_PROXY, NO_PROXY), the proxy is trusted and finds the address: only the name is judged then.
type Transport struct {
	*http.Transport
	Rules hosts.Rules
}

const maxHeader = 256 << 10

// NewTransport makes a transport. It speaks HTTP/1.1, and keeps connections for less time than servers do (often 5 s):
// a request on one that the server is closing is lost.
func NewTransport(rules hosts.Rules) *Transport {
	t := &Transport{Rules: rules}
	t.Transport = &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: t.dial,
		MaxResponseHeaderBytes: maxHeader,
		MaxIdleConnsPerHost:    64, IdleConnTimeout: 4 * time.Second, TLSHandshakeTimeout: 15 * time.Second,
		ExpectContinueTimeout: time.Second,
		Protocols:             &http.Protocols{},
	}
	t.Protocols.SetHTTP1(true)
	return t
}

type viaProxy struct{}

// RoundTrip sends a request, if it may go to its host, and no more than once. The error of
// one that may not is a [*hosts.Refusal], that of one that may have come a [*Lost].
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	byProxy := false
	if t.Proxy != nil {
		if proxy, err := t.Proxy(r); err != nil {
			return nil, errors.New("the proxy that the environment names is none")
		} else if proxy != nil {
			byProxy = true
			r = r.WithContext(context.WithValue(r.Context(), viaProxy{}, true))
		}
	}
	if refusal := t.Rules.Refuse(r.URL.Hostname(), Port(r.URL), byProxy); refusal != nil {
		return nil, refusal
	}
	isConnected := false
	trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { isConnected = true }}
	answer, err := t.Transport.RoundTrip(unrepeated(r.WithContext(httptrace.WithClientTrace(r.Context(), trace))))
	if err != nil && isConnected {
		err = &Lost{err}
	}
	return answer, err
}

// Port is the port that an address goes to.
func Port(at *url.URL) string {
	switch {
	case at.Port() != "":
		return at.Port()
	case at.Scheme == "https":
		return "443"
	}
	return "80"
}

// dialer makes connections; nothing waits longer for one.
var dialer = net.Dialer{Timeout: 15 * time.Second}

func (t *Transport) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	d := dialer
	d.Resolver = resolver
	if ctx.Value(viaProxy{}) == nil {
		d.Control = func(_, to string, _ syscall.RawConn) error {
			at, err := netip.ParseAddrPort(to)
			if err != nil {
				return err
			}
			if refusal := t.Rules.RefuseAddress(host, port, at.Addr()); refusal != nil {
				return refusal
			}
			return nil
		}
	}
	return d.DialContext(ctx, network, address)
}

// resolver looks names up; nil is the system's.
var resolver *net.Resolver

// RetryAfter is how long a server asks to wait; negative when it says nothing that makes sense.
func RetryAfter(h http.Header) time.Duration {
	after := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(after, 64); err == nil && s >= 0 {
		return Seconds(s)
	}
	if at, err := http.ParseTime(after); err == nil {
		return max(0, time.Until(at))
	}
	return -1
}

// Seconds is a duration, at most a year.
func Seconds(s float64) time.Duration {
	return time.Duration(min(s, 365*24*3600) * float64(time.Second))
}

// Send sends a request, with the user that its address names, and follows no redirect: what the request holds is
// nobody else's. What follows an answer that switches to another protocol isn't read: it has no end that the request's
// context brings.
func Send(over http.RoundTripper, r *http.Request) (*http.Response, error) {
	if u := r.URL.User; u != nil && r.Header.Get("Authorization") == "" {
		password, _ := u.Password()
		r.SetBasicAuth(u.Username(), password)
	}
	answer, err := over.RoundTrip(r)
	if err == nil && answer.StatusCode < 200 {
		answer.Body.Close()
		answer.Body = http.NoBody
	}
	return answer, err
}

// A Lost answer is the error of a request for which there was a connection: whether the server has done what it asks
// for isn't known.
type Lost struct{ error }

// Unwrap is why there is no answer.
func (l *Lost) Unwrap() error { return l.error }

// unrepeated is a request that [http.Transport] doesn't send again when the connection breaks (see
// Request.isReplayable), of which nobody would know: one without a body has one without content, which can't be read
// twice, and by whatever name it says that it is idempotent, it does in another spelling.
func unrepeated(r *http.Request) *http.Request {
	r.Header = r.Header.Clone()
	for _, name := range []string{"Idempotency-Key", "X-Idempotency-Key"} {
		if values, there := r.Header[name]; there {
			delete(r.Header, name)
			r.Header[strings.ToLower(name)] = values
		}
	}
	isEmpty := r.Body == nil || r.Body == http.NoBody
	if isEmpty && slices.Contains([]string{http.MethodGet, http.MethodHead, http.MethodOptions}, r.Method) {
		r.Body = io.NopCloser(strings.NewReader(""))
	}
	return r
}
