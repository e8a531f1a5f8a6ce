package simulate

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/activity"
	"github.com/obelus-dev/obelus/runtime/state"
)

// SampleRun simulates one run whose values samples make up: an [analyzer.SampleRun]. Activities end at once, in the
// order in which they start.
func SampleRun(r *analyzer.Simulation, s state.Samples) error {
	w := newWorld(r, Options{Options: runtime.Options{Parallel: math.MaxInt}})
	w.machine.Budget().Samples = s
	w.options.script = func(c runtime.Command, e *runtime.Event) (time.Duration, error) {
		e.Value, e.Route, e.Failure = s.Ends(c.Of, c.Params)
		return 0, nil
	}
	w.options.Observe = func(_ time.Duration, c runtime.Command) {
		if c.Kind == runtime.Settle {
			s.Settled(c.Of, c.Settlement.Status == runtime.Done, c.Settlement.Failure)
		}
	}
	_, err := runtime.Drive(w.machine, w)
	return err
}

// FinalState simulates one schedule and gives the state that it ends in, and how each call ends: an [analyzer.Replay].
// Activities end in its order and as it says, and those that it doesn't name fail after all others. It is an error when
// the plan can't be run so: a call isn't at work when it should end.
func FinalState(r *analyzer.Simulation, s analyzer.Schedule) (any, error) {
	r, err := r.Single()
	if err != nil {
		return nil, err
	}
	o := runtime.Options{Input: s.Input, State: s.State, Parallel: math.MaxInt}
	w, ends := newWorld(r, Options{Options: o}), slices.Clone(s.Events)
	w.options.script = func(c runtime.Command, e *runtime.Event) (time.Duration, error) {
		at := slices.IndexFunc(ends, func(end analyzer.ScheduledEnd) bool { return end.Call == c.Of.Name })
		if at < 0 {
			e.Failure = &runtime.Failure{Code: activity.CodeError, Message: "the schedule doesn't name it"}
			return max(0, time.Duration(len(ends)+1)-w.now), nil
		}
		after := time.Duration(at+1) - w.now
		if after <= 0 {
			return 0, fmt.Errorf("the call %q isn't at work then", c.Of.Name)
		}
		end := ends[at]
		ends[at].Call = "" // another attempt isn't named
		switch {
		case end.Fails:
			e.Failure = &runtime.Failure{Code: activity.CodeError, Message: "the schedule lets it fail"}
		case end.Path != "":
			named := map[string]any{"_outputPath": end.Path, "_output": end.Output}
			result, err := activity.Take(named, activity.RequestOf(c, nil), c.Of.Activity)
			result.End(e, err)
		default:
			e.Value = end.Output
		}
		return after, nil
	}
	outcome, err := runtime.Drive(w.machine, w)
	if err != nil {
		return nil, err
	}
	end := []any{outcome.State}
	for i := range r.Plan().Calls {
		end = append(end, w.machine.Status(runtime.Try{Call: i}))
	}
	return end, nil
}
