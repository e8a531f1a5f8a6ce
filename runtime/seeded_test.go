package runtime_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/testdata/amount"
	"github.com/obelus-dev/obelus/testdata/corpus"
)

// checked compiles and analyses a plan.
func checked(text []byte) (*plan.Plan, *analyzer.Verified, []diag.Diagnostic) {
	plan, found := compiler.Compile(source.NewFile("plan.json", text), compiler.Options{Name: "plan.json"})
	analysis := analyzer.Analyze(plan, found, analyzer.Config{})
	verified, found := analysis.Verified, analysis.Findings
	return plan, verified, found
}

// clean reports whether a plan has no error and no warning.
func clean(found []diag.Diagnostic) bool {
	for _, d := range found {
		if d.Severity > diag.Info {
			return false
		}
	}
	return true
}

// span is where a spot is in the compiled plan's text.
func (s spot) span(plan *plan.Plan) (source.Span, bool) {
	node, key := plan.Root.Get("output"), (*source.Node)(nil)
	if s.call >= 0 {
		calls := plan.Root.Get("calls")
		if calls == nil || s.call >= len(calls.Items) {
			return source.Span{}, false
		}
		node = calls.Items[s.call]
	}
	for _, step := range s.at {
		switch step := step.(type) {
		case int:
			if node == nil || step >= len(node.Items) {
				return source.Span{}, false
			}
			node = node.Items[step]
		case string:
			below := (*source.Node)(nil)
			if node != nil {
				for _, f := range node.Fields {
					if f.Key.Text == step {
						key, below = f.Key, f.Value
					}
				}
			}
			node = below
		}
	}
	if s.key {
		node = key
	}
	return node.Span(), node != nil
}

// finds reports whether a finding says what is wrong where it is, with a warning's
// weight at least, unless its rule never has that.
func (s spot) finds(plan *plan.Plan, d diag.Diagnostic) bool {
	at, ok := s.span(plan)
	return ok && (d.Severity > diag.Info || d.Rule.Default == diag.Info) && strings.Contains(s.codes, d.Rule.Code) && d.Span.Start >= at.Start && d.Span.End <= at.End
}

// underRace reports whether the race detector is on.
var underRace bool

// A tally counts what became of the faults of one kind.
type tally struct{ seeded, harmless, found, missed int }

// LANGUAGE.md#findings: one fault put into a sound plan is found where it is, for each
// kind of fault and each plan. One that isn't found is harmless only if the naive
// interpreter comes to the same result as without it on every branch.
func TestSeededFaults(t *testing.T) {
	t.Parallel()
	if underRace {
		t.Skip("nothing here happens at the same time")
	}
	for _, from := range []struct {
		name  string
		plans func(testing.TB) [][]byte
		every int // of how many plans one is taken
	}{
		{"nestools", corpusPlans("nestools.jsonl"), amount.Of(4, 2, 1)},
		{"mathqa", corpusPlans("mathqa.jsonl"), amount.Of(16, 32, 1)},
		{"branching", branchingPlans, 1},
	} {
		t.Run(from.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(11, 13))
			tallies := make([]tally, len(faultKinds))
			begun, shown := time.Now(), 0
			for n, text := range from.plans(t) {
				if n%from.every != 0 {
					continue
				}
				var sound *trial
				if _, _, found := checked(text); !clean(found) {
					t.Fatalf("plan %d isn't clean to begin with: %s %s\n%s", n, found[0].Rule.Code, found[0].Message, text)
				}
				for k, kind := range faultKinds {
					faults := kind.seed(sketchOf(text))
					if most := amount.Of(1, 2, math.MaxInt); len(faults) > most {
						r.Shuffle(len(faults), func(i, j int) { faults[i], faults[j] = faults[j], faults[i] })
						faults = faults[:most]
					}
					for _, f := range faults {
						tallies[k].seeded++
						found, said := f.isFound()
						if found {
							tallies[k].found++
							continue
						}
						if sound == nil {
							sound = trialOf(sketchOf(text))
						}
						harmed := sound.harms(f)
						if harmed == nil {
							tallies[k].harmless++
							continue
						}
						tallies[k].missed++
						if shown++; shown <= 12 && mayMiss[kind.name] == 0 {
							t.Errorf("plan %d, %s: not found at %v, and harmful on the branch %s\n%s\nfound: %s", n, kind.name, f.places, harmed.text(), f.plan.text(), said)
						}
					}
				}
			}
			t.Logf("%s\n%s", time.Since(begun).Round(time.Millisecond), table(tallies))
			for k, kind := range faultKinds {
				if c := tallies[k]; float64(c.missed) > math.Ceil(mayMiss[kind.name]*float64(c.missed+c.found)) {
					t.Errorf("%s: %d of %d are missed", kind.name, c.missed, c.missed+c.found)
				}
			}
			// Every kind that these plans have room for is there in numbers.
			for _, kind := range roomFor[from.name] {
				if c := tallies[kindNamed(kind)]; c.found < amount.Of(2, 50, 50) {
					t.Errorf("%s: only %d were found; too few to show anything", kind, c.found)
				}
			}
		})
	}
}

