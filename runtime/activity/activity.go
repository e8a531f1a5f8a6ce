// Package activity carries calls out: programs, workers, requests over HTTP, expressions and Go functions. It knows
// nothing of plans, state or retries; it turns a tool's parameters into one JSON value, or into a [Failure] that says
// what went wrong in words fit for a person and for a plan's failure route.
//
// What an activity gives back is data from outside. It is read strictly and within bounds: one JSON value, at most 8
// MiB, 100 levels deep and two million values, valid UTF-8 without NUL and without a key given twice. Numbers are
// float64, and one that would lose digits as such is refused; a tool that means an identifier writes a string.
//
// Of our own environment a program gets PATH, HOME, LANG, TMPDIR and what its definition asks for. Values of variables
// whose names say that they are secret, and those that a definition takes as {$NAME}, are replaced in everything that
// an activity hands over, messages included.
package activity

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/hosts"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/redact"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/web"
)

// A Request is one try of one call.
type Request struct {
	Tool    string         // the tool's name; a worker learns it
	Call    string         // the call's name, for people
	Attempt int            // 1 for the first try
	Params  map[string]any // resolved parameters, as JSON values
	Paths   []string       // the alternatives that the call offers, as text: "†state.receipt", "†state.a && †state.b"
	// Unread reports that the call has no result: its tool has no _output, and it has no _outputPath.
	Unread bool
	// Output is what the call's tool says of the result; nil is nothing. An MCP server's
	// text is JSON where that admits no text.
	Output *schema.Schema
	// Context is what the call's scopes hand on, each value under its kind; nil for a call without scopes. A program
	// finds it beside its parameters, as "_context", and a worker beside "params", as "context".
	Context map[string]any
	// Budget is what an expression shares with the others of its run; nil is without bound.
	Budget *Budget
}

// RequestOf is the try of a call that a command starts.
func RequestOf(c runtime.Command, budget *Budget) Request {
	r := Request{Tool: c.Of.ToolName, Call: c.Of.Name, Attempt: c.Attempt, Params: c.Params, Context: c.Context,
		Paths: compiler.Offered(c.Plan, c.Of), Budget: budget}
	if c.Of.Tool != nil {
		r.Output = c.Of.Tool.Output
	}
	r.Unread = r.Output == nil && len(compiler.RepeatedCall(c.Of).Output) == 0
	return r
}

// Of is the name under which an activity of a plan is opened and run: that of a delegate has its plan's path before its
// own, since each plan names its activities for itself.
func Of(delegate, name string) string {
	if delegate == "" {
		return name
	}
	return delegate + "#" + name
}

// Used are the activities that calls of a plan name, by the names under which they are opened ([Of]).
func Used(p *plan.Plan) map[string]bool {
	used := map[string]bool{}
	for _, call := range p.Calls {
		used[call.Activity] = true
	}
	for path, plan := range p.AllDelegates() {
		for _, call := range plan.Calls {
			used[Of(path, call.Activity)] = true
		}
	}
	return used
}

// A Result is what a call gave back.
type Result struct {
	// a JSON value: nil, bool, float64, string, []any or map[string]any; never changed afterwards, and not to be
	Value any
	Route int // the index in Request.Paths of the alternative that the activity named, or -1
	Steps int // what an expression took, as its run's budget counts it
	Made  int // and the bytes of the values that it made
}

// The codes of failures that this package makes. A worker may use its own.
const (
	CodeError     = "error"          // the activity said no, or died
	CodeTimeout   = "timeout"        // it took too long
	CodeBadOutput = "bad-output"     // what it gave back isn't what it may give back
	CodeDrifted   = "drifted-server" // an MCP server's tool isn't what was locked (OB610)
	CodeLimit     = "limit"          // the expressions of the run take more than they may together
	CodeCancelled = "cancelled"      // the run was stopped, or the set closed
)

// A Failure is a runtime error: what a failure route is given. Its code is one of the Code constants, or the worker's
// own.
type Failure = runtime.Failure

// End has the event of an ended attempt hold what the attempt came to.
func (r Result) End(e *runtime.Event, err error) {
	e.Value, e.Route, e.Steps, e.Made = r.Value, r.Route, r.Steps, r.Made
	if err != nil {
		e.Value, e.Failure = nil, &Failure{Code: CodeError, Message: err.Error()}
		errors.As(err, &e.Failure)
	}
}

