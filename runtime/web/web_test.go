package web

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/obelus-dev/obelus/compiler/hosts"
)

// names answers every question about an address (A) with the one that is set, whatever the
// name, and says that there is no other (AAAA).
func names(t *testing.T) *atomic.Pointer[net.IP] {
	t.Helper()
	socket, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var leads atomic.Pointer[net.IP]
	go func() {
		for buffer := make([]byte, 1500); ; {
			n, from, err := socket.ReadFrom(buffer)
			if err != nil {
				return
			}
			end := 12
			for end < n && buffer[end] != 0 {
				end += 1 + int(buffer[end])
			}
			end += 5 // the end of the name, its type and class
			if end > n {
				continue
			}
			answer := append([]byte{buffer[0], buffer[1], 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0}, buffer[12:end]...)
			if binary.BigEndian.Uint16(buffer[end-4:]) == 1 {
				answer[7] = 1
				answer = append(answer, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4)
				answer = append(answer, leads.Load().To4()...)
			}
			socket.WriteTo(answer, from)
		}
	}()
	resolver = &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		return net.Dial("udp", socket.LocalAddr().String())
	}}
	t.Cleanup(func() {
		resolver = nil
		socket.Close()
	})
	return &leads
}

func allowing(t *testing.T, texts ...string) hosts.Rules {
	l := hosts.List{By: "the test", Adds: true, Counts: true}
	for _, text := range texts {
		e, err := hosts.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		l.Entries = append(l.Entries, e)
	}
	return hosts.Rules{l}
}

func get(c *http.Client, at string) (string, error) {
	answer, err := c.Get(at)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	return string(text), err
}

// LANGUAGE.md#http-requests: a name that leads elsewhere from one question to the next gets a request to no
// address but one that is allowed; a connection stays where it was made to.
func TestRebinding(t *testing.T) {
	leads := names(t)
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		io.WriteString(w, r.Host)
	}))
	defer server.Close()
	_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	at := "http://moving.test:" + port + "/"
	transport := NewTransport(allowing(t, "127.0.0.2", "moving.test"))
	client := &http.Client{Transport: transport}
	leads.Store(&net.IP{127, 0, 0, 1})
	var refusal *hosts.Refusal
	if text, err := get(client, at); !errors.As(err, &refusal) || !strings.Contains(refusal.Why, "leads to 127.0.0.1, an address of this machine") {
		t.Errorf("to an address that isn't allowed: %q, %v", text, err)
	}
	if asked.Load() > 0 {
		t.Error("it was asked")
	}
	transport = NewTransport(allowing(t, "127.0.0.1"))
	client.Transport = transport
	if text, err := get(client, at); err != nil || text != "moving.test:"+port {
		t.Errorf("to an address that is allowed: %q, %v", text, err)
	}
	leads.Store(&net.IP{127, 0, 0, 2})
	if _, err := get(client, at); err != nil {
		t.Errorf("over the connection that there is: %v", err)
	}
	transport.CloseIdleConnections()
	if text, err := get(client, at); !errors.As(err, &refusal) {
		t.Errorf("once it leads elsewhere: %q, %v", text, err)
	}
	if asked.Load() != 2 {
		t.Errorf("asked %d times", asked.Load())
	}
}

// LANGUAGE.md#http-requests: behind a proxy only the name is judged, and no request goes past it.
func TestProxy(t *testing.T) {
	asked := make(chan string, 10)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { asked <- r.URL.String() }))
	defer proxy.Close()
	through, _ := url.Parse(proxy.URL)
	for _, c := range []struct {
		rules   hosts.Rules
		at      string
		refused bool
	}{
		{nil, "http://no-such-name.test/a", false},
		{nil, "http://10.0.0.1/", true},
		{nil, "http://[::ffff:127.0.0.1]/", true},
		{nil, "http://localhost/", true},
		{hosts.Rules{{By: "a list", Entries: allowing(t, "10.0.0.0/8")[0].Entries}}, "http://no-such-name.test/b", true},
		{allowing(t, "10.0.0.1"), "http://10.0.0.1/c", false},
	} {
		transport := NewTransport(c.rules)
		transport.Proxy = http.ProxyURL(through)
		_, err := get(&http.Client{Transport: transport}, c.at)
		var refusal *hosts.Refusal
		if errors.As(err, &refusal) != c.refused || !c.refused && err != nil {
			t.Errorf("%s: %v", c.at, err)
		}
		transport.CloseIdleConnections()
	}
	close(asked)
	var got []string
	for at := range asked {
		got = append(got, at)
	}
	if !slices.Equal(got, []string{"http://no-such-name.test/a", "http://10.0.0.1/c"}) {
		t.Errorf("the proxy was asked for %q", got)
	}
}

// LANGUAGE.md#http-requests: a certificate for another host is none, and what isn't HTTPS isn't taken for it.
func TestCertificates(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	server.Config.ErrorLog = nil
	server.StartTLS()
	defer server.Close()
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	client := &http.Client{Transport: NewTransport(allowing(t, "127.0.0.1"))}
	defer client.CloseIdleConnections()
	for _, at := range []string{server.URL, strings.Replace(plain.URL, "http:", "https:", 1)} {
		if _, err := get(client, at); err == nil {
			t.Errorf("%s was believed", at)
		}
	}
}
