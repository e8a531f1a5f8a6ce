package activity

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/tmaxmax/go-sse"

	"github.com/obelus-dev/obelus/compiler/catalogue"
	"github.com/obelus-dev/obelus/compiler/kinds"
)

// The bounds of what an MCP server may list and send.
const (
	maxTools         = 10_000
	maxPages         = 1_000
	maxNotifications = 20_000   // between two answers
	maxRequests      = 1_000    // of its own, between two answers
	envelope         = 64 << 10 // bytes of a message besides a result
)

// versions are those of the protocol that obelus speaks; a session begins with the last. Later ones begin otherwise.
var versions = []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"}

// A session is what a contact has of the protocol. The peer's mutex guards it.
type session struct {
	id      string // by a server at an address
	version string // of the protocol, on which both sides agree; "" before it has begun
	last    int    // the last request's number
	waiting map[string]chan message
	unasked int  // what has come since the last answer
	asks    int  // and of that requests
	changed bool // it has said that its tools are others, and wasn't asked since
}

type message struct {
	Protocol string         `json:"jsonrpc"`
	ID       jsontext.Value `json:"id,omitzero"`
	Method   string         `json:"method,omitzero"`
	Params   jsontext.Value `json:"params,omitzero"`
	Result   jsontext.Value `json:"result,omitzero"`
	Error    *refusal       `json:"error,omitzero"`
}

// A refusal is an answer that isn't a result: the server won't, or has sent what it must not.
type refusal struct {
	Code    int64  `json:"code"` // JSON-RPC's; 0 when the server has answered with what isn't a result
	Message string `json:"message"`
}

func (r *refusal) Error() string { return r.Message }

type object = map[string]any

// send sends a message. The error is [io.EOF] if what comes for it was received already, and there is no more.
func (s *server) send(ctx context.Context, c *contact, m message, isAnswered bool) error {
	m.Protocol = "2.0"
	text, err := json.Marshal(m)
	switch {
	case err != nil:
		return err
	case s.of.URL != "":
		return s.post(ctx, c, text, isAnswered)
	}
	c.put(text)
	return nil
}

// later sends a message that nobody waits for.
func (s *server) later(c *contact, m message) {
	go func() {
		ctx, cancel := context.WithTimeout(c.over, 10*time.Second)
		defer cancel()
		_ = s.send(ctx, c, m, false)
	}()
}

// initialize begins the session.
func (s *server) initialize(ctx context.Context, c *contact) error {
	came, err := s.ask(ctx, c, "initialize", object{"protocolVersion": versions[len(versions)-1],
		"capabilities": object{}, "clientInfo": object{"name": "obelus", "version": "1"}})
	if err != nil {
		return err
	}
	var result struct {
		Version string `json:"protocolVersion"`
	}
	if json.Unmarshal(came, &result) != nil || !slices.Contains(versions, result.Version) {
		return fmt.Errorf("it speaks the version %.40q of the protocol, and obelus speaks those from %s to %s",
			result.Version, versions[0], versions[len(versions)-1])
	}
	s.mu.Lock()
	c.session.version = result.Version
	s.mu.Unlock()
	if err = s.send(ctx, c, message{Method: "notifications/initialized"}, false); err == io.EOF {
		err = nil
	}
	return err
}

// ask sends a request and gives its result as it came. When ctx is done the server is notified, and nobody waits for
// what it does then.
func (s *server) ask(ctx context.Context, c *contact, method string, params object) (jsontext.Value, error) {
	text, err := json.Marshal(params)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	c.session.last++
	id, answered := strconv.Itoa(c.session.last), make(chan message, 1)
	c.session.waiting[id] = answered
	s.mu.Unlock()
	if err = s.send(ctx, c, message{ID: jsontext.Value(id), Method: method, Params: text}, true); err == nil {
		select {
		case m := <-answered:
			answered <- m
		case <-ctx.Done():
		case <-c.over.Done():
		}
	}
	s.mu.Lock()
	delete(c.session.waiting, id)
	s.mu.Unlock()
	select {
	case m := <-answered:
		switch {
		case m.Error != nil:
			return nil, &refusal{m.Error.Code, cmp.Or(m.Error.Message, "it gives no reason")}
		case m.Result == nil:
			return nil, &refusal{Message: "it is no mapping"}
		}
		return m.Result, nil
	default:
	}
	if ctx.Err() != nil && method != "initialize" {
		text, _ := json.Marshal(object{"requestId": jsontext.Value(id)})
		s.later(c, message{Method: "notifications/cancelled", Params: text})
	}
	if err == io.EOF {
		err = errors.New("it has answered something else")
	}
	return nil, cmp.Or(err, context.Cause(ctx), context.Cause(c.over))
}

