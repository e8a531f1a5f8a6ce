package simulate_test

import (
	"slices"
	"testing"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/runtime/simulate"
)

// EXECUTION.md#simulation: of a call that comes after another it is said that it needn't be skipped where the
// other's own condition has kept that from running, and never where a failure has, however far back:
// what it comes after may be there to guard it.
func TestGuardsArentCalledNeedless(t *testing.T) {
	t.Parallel()
	const tools = `
tools:
  look: {type: object, properties: {_output: {type: object, properties: {n: {type: integer, minimum: 0, maximum: 9}}, required: [n]}}}
  sure: {type: object, properties: {_output: {type: object, properties: {n: {type: integer, minimum: 0, maximum: 9}}, required: [n]}}, x-simulate: {failure: 0}}
  book: {type: object, properties: {of: {}, _output: {type: string}}, required: [of], x-simulate: {failure: 0}}
  pay: {type: object, properties: {sum: {type: number}, _output: {type: string}}, required: [sum], x-simulate: {failure: 0}}
calls:
`
	const pay = "- {_tool: pay, _id: pay, sum: 3, _after: [guard], _outputPath: c}\n"
	for _, c := range []struct {
		name, calls string
		needless    bool
	}{
		{"the guard fails", "- {_tool: look, _id: guard, _outputPath: a || ea}\n" + pay, false},
		{"what it reads has failed", "- {_tool: look, _outputPath: a || ea}\n- {_tool: book, _id: guard, of: †state.a.n, _outputPath: b}\n" + pay, false},
		{"two calls back", "- {_tool: look, _outputPath: a || ea}\n- {_tool: book, of: †state.a.n, _outputPath: b}\n- {_tool: book, _id: guard, of: †state.b, _outputPath: d}\n" + pay, false},
		{"its condition is absent for a failure", "- {_tool: look, _outputPath: a || ea}\n- {_tool: book, _id: guard, of: 1, _when: †state.a.n > 3, _outputPath: b}\n" + pay, true}, // where it is there and doesn't hold
		{"its condition is absent for a failure, and else holds", "- {_tool: look, _outputPath: a || ea}\n- {_tool: book, _id: guard, of: 1, _when: †state.a.n >= 0, _outputPath: b}\n" + pay, false},
		{"its condition asks for the failure", "- {_tool: look, _outputPath: a || ea}\n- {_tool: book, _id: guard, of: 1, _when: '†((†state.ea || null) == null)', _outputPath: b}\n" + pay, false},
		{"its condition doesn't hold", "- {_tool: sure, _outputPath: a}\n- {_tool: book, _id: guard, of: 1, _when: †state.a.n > 3, _outputPath: b}\n" + pay, true},
		{"its condition is of a call with nothing to do", "- {_tool: sure, _outputPath: a}\n- {_tool: book, of: 1, _when: †state.a.n > 3, _outputPath: b}\n- {_tool: book, _id: guard, of: 2, _when: †state.b != \"\", _outputPath: d}\n" + pay, true},
		{"it doesn't hold in the first of two instances", "- {_tool: book, _id: guard, of: 1, _when: †state.on, _outputPath: b}\n" + pay + "instances: {a: {state: {on: false}}, b: {state: {on: true}}}\n", true},
	} {
		p, found := compiler.Compile(source.NewFile("plan.yaml", []byte(tools+c.calls)), compiler.Options{})
		v := analyzer.Analyze(p, found, analyzer.Config{}).Verified
		if v == nil {
			t.Fatalf("%s: %v", c.name, found)
		}
		x := simulate.Explore(v.Rehearsal(), simulate.Options{Seed: 1}, simulate.MadeUp{}, 500)
		told := func(p simulate.Problem) bool { return p.Kind == simulate.Needless && p.Call == "pay" }
		if at := slices.IndexFunc(x.Problems, told); at >= 0 != c.needless {
			t.Errorf("%s: it is %t that %d problems name the call as skipped without need", c.name, at >= 0, len(x.Problems))
		} else if at >= 0 && slices.ContainsFunc(x.Problems[at].Path, func(b analyzer.BranchChoice) bool { return b.Fails }) {
			t.Errorf("%s: it is said of a branch with a failure: %+v", c.name, x.Problems[at].Path)
		}
	}
}
