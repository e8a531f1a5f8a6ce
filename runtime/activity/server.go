package activity

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
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

// A server is an MCP server, which is started or reached for the first call that needs it, and serves all calls of the
// set over one session. After it has died or was killed it is started anew for the next call.
type server struct {
	program
	of     *plan.Server
	client *http.Client // of a server at an address

	turns turns // of calls until they are on their way: they go in the order of the plan
	mu    sync.Mutex
	now   *contact
}

var _ = register("mcp", kind{
	open: func(s *Set, name string, def *plan.Activity) (starter, error) {
		if def.Server == nil {
			return nil, fmt.Errorf("activity %q is of an MCP server that isn't defined", name)
		}
		client := s.client
		if def.Server.URL != "" {
			s.env.hideVariables(def, s.hide)
			client = s.web()
			if at, err := url.Parse(s.env.endpoint(def.Server)); err == nil {
				learnUser(at.User, s.hide)
			}
		}
		key := fmt.Sprintf("%q %q %q %#v %q %q %q", def.Server.Name, def.Server.URL, def.Server.Headers, def.Argv,
			def.Env, def.Inherit, def.Dir)
		if s.servers[key] == nil {
			s.servers[key] = &server{program: s.program(name, def), of: def.Server, client: client}
			s.closers = append(s.closers, s.servers[key].close)
		}
		return &tool{s.servers[key], name, def}, nil
	},
	missing: func(a *plan.Activity, at source.Span, files plan.Files, tell telling) {
		if a.Server != nil && a.Server.URL == "" { // one that isn't defined was reported
			missingProgram(a, at, files, tell)
		}
	},
})

type contact struct {
	ready   chan struct{} // closed when there is one, or can't be
	session *mcp.Session
	err     *Failure
	p       *process        // nil where it is at an address
	lines   *mcp.Lines      // its standard streams
	over    context.Context // done when it is of no use any more
	end     context.CancelCauseFunc

	// What the server has listed, if it has; for the call whose turn it is.
	asked   bool
	listed  []catalogue.Tool
	refused []RefusedTool
}

func (c *contact) lost() bool {
	select {
	case <-c.ready:
		return c.over.Err() != nil || c.err != nil
	default:
		return false
	}
}

type tool struct {
	*server
	activity string
	def      *plan.Activity
}

func (t *tool) String() string {
	return fmt.Sprintf("the tool %q of the MCP server %q", t.def.Remote, t.of.Name)
}

// start puts a call to the server, after those that were put to it before, and waits for its answer in a goroutine.
func (t *tool) start(ctx context.Context, r Request, ended func(Result, error)) {
	before, mine := t.turns.next()
	c := t.reach()
	go func() { ended(t.run(ctx, c, r, before, sync.OnceFunc(func() { close(mine) }))) }()
}

func (t *tool) run(ctx context.Context, c *contact, r Request, before <-chan struct{}, sent func()) (Result, error) {
	defer func() { // those behind wait for those before, whatever becomes of this one
		go func() {
			<-before
			sent()
		}()
	}()
	params, err := encode(r.input())
	if err != nil {
		return fail(CodeError, "the parameters of activity %q can't be written as JSON: %v", t.activity, err)
	}
	if err := c.wait(ctx, t.activity); err != nil {
		return none, err
	}
	select {
	case <-before:
	case <-ctx.Done():
		return none, interrupted(ctx, t.activity)
	}
	if limit := t.def.Timeout; limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, limit, errOverdue{limit})
		defer cancel()
	}
	if err := t.held(ctx, c); err != nil {
		return none, err
	}
	call := mcp.Call{Tool: t.def.Remote, Params: json.RawMessage(params), Sent: sent}
	answer, err := c.session.Call(ctx, call)
	if err != nil {
		return none, t.failure(ctx, c, err)
	}
	return t.result(answer, r)
}