var none = Result{Route: -1}

// A base is what each activity has, and what it shares with the others of its set.
type base struct {
	*common
	name string
	def  *plan.Activity
}

// hideVariables makes secret what the definition takes of the environment.
func (b *base) hideVariables() {
	for _, v := range b.def.Variables {
		b.hide.Keep(v.Name, b.env[v.Name])
	}
}

// common is what the activities of a set share.
type common struct {
	options   Options
	env       environment // ours, by name
	hide      *redact.Set
	over      context.Context // done when the set is closed
	transport *web.Transport
}

// fault is a failure, without secrets.
func (c *common) fault(code, format string, args ...any) *Failure {
	return &Failure{Code: code, Message: c.hide.Message(fmt.Sprintf(format, args...))}
}

// failure is one of the activity, which the message begins with.
func (b *base) failure(code, format string, args ...any) *Failure {
	return b.fault(code, "activity %q %s", b.name, fmt.Sprintf(format, args...))
}

// fail is the end of a try that has failed.
func (b *base) fail(code, format string, args ...any) (Result, error) {
	return none, b.failure(code, format, args...)
}

func (b *base) interrupted(ctx context.Context) *Failure { return interrupted(ctx, b.name) }

// A starter begins one try of an activity, in the order in which it is asked, and
// returns. Another goroutine calls ended, once, when the try has ended.
type starter interface {
	start(ctx context.Context, r Request, ended func(Result, error))
}

type environment map[string]string

func readEnvironment(environ []string) environment {
	e := make(environment, len(environ))
	for _, pair := range environ {
		if name, value, ok := strings.Cut(pair, "="); ok {
			e[name] = value
		}
	}
	return e
}

func (e environment) get(name string) string { return e[name] }

// A Func is an activity that an embedding program registers. It must return soon after ctx is done: a run waits for it
// no longer than the grace time. Its value is a JSON value, or anything that encodes as one, or a map of exactly
// "_outputPath" and "_output" to name an alternative. Its error becomes a [Failure] of code "error", unless it is one,
// or wraps one.
type Func func(ctx context.Context, r Request) (any, error)

// Options tune a [Set]; the zero value is ready to use.
type Options struct {
	// Grace is how long something that was asked to end may take before it is killed; 0 means 5 s.
	Grace time.Duration
	// Environ is the environment that programs are given a part of, as "NAME=value"; nil means this process's own.
	Environ []string
	// Used are the activities that may be called, so that what their definitions take of the environment has to be
	// there; nil means that any may. See [Used].
	Used map[string]bool
	// Unchanged, if given, is asked right before each start of a program whether the files
	// of an activity and the program that was found for it are what was approved, and gives
	// the digest of the program; "" of one that lies outside of the workspace.
	Unchanged func(activity, program string) (digest string, err error)
	// Hosts are where requests may go.
	Hosts hosts.Rules
}

// A Set is the activities of one run. Its methods may be called from many goroutines at once.
type Set struct {
	*common
	byName  map[string]starter
	closers []func()           // of workers and servers
	servers map[string]*server // by what they are

	mu      sync.Mutex
	end     context.CancelFunc
	running sync.WaitGroup
}

var errClosed = errors.New("the activities are closed")

// Open makes the activities of a run. A function in funcs takes the place of a definition with its name; a plan has
// none here, since it is no activity's to run. No process is started yet: a program that is missing fails the call that
// needs it. The error names an activity that this version can't carry out, or that takes what the environment doesn't
// have.
func Open(defs map[string]*plan.Activity, funcs map[string]Func, o Options) (*Set, error) {
	if o.Grace <= 0 {
		o.Grace = 5 * time.Second
	}
	if o.Environ == nil {
		o.Environ = os.Environ()
	}
	s := &Set{byName: make(map[string]starter, len(defs)+len(funcs)), servers: map[string]*server{}, common: &common{
		options: o, env: readEnvironment(o.Environ), hide: &redact.Set{}, transport: web.NewTransport(o.Hosts)}}
	s.over, s.end = context.WithCancel(context.Background())
	s.hide.Environment(o.Environ)
	for name, run := range funcs {
		s.byName[name] = &function{base{s.common, name, nil}, run}
	}
	for _, name := range slices.Sorted(maps.Keys(defs)) {
		def := defs[name]
		kind, known := registered[def.Kind]
		switch {
		case s.byName[name] != nil || known && kind.open == nil:
			continue
		case !known:
			return nil, fmt.Errorf("activity %q is of kind %s, which this version cannot run yet", name, def.Kind)
		}
		var lacks error
		if s.mayUse(name) {
			lacking(def, o.Hosts, s.env, func(what, help string, at source.Span) {
				lacks = cmp.Or(lacks,
					fmt.Errorf("%sthe activity %q can't be run: %s; %s", placed(at), name, what, help))
			})
		}
		if lacks != nil {
			return nil, lacks
		}
		a, err := kind.open(s, base{s.common, name, def})
		if err != nil {
			return nil, err
		}
		s.byName[name] = a
	}
	return s, nil
}

