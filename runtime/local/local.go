// Package local runs a plan here and now: every activity in a goroutine of its
// own, on the machine's clock. It carries out the commands of a
// [runtime.Machine] and decides nothing.
package local

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/activity"
)

// Options are what a run takes besides its plan.
type Options struct {
	runtime.Options
	// Activities carries out the calls.
	Activities Runner
	// Observe, if given, sees every command, with the time since the run began,
	// before it is carried out. It is called from one goroutine and must not
	// keep what it is given longer than it has to.
	Observe func(at time.Duration, c runtime.Command)
	// Grace is how long cancelled activities may take to end before the run
	// returns without them; 0 means 5 seconds.
	Grace time.Duration
}

// A Runner carries out one try of an activity. *activity.Set is one.
type Runner interface {
	Run(ctx context.Context, name string, r activity.Request) (activity.Result, error)
}

// Run runs the plan to its end. When ctx ends, nothing new starts, what runs is
// cancelled, and the outcome is "stopped" for the reason "interrupted". The
// error is only for a plan that this world can't run.
func Run(ctx context.Context, v *analyzer.Verified, o Options) (*runtime.Outcome, error) {
	if err := Runnable(v.Plan()); err != nil {
		return nil, err
	}
	w := &world{
		plan:    v.Plan(),
		options: o,
		machine: runtime.New(v, o.Options),
		begun:   time.Now(),
		events:  make(chan runtime.Event),
		gone:    make(chan struct{}),
		tries:   map[try]context.CancelFunc{},
		offered: make([][]string, len(v.Plan().Calls)),
	}
	return w.run(ctx), nil
}

// Runnable tells why a plan can't be run here, or nil: a latent call needs a
// model unless its result is in the plan.
func Runnable(p *compiler.Plan) error {
	for _, call := range p.Calls {
		if call.Activity == "" && call.Delegate == "" && call.Produced == nil {
			return fmt.Errorf("the call %q can't be run: no activity carries out the tool %q, and without a model nobody can produce its result; define one under \"activities\" or give a file with --activities", call.Name, call.ToolName)
		}
	}
	return runtime.Supports(p)
}

type world struct {
	plan    *compiler.Plan
	options Options
	machine *runtime.Machine
	begun   time.Time
	events  chan runtime.Event
	gone    chan struct{} // closed when nobody takes events any more
	tries   map[try]context.CancelFunc
	busy    int        // tries whose goroutine hasn't reported back
	offered [][]string // by call: its alternatives as text
	timers  []*time.Timer
}

type try struct{ call, attempt int }

func (w *world) run(ctx context.Context) *runtime.Outcome {
	defer close(w.gone)
	outcome := w.carryOut(ctx, w.machine.Step(runtime.Event{Kind: runtime.Begun}))
	for outcome == nil {
		select {
		case e := <-w.events:
			e.At = time.Since(w.begun)
			w.back(e)
			outcome = w.carryOut(ctx, w.machine.Step(e))
		case <-ctx.Done():
			outcome = w.carryOut(ctx, w.machine.Step(runtime.Event{Kind: runtime.Stopped, At: time.Since(w.begun), Reason: "interrupted"}))
		}
	}
	w.wait()
	return outcome
}

// back notes that a try's goroutine has reported.
func (w *world) back(e runtime.Event) {
	if e.Kind != runtime.Ended {
		return
	}
	w.busy--
	if cancel, ok := w.tries[try{e.Call, e.Attempt}]; ok {
		cancel()
		delete(w.tries, try{e.Call, e.Attempt})
	}
}

// wait gives activities that were cancelled their time to end.
func (w *world) wait() {
	for _, t := range w.timers {
		t.Stop()
	}
	for _, cancel := range w.tries {
		cancel()
	}
	grace := w.options.Grace
	if grace == 0 {
		grace = 5 * time.Second
	}
	over := time.NewTimer(grace)
	defer over.Stop()
	for w.busy > 0 {
		select {
		case e := <-w.events:
			w.back(e)
		case <-over.C:
			return
		}
	}
}

// carryOut does what the machine asks for; it gives the outcome when the run is
// over.
func (w *world) carryOut(ctx context.Context, commands []runtime.Command) *runtime.Outcome {
	for _, c := range commands {
		if w.options.Observe != nil {
			w.options.Observe(time.Since(w.begun), c)
		}
		switch c.Kind {
		case runtime.Start:
			w.start(ctx, c)
		case runtime.Cancel:
			if cancel, ok := w.tries[try{c.Call, c.Attempt}]; ok {
				cancel()
			}
		case runtime.SetTimer:
			w.timers = append(w.timers, time.AfterFunc(c.After, func() {
				w.send(runtime.Event{Kind: runtime.Fired, Call: c.Call, Attempt: c.Attempt})
			}))
		case runtime.Finish:
			return c.Outcome
		}
	}
	return nil
}

func (w *world) send(e runtime.Event) {
	select {
	case w.events <- e:
	case <-w.gone:
	}
}

func (w *world) start(ctx context.Context, c runtime.Command) {
	call := w.plan.Calls[c.Call]
	if w.offered[c.Call] == nil && len(call.Output) > 0 {
		w.offered[c.Call] = w.plan.Offered(call)
	}
	request := activity.Request{Tool: call.ToolName, Call: call.Name, Attempt: c.Attempt, Params: c.Params, Paths: w.offered[c.Call]}
	// The machine says when a try is to be given up; ctx alone must not, or its
	// end would race with the event that tells of it.
	own, cancel := context.WithCancel(context.WithoutCancel(ctx))
	w.tries[try{c.Call, c.Attempt}] = cancel
	w.busy++
	go func() {
		result, err := w.options.Activities.Run(own, call.Activity, request)
		e := runtime.Event{Kind: runtime.Ended, Call: c.Call, Attempt: c.Attempt, Value: result.Value, Route: result.Route}
		if err != nil {
			e.Failure = failureOf(err)
		}
		w.send(e)
	}()
}

func failureOf(err error) *runtime.Failure {
	var f *activity.Failure
	if errors.As(err, &f) {
		return &runtime.Failure{Code: f.Code, Message: f.Message, Details: f.Details}
	}
	return &runtime.Failure{Code: activity.CodeError, Message: err.Error()}
}
