package runtime_test

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/runtime"
)

// slow is how long a tool is taken to take, more or less.
const slow = 400 * time.Millisecond

func over(a, b time.Duration) float64 { return 100 * (float64(a)/float64(b) - 1) }

// A plannedRun is a plan of a corpus as a model would write it.
type plannedRun struct {
	base     *analyzer.Verified
	plan     *plan.Plan // all of it
	solution string
	seed     uint64
}

// A piece is a part of a planner's answer, and how long after the one before it arrives.
type piece struct {
	After time.Duration
	Text  string
}

// A streamedWorld is a world on a virtual clock, in which an answer arrives and calls take their time.
type streamedWorld struct {
	pieces []piece
	chance *rand.Rand
	events []runtime.Event       // that are to come
	busy   map[int]time.Duration // by call
	now    time.Duration
	began  bool
}

func (w *streamedWorld) Next() (runtime.Event, error) {
	if !w.began {
		w.began = true
		return runtime.Event{Kind: runtime.RunBegan}, nil
	}
	slices.SortStableFunc(w.events, func(a, b runtime.Event) int { return cmp.Compare(a.At, b.At) })
	next := w.events[0]
	w.events, w.now = w.events[1:], next.At
	return next, nil
}

func (w *streamedWorld) Do(commands []runtime.Command) error {
	for _, c := range commands {
		switch c.Kind {
		case runtime.Plan:
			at := w.now
			for _, one := range w.pieces {
				at += one.After
				w.events = append(w.events, runtime.Event{Kind: runtime.Streamed, At: at, Tick: c.Tick, Text: one.Text})
			}
			w.events = append(w.events, runtime.Event{Kind: runtime.Closed, At: at, Tick: c.Tick})
		case runtime.Start:
			took := time.Duration(float64(slow) * math.Exp(w.chance.NormFloat64()))
			value := any("made up")
			if c.Of.Tool != nil && c.Of.Tool.Output != nil {
				value, _ = c.Of.Tool.Output.Sample(w.chance)
			}
			w.busy[c.Call] += took
			w.events = append(w.events,
				runtime.Event{Kind: runtime.Ended, At: w.now + took, Tick: c.Tick, Frame: c.Frame,
					Call: c.Call, Attempt: c.Attempt, Route: -1, Value: value})
		}
	}
	return nil
}

// play simulates the run, and works out what it must take at least.
func (p *plannedRun) play(t *testing.T, pieces []piece, parallel int) (must, took time.Duration) {
	t.Helper()
	w := &streamedWorld{pieces: pieces, chance: rand.New(rand.NewPCG(p.seed, 1)), busy: map[int]time.Duration{}}
	outcome, err := runtime.Drive(runtime.Simulate(p.base.Simulation(),
		runtime.Options{Planned: true, Parallel: parallel}), w)
	if err != nil || outcome.Status != "done" || outcome.Ticks != 1 {
		t.Fatalf("%v: %+v\n%s", err, outcome, p.solution)
	}
	arrived := p.arrivals(pieces)
	ends := make([]time.Duration, len(p.plan.Calls))
	var work, last time.Duration
	for _, i := range p.plan.Graph.Order() {
		ends[i] = arrived[i]
		for _, d := range p.plan.Graph.Deps(int(i)) {
			ends[i] = max(ends[i], ends[d])
		}
		ends[i] += w.busy[int(i)]
		work += w.busy[int(i)]
		last = max(last, ends[i])
	}
	for _, piece := range pieces {
		must += piece.After
	}
	must = max(must, last)
	if parallel > 0 {
		must = max(must, work/time.Duration(parallel))
	}
	return must, w.now
}

// arrivals are when the last byte of every call arrives.
func (p *plannedRun) arrivals(pieces []piece) []time.Duration {
	stream := source.NewStream(source.DefaultLimits())
	arrived := make([]time.Duration, len(p.plan.Calls))
	var at time.Duration
	known := 0
	for _, piece := range pieces {
		at += piece.After
		stream.Write(piece.Text)
		for ; known < stream.Calls(); known++ {
			arrived[known] = at
		}
	}
	return arrived
}
