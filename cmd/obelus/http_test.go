package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// A shop is a server that a plan's activities ask. It echoes the secrets that it is sent
// wherever it can.
type shop struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string
	// held, if given, is told of an order that comes in, which is then not answered.
	held chan struct{}
	busy int // how many more requests are turned away
}

func openShop(t *testing.T) *shop {
	s := &shop{}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *shop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	s.asked = append(s.asked, r.Method+" "+r.URL.Path+" "+string(body))
	busy := s.busy > 0
	s.busy--
	var held chan struct{}
	if r.Method == "POST" {
		held, s.held = s.held, nil
	}
	s.mu.Unlock()
	echo := r.Header.Get("Authorization") + r.URL.RawQuery
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Echo", echo)
	switch {
	case held != nil:
		close(held)
		<-r.Context().Done()
	case busy:
		w.Header().Set("Retry-After", "0")
		w.WriteHeader(429)
		fmt.Fprintf(w, `{"error": "slower, %s"}`, echo)
	case strings.HasPrefix(r.URL.Path, "/items/"):
		fmt.Fprintf(w, `{"name": %q, "price": 3, "echo": %q}`, strings.TrimPrefix(r.URL.Path, "/items/"), echo)
	case r.URL.Path == "/orders":
		fmt.Fprintf(w, `{"order": 7, "echo": %q}`, echo)
	default:
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprintf(w, "nothing at %s: %s", r.URL.Path, echo)
	}
}

func (s *shop) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.asked...)
}

const shopKey = "tok3n/of+the&shop"

// plan writes a plan that asks the shop.
func (s *shop) plan(t *testing.T) string {
	t.Helper()
	t.Setenv("SHOP_KEY", shopKey)
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	file := filepath.Join(t.TempDir(), "shop.yaml")
	text := `
plan: shop
input: {item: tea & biscuits}
tools:
  look: {type: object, properties: {item: {type: string}, _output: {type: object, properties: {name: {type: string}, price: {type: number}, echo: {type: string}}}}, required: [item]}
  order: {type: object, properties: {name: {type: string}, amount: {type: number}, _output: {type: object, properties: {order: {type: integer}}}}, required: [name]}
  lose: {type: object, properties: {item: {type: string}, _output: {}}, required: [item]}
activities:
  look: {http: {url: "URL/items/{item}", query: {key: "{$SHOP_KEY}"}}}
  order: {http: {method: POST, url: "URL/orders", headers: {Authorization: "Bearer {$SHOP_KEY}"}, body: {what: {name: †name, amount: †amount}}}}
  lose: {http: {url: "URL/nowhere/{item}", query: {key: "{$SHOP_KEY}"}}}
calls:
- {_tool: look, item: †input.item, _retry: {attempts: 3, backoff: 1ms}, _outputPath: †state.item}
- {_tool: order, name: †state.item.name, amount: 2, _outputPath: †state.order}
- {_tool: lose, item: †state.item.name, _after: [order], _outputPath: †state.lost || †state.trouble}
output: {order: †state.order.order, echo: †state.item.echo, trouble: †state.trouble}
`
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(text, "URL", s.URL)), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// host is the shop's, with its port.
func (s *shop) host() string { return strings.TrimPrefix(s.URL, "http://") }

// LANGUAGE.md#http-requests: a plan over a server on this machine runs as its file has it; the
// secret is nowhere but in what is sent: not in what is printed, kept or drawn.
func TestPlanOverHTTP(t *testing.T) {
	s := openShop(t)
	s.mu.Lock()
	s.busy = 2
	s.mu.Unlock()
	plan, runs := s.plan(t), t.TempDir()
	if out, _, status := obelus(nil, "check", plan); status != 1 || strings.Count(out, "an address of this machine") != 3 {
		t.Errorf("nobody has allowed this machine: %d\n%s", status, out)
	}
	var all strings.Builder
	keep := func(out, errs string, status int) string {
		all.WriteString(out + errs)
		if status != 0 {
			t.Errorf("status %d:\n%s%s", status, out, errs)
		}
		return out
	}
	keep(obelus(nil, "check", plan, "--allow-host", s.host()))
	out := keep(obelus(nil, "run", plan, "--runs", runs, "--confirm", "never", "--allow-host", s.host(), "--format", "json"))
	for _, want := range []string{`"status":"done"`, `"order":7`, `"echo":"key=[hidden SHOP_KEY]"`, `"code":"http-404"`, `got 404 Not Found`} {
		if !strings.Contains(out, want) {
			t.Errorf("no %s in\n%s", want, out)
		}
	}
	want := []string{"GET /items/tea & biscuits ", "GET /items/tea & biscuits ", "GET /items/tea & biscuits ", `POST /orders {"what":{"amount":2,"name":"tea & biscuits"}}`, "GET /nowhere/tea & biscuits "}
	if got := s.requests(); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("asked %q", got)
	}
	journals, _ := filepath.Glob(filepath.Join(runs, "*.jsonl"))
	if len(journals) != 1 {
		t.Fatalf("journals %q", journals)
	}
	text, err := os.ReadFile(journals[0])
	if err != nil {
		t.Fatal(err)
	}
	all.Write(text)
	page := filepath.Join(t.TempDir(), "page.html")
	keep(obelus(nil, "graph", "--run", journals[0], "--format", "html", "--output", page))
	drawn, _ := os.ReadFile(page)
	all.Write(drawn)
	keep(obelus(nil, "runs", "show", journals[0]))
	keep(obelus(nil, "approve", plan, "--show"))
	for _, secret := range []string{shopKey, "tok3n%2Fof", "tok3n%2fof", `tok3n\/of`, "tok3n/of"} {
		if at := strings.Index(all.String(), secret); at >= 0 {
			t.Errorf("%q is told: …%s…", secret, all.String()[max(0, at-200):min(all.Len(), at+100)])
		}
	}
	if shown := all.String(); !strings.Contains(shown, "GET "+s.URL+"/items/{item}") || !strings.Contains(shown, "POST "+s.URL+"/orders") {
		t.Error("who approves isn't told where requests go")
	}
}

