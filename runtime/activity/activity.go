// Package activity carries calls out: programs, workers, expressions and Go
// functions (S2.3). It knows nothing of plans, state or retries; it turns a
// tool's parameters into one JSON value, or into a [Failure] that says what
// went wrong in words fit for a person and for a plan's failure route (S9.2).
//
// What an activity gives back is data from outside. It is read strictly and
// within bounds: one JSON value, at most 8 MiB, 100 levels deep and two million
// values, valid UTF-8 without NUL and without a key given twice. Numbers are
// float64, so an integer beyond 2^53 is rounded as JavaScript would; a tool
// that means an identifier writes a string. Values of environment variables
// whose names say that they are secret are replaced in everything that an
// activity hands over, messages included (S11.9).
package activity

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/obelus-dev/obelus/compiler"
)

// A Request is one try of one call.
type Request struct {
	Tool    string         // the tool's name; a worker learns it
	Call    string         // the call's name (S3.2), for people
	Attempt int            // 1 for the first try
	Params  map[string]any // resolved parameters, as JSON values
	Paths   []string       // the alternatives that the call offers, as text: "†state.receipt", "†state.a && †state.b"
}

// A Result is what a call gave back.
type Result struct {
	Value any // a JSON value: nil, bool, float64, string, []any or map[string]any; never changed afterwards, and not to be
	Route int // the index in Request.Paths of the alternative that the activity named, or -1
}

// The codes of failures that this package makes. A worker may use its own.
const (
	CodeError     = "error"      // the activity said no, or died
	CodeTimeout   = "timeout"    // it took too long
	CodeBadOutput = "bad-output" // what it gave back isn't what it may give back
	CodeCancelled = "cancelled"  // the run was stopped, or the set closed
)

// A Failure is a runtime error (S9.1): what a failure route is given.
type Failure struct {
	Code    string // one of the Code constants, or the worker's own
	Message string
	Details any // a JSON value; nil when there are none
}

func (f *Failure) Error() string { return f.Message }

// An Activity is one implementation of a tool. Run may be called from many
// goroutines at once. Its error is a [*Failure] for whatever a plan may handle.
type Activity interface {
	Run(ctx context.Context, r Request) (Result, error)
}

// A Func is an activity that an embedding program registers. It must return
// soon after ctx is done: a run waits for it no longer than the grace time.
// Its value is a JSON value, or anything that encodes as one, or a map of
// exactly "_outputPath" and "_output" to name an alternative. Its error becomes
// a [Failure] of code "error", unless it is one, or wraps one.
type Func func(ctx context.Context, r Request) (any, error)

// Options tune a [Set]; the zero value is ready to use.
type Options struct {
	// Grace is how long something that was asked to end may take before it is
	// killed; 0 means 5 s.
	Grace time.Duration
	// Environ is the environment of programs, as "NAME=value"; nil means this
	// process's own.
	Environ []string
	// Secrets are further values that nothing an activity hands over may hold.
	Secrets []string
}

// A Set is the activities of one run. Its methods may be called from many
// goroutines at once.
type Set struct {
	byName map[string]Activity
	base   context.Context // done when the set is closed
	cancel context.CancelCauseFunc

	mu      sync.Mutex
	closed  bool
	running sync.WaitGroup
}

var errClosed = errors.New("the activities are closed")

// Open makes the activities of a run. A function in funcs takes the place of a
// definition with its name. No process is started yet: a program that isn't
// there fails the call that needs it. The error names an activity that this
// version can't carry out.
func Open(defs map[string]*compiler.Activity, funcs map[string]Func, o Options) (*Set, error) {
	if o.Grace <= 0 {
		o.Grace = 5 * time.Second
	}
	if o.Environ == nil {
		o.Environ = os.Environ()
	}
	hide := newVeil(o.Environ, o.Secrets)
	s := &Set{byName: make(map[string]Activity, len(defs)+len(funcs))}
	for name, run := range funcs {
		s.byName[name] = &function{name, run, o.Grace, hide}
	}
	for _, name := range slices.Sorted(maps.Keys(defs)) {
		if s.byName[name] != nil {
			continue
		}
		a, err := open(name, defs[name], o, hide)
		if err != nil {
			return nil, err
		}
		s.byName[name] = a
	}
	s.base, s.cancel = context.WithCancelCause(context.Background())
	return s, nil
}

func open(name string, def *compiler.Activity, o Options, hide *veil) (Activity, error) {
	switch def.Kind {
	case "exec":
		if len(def.Argv) == 0 {
			return nil, fmt.Errorf("activity %q has an empty argv: expected a program and its arguments", name)
		}
		p := program{name: name, argv: def.Argv, dir: def.Dir, timeout: def.Timeout, environ: o.Environ, grace: o.Grace, hide: hide}
		if def.Worker {
			return &worker{program: p}, nil
		}
		return &p, nil
	case "expr":
		return &code{name, def.Expression}, nil
	case "go":
		return nil, fmt.Errorf("activity %q is a Go function that this program doesn't register", name)
	default:
		return nil, fmt.Errorf("activity %q is of kind %s, which this version cannot run yet", name, def.Kind)
	}
}