// receive reads a message of the server, and reports whether it is the answer to a request. After an error nothing
// more that it sends can be trusted.
func (s *server) receive(c *contact, text []byte) (isAnswer bool, err error) {
	var m message
	if err := json.Unmarshal(text, &m); err != nil || m.Protocol != "2.0" {
		what := "this is no message of JSON-RPC 2.0"
		if syntax := (*jsontext.SyntacticError)(nil); errors.As(err, &syntax) {
			what = "this is no JSON: " + strings.TrimPrefix(syntax.Err.Error(), "jsontext: ")
		}
		if s.of.URL == "" {
			what = "it must write one message of JSON-RPC a line to stdout: " + what
		}
		return false, errors.New(what)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	in, id := &c.session, string(m.ID)
	if n, err := strconv.ParseFloat(id, 64); err == nil { // 3.0 is 3
		id = strconv.FormatFloat(n, 'f', -1, 64)
	}
	if answered := in.waiting[id]; answered != nil && m.Method == "" {
		in.unasked, in.asks = 0, 0
		delete(in.waiting, id)
		answered <- m
		return true, nil
	}
	in.unasked++
	in.changed = in.changed || m.Method == "notifications/tools/list_changed"
	if m.Method != "" && m.ID != nil { // it asks for something: a model's words, a person's, folders
		in.asks++
		answer := message{ID: m.ID, Error: &refusal{-32601, "obelus answers no such request"}}
		switch m.Method {
		case "ping":
			answer = message{ID: m.ID, Result: jsontext.Value("{}")}
		case "roots/list":
			answer = message{ID: m.ID, Result: jsontext.Value(`{"roots":[]}`)}
		}
		s.later(c, answer)
	}
	if in.unasked > maxNotifications || in.asks > maxRequests {
		return false, fmt.Errorf("it has sent %d messages that answer nothing, and %d requests of its own among them",
			in.unasked, in.asks)
	}
	return false, nil
}

func (s *server) endpoint() string {
	return kinds.Filled(s.of.URL, func(name string) string { return url.PathEscape(s.env.get(name)) })
}

// request sends a request to a server at an address (MCP's streamable HTTP). What is lost isn't sent
// again: nobody knows whether it came. An answer with an error status is a [*Failure].
func (s *server) request(ctx context.Context, c *contact, method string, body []byte) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, s.endpoint(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	id, version := c.session.id, c.session.version
	s.mu.Unlock()
	for name, value := range map[string]string{"Content-Type": "application/json",
		"Accept": "application/json, text/event-stream", "Mcp-Session-Id": id, "Mcp-Protocol-Version": version} {
		if value != "" {
			r.Header.Set(name, value)
		}
	}
	for _, h := range s.of.Headers {
		r.Header.Set(h.Name, kinds.Filled(h.Value, s.env.get))
	}
	answer, err := s.common.send(r)
	if no := (*Failure)(nil); errors.As(err, &no) && (no.Code == "http-404" || no.Code >= "http-500") {
		c.end(nil) // the session is gone, or the server may be: the next call begins anew
	}
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	c.session.id = cmp.Or(c.session.id, answer.Header.Get("Mcp-Session-Id"))
	s.mu.Unlock()
	return answer, nil
}

// post sends a message to an address, and receives what comes for it: the error is [io.EOF] then.
func (s *server) post(ctx context.Context, c *contact, text []byte, isAnswered bool) error {
	answer, err := s.request(ctx, c, http.MethodPost, text)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if !isAnswered { // nothing comes
		return io.EOF
	}
	kind, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	if kind != "text/event-stream" {
		text, err := io.ReadAll(io.LimitReader(answer.Body, maxOutput+envelope))
		if err == nil {
			_, err = s.receive(c, text)
		}
		return cmp.Or(err, io.EOF)
	}
	body := io.MultiReader(answer.Body, strings.NewReader("\n\n")) // the last event may lack its end
	for e, err := range sse.Read(body, &sse.ReadConfig{MaxEventSize: maxOutput + envelope}) {
		if err != nil {
			return fmt.Errorf("its answer broke off: %w", err)
		}
		if e.Data == "" || e.Type != "" && e.Type != "message" {
			continue
		}
		if answered, err := s.receive(c, []byte(e.Data)); err != nil || answered {
			return cmp.Or(err, io.EOF)
		}
	}
	return io.EOF
}

// leave ends the server, or the session with one at an address.
func (s *server) leave() {
	s.close()
	s.mu.Lock()
	c := s.now
	isOpen := c != nil && c.session.id != ""
	s.mu.Unlock()
	if !isOpen {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), s.options.Grace)
	defer cancel()
	if answer, err := s.request(ctx, c, http.MethodDelete, nil); err == nil {
		answer.Body.Close()
	}
}

