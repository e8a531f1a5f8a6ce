//go:build unix

package activity

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/obelus-dev/obelus/compiler/hosts"
	"github.com/obelus-dev/obelus/compiler/plan"
)

// LANGUAGE.md#mcp-servers: what a server at an address says to one call is of that call alone: its status is
// the failure's code, with the body and how long to wait; others that it is at go on. An answer
// to what wasn't asked leaves nobody waiting.
func TestServersSayNoToOneCall(t *testing.T) {
	going, gone := make(chan struct{}), make(chan struct{})
	sessions := 0
	at := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked struct {
			ID     json.RawMessage
			Method string
			Params struct{ Name string }
		}
		_ = json.NewDecoder(r.Body).Decode(&asked)
		w.Header().Set("Content-Type", "application/json")
		answer := func(id, result string) { fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result) }
		done := fmt.Sprintf(`{"content":[{"type":"text","text":%q}]}`, asked.Params.Name)
		switch {
		case r.Method == http.MethodDelete:
		case asked.Method == "initialize":
			sessions++
			w.Header().Set("Mcp-Session-Id", "one")
			answer(string(asked.ID), `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}`)
		case asked.Params.Name == "waits":
			close(going)
			<-gone
			answer(string(asked.ID), done)
		case asked.Params.Name == "busy":
			w.Header().Set("Retry-After", "2")
			w.WriteHeader(http.StatusTooManyRequests)
			fmt.Fprint(w, `{"slow":"down"}`)
		case asked.Params.Name == "page":
			w.Header().Set("Content-Type", "text/html")
			http.Error(w, "<html>no", http.StatusBadRequest)
		case asked.Params.Name == "lost":
			panic(http.ErrAbortHandler)
		case asked.Params.Name == "other":
			answer("4711", done)
		case asked.Params.Name == "float":
			answer(string(asked.ID)+".0", done)
		case asked.Params.Name == "events": // of another type, and without a line end at the last
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "event: ping\ndata: alive\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}", asked.ID, done)
		case asked.Params.Name == "broken":
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, "id: 1\ndata:\n\n")
		case len(asked.ID) > 0:
			answer(string(asked.ID), done)
		default:
			w.WriteHeader(http.StatusAccepted)
		}
	}))
	defer at.Close()
	leave := sync.OnceFunc(func() { close(gone) })
	defer leave()
	here, _ := hosts.Parse("127.0.0.1")
	s := openTools(t, Options{Hosts: hosts.Rules{{By: "the test", Entries: []hosts.Entry{here}, Adds: true, Counts: true}}}, func(tool string) *plan.Activity {
		return &plan.Activity{Name: tool, Kind: "mcp", Remote: tool, Server: &plan.Server{Activity: plan.Activity{Name: "docs"}, URL: at.URL}}
	}, "waits", "busy", "page", "lost", "other", "float", "events", "broken", "fine")
	waited := make(chan error, 1)
	go func() {
		r, err := s.Run(t.Context(), "waits", Request{})
		if err == nil && r.Value != "waits" {
			err = fmt.Errorf("%v", r.Value)
		}
		waited <- err
	}()
	<-going
	for _, name := range []string{"float", "events"} {
		if r, err := s.Run(t.Context(), name, Request{}); err != nil || r.Value != name {
			t.Errorf("%s: %v, %v", name, r.Value, err)
		}
	}
	_, err := s.Run(t.Context(), "busy", Request{})
	f := failure(t, err, "http-429", `the tool "busy" of the MCP server "docs" hasn't answered: it got 429 Too Many Requests from POST `+at.URL+`: "{\"slow\":\"down\"}"`)
	if want := map[string]any{"status": 429.0, "retryAfter": 2.0, "body": map[string]any{"slow": "down"}}; f.After != 2*time.Second || !reflect.DeepEqual(f.Details, want) {
		t.Errorf("%v, %v", f.After, f.Details)
	}
	_, err = s.Run(t.Context(), "page", Request{})
	failure(t, err, "http-400", `it got 400 Bad Request from POST `+at.URL+`: "<html>no`)
	leave()
	if err := <-waited; err != nil {
		t.Errorf("the call beside these: %v", err)
	}
	_, err = s.Run(t.Context(), "broken", Request{})
	failure(t, err, CodeError, `the tool "broken" of the MCP server "docs" hasn't answered: it has answered something else`)
	_, err = s.Run(t.Context(), "lost", Request{})
	failure(t, err, CodeError, `hasn't answered: its connection broke, and what was asked may have arrived: EOF`)
	_, err = s.Run(t.Context(), "other", Request{})
	failure(t, err, CodeError, `hasn't answered: it has answered something else`)
	if r, err := s.Run(t.Context(), "fine", Request{}); err != nil || r.Value != "fine" || sessions != 4 {
		t.Errorf("%v, %v after %d sessions", r.Value, err, sessions)
	}
}