func (t *tool) failure(ctx context.Context, c *contact, err error) error {
	var refused *mcp.Refusal
	var ours *Failure
	switch {
	case errors.As(err, &ours):
		return ours
	case errors.As(err, &refused) && refused.Code != 0:
		f := t.fault(CodeError, "%v was refused: %s (%d)", t, brief(refused.Message), refused.Code)
		f.Details = map[string]any{"code": float64(refused.Code)}
		return f
	case errors.As(err, &refused):
		return t.fault(CodeBadOutput, "%v has answered with what is no result: %s", t, refused.Message)
	case ctx.Err() != nil:
		return interrupted(ctx, t.activity)
	}
	return t.ended(c, t.String()+" hasn't answered", err)
}

func (s *server) fault(code, format string, args ...any) *Failure {
	return &Failure{Code: code, Message: s.hide.Message(fmt.Sprintf(format, args...))}
}

// ended is the failure of what a server was at when it was lost: it says why, and the end
// of what the server has written to stderr.
func (s *server) ended(c *contact, what string, err error) *Failure {
	if c.p == nil {
		var no *errStatus
		if errors.As(err, &no) {
			return s.refused(c, what, no)
		}
		c.end(nil) // the next call begins anew
		if s.over.Err() != nil {
			return s.isClosed()
		}
		why := brief(mcp.Plain(web.Cause(err)))
		if lost := (*web.Lost)(nil); errors.As(err, &lost) {
			why = "its connection broke, and what was asked may have arrived: " + why
		}
		return s.fault(CodeError, "%s: %s", what, why)
	}
	code, why := CodeError, ""
	cause := context.Cause(c.over)
	closed := cause == nil || errors.Is(cause, context.Canceled)
	switch {
	case !closed && !errors.Is(cause, mcp.ErrEnded):
		code = CodeBadOutput
		c.p.kill()
		why = cause.Error()
		var garbled *mcp.Garbled
		if errors.As(cause, &garbled) {
			why += s.excerpt(garbled.Line)
		}
		why += "; it was killed"
	case closed && s.over.Err() == nil:
		why = err.Error()
		c.p.end(s.grace)
	}
	c.p.finish(drain, s.grace)
	if s.over.Err() != nil {
		return s.isClosed()
	}
	if why == "" {
		why = "the server has ended (" + c.p.ending() + ")"
	}
	stderr := c.p.stderr.text(s.hide)
	return &Failure{Code: code, Message: s.hide.Message(what+": "+why) + saying(stderr), Details: c.p.details(stderr)}
}

func (s *server) isClosed() *Failure {
	return &Failure{Code: CodeCancelled, Message: fmt.Sprintf("the MCP server %q was ended: %v", s.of.Name, errClosed)}
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
		return route(a.Structured, r, t.activity, "")
	case a.Content != nil:
		return route(a.Content, r, t.activity, "")
	case r.Unread:
		return none, nil
	case r.Output == nil || r.Output.Kinds()&schema.String != 0:
		return Result{Value: a.Text, Route: -1}, nil
	}
	value, err := decode([]byte(a.Text), maxDepth, t.hide)
	if err != nil {
		return fail(CodeBadOutput,
			"%v must answer with structured content, or with text that is one JSON value, as the "+
				"result is no text: %v%s", t, err, t.excerpt([]byte(a.Text)))
	}
	return route(value, r, t.activity, "")
}

// reach is the session for a call that is put now: the one that there is, or a new one.
func (s *server) reach() *contact {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now != nil && !s.now.lost() {
		return s.now
	}
	before := s.now
	s.now = &contact{ready: make(chan struct{})}
	s.now.over, s.now.end = context.WithCancelCause(context.Background())
	go s.begin(s.now, before)
	return s.now
}

// begin starts the server and begins a session. The process before it, if it is still
// dying, is waited for: two at once might be in each other's way.
func (s *server) begin(c, before *contact) {
	defer close(c.ready)
	if before != nil && before.p != nil {
		before.p.finish(0, s.grace)
	}
	limit := cmp.Or(s.of.Timeout, startTime)
	ctx, cancel := context.WithTimeoutCause(s.over, limit, errOverdue{limit})
	defer cancel()
	c.err = s.connect(ctx, c)
	if c.err != nil && s.over.Err() != nil {
		c.err = s.isClosed()
	}
}

