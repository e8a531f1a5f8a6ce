package runtime

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/testdata/amount"
)

// boundedPolicy narrows what the tools of generated plans take.
const boundedPolicy = `- rule: narrow
  bounds: {a: {k: {const: x}}, b: {p: {type: [boolean, number]}}}
  allows: {a: {k: x}}
  denies: {a: {k: y}}
`

// isBounded reports whether parameters are within it.
func isBounded(tool string, params map[string]any) bool {
	switch p, given := params["p"]; {
	case tool == "a":
		k, given := params["k"]
		return !given || k == "x"
	case tool == "b" && given:
		switch p.(type) {
		case bool, float64:
		default:
			return false
		}
	}
	return true
}

// randomly lets something happen: a try ends somehow, a person answers somehow, or the
// run is killed and gone on with.
func (w *orderWorld) randomly(r *rand.Rand) bool {
	all := w.next(0)
	if len(all) == 0 {
		return false
	}
	if r.IntN(30) == 0 {
		for name := range w.open {
			if !strings.HasPrefix(name, "in ") {
				delete(w.open, name)
			}
		}
		how := []InFlight{InFlightRetry, InFlightFail, InFlightAsk}[r.IntN(3)]
		w.step(Event{Kind: Resumed, Resumption: &Resumption{InFlight: how}})
		return true
	}
	c := all[r.IntN(len(all))]
	if try := w.open[c.name]; try.event.Kind == Decided {
		d := &Decision{Verdict: Approve}
		switch r.IntN(8) {
		case 0:
			d = &Decision{Verdict: Change, Params: map[string]any{"k": []any{"x", "y"}[r.IntN(2)], "p": []any{1.0, "1"}[r.IntN(2)]}}
		case 1:
			d = &Decision{Verdict: Replace, Replacement: json.RawMessage(fmt.Sprintf(`{"_tool": %q, "k": %q}`, orderedTools[r.IntN(3)], []string{"x", "y"}[r.IntN(2)]))}
		case 2:
			d = &Decision{Verdict: Reject}
		case 3:
			d = &Decision{Verdict: Retry}
		case 4: // where what was in flight may not be tried again, only this ends it
			d = &Decision{Verdict: Fail}
		}
		try.event.Decision = d
		w.open[c.name] = try
	}
	w.take(c, 0)
	return true
}

// LANGUAGE.md#policies-and-labels: whatever order things happen in, what fails, is asked about, changed,
// replaced, killed and gone on with: no call begins where a policy forbids it or outside
// of its bounds, and what is refused says so.
func TestPoliciesHoldInEveryRun(t *testing.T) {
	t.Parallel()
	plans, schedules := amount.Of(15, 100, 2000), 50
	var refused, outside, begun int
	for seed := uint64(1); plans > 0; seed++ {
		r := rand.New(rand.NewPCG(seed, 1706))
		g := generateOrdered(r)
		g.policy += boundedPolicy
		plan, found := g.compiled(t, true)
		if diag.HasErrors(found) {
			continue
		}
		judged := analyzer.Analyze(plan, found, analyzer.Config{})
		if slices.ContainsFunc(judged.Errors, func(d diag.Diagnostic) bool { return !strings.HasPrefix(d.Rule.Code, "OB70") && d.Rule.Code != "OB603" }) {
			continue
		}
		plans--
		for range schedules {
			w := &orderWorld{monitor: newOrderMonitor(g.rules), open: map[string]openTry{}}
			w.machine = newMachine(plan, Options{Input: map[string]any{"k": []any{"x", "y"}[r.IntN(2)], "yes": r.IntN(2) == 0}, Confirm: Confirm{Policy: []Policy{Never, Always}[r.IntN(2)]}}, false, false)
			w.saw = func(c *Command) {
				switch {
				case c.Kind == Start, c.Kind == Enter && c.Of.Each == nil:
					if begun++; !isBounded(c.Of.ToolName, c.Params) {
						t.Fatalf("seed %d: %q begins with %v\n%s", seed, c.Of.Name, c.Params, g.String())
					}
				case c.Kind == Settle && c.Settlement.Failure != nil && c.Settlement.Failure.Code == "forbidden-order":
					refused++
				case c.Kind == Settle && c.Settlement.Failure != nil && c.Settlement.Failure.Code == "outside-bounds":
					outside++
				}
			}
			w.step(Event{Kind: RunBegan})
			for steps := 0; w.randomly(r) && steps < 200; steps++ {
			}
			if len(w.monitor.broken) > 0 {
				t.Fatalf("seed %d: %v\n%s", seed, w.monitor.broken, g.String())
			}
			if !w.machine.over {
				t.Fatalf("seed %d: the run doesn't come to its end\n%s", seed, g.String())
			}
		}
	}
	t.Logf("%d begun, %d refused for the order, %d for bounds", begun, refused, outside)
	if refused == 0 || outside == 0 {
		t.Error("the runs show too little")
	}
}
