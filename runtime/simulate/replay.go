package simulate

import (
	"container/heap"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/activity"
	"github.com/obelus-dev/obelus/runtime/state"
)

// replayStep is the virtual time between two ends of a schedule, so that their
// order can be seen.
const replayStep = 100 * time.Millisecond

// Replay simulates exactly one schedule: activities end in its order and
// as it says, and those that it doesn't name fail after all others. It is an
// error when the plan can't be run so: a call named next isn't at work.
func Replay(r *analyzer.Simulation, s analyzer.Schedule, o Options) (*Scenario, error) {
	r, err := r.Single()
	if err != nil {
		return nil, err
	}
	if s.Input != nil {
		o.Input = state.Over(o.Input, s.Input)
	}
	if s.State != nil {
		o.State = state.Over(o.State, s.State)
	}
	o.Parallel = math.MaxInt // what the schedule doesn't name mustn't keep it waiting for a place
	w := newWorld(r, o)
	w.replaying = true
	w.carryOut(w.machine.Step(runtime.Event{Kind: runtime.RunBegan}))
	for i, end := range s.Events {
		for len(w.due) > 0 && w.due[0].at <= w.now { // a call that has to be approved begins when it is
			w.fireNext()
		}
		if err := w.endAs(end); err != nil {
			return nil, fmt.Errorf("event %d of the schedule: %w", i+1, err)
		}
	}
	for w.out.Outcome == nil {
		if !w.failNext() && !w.fireNext() {
			return nil, errors.New("the schedule leaves the run with nothing at work and nothing to wait for")
		}
	}
	w.out.Makespan = w.now
	w.analyse()
	return w.out, nil
}

// FinalState replays a schedule and gives the state that it ends in: an
// [analyzer.Replay].
func FinalState(r *analyzer.Simulation, s analyzer.Schedule) (any, error) {
	scenario, err := Replay(r, s, Options{})
	if err != nil {
		return nil, err
	}
	return scenario.Outcome.State, nil
}

func (w *world) endAs(end analyzer.ScheduledEnd) error {
	at := slices.IndexFunc(w.plan.Calls, func(c *plan.Call) bool { return c.Name == end.Call })
	if at < 0 {
		return fmt.Errorf("the plan has no call %q", end.Call)
	}
	switch status := w.machine.Status(0, at); {
	case status.Settled() && w.plan.Calls[at].Produced != nil, status == runtime.Skipped:
		return nil // its result is in the plan, or it has none
	case status != runtime.Running:
		return fmt.Errorf("the call %q isn't at work then: it is %s", end.Call, status)
	}
	e := runtime.Event{Kind: runtime.Ended, Call: at, Attempt: w.report(0, at).Attempts, Value: end.Output, Route: -1}
	if end.Fails {
		e.Failure = &runtime.Failure{Code: activity.CodeError, Message: "the schedule lets it fail"}
	} else if end.Path != "" {
		call := w.plan.Calls[at]
		named := map[string]any{"_outputPath": end.Path, "_output": end.Output}
		result, err := activity.Take(named, activity.Request{Call: call.Name, Paths: compiler.Offered(w.plan, call)}, call.Activity)
		take(&e, result, err)
	}
	w.end(e)
	return nil
}

func (w *world) failNext() bool {
	for i := range w.plan.Calls {
		if w.machine.Status(0, i) == runtime.Running {
			failure := &runtime.Failure{Code: activity.CodeError, Message: "the schedule doesn't name it"}
			w.end(runtime.Event{Kind: runtime.Ended, Call: i, Attempt: w.report(0, i).Attempts, Route: -1, Failure: failure})
			return true
		}
	}
	return false
}

func (w *world) fireNext() bool {
	if len(w.due) == 0 {
		return false
	}
	next := heap.Pop(&w.due).(happening)
	w.now = max(w.now, next.at)
	next.event.At = w.now
	w.carryOut(w.machine.Step(next.event))
	return true
}

func (w *world) end(e runtime.Event) {
	w.now += replayStep
	e.At = w.now
	w.stopped(0, e.Call)
	w.carryOut(w.machine.Step(e))
}