// mayMiss is the share of a kind that may be missed, if that isn't none. A call
// that has lost its fallback is left out on one branch, and what is done for the
// effect of it with it; where the output does without, that is a plan that may be
// meant: it is what branches are for.
var mayMiss = map[string]float64{"removed fallback": 0.05}

// roomFor are the kinds of fault that show something in each set of plans. The
// corpora have no branches, all tools of mathqa give the same, and what goes
// in there comes from input, which has no type.
var roomFor = map[string][]string{
	"nestools": {"read of a renamed path", "dropped writer", "swapped outputs of two tools", "changed type of a parameter", "second writer", "closed cycle",
		"dropped required parameter", "misspelt tool", "misspelt parameter", "misspelt meta key", "read of an unnamed field", "written input"},
	"mathqa": {"read of a renamed path", "dropped writer", "changed type of a parameter", "second writer", "closed cycle",
		"dropped required parameter", "misspelt tool", "misspelt parameter", "misspelt meta key", "read of an unnamed field", "written input"},
	"branching": {"read of a renamed path", "dropped writer", "swapped outputs of two tools", "changed type of a parameter", "second writer", "closed cycle",
		"dropped required parameter", "misspelt tool", "misspelt parameter", "misspelt meta key", "read of an unnamed field", "unreachable branch",
		"removed fallback", "written input"},
}

func kindNamed(name string) int {
	for i, kind := range faultKinds {
		if kind.name == name {
			return i
		}
	}
	panic("there is no kind of fault " + name)
}

// isFound checks the seeded plan, and says what was found in it.
func (f seeded) isFound() (bool, string) {
	plan, _, found := checked(f.plan.text())
	var said []string
	for _, d := range found {
		for _, s := range f.places {
			if s.finds(plan, d) {
				return true, ""
			}
		}
		said = append(said, fmt.Sprintf("%s %s at %d: %s", d.Rule.Code, d.Severity, d.Span.Start, d.Message))
	}
	return false, strings.Join(said, "; ")
}

func table(tallies []tally) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-30s %7s %8s %7s %7s %8s\n", "fault", "seeded", "harmless", "found", "missed", "share")
	for k, c := range tallies {
		share := "-"
		if n := c.found + c.missed; n > 0 {
			share = fmt.Sprintf("%.1f %%", 100*float64(c.found)/float64(n))
		}
		fmt.Fprintf(&b, "%-30s %7d %8d %7d %7d %8s\n", faultKinds[k].name, c.seeded, c.harmless, c.found, c.missed, share)
	}
	return b.String()
}

// corpusPlans are the plans of a file of the corpus.
func corpusPlans(name string) func(testing.TB) [][]byte {
	return func(t testing.TB) [][]byte {
		var all [][]byte
		for _, row := range corpus.Rows[corpus.Plan](t, name) {
			all = append(all, row.Document)
		}
		return all
	}
}

func branchingPlans(testing.TB) [][]byte {
	all := make([][]byte, amount.Of(6, 45, 150))
	for i := range all {
		all[i] = soundPlan(i)
	}
	return all
}
