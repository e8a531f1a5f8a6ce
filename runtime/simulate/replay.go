package simulate

import (
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
	w := newWorld(r, o)
	w.schedule, w.ended = s.Events, make([]bool, len(s.Events))
	if _, err := runtime.Drive(w.machine, w); err != nil {
		return nil, err
	}
	for n, end := range s.Events { // what has no result, or has it in the plan, may be named all the same
		at := slices.IndexFunc(w.plan.Calls, func(c *plan.Call) bool { return c.Name == end.Call })
		switch {
		case at < 0:
			return nil, fmt.Errorf("event %d of the schedule: the plan has no call %q", n+1, end.Call)
		case w.ended[n] || w.report(runtime.Try{Call: at}).To <= time.Duration(n)*replayStep &&
			(w.plan.Calls[at].Produced != nil || w.machine.Status(runtime.Try{Call: at}) == runtime.Skipped):
		default:
			return nil, fmt.Errorf("event %d of the schedule: the call %q isn't at work then", n+1, end.Call)
		}
	}
	w.out.Makespan = w.now
	w.analyse()
	return w.out, nil
}

// replay lets a try end as its schedule says, or fail after all that the schedule names.
func (w *world) replay(c runtime.Command, e *runtime.Event) (after time.Duration) {
	n := 0
	for n < len(w.schedule) && (c.Frame > 0 || w.ended[n] || w.schedule[n].Call != c.Of.Name) {
		n++
	}
	if n == len(w.schedule) {
		e.Failure = &runtime.Failure{Code: activity.CodeError, Message: "the schedule doesn't name it"}
		w.last = max(w.last, w.now, time.Duration(n)*replayStep) + replayStep
		return w.last - w.now
	}
	end := w.schedule[n]
	after = time.Duration(n+1)*replayStep - w.now
	w.ended[n] = after > 0 // else it should have ended before it could begin
	if e.Value = end.Output; end.Fails {
		e.Failure = &runtime.Failure{Code: activity.CodeError, Message: "the schedule lets it fail"}
	} else if end.Path != "" {
		named := map[string]any{"_outputPath": end.Path, "_output": end.Output}
		result, err := activity.Take(named, activity.RequestOf(c, w.budget), c.Of.Activity)
		result.End(e, err)
	}
	return max(0, after)
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