func (s *server) connect(ctx context.Context, c *contact) (failure *Failure) {
	by := sdk.Transport(nil)
	if s.of.URL != "" {
		by = s.address()
	} else if by, failure = s.launch(c); failure != nil {
		return failure
	}
	session, err := mcp.Begin(ctx, by, func(text []byte) (any, error) { return decode(text, maxDepth, s.hide) })
	switch {
	case err == nil:
		if way, ok := by.(*sdk.StreamableClientTransport); ok {
			way.HTTPClient.Transport.(*dressed).version.Store(session.Version())
		}
		c.session = session
		return nil
	case ctx.Err() != nil && s.over.Err() == nil:
		err = fmt.Errorf("it %v to begin a session: it hasn't answered what every MCP server is asked first "+
			"(\"initialize\")", context.Cause(ctx))
	}
	return s.ended(c, fmt.Sprintf("the MCP server %q can't be used", s.of.Name), err)
}

func (s *server) launch(c *contact) (sdk.Transport, *Failure) {
	c.lines = mcp.NewLines(c.over, c.end, maxOutput+envelope)
	argv, _ := kinds.Arguments(s.def, nil, s.env.get) // it takes no parameters
	p, err := s.program.launch(argv, nil, c.lines.Take)
	if err != nil {
		return nil, cannotStart(fmt.Sprintf("the MCP server %q can't be started:", s.of.Name), argv[0], err)
	}
	c.p = p
	go c.lines.Give(p.stdin, p.done)
	return c.lines, nil
}

func (s *server) close() {
	s.mu.Lock()
	c := s.now
	s.mu.Unlock()
	if c == nil {
		return
	}
	<-c.ready
	switch {
	case c.p != nil:
		c.lines.Close()
		c.p.stdin.Close()
		c.p.finish(drain, s.grace)
	case c.session != nil: // with a server at an address, which may not answer any more
		left := make(chan struct{})
		go func() {
			c.session.Close()
			close(left)
		}()
		isOver(left, s.grace)
	}
}

// session is the session for a call that is put now.
func (s *server) session(ctx context.Context) (*contact, error) {
	c := s.reach()
	return c, c.wait(ctx, s.name)
}

// wait waits until there is a session, for an activity.
func (c *contact) wait(ctx context.Context, name string) error {
	select {
	case <-c.ready:
	case <-ctx.Done():
		return interrupted(ctx, name)
	}
	if c.err != nil {
		return c.err
	}
	return nil
}

// held is why a call may not be put to a server: its tool isn't what is recorded any more. A run has looked before its
// first call; since then the server may have begun anew, or said that its tools are others. It is asked for its tools
// once, and again when it says that they changed.
func (t *tool) held(ctx context.Context, c *contact) error {
	recorded, name := t.of.Lock, t.def.Remote
	if recorded == nil {
		return nil
	}
	if c.session.Changed() || !c.asked {
		c.asked = false
		listed, refused, err := t.list(ctx, c)
		if err != nil {
			return err
		}
		c.asked, c.listed, c.refused = true, listed, refused
	}
	why := Changed(recorded.Tool(name), name, c.listed, c.refused)
	if why == "" {
		return nil
	}
	where := ""
	if at := recorded.Node.Span(); at.Known() {
		where = at.Where() + ": "
	}
	return t.fault(CodeDrifted, "OB610: %s%v isn't what was imported: %s", where, t, brief(why))
}

func (s *server) list(ctx context.Context, c *contact) ([]catalogue.Tool, []RefusedTool, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, startTime, errOverdue{startTime})
	defer cancel()
	tools, odd, err := c.session.Tools(ctx)
	var refused *mcp.Refusal
	what := fmt.Sprintf("the MCP server %q doesn't list its tools", s.of.Name)
	switch {
	case err == nil:
		return tools, odd, nil
	case errors.As(err, &refused):
		err = s.fault(CodeBadOutput, "%s: %s", what, brief(refused.Message))
	case ctx.Err() == nil:
		err = s.ended(c, what, err)
	default:
		err = &Failure{Code: interrupted(ctx, s.name).Code, Message: fmt.Sprintf("%s: it %v", what, context.Cause(ctx))}
	}
	return nil, nil, err
}
