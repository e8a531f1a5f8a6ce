package activity

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/tmaxmax/go-sse"

	"github.com/obelus-dev/obelus/compiler/catalogue"
	"github.com/obelus-dev/obelus/compiler/kinds"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/runtime/activity/mcp"
	"github.com/obelus-dev/obelus/runtime/web"
)

// startTime is how long an MCP server may take until it has begun a session, where its
// definition doesn't say: it may have to be compiled or fetched first.
const startTime = time.Minute

// envelope is what a message of a server may have besides a result.
const envelope = 64 << 10

// A server is an MCP server, which serves all calls of the set over one session.
type server struct {
	peer
	of *plan.Server
}

// A tool is an activity that is one of a server.
type tool struct {
	*server
	activity base
}

var _ = register("mcp", kind{
	open: func(s *Set, b base) (starter, error) {
		of := b.def.Server
		if of == nil {
			return nil, b.failure(CodeError, "is of an MCP server that isn't defined")
		}
		key := fmt.Sprintf("%q %q %q %#v %q %q %q", of.Name, of.URL, of.Headers, b.def.Argv, b.def.Env, b.def.Inherit,
			b.def.Dir)
		if s.servers[key] == nil {
			one := &server{peer: peer{program: b.program()}, of: of}
			if at, err := url.Parse(one.endpoint()); err == nil {
				s.hide.KeepUser(at.User)
			}
			s.servers[key] = one
			s.closers = append(s.closers, one.leave)
		}
		return &tool{s.servers[key], b}, nil
	},
	missing: func(a *plan.Activity, at source.Span, files plan.Files, tell telling) {
		if a.Server != nil && a.Server.URL == "" { // one that isn't defined was reported
			missingProgram(a, at, files, tell)
		}
	},
})

func (t *tool) String() string {
	return fmt.Sprintf("the tool %q of the MCP server %q", t.activity.def.Remote, t.of.Name)
}

func (t *tool) start(ctx context.Context, r Request, ended func(Result, error)) {
	c := t.contact()
	go func() { ended(t.put(ctx, c, r)) }()
}

func (t *tool) put(ctx context.Context, c *contact, r Request) (Result, error) {
	if err := t.wait(ctx, c); err != nil {
		return none, err
	}
	params, err := encode(r.input())
	if err != nil {
		return t.activity.fail(CodeError, "has parameters that can't be written as JSON: %v", err)
	}
	ctx, cancel := within(ctx, t.activity.def.Timeout)
	defer cancel()
	if err := t.held(ctx, c); err != nil {
		return none, err
	}
	answer, err := c.session.Call(ctx, t.activity.def.Remote, params)
	var refused *mcp.Refusal
	switch {
	case err == nil:
		return t.result(answer, r)
	case errors.As(err, &refused) && refused.Code != 0:
		f := t.fault(CodeError, "%v was refused: %s (%d)", t, brief(refused.Message), refused.Code)
		f.Details = map[string]any{"code": float64(refused.Code)}
		return none, f
	case errors.As(err, &refused):
		return none, t.fault(CodeBadOutput, "%v has answered with what is no result: %s", t, refused.Message)
	case ctx.Err() != nil:
		return none, t.activity.interrupted(ctx)
	}
	return none, t.ended(c, t.String()+" hasn't answered", err)
}

// ended is the failure of what a server was at when it was lost, or can't be used.
func (s *server) ended(c *contact, what string, err error) error {
	if c.p != nil {
		c.end(&errOver{code: CodeCancelled, why: err.Error()}) // unless it is over already
		return s.lost(c, what, nil)
	}
	if no := (*Failure)(nil); errors.As(err, &no) { // which is this request's alone
		no.Message = s.hide.Message(what+": it ") + no.Message
		return no
	}
	c.end(nil) // the next call begins anew
	if closed := s.isClosed(); closed != nil {
		return closed
	}
	why := brief(err.Error())
	if lost := (*web.Lost)(nil); errors.As(err, &lost) {
		why = "its connection broke, and what was asked may have arrived: " + why
	}
	return s.fault(CodeError, "%s: %s", what, why)
}

