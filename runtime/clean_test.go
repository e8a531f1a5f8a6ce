package runtime_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/simulate"
)

// typedPlan makes a plan over tools with types: chains, branches that join
// again, failure routes that are read, and paths that are rewritten. What a
// branching tool gives names one of the two alternatives, so that both are
// taken, over many seeds.
type typedPlan struct {
	*rand.Rand
	calls   []any
	outputs map[string]any
	numbers []string // references to numbers that are there
	fresh   int

	branches, fallbacks, rewrites int
}

func (g *typedPlan) path() string {
	g.fresh++
	return fmt.Sprintf("p%d", g.fresh)
}

func (g *typedPlan) number() string { return g.numbers[g.IntN(len(g.numbers))] }

func (g *typedPlan) add(call map[string]any) { g.calls = append(g.calls, call) }

func (g *typedPlan) step() {
	switch g.IntN(5) {
	case 0, 1: // a chain goes on
		path := g.path()
		g.add(map[string]any{"_tool": "measure", "from": g.number(), "_outputPath": path})
		g.numbers = append(g.numbers, "†state."+path+".value")
	case 2: // a branch whose ends join
		yes, no, left, right, joined := g.path(), g.path(), g.path(), g.path(), g.path()
		tool := fmt.Sprintf("decide%s", yes)
		g.outputs[tool] = []any{
			map[string]any{"_outputPath": "†state." + yes, "_output": map[string]any{"value": 1}},
			map[string]any{"_outputPath": "†state." + no, "_output": map[string]any{"value": 2}},
		}
		g.add(map[string]any{"_tool": tool, "from": g.number(), "_outputPath": "†state." + yes + " || †state." + no})
		g.add(map[string]any{"_tool": "measure", "from": "†state." + yes + ".value", "_outputPath": left})
		g.add(map[string]any{"_tool": "measure", "from": "†state." + no + ".value", "_outputPath": right})
		g.add(map[string]any{"_tool": "measure", "from": "†state." + left + ".value || †state." + right + ".value || 0", "_outputPath": joined})
		g.numbers = append(g.numbers, "†state."+joined+".value")
		g.branches++
		g.fallbacks++
	case 3: // a path that is rewritten
		path := g.path()
		g.add(map[string]any{"_tool": "measure", "from": g.number(), "_outputPath": path})
		for range 1 + g.IntN(2) {
			g.add(map[string]any{"_tool": "measure", "from": "†state." + path + ".value", "_outputPath": path})
		}
		g.numbers = append(g.numbers, "†state."+path+".value")
		g.rewrites++
	case 4: // a failure route that somebody reads
		ok, fault := g.path(), g.path()
		g.add(map[string]any{"_tool": "measure", "from": g.number(), "_outputPath": ok + " || " + fault})
		joined := g.path()
		g.add(map[string]any{"_tool": "measure", "from": "†state." + ok + ".value || 0", "_outputPath": joined})
		g.add(map[string]any{"_tool": "tell", "code": "†state." + fault + ".code"})
		g.numbers = append(g.numbers, "†state."+joined+".value")
		g.branches++
		g.fallbacks++
	}
}

func (g *typedPlan) document() []byte {
	for range 4 + g.IntN(5) {
		g.step()
	}
	number := map[string]any{"type": "number"}
	result := map[string]any{"type": "object", "properties": map[string]any{"value": number}, "required": []any{"value"}}
	tools := map[string]any{
		"measure": map[string]any{"type": "object", "properties": map[string]any{"from": number, "_output": result}, "required": []any{"from"}},
		"tell":    map[string]any{"type": "object", "properties": map[string]any{"code": map[string]any{"type": "string"}}, "required": []any{"code"}},
	}
	for name, mocks := range g.outputs {
		tools[name] = map[string]any{"type": "object", "properties": map[string]any{"from": number, "_output": result}, "required": []any{"from"}, "examples": mocks}
	}
	output := map[string]any{}
	for i, n := range g.numbers {
		output[fmt.Sprintf("n%d", i)] = n
	}
	text, err := json.Marshal(map[string]any{"tools": tools, "calls": g.calls, "input": map[string]any{"n": 1}, "output": output})
	if err != nil {
		panic(err)
	}
	return text
}

// S7.1: a plan that checks clean never fails for what the rules look for. It is
// run with results drawn from its tools' "_output": no call fails in structure,
// none is skipped but for a branch that wasn't taken, and the state is the same
// under every schedule.
func TestCleanPlansRunClean(t *testing.T) {
	plans, clean, rich := 400, 0, 0
	if testing.Short() {
		plans = 50
	}
	for n := range plans {
		g := &typedPlan{Rand: rand.New(rand.NewPCG(uint64(n), 7)), outputs: map[string]any{}, numbers: []string{"†input.n"}}
		text := g.document()
		p, found := compiler.Compile(source.NewFile("plan.json", text), compiler.Options{Functions: []string{"measure", "tell"}})
		v, found := analyzer.Analyze(p, found, analyzer.Config{})
		if worst(found) > diag.Info {
			t.Logf("plan %d isn't clean: %s: %s", n, found[0].Rule.Code, found[0].Message)
			continue
		}
		clean++
		if g.branches > 0 && g.fallbacks > 0 && g.rewrites > 0 {
			rich++
		}
		for seed := range uint64(4) {
			var first *simulate.Scenario
			for s := range 50 {
				run := simulate.Run(v.Rehearsal(), simulate.Options{Seed: seed, Schedule: s})
				if first == nil {
					first = run
					judgeClean(t, text, run)
				} else if !reflect.DeepEqual(run.Outcome.State, first.Outcome.State) {
					t.Fatalf("seed %d: schedules 0 and %d end in %v and %v\n%s", seed, s, first.Outcome.State, run.Outcome.State, text)
				}
			}
		}
	}
	t.Logf("%d of %d plans are clean, %d of them with alternatives, a fallback and a rewritten path", clean, plans, rich)
	if clean*10 < plans*9 || rich*2 < clean {
		t.Errorf("%d of %d plans are clean, and %d of these rich; too few to show anything", clean, plans, rich)
	}
}

func worst(found []diag.Diagnostic) diag.Severity {
	worst := diag.Info
	for _, f := range found {
		worst = max(worst, f.Severity)
	}
	return worst
}

// judgeClean holds one run against S7.1.
func judgeClean(t *testing.T, text []byte, s *simulate.Scenario) {
	t.Helper()
	if s.Outcome.Status != "done" {
		t.Fatalf("%s: %s\n%s", s.Outcome.Status, s.Outcome.Reason, text)
	}
	for _, c := range s.Calls {
		if c.Status == runtime.Skipped && !untaken(s, c.Call) {
			t.Fatalf("%s was skipped (%s) though every branch to it was taken\n%s", c.Call.Name, c.Reason, text)
		}
	}
}

// untaken tells whether some call that a skipped one reads from was skipped
// itself, or is done and wrote elsewhere.
func untaken(s *simulate.Scenario, call *compiler.Call) bool {
	p := s.Plan
	for _, i := range call.Reads {
		for _, w := range p.Reads[i].Writers {
			if s.Calls[w].Status == runtime.Skipped || len(p.Calls[w].Output) > 1 {
				return true
			}
		}
	}
	return false
}
