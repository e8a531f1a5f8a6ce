package simulate

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/activity"
	"github.com/obelus-dev/obelus/runtime/state"
)

// scripted is the world of a run whose activities somebody else lets end: one after the other, in virtual time.
type scripted struct {
	now     time.Duration
	due     []runtime.Event
	next    func() (runtime.Event, error) // where nothing is due
	start   func(c runtime.Command)
	settled func(call *plan.Call, s *runtime.Settlement)
}

func (w *scripted) run(m *runtime.Machine) (*runtime.Outcome, error) {
	w.due = []runtime.Event{{Kind: runtime.RunBegan}}
	return runtime.Drive(m, w)
}

// Next gives the next event.
func (w *scripted) Next() (e runtime.Event, err error) {
	if len(w.due) == 0 {
		return w.next()
	}
	e, w.due = w.due[0], w.due[1:]
	e.At = w.now
	return e, nil
}

// Do starts activities, and approves what a person is asked about.
func (w *scripted) Do(commands []runtime.Command) error {
	for _, c := range commands {
		switch c.Kind {
		case runtime.Start:
			w.start(c)
		case runtime.Settle:
			w.settled(c.Of, c.Settlement)
		case runtime.Ask:
			e := c.Event(runtime.Decided)
			e.Decision = &runtime.Decision{Verdict: runtime.Approve}
			w.due = append(w.due, e)
		}
	}
	return nil
}

var errIdle = errors.New("internal error: nothing is at work, and the run isn't over")

// SampleRun simulates one run whose values samples make up: an [analyzer.SampleRun]. Activities end at once, in the
// order in which they start.
func SampleRun(r *analyzer.Simulation, s state.Samples) error {
	w := &scripted{next: func() (e runtime.Event, err error) { return e, errIdle }}
	w.start = func(c runtime.Command) {
		e := c.Event(runtime.Ended)
		e.Value, e.Route, e.Failure = s.Ends(c.Of, c.Params)
		w.due = append(w.due, e)
	}
	w.settled = func(call *plan.Call, end *runtime.Settlement) {
		s.Settled(call, end.Status == runtime.Done, end.Failure)
	}
	machine := runtime.Simulate(r, runtime.Options{Parallel: math.MaxInt})
	machine.Budget().Samples = s
	_, err := w.run(machine)
	return err
}

// FinalState simulates one schedule and gives the state that it ends in, and how each call ends: an [analyzer.Replay].
// Activities end in its order and as it says, and those that it doesn't name fail after all others. It is an error when
// the plan can't be run so: a call named next isn't at work.
func FinalState(r *analyzer.Simulation, s analyzer.Schedule) (any, error) {
	r, err := r.Single()
	if err != nil {
		return nil, err
	}
	calls, ends, working := r.Plan().Calls, s.Events, []runtime.Command(nil)
	machine := runtime.Simulate(r, runtime.Options{Input: s.Input, State: s.State, Parallel: math.MaxInt})
	w := &scripted{settled: func(*plan.Call, *runtime.Settlement) {}}
	w.start = func(c runtime.Command) { working = append(working, c) }
	w.next = func() (e runtime.Event, err error) {
		w.now++
		for len(ends) > 0 {
			end := ends[0]
			ends = ends[1:]
			if at := slices.IndexFunc(working, func(c runtime.Command) bool { return c.Of.Name == end.Call }); at >= 0 {
				c := working[at]
				working = slices.Delete(working, at, at+1)
				return ended(c, end, w.now), nil
			}
			// What has no result, or has it in the plan, may be named all the same.
			at := slices.IndexFunc(calls, func(call *plan.Call) bool { return call.Name == end.Call })
			if calls[at].Produced == nil && machine.Status(runtime.Try{Call: at}) != runtime.Skipped {
				return e, fmt.Errorf("the call %q isn't at work then", end.Call)
			}
		}
		if len(working) == 0 {
			return e, errIdle
		}
		c := working[0]
		working = working[1:]
		return ended(c, analyzer.ScheduledEnd{Fails: true}, w.now), nil
	}
	outcome, err := w.run(machine)
	if err != nil {
		return nil, err
	}
	end := []any{outcome.State}
	for i := range calls {
		end = append(end, machine.Status(runtime.Try{Call: i}))
	}
	return end, nil
}

// ended is the end of an activity as a schedule has it.
func ended(c runtime.Command, end analyzer.ScheduledEnd, now time.Duration) runtime.Event {
	e := c.Event(runtime.Ended)
	e.At, e.Value = now, end.Output
	switch {
	case end.Fails:
		e.Failure = &runtime.Failure{Code: activity.CodeError, Message: "the schedule lets it fail"}
	case end.Path != "":
		named := map[string]any{"_outputPath": end.Path, "_output": end.Output}
		result, err := activity.Take(named, activity.RequestOf(c, nil), c.Of.Activity)
		result.End(&e, err)
	}
	return e
}