// EXECUTION.md#resuming: an order that was under way when its run was killed may have been taken: it isn't
// sent again unasked, nor is a GET that nobody says only reads. Where a catalogue that
// counts says that it may be, it is. A run is resumed with the hosts that it was begun with.
func TestKilledOverHTTP(t *testing.T) {
	for _, said := range []string{"", "readOnlyHint: false, destructiveHint: false, idempotentHint: true"} {
		s := openShop(t)
		plan, runs := s.plan(t), t.TempDir()
		args := []string{"run", plan, "--runs", runs, "--confirm", "never", "--allow-host", s.host(), "--format", "json"}
		if said != "" {
			activities := filepath.Join(t.TempDir(), "activities.yaml")
			text := fmt.Sprintf("activities: {order: {http: {method: POST, url: %q, body: {name: †name}}, annotations: {%s}}}\n", s.URL+"/orders", said)
			if err := os.WriteFile(activities, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			args = append(args, "--activities", activities)
		}
		held := make(chan struct{})
		s.mu.Lock()
		s.held = held
		s.mu.Unlock()
		cmd := exec.Command(os.Args[0], args...)
		var out bytes.Buffer
		cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), asCommand+"=1"), &out, &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		over := make(chan struct{})
		go func() {
			cmd.Wait()
			close(over)
		}()
		select {
		case <-held:
		case <-over:
			t.Fatalf("it ended by itself:\n%s", out.String())
		}
		cmd.Process.Kill()
		<-over
		journals, _ := filepath.Glob(filepath.Join(runs, "*.jsonl"))
		if len(journals) != 1 {
			t.Fatalf("journals %q", journals)
		}
		before := len(s.requests())
		resumed, errs, status := obelus(nil, "resume", journals[0], "--confirm", "never", "--format", "json")
		if said == "" {
			if status != 3 || len(s.requests()) != before || !strings.Contains(resumed, `"reason":"in-flight"`) {
				t.Errorf("resumed unasked: %d, %q\n%s%s", status, s.requests(), resumed, errs)
			}
			resumed, errs, status = obelus(nil, "resume", journals[0], "--confirm", "never", "--format", "json", "--in-flight", "retry")
		}
		if status != 0 || len(s.requests()) != before+2 || !strings.Contains(resumed, `"order":7`) {
			t.Errorf("resumed: %d, %q\n%s%s", status, s.requests(), resumed, errs)
		}
	}
}

// LANGUAGE.md#http-requests: what an obelus.yaml lists makes stricter as it stands, and allows what isn't
// public only once it is trusted; a policy's list can't be added to.
func TestHostsOfWorkspaces(t *testing.T) {
	s := openShop(t)
	plan := s.plan(t)
	folder := filepath.Dir(plan)
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	check := func(want int, says string, more ...string) {
		t.Helper()
		out, errs, status := obelus(nil, append([]string{"check", plan}, more...)...)
		if status != want || !strings.Contains(out+errs, says) {
			t.Errorf("%q: %d\n%s%s", more, status, out, errs)
		}
	}
	write("obelus.yaml", "hosts: ["+s.host()+"]\n")
	check(1, "are blocked: it is an address of this machine")
	check(0, "", "--trust")
	if out, _, _ := obelus(nil, "trust", "--show", folder); !strings.Contains(out, "its hosts: [\""+s.host()) {
		t.Errorf("trust shows\n%s", out)
	}
	if _, errs, status := obelus(nil, "trust", folder); status != 0 {
		t.Fatal(errs)
	}
	check(0, "")
	write("obelus.yaml", "hosts: [127.0.0.0/8]\n")
	check(1, "are blocked: it is an address of this machine")
	write("obelus.yaml", "hosts: [api.example.com]\n")
	check(1, "obelus.yaml doesn't list the host", "--trust")
	check(0, "", "--allow-host", s.host())
	write("obelus.policy.yaml", "hosts: [api.example.com]\n")
	check(1, "the policy doesn't list the host", "--allow-host", s.host())
	write("obelus.policy.yaml", "hosts: [127.0.0.1]\n")
	check(0, "", "--allow-host", s.host())
	write("obelus.yaml", "hosts: [127.0.0.1, 'https://x']\n")
	check(1, "names no host", "--trust")
}