// result reads a tool's answer: what it has as structure, else its text, or what that says
// as JSON where the tool's result can't be a text; else its content as it is.
func (t *tool) result(a *mcp.Answer, r Request) (Result, error) {
	switch {
	case a.Failed && strings.TrimSpace(a.Text) == "":
		a.Text = t.String() + " failed and gave no message"
		fallthrough
	case a.Failed:
		return none, &Failure{Code: CodeError, Message: t.hide.Message(a.Text), Details: a.Structured}
	case a.Structured != nil:
		return Take(a.Structured, r, t.activity.name)
	case a.Content != nil:
		return Take(a.Content, r, t.activity.name)
	case r.Unread:
		return none, nil
	case r.Output == nil || r.Output.Kinds()&schema.String != 0:
		return Result{Value: a.Text, Route: -1}, nil
	}
	value, err := t.decode([]byte(a.Text), maxDepth)
	if err != nil {
		return none, t.fault(CodeBadOutput,
			"%v must answer with structured content, or with text that is one JSON value, as the "+
				"result is no text: %v%s", t, err, t.excerpt([]byte(a.Text)))
	}
	return Take(value, r, t.activity.name)
}

// contact is the session for a call that is put now: the one that there is, or a new one.
func (s *server) contact() *contact { return s.reach(s.begin) }

// begin starts or reaches the server and begins a session.
func (s *server) begin(c *contact) error {
	send := func(ctx context.Context, text []byte, isAnswered bool) error { return s.send(ctx, c, text, isAnswered) }
	if s.of.URL == "" {
		send = func(_ context.Context, text []byte, _ bool) error {
			c.put(func() []byte { return text })
			return nil
		}
	}
	c.session = mcp.New(c.over, send, func(text []byte) (any, error) { return s.decode(text, maxDepth) })
	if s.of.URL == "" {
		if err := s.launch(c, func(line []byte) error { return receive(c.session, line) }); err != nil {
			return err
		}
	}
	ctx, cancel := within(s.over, cmp.Or(s.of.Timeout, startTime))
	defer cancel()
	err := c.session.Begin(ctx)
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		err = fmt.Errorf("it %v to begin a session: it hasn't answered what every MCP server is asked first "+
			"(\"initialize\")", context.Cause(ctx))
	}
	return s.ended(c, fmt.Sprintf("the MCP server %q can't be used", s.of.Name), err)
}

func receive(session *mcp.Session, line []byte) error {
	if len(bytes.TrimSpace(line)) == 0 {
		return nil
	}
	_, err := session.Receive(line)
	if err != nil && strings.HasPrefix(err.Error(), "this is") {
		err = fmt.Errorf("it must write one message of JSON-RPC a line to stdout: %w", err)
	}
	return err
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
	id := c.id
	s.mu.Unlock()
	for name, value := range map[string]string{"Content-Type": "application/json",
		"Accept": "application/json, text/event-stream", "Mcp-Session-Id": id,
		"Mcp-Protocol-Version": c.session.Version()} {
		if value != "" {
			r.Header.Set(name, value)
		}
	}
	for _, h := range s.of.Headers {
		r.Header.Set(h.Name, kinds.Filled(h.Value, s.env.get))
	}
	answer, err := web.Send(s.transport, r)
	if err != nil {
		return nil, err
	}
	if status := answer.StatusCode; status < 200 || status >= 300 {
		defer answer.Body.Close()
		content, _ := io.ReadAll(io.LimitReader(answer.Body, maxRefusal))
		if status == http.StatusNotFound || status >= 500 {
			c.end(nil) // the session is gone, or the server may be: the next call begins anew
		}
		return nil, s.refusal(status, answer.Header, content, "")
	}
	s.mu.Lock()
	c.id = cmp.Or(c.id, answer.Header.Get("Mcp-Session-Id"))
	s.mu.Unlock()
	return answer, nil
}

// send sends a message, and has the session receive what comes for it: the error is [io.EOF] then.
func (s *server) send(ctx context.Context, c *contact, text []byte, isAnswered bool) error {
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
			_, err = c.session.Receive(text)
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
		if answered, err := c.session.Receive([]byte(e.Data)); err != nil || answered {
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
	s.mu.Unlock()
	if c == nil || c.p != nil || c.id == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), s.options.Grace)
	defer cancel()
	if answer, err := s.request(ctx, c, http.MethodDelete, nil); err == nil {
		answer.Body.Close()
	}
}

// A toolList is what a server lists as its tools, and what of that is refused.
type toolList struct {
	tools   []catalogue.Tool
	refused []RefusedTool
}

