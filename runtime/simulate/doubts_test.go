package simulate_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/runtime/simulate"
)

// conditionsOf are conditions over one result, of which some can be compared, some
// exclude each other, and of some nobody knows when they hold.
var conditionsOf = []string{
	"†state.v.ok", "†(not †state.v.ok)", "†state.v.n > 3", "†state.v.n < 4", "†state.v.n % 2 == 0", "†(len(†state.v.text) > 2)", "†(len(†state.v.text) < 3)",
	"†(len(split(†state.v.text, 'q')) > 30)", "†(trimPrefix(†state.v.text, 'zz') == 'zy')", "†(fromJSON(†state.v.text).a > 2)", "†input.size > 10", "†input.size < 5",
}

// LANGUAGE.md#two-writers-of-one-path: an OB401 is an error only with two schedules that end in different
// states; where there is none the calls run as listed, and a plan ends in the same
// state however long its calls take.
func TestConflictsAreShownOrOrdered(t *testing.T) {
	errors, ordered := 0, 0
	for seed := range uint64(80) {
		r := rand.New(rand.NewPCG(seed, 401))
		var text strings.Builder
		text.WriteString(`
input: {size: 3}
tools:
  judge: {_output: {type: object, required: [ok, n, text], properties: {ok: {type: boolean}, n: {type: integer}, text: {type: string}}}}
  say: {additionalProperties: true, _output: {type: string}}
  same: {_output: {const: done}}
`)
		if r.IntN(4) == 0 {
			text.WriteString("instances: {a: {}, b: {state: {k: 1}}}\n")
		}
		text.WriteString("calls:\n- {_tool: judge, _outputPath: †state.v}\n")
		for i := range 2 + r.IntN(5) {
			tool, reads := []string{"say", "same"}[r.IntN(5)/4], ""
			if tool == "say" && i > 0 && r.IntN(3) == 0 {
				reads = fmt.Sprintf(", x: †state.p%d || null", r.IntN(3))
			}
			fmt.Fprintf(&text, "- {_tool: %s, _when: %q%s, _outputPath: p%d}\n", tool, conditionsOf[r.IntN(len(conditionsOf))], reads, r.IntN(3))
		}
		p, found := compiler.Compile(source.NewFile("plan.yaml", []byte(text.String())), compiler.Options{})
		j := analyzer.Analyze(p, found, analyzer.Config{Replay: simulate.FinalState, SampleRun: simulate.SampleRun})
		conflicts := 0
		for _, d := range j.Findings {
			if d.Rule.Code != "OB401" {
				continue
			}
			if d.Severity != diag.Error {
				continue
			}
			conflicts++
			branch, _ := d.Witness.(analyzer.Branch)
			if len(branch.Schedules) != 2 {
				t.Fatalf("seed %d: an error without schedules: %s\n%s", seed, d.Message, text.String())
			}
			simulation := analyzer.Simulate(p, j.Findings)
			if simulation == nil {
				continue // there are cycles besides
			}
			one, err := simulate.FinalState(simulation, branch.Schedules[0])
			other, err2 := simulate.FinalState(simulation, branch.Schedules[1])
			if err != nil || err2 != nil || reflect.DeepEqual(one, other) {
				t.Fatalf("seed %d: %v %v: both end in %v\n%s", seed, err, err2, one, text.String())
			}
		}
		errors += conflicts
		if j.Verified == nil {
			continue
		}
		for _, call := range j.Plan.Calls {
			ordered += len(call.Ordered)
		}
		for results := range uint64(3) {
			first := simulate.Run(j.Verified.Simulation(), simulate.Options{Seed: results})
			for order := range 4 {
				again := simulate.Run(j.Verified.Simulation(), simulate.Options{Seed: results, Schedule: order + 1})
				if !reflect.DeepEqual(states(first), states(again)) {
					t.Fatalf("seed %d: %v and then %v\n%s", seed, states(first), states(again), text.String())
				}
			}
		}
	}
	if errors < 25 || ordered < 10 {
		t.Errorf("only %d conflicts and %d pairs that are ordered: the test shows nothing", errors, ordered)
	}
}

func states(s *simulate.Scenario) map[string]any {
	all := map[string]any{"": s.Outcome.State}
	for _, i := range s.Outcome.Instances {
		all[i.ID] = i.State
	}
	return all
}
