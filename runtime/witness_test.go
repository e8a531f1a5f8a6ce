package runtime_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/runtime/simulate"
	"github.com/obelus-dev/obelus/testdata/amount"
)

// LANGUAGE.md#two-writers-of-one-path: every OB401 comes with two schedules, and replaying them ends in
// different states.
func TestConflictsShow(t *testing.T) {
	t.Parallel()
	plans, conflicts, shown := amount.Of(100, 1300, 20_000), 0, 0
	for n := range plans {
		doc := planNumber(t, n)
		text, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		p, found := compiler.Compile(source.NewFile("plan.json", text), compiler.Options{Functions: functionNames(doc)})
		found = analyzer.Analyze(p, found, analyzer.Config{Replay: simulate.FinalState, SampleRun: simulate.SampleRun}).Findings
		r := analyzer.Simulate(p, found)
		if r == nil {
			continue
		}
		for _, f := range found {
			if f.Rule.Name != "write-conflict" || f.Severity != diag.Error {
				continue
			}
			conflicts++
			branch, ok := f.Witness.(analyzer.Branch)
			if !ok || len(branch.Schedules) != 2 {
				t.Logf("plan %d: %s comes without schedules", n, f.Message)
				continue
			}
			var states [2]any
			for i, schedule := range branch.Schedules {
				end, err := simulate.FinalState(r, schedule)
				if err != nil {
					t.Fatalf("plan %d: %s: schedule %d: %v\n%s", n, f.Message, i, err, text)
				}
				states[i] = end
			}
			if reflect.DeepEqual(states[0], states[1]) {
				t.Errorf("plan %d: %s: both schedules end in %v\n%s", n, f.Message, states[0], text)
				continue
			}
			shown++
		}
	}
	t.Logf("%d of %d conflicts shown by replay", shown, conflicts)
	if conflicts < plans/400 || shown < conflicts {
		t.Errorf("%d of %d conflicts are shown", shown, conflicts)
	}
}
