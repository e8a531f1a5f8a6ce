package web

import (
	"io"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strings"
)

// A Lost answer is the error of a request for which there was a connection: whether the server has done what it asks
// for isn't known.
type Lost struct{ error }

// Unwrap is why there is no answer.
func (l *Lost) Unwrap() error { return l.error }

// once sends a request, and never again: [http.Transport] sends those of some methods, and those that say they are
// idempotent, a second time when the connection breaks, and nobody would know of it.
func (t *Transport) once(r *http.Request) (*http.Response, error) {
	isConnected := false
	trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { isConnected = true }}
	answer, err := t.Transport.RoundTrip(unrepeated(r.WithContext(httptrace.WithClientTrace(r.Context(), trace))))
	if err != nil && isConnected {
		err = &Lost{err}
	}
	return answer, err
}

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
	isEmpty := r.Body == nil || r.Body == http.NoBody
	if isEmpty && slices.Contains([]string{http.MethodGet, http.MethodHead, http.MethodOptions}, r.Method) {
		r.Body = nothing{}
	}
	return r
}

type nothing struct{}

func (nothing) Read([]byte) (int, error) { return 0, io.EOF }
func (nothing) Close() error             { return nil }
