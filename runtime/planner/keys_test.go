package planner

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/obelus-dev/obelus/runtime/request"
)

// PLANNERS.md#secrets: a key, and what a plan holds, go to the configured address and nowhere
// else, whatever that answers; over real connections, with the client of our own.
func TestKeysStayHome(t *testing.T) {
	var strayed atomic.Int32
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { strayed.Add(1) }))
	defer elsewhere.Close()
	for name, p := range protocols {
		settings(t, p)
		for _, status := range []int{300, 301, 302, 303, 307, 308} {
			for _, to := range []string{elsewhere.URL, strings.Replace(elsewhere.URL, "http:", "", 1), "/v2/elsewhere", "://", ""} {
				var asked atomic.Int32
				server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					io.Copy(io.Discard, r.Body)
					asked.Add(1)
					if !strings.HasSuffix(r.Header.Get(p.header), testKey) || r.URL.Path != p.path {
						t.Errorf("%s: asked at %s with the key %q", name, r.URL.Path, r.Header.Get(p.header))
					}
					w.Header().Set("Location", to)
					w.WriteHeader(status)
				}))
				t.Setenv(p.base, server.URL+p.below())
				planner, err := Open(p.spec, Options{})
				if err != nil {
					t.Fatal(err)
				}
				_, _, err = collect(t.Context(), planner, greeting())
				if err == nil || !strings.Contains(err.Error(), "sent us on to another address") || strings.Contains(err.Error(), testKey) || asked.Load() != 1 {
					t.Errorf("%s, %d to %q: asked %d times: %v", name, status, to, asked.Load(), err)
				}
				server.Close()
			}
		}
	}
	if n := strayed.Load(); n > 0 {
		t.Errorf("another address was asked %d times", n)
	}
}

// LANGUAGE.md#tools-and-activities: a key that stands where words of an endpoint are cut, because they are longer
// than anybody reads, isn't shown in part.
func TestCutKeys(t *testing.T) {
	both(t, func(t *testing.T, p protocol) {
		long := func(most int) string { return strings.Repeat("x", most-20) + testKey }
		declined := beginMessage + latentEvent(p, long(64<<10)) + p.end(p.stop["refused"], 1, 2)
		if p.begin() == "" {
			declined = fmt.Sprintf("data: {\"choices\":[{\"index\":0,\"delta\":{\"refusal\":%s}}]}\n\n", request.JSON(long(64<<10))) + p.end("stop", 1, 2)
		}
		for _, turn := range []turn{
			says(400, `{"error":{"message":"`+long(300)+`"}}`), says(400, long(300)), says(400, long(64<<10)), says(200, long(300)),
			streams(p.begin() + p.failure("invalid_request", long(300))), streams(declined),
		} {
			_, _, _, err := ask(t, p, greeting(), Options{}, turn)
			if err == nil || strings.Contains(err.Error(), testKey[:12]) {
				t.Errorf("the error is %v", err)
			}
		}
	})
}
