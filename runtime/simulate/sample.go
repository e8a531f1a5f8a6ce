package simulate

import (
	"errors"
	"math"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/state"
)

// SampleRun simulates one run whose values samples make up: an [analyzer.SampleRun].
func SampleRun(r *analyzer.Simulation, s state.Samples) error {
	w := &sampled{sample: s, due: []runtime.Event{{Kind: runtime.RunBegan}}}
	machine := runtime.Simulate(r, runtime.Options{Parallel: math.MaxInt})
	machine.Sample(s)
	_, err := runtime.Drive(machine, w)
	return err
}

// sampled is the world of a sample run: activities end at once, in the order in which they start.
type sampled struct {
	sample state.Samples
	due    []runtime.Event
}

// Next gives the next event.
func (w *sampled) Next() (e runtime.Event, err error) {
	if len(w.due) == 0 {
		return e, errors.New("internal error: nothing is at work, and the sample run isn't over")
	}
	e, w.due = w.due[0], w.due[1:]
	return e, nil
}

// Do lets activities end as the sample says.
func (w *sampled) Do(commands []runtime.Command) error {
	for i := range commands {
		switch c := &commands[i]; c.Kind {
		case runtime.Start:
			e := c.Event(runtime.Ended)
			e.Value, e.Route, e.Failure = w.sample.Ends(c.Of, c.Params)
			w.due = append(w.due, e)
		case runtime.Settle:
			w.sample.Settled(c.Of, c.Settlement.Status == runtime.Done, c.Settlement.Failure, c.Settlement.Routed)
		}
	}
	return nil
}
