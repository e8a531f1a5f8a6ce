package facts_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/analyzer/facts"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/simulate"
	"github.com/obelus-dev/obelus/testdata/amount"
)

// No simulation comes to more than what facts say is the worst: tries, cost and time, with
// delegates, retries, lists and few places; and some come to just that.
func TestWorstIsTheWorst(t *testing.T) {
	reached := map[string]int{}
	for seed := range uint64(amount.Of(60, 500, 20_000)) {
		r := rand.New(rand.NewPCG(seed, 18))
		text, files := costly(r)
		p := compiled(t, "plan.yaml", text, files)
		j := analyzer.Analyze(p, nil, analyzer.Config{})
		if j.Verified == nil {
			t.Fatalf("seed %d: %v\n%s", seed, j.Findings, text)
		}
		w := facts.Of(j.Plan, facts.Options{}).Worst
		tries := 0
		s := simulate.Run(j.Verified.Simulation(), simulate.Options{Seed: seed + 1, Observe: func(_ time.Duration, c runtime.Command) {
			if c.Kind == runtime.Start {
				tries++
			}
		}})
		for _, b := range []struct {
			what  string
			bound facts.Bound
			came  float64
		}{{"tries", w.Tries, float64(tries)}, {"cost", w.Cost, s.Cost}, {"time", w.Time, s.Makespan.Seconds()}} {
			const rounding = 1e-6
			switch {
			case b.bound.Most == nil:
				t.Fatalf("seed %d: the %s has no bound\n%s", seed, b.what, text)
			case b.came > *b.bound.Most+rounding:
				t.Fatalf("seed %d: the %s came to %v and was to be at most %v\n%s\n%v", seed, b.what, b.came, *b.bound.Most, text, files)
			case b.came > *b.bound.Most-rounding && b.came > 0:
				reached[b.what]++
			}
		}
	}
	for _, what := range []string{"tries", "cost", "time"} {
		if reached[what] == 0 {
			t.Errorf("no simulation reached what is said to be the most in %s", what)
		}
	}
}

// costly is a plan of calls that fail, wait, cost something, and run for lists and in
// delegates.
func costly(r *rand.Rand) (text string, files map[string]string) {
	var tools, calls, activities strings.Builder
	plan := func(calls *strings.Builder, n int, delegates bool) {
		for i := range n {
			call := fmt.Sprintf("- {_tool: t%d, x: word, _timeout: %ds, _outputPath: p%d || e%d", r.IntN(4), 1+r.IntN(3), i, i)
			if i > 0 && r.IntN(2) == 0 {
				call += fmt.Sprintf(", y: †state.p%d || †state.e%d", r.IntN(i), i-1)
			}
			if delegates && r.IntN(4) == 0 {
				call = strings.Replace(call, "_tool: t", "_tool: d", 1)
			}
			if r.IntN(4) == 0 {
				call += ", _each: [a, b, c]"
			}
			if r.IntN(3) == 0 && !strings.Contains(call, "_tool: d") {
				call += fmt.Sprintf(", _retry: {attempts: %d, backoff: %ds}", 2+r.IntN(2), 1+r.IntN(3))
			}
			calls.WriteString(call + "}\n")
		}
	}
	for i := range 4 {
		failure := []string{"0", "0.5", "1"}[r.IntN(3)]
		fmt.Fprintf(&tools, "  t%d: {properties: {x: {}, y: {}, _output: {type: string}}, x-simulate: {duration: %ds, cost: %d, failure: %s}}\n", i, 1+r.IntN(4), r.IntN(3), failure)
		fmt.Fprintf(&tools, "  d%d: {properties: {x: {}, y: {}, _output: {}}, _delegate: sub.yaml}\n", i)
		fmt.Fprintf(&activities, "  t%d: {exec: {argv: [t]}}\n", i)
	}
	plan(&calls, 1+r.IntN(5), true)
	var inner strings.Builder
	plan(&inner, 1+r.IntN(3), false)
	head := fmt.Sprintf("tools:\n%sactivities:\n%s", tools.String(), activities.String())
	files = map[string]string{"sub.yaml": "inputSchema: {}\noutput: †state.p0 || null\n" + head + "calls:\n" + inner.String()}
	return fmt.Sprintf("limits: {parallel: %d}\n%scalls:\n%s", 1+r.IntN(4), head, calls.String()), files
}