// A ListedTool is an entry of a server's list of its tools.
type ListedTool struct {
	catalogue.Tool
	Refused string // why it isn't accepted as a tool; "" if it is
}

// pages asks for all tools of a server, by name. An odd entry spoils no other one, and of several tools of one name
// none is believed.
func (s *server) pages(ctx context.Context, c *contact) (map[string]ListedTool, error) {
	all, entries := map[string]ListedTool{}, 0
	for cursor, pages := "", 0; pages == 0 || cursor != ""; pages++ {
		if pages == maxPages {
			return nil, &refusal{Message: fmt.Sprintf("it has more than %d pages of tools", maxPages)}
		}
		params := object{}
		if cursor != "" {
			params["cursor"] = cursor
		}
		came, err := s.ask(ctx, c, "tools/list", params)
		if err != nil {
			return nil, err
		}
		var page struct {
			Tools  []jsontext.Value `json:"tools"`
			Cursor string           `json:"nextCursor"`
		}
		if json.Unmarshal(came, &page) != nil || page.Tools == nil {
			return nil, &refusal{Message: "it has no list \"tools\", or a \"nextCursor\" that is no text"}
		}
		for _, entry := range page.Tools {
			if entries++; entries > maxTools {
				return nil, &refusal{Message: fmt.Sprintf("it has more than %d tools", maxTools)}
			}
			tool, why := s.tool(entry)
			tool.Name = cmp.Or(tool.Name, fmt.Sprintf("(entry %d)", entries))
			if _, isThere := all[tool.Name]; isThere {
				why = "several tools of this name are listed, and none is believed"
			}
			all[tool.Name] = ListedTool{tool, why}
		}
		cursor = page.Cursor
	}
	return all, nil
}

// tool reads an entry of a list of tools, which is odd if a reason is returned.
func (s *server) tool(entry jsontext.Value) (t catalogue.Tool, odd string) {
	var named struct {
		Name string `json:"name"`
	}
	if entry.Kind() != '{' {
		return t, "it is no mapping"
	}
	if json.Unmarshal(entry, &named) != nil || named.Name == "" {
		return t, "it has no \"name\""
	}
	t.Name = named.Name
	value, err := s.decode(entry, maxDepth)
	fields, _ := value.(object)
	if err != nil {
		return t, fmt.Sprintf("it can't be read: %v", err)
	}
	t.Input, t.Output = fields["inputSchema"], fields["outputSchema"]
	for _, key := range []string{"inputSchema", "outputSchema", "annotations"} {
		if _, ok := fields[key].(object); !ok && fields[key] != nil {
			return t, fmt.Sprintf("its %q is no mapping", key)
		}
	}
	var isText bool
	if t.Description, isText = fields["description"].(string); !isText && fields["description"] != nil {
		return t, "its \"description\" is no text"
	}
	if execution, _ := fields["execution"].(object); execution["taskSupport"] == "required" {
		return t, "it can only be called as a task (\"taskSupport\": \"required\")"
	}
	hints, _ := fields["annotations"].(object)
	for _, name := range catalogue.Hints {
		switch is := hints[name].(type) {
		case nil:
		case bool:
			if t.Hints == nil {
				t.Hints = map[string]bool{}
			}
			t.Hints[name] = is
		default:
			return t, fmt.Sprintf("its %q is neither true nor false", name)
		}
	}
	t.SetDigest()
	return t, ""
}
