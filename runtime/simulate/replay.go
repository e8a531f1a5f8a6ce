package simulate

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/heap"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/activity"
	"github.com/obelus-dev/obelus/runtime/state"
)

// replayStep is the virtual time between two ends of a schedule, so that their order can be seen.
const replayStep = 100 * time.Millisecond

// Replay simulates exactly one schedule: activities end in its order and as it says, and those that it doesn't name
// fail after all others. It is an error when the plan can't be run so: a call named next isn't at work.
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
	w := &replay{world: newWorld(r, o), events: s.Events}
	w.replaying = true
	if _, err := runtime.Drive(w.machine, w); err != nil {
		return nil, err
	}
	w.out.Makespan = w.now
	w.analyse()
	return w.out, nil
}

// A replay is a world whose events a schedule gives.
type replay struct {
	*world
	events []analyzer.ScheduledEnd
	at     int // the next of them
}

// Next gives the next event of the schedule. After the last, calls at work fail, and timers fire.
func (w *replay) Next() (runtime.Event, error) {
	if !w.began {
		return w.world.Next()
	}
	for w.at < len(w.events) {
		if len(w.due) > 0 && w.due[0].at <= w.now { // a call that has to be approved begins when it is
			return w.fire(), nil
		}
		w.at++
		e, err := w.ended(w.events[w.at-1])
		if err != nil {
			return runtime.Event{}, fmt.Errorf("event %d of the schedule: %w", w.at, err)
		}
		if e != nil {
			return w.end(*e), nil
		}
	}
	for i := range w.plan.Calls {
		if w.machine.Status(0, i) == runtime.Running {
			failure := &runtime.Failure{Code: activity.CodeError, Message: "the schedule doesn't name it"}
			return w.end(runtime.Event{Kind: runtime.Ended, Call: i, Attempt: w.report(0, i).Attempts, Route: -1,
				Failure: failure}), nil
		}
	}
	if len(w.due) == 0 {
		return runtime.Event{}, errors.New("the schedule leaves the run with nothing at work and nothing to wait for")
	}
	return w.fire(), nil
}

// FinalState replays a schedule and gives the state that it ends in, and how each call ends: an [analyzer.Replay].
func FinalState(r *analyzer.Simulation, s analyzer.Schedule) (any, error) {
	scenario, err := Replay(r, s, Options{})
	if err != nil {
		return nil, err
	}
	end := []any{scenario.Outcome.State}
	for i := range scenario.Calls {
		end = append(end, scenario.Calls[i].Status)
	}
	return end, nil
}

// ended is the event of a scheduled end; nil for a call that has no result, or has it in the plan.
func (w *replay) ended(end analyzer.ScheduledEnd) (*runtime.Event, error) {
	at := slices.IndexFunc(w.plan.Calls, func(c *plan.Call) bool { return c.Name == end.Call })
	if at < 0 {
		return nil, fmt.Errorf("the plan has no call %q", end.Call)
	}
	switch status := w.machine.Status(0, at); {
	case status.Settled() && w.plan.Calls[at].Produced != nil, status == runtime.Skipped:
		return nil, nil
	case status != runtime.Running:
		return nil, fmt.Errorf("the call %q isn't at work then: it is %s", end.Call, status)
	}
	e := runtime.Event{Kind: runtime.Ended, Call: at, Attempt: w.report(0, at).Attempts, Value: end.Output, Route: -1}
	if end.Fails {
		e.Failure = &runtime.Failure{Code: activity.CodeError, Message: "the schedule lets it fail"}
	} else if end.Path != "" {
		call := w.plan.Calls[at]
		named := map[string]any{"_outputPath": end.Path, "_output": end.Output}
		result, err := activity.Take(named, activity.Request{Call: call.Name, Paths: compiler.Offered(w.plan, call)},
			call.Activity)
		take(&e, result, err)
	}
	return &e, nil
}

// fire gives the next event that is due.
func (w *replay) fire() runtime.Event {
	next := heap.Pop(&w.due, happening.before)
	w.now = max(w.now, next.at)
	next.event.At = w.now
	return next.event
}

func (w *replay) end(e runtime.Event) runtime.Event {
	w.now += replayStep
	e.At = w.now
	w.stopped(0, e.Call)
	return e
}
