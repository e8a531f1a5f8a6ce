package planner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/runtime/request"
)

// A protocol is a wire format as its server speaks it.
type protocol struct {
	spec      string
	path      string
	base, key string // variables
	header    string // that carries the key
	event     func(text string) string
	end       func(reason string, in, out int) string
	failure   func(kind, words string) string // an error in a stream
	stop      map[string]string               // reasons: "done", "full", "refused"
}

// below is the path of the endpoint's address.
func (p protocol) below() string {
	return strings.NewReplacer("/chat/completions", "", "/v1/messages", "").Replace(p.path)
}

const testKey = "sk-test-0123456789-very-secret"

var protocols = map[string]protocol{
	"openai": {
		spec: "openai:some-model", path: "/v1/chat/completions", base: "OPENAI_BASE_URL", key: "OPENAI_API_KEY", header: "Authorization",
		event: func(s string) string {
			return fmt.Sprintf("data: {\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":%s},\"finish_reason\":null}]}\n\n", request.JSON(s))
		},
		end: func(reason string, in, out int) string {
			return fmt.Sprintf("data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":%q}]}\n\ndata: {\"choices\":[],\"usage\":{\"prompt_tokens\":%d,\"completion_tokens\":%d,\"total_tokens\":%d}}\n\ndata: [DONE]\n\n", reason, in, out, in+out)
		},
		failure: func(kind, words string) string {
			return fmt.Sprintf("data: {\"error\":{\"type\":%q,\"message\":%q,\"code\":null}}\n\n", kind, words)
		},
		stop: map[string]string{"done": "stop", "full": "length", "refused": "content_filter"},
	},
	"anthropic": {
		spec: "anthropic:some-model", path: "/v1/messages", base: "ANTHROPIC_BASE_URL", key: "ANTHROPIC_API_KEY", header: "X-Api-Key",
		event: func(s string) string {
			return fmt.Sprintf("event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":%s}}\n\n", request.JSON(s))
		},
		end: func(reason string, in, out int) string {
			return fmt.Sprintf("event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\nevent: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":%q},\"usage\":{\"input_tokens\":%d,\"output_tokens\":%d}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n", reason, in, out)
		},
		failure: func(kind, words string) string {
			return fmt.Sprintf("event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":%q,\"message\":%q}}\n\n", kind, words)
		},
		stop: map[string]string{"done": "tool_use", "full": "max_tokens", "refused": "refusal"},
	},
}

const beginMessage = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m1\",\"type\":\"message\",\"role\":\"assistant\",\"content\":[],\"model\":\"some-model\",\"stop_reason\":null,\"usage\":{\"input_tokens\":11,\"output_tokens\":1}}}\n\n" +
	"event: ping\ndata: {\"type\":\"ping\"}\n\n"

const beginTool = beginMessage + "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"t1\",\"name\":\"answer\",\"input\":{}}}\n\n"

func (p protocol) begin() string {
	if strings.HasPrefix(p.spec, "anthropic") {
		return beginTool
	}
	return ""
}

// stream is a whole answer.
func (p protocol) stream(pieces ...string) string {
	s := p.begin()
	for _, piece := range pieces {
		s += p.event(piece)
	}
	return s + p.end(p.stop["done"], 120, 30)
}

// A turn is how the endpoint treats one request.
type turn func(w http.ResponseWriter, r *http.Request)

func streams(text string) turn {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		io.WriteString(w, text)
	}
}

func says(status int, body string, headers ...string) turn {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
		io.WriteString(w, body)
	}
}

// cutOff sends some of a stream and hangs up.
func cutOff(text string) turn {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, text)
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
}

// hangs sends some of a stream and then nothing more.
func hangs(text string) turn {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, text)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}
}

// A fake endpoint serves turns, one a request, over pipes: nothing of it is real
// input or output, so it lives in virtual time.
type fake struct {
	mu        sync.Mutex
	turns     []turn
	bodies    []string
	at        []time.Duration
	keys      []string
	begun     time.Time
	key       string // the header
	transport *http.Transport
}

// serve makes an endpoint and points the environment of the test to it.
func (e *fake) serve(t *testing.T) {
	l := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
	server := httptest.NewUnstartedServer(http.HandlerFunc(e.handle))
	server.Listener.Close()
	server.Listener = l
	server.Start()
	transport := &http.Transport{DialContext: l.dial}
	e.begun, e.transport = time.Now(), transport
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		server.CloseClientConnections()
		server.Close()
	})
}

func (e *fake) handle(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	e.mu.Lock()
	e.bodies = append(e.bodies, string(body))
	e.at = append(e.at, time.Since(e.begun))
	e.keys = append(e.keys, r.Header.Get(e.key))
	n := len(e.bodies)
	e.mu.Unlock()
	if n > len(e.turns) {
		http.Error(w, "no more turns", http.StatusTeapot)
		return
	}
	e.turns[n-1](w, r)
}

// pipes are a listener whose connections are made by dial.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case p.conns <- there:
		return here, nil
	case <-p.closed:
		return nil, errors.New("connection refused")
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 80} }

func (p *pipes) Close() error { p.once.Do(func() { close(p.closed) }); return nil }

// settings points the environment at nowhere but the endpoint of a test.
func settings(t *testing.T, p protocol) {
	for _, name := range []string{
		"OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "ANTHROPIC_AUTH_TOKEN",
		"HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy",
	} {
		t.Setenv(name, "")
		os.Unsetenv(name)
	}
	t.Setenv(p.base, "http://models.test"+p.below())
	t.Setenv(p.key, testKey)
}

// ask opens the planner against an endpoint that takes the turns, and asks it.
func ask(t *testing.T, p protocol, r *request.Request, o Options, turns ...turn) (answer string, usage request.Usage, e *fake, err error) {
	t.Helper()
	e = &fake{turns: turns, key: p.header}
	e.serve(t)
	o.Transport = e.transport
	planner, err := Open(p.spec, o)
	if err != nil {
		t.Fatal(err)
	}
	answer, usage, err = collect(context.Background(), planner, r)
	return answer, usage, e, err
}

func collect(ctx context.Context, p Planner, r *request.Request) (string, request.Usage, error) {
	var b strings.Builder
	usage, err := p.Answer(ctx, r, func(text string) { b.WriteString(text) })
	return b.String(), usage, err
}

const solution = `{"calls":[{"_tool":"greetUser","userName":"†input.userName"}],"output":null}`

// greeting is a request for a solution, with a schema that no endpoint enforces to
// the letter: its calls' parameters may be anything.
func greeting() *request.Request {
	return &request.Request{
		Tick: 1,
		Messages: []request.Object{
			{{Key: "type", Value: "text"}, {Key: "text", Value: "Greet the user"}},
			{{Key: "type", Value: "tool"}, {Key: "tool", Value: value(`{"greetUser":{"type":"object","properties":{"userName":{"type":"string"}}}}`)}},
			{{Key: "type", Value: "input"}, {Key: "input", Value: map[string]any{"userName": "Jane"}}},
		},
		Schema: value(`{"type":"object","properties":{"calls":{"type":"array","items":{"anyOf":[{"type":"object","properties":{"_tool":{"const":"greetUser"},"_reasoningForCall":{"type":"string"},` +
			`"userName":{}},"required":["_tool","userName"]}]}},"output":{}},"required":["calls","output"]}`),
	}
}

// value is a JSON value as its text has it.
func value(text string) any {
	n, _ := source.Parse(source.NewFile("value.json", []byte(text)), source.DefaultLimits())
	return request.Of(n)
}
