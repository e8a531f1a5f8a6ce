package simulate_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/analyzer/facts"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/runtime/simulate"
	"github.com/obelus-dev/obelus/testdata/amount"
)

// forking is a random plan of calls under conditions, of which some exclude each other.
func forking(random *rand.Rand) (string, *plan.Plan, *analyzer.Rehearsal) {
	text := `
tools:
  ask: {type: object, properties: {of: {}, _output: {type: object, properties: {kind: {enum: [a, b, c]}, n: {type: integer, minimum: 0, maximum: 9}}, required: [kind, n]}}, x-simulate: {failure: 0}}
calls:
- {_tool: ask, _outputPath: s0}
`
	for i := 1; i < 4+random.IntN(6); i++ {
		on := fmt.Sprintf("†state.s%d", random.IntN(i))
		condition := []string{".kind == \"a\"", ".kind == \"b\"", ".kind != \"a\"", ".kind in [\"b\", \"c\"]", ".n > 5", ".n <= 5", ".n < 3"}[random.IntN(7)]
		call := fmt.Sprintf("- {_tool: ask, _outputPath: s%d", i)
		switch random.IntN(5) {
		case 0:
			call += ", of: " + on
		case 1:
			call += ", of: '" + on + " || †state.s0'"
		case 2:
			call += fmt.Sprintf(", of: †state.s%d, _when: '%s'", random.IntN(i), on+condition)
		default:
			call += ", _when: '" + on + condition + "'"
		}
		text += call + "}\n"
	}
	p, found := compiler.Compile(source.NewFile("plan.yaml", []byte(text)), compiler.Options{})
	if v := analyzer.Analyze(p, found, analyzer.Config{}).Verified; v != nil {
		return text, p, v.Rehearsal()
	}
	return text, p, nil
}

// What is drawn as branches of which at most one runs is: in no rehearsal of all ways
// through a plan do calls of two of them run. And two cases of an enum are found.
func TestForksExcludeEachOther(t *testing.T) {
	forks, nested := 0, 0
	for n := range amount.Of(250, 1_000, 5_000) {
		text, p, r := forking(rand.New(rand.NewPCG(uint64(n), 17)))
		if r == nil {
			continue
		}
		all := facts.Forks(p)
		forks += len(all)
		for i, f := range all {
			if i > 0 && slices.ContainsFunc(all[0], func(c facts.Case) bool { return slices.Contains(c.Calls, f[0].Calls[0]) }) {
				nested++
			}
		}
		if len(all) == 0 && strings.Contains(text, "†state.s0.n > 5") && strings.Contains(text, "†state.s0.n <= 5") {
			t.Errorf("plan %d: no forks\n%s", n, text)
		}
		simulate.Begin(r, simulate.Options{Seed: 1}, simulate.MadeUp{}).Alternatives(300, func(a *simulate.Alternative) bool {
			for _, f := range all {
				ran := -1
				for i, c := range f {
					for _, call := range c.Calls {
						if !a.Scenario.Calls[call].Started {
							continue
						}
						if ran >= 0 && ran != i {
							t.Fatalf("plan %d: calls run of %q and of %q\n%s", n, f[ran].Condition, c.Condition, text)
						}
						ran = i
					}
				}
			}
			return true
		})
	}
	t.Logf("%d forks, %d within others", forks, nested)
	if forks < 30 || nested == 0 {
		t.Errorf("only %d forks, %d within others", forks, nested)
	}
}
