package web

import (
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strings"
	"sync/atomic"
)

// A Lost answer is the error of a request that was sent at least partly: whether the server
// has done what it asks for isn't known.
type Lost struct{ error }

// Unwrap is why there is no answer.
func (l *Lost) Unwrap() error { return l.error }

// once sends a request, and never again what may have come: [http.Transport] sends those of
// some methods, and those that say they are idempotent, a second time when the connection
// breaks, and nobody would know of it. A connection that the server had closed before
// anything was sent on it is no reason not to send it on another.
func (t *Transport) once(r *http.Request) (*http.Response, error) {
	for {
		var on *counted
		var before int64
		reused := false
		trace := &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) {
			if on, reused = countedOf(info.Conn), info.Reused; on != nil {
				before = on.sent.Load()
			}
		}}
		answer, err := t.Transport.RoundTrip(unrepeated(r.WithContext(httptrace.WithClientTrace(r.Context(), trace))))
		switch {
		case err == nil || on == nil:
			return answer, err
		case on.sent.Load() > before:
			return answer, &Lost{err}
		case !reused || bodied(r) || r.Context().Err() != nil:
			return answer, err
		}
	}
}

// bodied reports whether a request has a body, which may have been read: the transport sends
// it again by itself where nothing was sent.
func bodied(r *http.Request) bool { return r.Body != nil && r.Body != http.NoBody }

// unrepeated is a request that the transport doesn't send again (see Request.isReplayable):
// one without a body has one without content, which can't be read twice, and by whatever
// name it says that it is idempotent, it does in another spelling.
func unrepeated(r *http.Request) *http.Request {
	r.Header = r.Header.Clone()
	for _, name := range []string{"Idempotency-Key", "X-Idempotency-Key"} {
		if values, there := r.Header[name]; there {
			delete(r.Header, name)
			r.Header[strings.ToLower(name)] = values
		}
	}
	if !bodied(r) && slices.Contains([]string{http.MethodGet, http.MethodHead, http.MethodOptions}, r.Method) {
		r.Body = nothing{}
	}
	return r
}

type nothing struct{}

func (nothing) Read([]byte) (int, error) { return 0, io.EOF }
func (nothing) Close() error             { return nil }

type counted struct {
	net.Conn
	sent atomic.Int64
}

func (c *counted) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.sent.Add(int64(n))
	return n, err
}

// countedOf is the counted connection below others, nil if there is none.
func countedOf(c net.Conn) *counted {
	for {
		switch is := c.(type) {
		case *counted:
			return is
		case interface{ NetConn() net.Conn }:
			c = is.NetConn()
		default:
			return nil
		}
	}
}
