package activity

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/runtime/web"
)

// startTime is how long an MCP server may take until it has begun a session, where its
// definition doesn't say: it may have to be compiled or fetched first.
const startTime = time.Minute

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
	go func() { ended(t.put(ctx, r)) }()
}

func (t *tool) put(ctx context.Context, r Request) (Result, error) {
	c, err := t.contact(ctx)
	if err != nil {
		return none, err
	}
	params, err := encode(r.input())
	if err != nil {
		return t.activity.fail(CodeError, "has parameters that can't be written as JSON: %v", err)
	}
	ctx, cancel := within(ctx, t.activity.def.Timeout)
	defer cancel()
	if err = t.held(ctx, c); err != nil {
		return none, err
	}
	came, err := t.ask(ctx, c, "tools/call", object{"name": t.activity.def.Remote, "arguments": jsontext.Value(params)})
	var refused *refusal
	switch {
	case err == nil:
		return t.result(came, r)
	case errors.As(err, &refused) && refused.Code != 0:
		f := t.fault(CodeError, "%v was refused: %s (%d)", t, brief(refused.Message), refused.Code)
		f.Details = object{"code": float64(refused.Code)}
		return none, f
	case errors.As(err, &refused):
		return none, t.noResult(refused)
	case ctx.Err() != nil:
		return none, t.activity.interrupted(ctx)
	}
	return none, t.ended(c, t.String()+" hasn't answered", err)
}

func (t *tool) noResult(why error) error {
	return t.fault(CodeBadOutput, "%v has answered with what is no result: %v", t, why)
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
func (t *tool) result(came []byte, r Request) (Result, error) {
	value, err := t.decode(came, maxDepth)
	answer, isObject := value.(object)
	content, isList := answer["content"].([]any)
	structure := answer["structuredContent"]
	switch {
	case err != nil:
		return none, t.noResult(err)
	case !isObject:
		return none, t.noResult(errors.New("it is no mapping"))
	case answer["inputRequests"] != nil:
		return none, t.noResult(errors.New("it asks for more before it answers, which nobody here can give"))
	case !isList && structure == nil:
		return none, t.noResult(errors.New("it has neither \"structuredContent\" nor a list \"content\""))
	}
	var texts []string
	for _, item := range content {
		block, _ := item.(object)
		if text, ok := block["text"].(string); ok && block["type"] == "text" {
			texts = append(texts, text)
		}
	}
	text := strings.Join(texts, "\n")
	switch failed := answer["isError"]; {
	case failed != nil && failed != false:
		if strings.TrimSpace(text) == "" {
			text = t.String() + " failed and gave no message"
		}
		return none, &Failure{Code: CodeError, Message: t.hide.Message(text), Details: structure}
	case structure != nil:
		return Take(structure, r, t.activity.name)
	case len(texts) < len(content):
		return Take(content, r, t.activity.name)
	case r.Unread:
		return none, nil
	case r.Output == nil || r.Output.Kinds()&schema.String != 0:
		return Result{Value: text, Route: -1}, nil
	}
	if value, err = t.decode([]byte(text), maxDepth); err != nil {
		return none, t.fault(CodeBadOutput,
			"%v must answer with structured content, or with text that is one JSON value, as the "+
				"result is no text: %v%s", t, err, t.excerpt([]byte(text)))
	}
	return Take(value, r, t.activity.name)
}

// contact is the session for a call that is put now: the one that there is, or a new one.
func (s *server) contact(ctx context.Context) (*contact, error) {
	c := s.reach(s.begin)
	select {
	case <-c.ready:
		return c, c.err
	case <-ctx.Done():
		return nil, s.interrupted(ctx)
	}
}

// begin starts or reaches the server and begins a session.
func (s *server) begin(c *contact) error {
	if s.of.URL == "" {
		err := s.launch(c, func(line []byte) (err error) {
			if len(bytes.TrimSpace(line)) > 0 {
				_, err = s.receive(c, line)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	ctx, cancel := within(s.over, cmp.Or(s.of.Timeout, startTime))
	defer cancel()
	err := s.initialize(ctx, c)
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		err = fmt.Errorf("it %v to begin a session: it hasn't answered what every MCP server is asked first "+
			"(\"initialize\")", context.Cause(ctx))
	}
	return s.ended(c, fmt.Sprintf("the MCP server %q can't be used", s.of.Name), err)
}

// Tools is what an MCP server lists as its tools, by name. The server is started or reached for it, and ended; its
// folder is as this process sees it.
func Tools(ctx context.Context, of *plan.Server, o Options) (map[string]ListedTool, error) {
	def := of.Activity
	def.Kind, def.Server = "mcp", of
	set, err := Open(map[string]*plan.Activity{of.Name: &def}, nil, o)
	if err != nil {
		return nil, err
	}
	defer set.Close()
	s := set.byName[of.Name].(*tool).server
	c, err := s.contact(ctx)
	if err != nil {
		return nil, err
	}
	return s.list(ctx, c)
}

// list asks a server for its tools.
func (s *server) list(ctx context.Context, c *contact) (map[string]ListedTool, error) {
	ctx, cancel := within(ctx, startTime)
	defer cancel()
	all, err := s.pages(ctx, c)
	var refused *refusal
	what := fmt.Sprintf("the MCP server %q doesn't list its tools", s.of.Name)
	switch {
	case err == nil:
		return all, nil
	case errors.As(err, &refused):
		return nil, s.fault(CodeBadOutput, "%s: %s", what, brief(refused.Message))
	case ctx.Err() == nil:
		return nil, s.ended(c, what, err)
	}
	return nil, s.fault(s.interrupted(ctx).Code, "%s: it %v", what, context.Cause(ctx))
}

// held is why a call may not be put to a server: its tool isn't what is recorded any more. A run has looked before its
// first call; since then the server may have begun anew, or said that its tools are others. It is asked for its tools
// once, and again when it says that they changed.
func (t *tool) held(ctx context.Context, c *contact) (err error) {
	lock, name := t.of.Lock, t.activity.def.Remote
	if lock == nil {
		return nil
	}
	c.listing.Lock()
	defer c.listing.Unlock()
	t.mu.Lock()
	if c.session.changed {
		c.session.changed, c.tools = false, nil
	}
	t.mu.Unlock()
	if c.tools == nil {
		if c.tools, err = t.list(ctx, c); err != nil {
			return err
		}
	}
	why := ""
	switch listed, recorded := c.tools[name], lock.Tool(name); {
	case listed.Refused != "":
		why = "it is refused: " + listed.Refused
	case listed.Name == "":
		why = "the server doesn't list it"
	case recorded == nil:
		why = "it isn't recorded"
	case recorded.Digest != listed.Digest || !maps.Equal(recorded.Hints, listed.Hints):
		why = "its description, hints or schemas have changed"
	default:
		return nil
	}
	return t.fault(CodeDrifted, "OB610: %s%v isn't what was imported: %s", placed(lock.Node.Span()), t, brief(why))
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
		c, err := t.contact(ctx)
		if err == nil {
			err = t.held(ctx, c)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