// placed is how a message begins that is about a place.
func placed(at source.Span) string {
	if !at.Known() {
		return ""
	}
	return at.Where() + ": "
}

// A kind is how activities of one of [compiler.Kinds] are carried out.
type kind struct {
	// open makes what carries calls out. It is nil of what the machine runs itself.
	open func(s *Set, b base) (starter, error)
	// missing tells what this machine lacks for it, besides variables of the environment; nil lacks nothing.
	missing func(a *plan.Activity, at source.Span, files plan.Files, tell telling)
}

var registered = map[string]kind{}

func register(name string, k kind) bool {
	registered[name] = k
	return true
}

var _ = register("plan", kind{})

// mayUse reports whether an activity may be called.
func (s *Set) mayUse(name string) bool { return s.options.Used == nil || s.options.Used[name] }

// Start begins one try of a call and returns. When the try has ended, ended is called, once, in another goroutine. Once
// ctx is done, or the function that Start returns was called, what runs is asked to end and killed after the grace
// time; it then has a Failure of code "timeout" or "cancelled". An error that isn't a [*Failure] means that no such
// activity exists.
func (s *Set) Start(ctx context.Context, name string, r Request, ended func(Result, error)) context.CancelFunc {
	refuse := func(err error) context.CancelFunc {
		go ended(none, err)
		return func() {}
	}
	a := s.byName[name]
	if a == nil {
		return refuse(fmt.Errorf("there is no activity %q", name))
	}
	if ctx.Err() != nil {
		return refuse(interrupted(ctx, name))
	}
	s.mu.Lock()
	if s.over.Err() != nil {
		s.mu.Unlock()
		return refuse(s.fault(CodeCancelled, "%v", errClosed))
	}
	s.running.Add(1)
	s.mu.Unlock()
	ctx, cancel := context.WithCancelCause(ctx)
	forget := context.AfterFunc(s.over, func() { cancel(errClosed) })
	a.start(ctx, r, func(result Result, err error) {
		forget()
		cancel(nil)
		s.running.Done()
		ended(result, err)
	})
	return func() { cancel(nil) }
}

// Close ends what still runs: calls are cancelled, workers are stopped by the end of their input, and what hasn't ended
// after the grace time is killed. It waits for all of them, and may be called again.
func (s *Set) Close() error {
	s.mu.Lock()
	s.end()
	s.mu.Unlock()
	var all sync.WaitGroup
	for _, end := range s.closers {
		all.Go(end)
	}
	all.Wait()
	s.running.Wait()
	s.transport.CloseIdleConnections()
	return nil
}

type errOverdue struct{ limit time.Duration }

func (e errOverdue) Error() string { return fmt.Sprintf("took longer than its timeout of %s", e.limit) }

// within is a context that ends after a time; 0 is without a limit.
func within(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	if limit <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, limit, errOverdue{limit})
}

func interrupted(ctx context.Context, name string) *Failure {
	cause := context.Cause(ctx)
	code, why := CodeCancelled, "was cancelled"
	switch overdue := (errOverdue{}); {
	case errors.As(cause, &overdue):
		code, why = CodeTimeout, overdue.Error()
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		code, why = CodeTimeout, "ran out of time"
	case errors.Is(cause, errClosed):
		why += ": " + errClosed.Error()
	}
	return &Failure{Code: code, Message: fmt.Sprintf("activity %q %s", name, why)}
}