// Has tells whether there is an activity of this name.
func (s *Set) Has(name string) bool { return s.byName[name] != nil }

// Run carries one try of a call out and waits for its end. When ctx is done it
// asks what runs to end, kills it after the grace time, and returns a Failure
// of code "timeout" or "cancelled". An error that isn't a [*Failure] means that
// no such activity exists.
func (s *Set) Run(ctx context.Context, name string, r Request) (Result, error) {
	a := s.byName[name]
	if a == nil {
		return Result{Route: -1}, fmt.Errorf("there is no activity %q", name)
	}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return Result{Route: -1}, &Failure{Code: CodeCancelled, Message: errClosed.Error()}
	}
	s.running.Add(1)
	s.mu.Unlock()
	defer s.running.Done()

	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stop := context.AfterFunc(s.base, func() { cancel(errClosed) })
	defer stop()
	if ctx.Err() != nil {
		return Result{Route: -1}, interrupted(ctx, name)
	}
	return a.Run(ctx, r)
}

// Close ends what still runs: calls are cancelled, workers are told by the end
// of their input, and what hasn't ended after the grace time is killed. It
// waits for all of them, and may be called again.
func (s *Set) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.cancel(errClosed)
	var all sync.WaitGroup
	for _, a := range s.byName {
		if w, ok := a.(*worker); ok {
			all.Go(w.close)
		}
	}
	all.Wait()
	s.running.Wait()
	return nil
}

// errOverdue is the cause of an activity's own timeout.
type errOverdue struct{ limit time.Duration }

func (e errOverdue) Error() string { return fmt.Sprintf("took longer than its timeout of %s", e.limit) }

// interrupted is the failure of a call whose context is done.
func interrupted(ctx context.Context, name string) *Failure {
	cause := context.Cause(ctx)
	var overdue errOverdue
	switch {
	case errors.As(cause, &overdue):
		return &Failure{Code: CodeTimeout, Message: fmt.Sprintf("activity %q %v", name, overdue)}
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return &Failure{Code: CodeTimeout, Message: fmt.Sprintf("activity %q ran out of time", name)}
	case errors.Is(cause, errClosed):
		return &Failure{Code: CodeCancelled, Message: fmt.Sprintf("activity %q was cancelled: %v", name, errClosed)}
	default:
		return &Failure{Code: CodeCancelled, Message: fmt.Sprintf("activity %q was cancelled", name)}
	}
}

// A function is an activity that the embedding program registered.
type function struct {
	name  string
	run   Func
	grace time.Duration
	hide  *veil
}

type outcome struct {
	value any
	err   error
}

// Run calls the function in a goroutine of its own, so that one that ignores
// its context delays a run by the grace time and no more.
func (f *function) Run(ctx context.Context, r Request) (Result, error) {
	ended := make(chan outcome, 1)
	go func() {
		problem := "ended its goroutine without returning"
		var out outcome
		defer func() {
			if p := recover(); p != nil {
				problem = fmt.Sprintf("panicked: %v", p)
			}
			if problem != "" {
				out.err = &Failure{Code: CodeError, Message: f.hide.text(fmt.Sprintf("activity %q %s", f.name, problem))}
			}
			ended <- out
		}()
		out = f.call(ctx, r)
		problem = ""
	}()
	select {
	case out := <-ended:
		if out.err != nil {
			return Result{Route: -1}, out.err
		}
		return route(out.value, r, f.name, "")
	case <-ctx.Done():
	}
	grace := time.NewTimer(f.grace)
	defer grace.Stop()
	select {
	case <-ended:
	case <-grace.C:
	}
	return Result{Route: -1}, interrupted(ctx, f.name)
}

// call includes reading the value, since what encodes itself may panic too.
func (f *function) call(ctx context.Context, r Request) outcome {
	value, err := f.run(ctx, r)
	if err != nil {
		return outcome{err: f.failure(ctx, err)}
	}
	value, err = plain(value, f.hide)
	if err != nil {
		return outcome{err: &Failure{Code: CodeBadOutput, Message: fmt.Sprintf("activity %q returned what isn't a JSON value: %v", f.name, err)}}
	}
	return outcome{value: value}
}

func (f *function) failure(ctx context.Context, err error) *Failure {
	var own *Failure
	switch {
	case errors.As(err, &own) && own != nil:
		details, bad := plain(own.Details, f.hide)
		if bad != nil {
			details = nil
		}
		if own.Code == "" {
			return &Failure{Code: CodeError, Message: f.hide.text(own.Message), Details: details}
		}
		return &Failure{Code: own.Code, Message: f.hide.text(own.Message), Details: details}
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		return interrupted(ctx, f.name)
	case errors.Is(err, context.DeadlineExceeded):
		return &Failure{Code: CodeTimeout, Message: f.hide.text(err.Error())}
	default:
		return &Failure{Code: CodeError, Message: f.hide.text(err.Error())}
	}
}
