package activity

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/obelus-dev/obelus/compiler/catalogue"
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

var _ = register("mcp", kind{
	open: func(s *Set, b base) (starter, error) {
		def := b.def
		if def.Server == nil {
			return nil, b.failure(CodeError, "is of an MCP server that isn't defined")
		}
		if def.Server.URL != "" {
			s.env.hideVariables(def, s.hide)
			if at, err := url.Parse(s.env.endpoint(def.Server)); err == nil {
				s.hide.KeepUser(at.User)
			}
		}
		key := fmt.Sprintf("%q %q %q %#v %q %q %q", def.Server.Name, def.Server.URL, def.Server.Headers, def.Argv,
			def.Env, def.Inherit, def.Dir)
		if s.servers[key] == nil {
			s.servers[key] = &server{peer: peer{program: b.program()}, of: def.Server}
			s.closers = append(s.closers, s.servers[key].close)
		}
		return &tool{s.servers[key], b}, nil
	},
	missing: func(a *plan.Activity, at source.Span, files plan.Files, tell telling) {
		if a.Server != nil && a.Server.URL == "" { // one that isn't defined was reported
			missingProgram(a, at, files, tell)
		}
	},
})

type tool struct {
	*server
	activity base
}

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
	var no *errStatus
	if errors.As(err, &no) {
		return s.refused(c, what, no)
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
	decode := func(text []byte) (any, error) { return s.decode(text, maxDepth) }
	if s.of.URL != "" {
		c.remote = s.address()
		c.session = mcp.New(c.over, c.remote.send, decode)
		c.remote.session = c.session
	} else {
		c.session = mcp.New(c.over, func(_ context.Context, text []byte, _ bool) error {
			c.put(func() []byte { return text })
			return nil
		}, decode)
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

// A listing is what a server lists as its tools, and what of that is refused.
type listing struct {
	tools   []catalogue.Tool
	refused []RefusedTool
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
	if c.session.Changed() || c.listed == nil {
		if c.listed, err = t.list(ctx, c); err != nil {
			return err
		}
	}
	why := Changed(recorded.Tool(name), name, c.listed.tools, c.listed.refused)
	if why == "" {
		return nil
	}
	where := ""
	if at := recorded.Node.Span(); at.Known() {
		where = at.Where() + ": "
	}
	return t.fault(CodeDrifted, "OB610: %s%v isn't what was imported: %s", where, t, brief(why))
}

// list is nil if there is an error.
func (s *server) list(ctx context.Context, c *contact) (*listing, error) {
	ctx, cancel := within(ctx, startTime)
	defer cancel()
	tools, odd, err := c.session.Tools(ctx)
	var refused *mcp.Refusal
	what := fmt.Sprintf("the MCP server %q doesn't list its tools", s.of.Name)
	switch {
	case err == nil:
		return &listing{tools, odd}, nil
	case errors.As(err, &refused):
		return nil, s.fault(CodeBadOutput, "%s: %s", what, brief(refused.Message))
	case ctx.Err() == nil:
		return nil, s.ended(c, what, err)
	}
	return nil, s.fault(s.interrupted(ctx).Code, "%s: it %v", what, context.Cause(ctx))
}
