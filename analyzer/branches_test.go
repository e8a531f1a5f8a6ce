package analyzer

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/source"
)

func repeated(n int, f func(i int) string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(f(i))
	}
	return b.String()
}

// LANGUAGE.md#findings: what may be tried of a value is the same whether or not the plan asks the same of
// another: those that differ in what they may be, or in what is asked, are told apart.
func TestLikeConditionsAreDividedAlike(t *testing.T) {
	types := []string{
		"{}", "{type: integer}", "{type: integer, minimum: 2, maximum: 9}", "{type: boolean}", "{enum: [a, b, c]}", "{type: string}",
		"{type: [string, 'null']}", "{type: array, items: {type: integer}}", "{enum: [3, 4]}", "{type: number}",
	}
	asked := []string{
		"%s > 3", "%s > 4", "%s == 'a'", "%s == '†state.v0'", "%s == '†state.v1'", "%s == '{0}'", "len(%s) > 1", "%s in [3, 'b', true]", "%s != null", "not %s", "%s % 2 == 0", "(%s ?? 3) > 3", "%s > 3 and %s < 8",
	}
	plan := func(names []int, pick func(i int) (of, what string)) string {
		var state, calls strings.Builder
		for _, i := range names {
			of, what := pick(i)
			fmt.Fprintf(&state, "  v%d: %s\n", i, of)
			fmt.Fprintf(&calls, "- {_tool: f, _when: %q}\n", "†("+strings.ReplaceAll(what, "%s", fmt.Sprintf("†state.v%d", i))+")")
		}
		return "stateSchema:\n properties:\n" + state.String() + "calls:\n" + calls.String()
	}
	turns := func(text string) (said []string) {
		p, found := compiler.Compile(source.NewFile("plan.yaml", []byte(text)), compiler.Options{})
		if diag.HasErrors(found) {
			t.Fatalf("%s\n%s", text, every(found))
		}
		for _, turn := range Turns(p) {
			said = append(said, fmt.Sprint(turn.Values))
		}
		return said
	}
	r := rand.New(rand.NewPCG(1, 44))
	shared := 0
	for range 150 {
		var of, what [6]string
		for i := range of { // few of each, so that some are alike
			of[i], what[i] = types[r.IntN(len(types))], asked[r.IntN(len(asked))]
			if same := r.IntN(i + 1); r.IntN(2) == 0 {
				of[i] = of[same]
				if r.IntN(3) > 0 {
					what[i] = what[same]
				}
			}
		}
		pick := func(i int) (string, string) { return of[i], what[i] }
		together := turns(plan([]int{0, 1, 2, 3, 4, 5}, pick))
		for i := range of {
			if alone := turns(plan([]int{i}, pick)); !slices.Equal(alone, together[i:i+1]) {
				t.Errorf("%q of %s: alone %s, beside others %s\n%s", what[i], of[i], alone, together[i], plan([]int{0, 1, 2, 3, 4, 5}, pick))
			}
			if i > 0 && of[i] == of[0] && what[i] == what[0] {
				shared++
			}
		}
	}
	if shared < 50 {
		t.Errorf("only %d were alike", shared)
	}
}

// LANGUAGE.md#two-writers-of-one-path: calls of which no values were found that let both run are no finding, and wait for
// each other as listed, also where there are more pairs than are looked at.
func TestUndecidedPairsRunAsListed(t *testing.T) {
	for _, n := range []int{2, 200} {
		text := "tools: {j: {_output: {type: integer}}, f: {}}\ncalls:\n- {_tool: j, _outputPath: n}\n" +
			repeated(n, func(i int) string {
				return fmt.Sprintf("- {_tool: f, _when: †state.n %% 1000 == %d, _outputPath: p}\n", i)
			})
		p, found := compiler.Compile(source.NewFile("plan.yaml", []byte(text)), compiler.Options{})
		j := Analyze(p, found, Config{SampleRun: SampleRuns})
		if j.Verified == nil || slices.ContainsFunc(j.Findings, func(d diag.Diagnostic) bool { return d.Rule == writeConflict.Rule }) {
			t.Fatalf("%d calls: %s", n, every(j.Findings))
		}
		for i := 2; i <= n; i++ {
			if !slices.Contains(j.Plan.Calls[i].Ordered, int32(i-1)) {
				t.Errorf("%d calls: call %d waits for %v alone", n, i, j.Plan.Calls[i].Ordered)
			}
		}
	}
}
