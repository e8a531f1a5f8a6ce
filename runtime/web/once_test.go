package web

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/compiler/hosts"
)

// A deaf connection takes one request and then nothing.
type deaf struct {
	net.Conn
	writes int
}

func (d *deaf) Write(p []byte) (int, error) {
	if d.writes++; d.writes > 1 {
		return 0, errors.New("it is closed")
	}
	return d.Conn.Write(p)
}

// LANGUAGE.md#http-requests: a request of which nothing could be sent on a connection is sent on another.
func TestNothingSentIsSentAgain(t *testing.T) {
	served := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer served.Close()
	to := NewTransport(hosts.Rules{})
	var dials int
	to.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		dials++
		conn, err := dialer.DialContext(ctx, network, address)
		return &counted{Conn: &deaf{Conn: conn}}, err
	}
	defer to.CloseIdleConnections()
	for _, method := range []string{"GET", "POST", "GET", "OPTIONS", "HEAD"} {
		r, err := http.NewRequest(method, served.URL, strings.NewReader(map[bool]string{true: "body"}[method == "POST"]))
		if err != nil {
			t.Fatal(err)
		}
		if method != "POST" {
			r.Body, r.GetBody = http.NoBody, nil
		}
		answer, err := to.once(r)
		if err != nil {
			t.Fatalf("%s: %v", method, err)
		}
		answer.Body.Close()
	}
	if dials != 5 {
		t.Errorf("%d connections", dials)
	}
}
