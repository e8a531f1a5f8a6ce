package runtime_test

import (
	"cmp"
	"encoding/json"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/testdata/amount"
	corpora "github.com/obelus-dev/obelus/testdata/corpus"
)

// What a model is taken to do: four bytes a token, 80 tokens a second.
const (
	tokenBytes = 4
	tokenEvery = time.Second / 80
)

// slow is how long a tool is taken to take, more or less.
const slow = 400 * time.Millisecond

// EXECUTION.md#order-of-calls: on the corpora's plans, with starts while the solution streams in, a run
// takes hardly longer than it must: the larger of the longest path (each call not
// before its last byte, and the run not before the last of all) and the work
// divided by the parallelism. Beside it, the same with starts only at the end of
// the stream, and with one call after another.
func TestStreamingPays(t *testing.T) {
	sparse := 1 // how many plans of a corpus one is taken of
	if underRace {
		sparse = 20 // it costs a factor of ten
	}
	for _, corpus := range []string{"nestools", "mathqa", "taskbench"} {
		plans := documents(t, corpus+".jsonl")
		for _, parallel := range []int{0, 4} {
			var bound, streamed, whole, sequential time.Duration
			run, worst := 0, 1.0
			for n, doc := range plans {
				if n%(sparse*amount.Of(8, 4, 1)) != 0 {
					continue
				}
				p := prepare(t, doc, uint64(n))
				if p == nil {
					continue
				}
				run++
				must, took := p.play(t, p.byToken(), parallel)
				bound += must
				streamed += took
				worst = max(worst, float64(took)/float64(must))
				_, took = p.play(t, p.atOnce(), parallel)
				whole += took
				_, took = p.play(t, p.atOnce(), 1)
				sequential += took
			}
			mean := func(d time.Duration) float64 { return d.Seconds() / float64(run) }
			t.Logf(
				"%-9s parallel %d: %4d plans, bound %.3f s, streamed %.3f s (+%.2f %%, worst +%.1f %%), not "+
					"streamed %.3f s (+%.0f %%), one by one %.3f s (+%.0f %%)",
				corpus, parallel, run, mean(bound), mean(streamed), over(streamed,
					bound), 100*(worst-1), mean(whole), over(whole, bound), mean(sequential), over(sequential, bound))
			if over(streamed, bound) > 1 {
				t.Errorf("%s, parallel %d: %.2f %% over the bound, expected at most 1 %%", corpus, parallel,
					over(streamed, bound))
			}
		}
	}
}

func over(a, b time.Duration) float64 { return 100 * (float64(a)/float64(b) - 1) }

func documents(t *testing.T, name string) []map[string]any {
	var all []map[string]any
	for _, row := range corpora.Rows[struct{ Document map[string]any }](t, name) {
		all = append(all, row.Document)
	}
	return all
}

// A plannedRun is a plan of a corpus as a model would write it.
type plannedRun struct {
	base     *analyzer.Verified
	plan     *plan.Plan // all of it
	solution string
	seed     uint64
}

// prepare makes a planned run of a document; nil if it isn't sound.
func prepare(t *testing.T, doc map[string]any, seed uint64) *plannedRun {
	tools, _ := doc["tools"].(map[string]any)
	compiled := func(doc map[string]any) (*plan.Plan, *analyzer.Verified) {
		text, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		p, found := compiler.Compile(source.NewFile("plan.json", text),
			compiler.Options{Functions: slices.Sorted(maps.Keys(tools))})
		v := analyzer.Analyze(p, found, analyzer.Config{}).Verified
		return p, v
	}
	p, v := compiled(doc)
	if v == nil || len(p.Calls) == 0 {
		return nil
	}
	calls, err := json.Marshal(doc["calls"])
	if err != nil {
		t.Fatal(err)
	}
	base := maps.Clone(doc)
	base["calls"] = []any{}
	delete(base, "output")
	_, v = compiled(base)
	return &plannedRun{v, p, `{"calls":` + string(calls) + `,"output":"done"}`, seed}
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

func (p *plannedRun) byToken() []piece {
	var pieces []piece
	for at := 0; at < len(p.solution); at += tokenBytes {
		pieces = append(pieces, piece{After: tokenEvery, Text: p.solution[at:min(at+tokenBytes, len(p.solution))]})
	}
	return pieces
}

func (p *plannedRun) atOnce() []piece {
	tokens := (len(p.solution) + tokenBytes - 1) / tokenBytes
	return []piece{{After: time.Duration(tokens) * tokenEvery, Text: p.solution}}
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