// A RefusedTool is an entry of a server's list that isn't accepted as a tool.
type RefusedTool = mcp.Refused

// Tools is what an MCP server lists as its tools, and what of it is refused. The server is
// started or reached for it, and ended; its folder is as this process sees it.
func Tools(ctx context.Context, of *plan.Server, o Options) ([]catalogue.Tool, []RefusedTool, error) {
	def := of.Activity
	def.Kind, def.Server = "mcp", of
	set, err := Open(map[string]*plan.Activity{of.Name: &def}, nil, o)
	if err != nil {
		return nil, nil, err
	}
	defer set.Close()
	s := set.byName[of.Name].(*tool).server
	c := s.contact()
	if err = s.wait(ctx, c); err != nil {
		return nil, nil, err
	}
	all, err := s.list(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	return all.tools, all.refused, nil
}

// list asks a server for its tools.
func (s *server) list(ctx context.Context, c *contact) (*toolList, error) {
	ctx, cancel := within(ctx, startTime)
	defer cancel()
	tools, odd, err := c.session.Tools(ctx)
	var refused *mcp.Refusal
	what := fmt.Sprintf("the MCP server %q doesn't list its tools", s.of.Name)
	switch {
	case err == nil:
		return &toolList{tools, odd}, nil
	case errors.As(err, &refused):
		return nil, s.fault(CodeBadOutput, "%s: %s", what, brief(refused.Message))
	case ctx.Err() == nil:
		return nil, s.ended(c, what, err)
	}
	return nil, s.fault(s.interrupted(ctx).Code, "%s: it %v", what, context.Cause(ctx))
}

// Changed says why a tool isn't what is recorded of it, given what its server lists and what
// of that is refused; "" if it is.
func Changed(recorded *catalogue.Tool, name string, listed []catalogue.Tool, refused []RefusedTool) string {
	if at := slices.IndexFunc(refused, func(r RefusedTool) bool { return r.Tool == name }); at >= 0 {
		return "it is refused: " + refused[at].Why
	}
	at := slices.IndexFunc(listed, func(t catalogue.Tool) bool { return t.Name == name })
	switch {
	case at < 0:
		return "the server doesn't list it"
	case recorded == nil:
		return "it isn't recorded"
	case recorded.Digest != listed[at].Digest || !maps.Equal(recorded.Hints, listed[at].Hints):
		return "its description, hints or schemas have changed"
	}
	return ""
}

// held is why a call may not be put to a server: its tool isn't what is recorded any more. A run has looked before its
// first call; since then the server may have begun anew, or said that its tools are others. It is asked for its tools
// once, and again when it says that they changed.
func (t *tool) held(ctx context.Context, c *contact) (err error) {
	recorded, name := t.of.Lock, t.activity.def.Remote
	if recorded == nil {
		return nil
	}
	c.listing.Lock()
	defer c.listing.Unlock()
	if c.session.Changed() || c.tools == nil {
		if c.tools, err = t.list(ctx, c); err != nil {
			return err
		}
	}
	why := Changed(recorded.Tool(name), name, c.tools.tools, c.tools.refused)
	if why == "" {
		return nil
	}
	where := ""
	if at := recorded.Node.Span(); at.Known() {
		where = at.Where() + ": "
	}
	return t.fault(CodeDrifted, "OB610: %s%v isn't what was imported: %s", where, t, brief(why))
}

// Hold asks each server that calls may need for its tools, and reports the first tool that isn't what is recorded
// of it, as a [*Failure] of the code [CodeDrifted]. It passes on servers without a record. One that may
// not start yet is compared when it does. No tool is called.
func (s *Set) Hold(ctx context.Context, may func(*plan.Server) bool, unrecorded func(*plan.Server)) error {
	met := map[*server]bool{}
	for _, name := range slices.Sorted(maps.Keys(s.byName)) {
		t, ok := s.byName[name].(*tool)
		if !ok || !s.mayUse(name) {
			continue
		}
		if t.of.Lock == nil && !met[t.server] {
			unrecorded(t.of)
		}
		if met[t.server] = true; t.of.Lock == nil || !may(t.of) {
			continue
		}
		c := t.contact()
		err := t.wait(ctx, c)
		if err == nil {
			err = t.held(ctx, c)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
