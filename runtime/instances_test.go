package runtime_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/testdata/amount"
)

func verify(t testing.TB, text string) *analyzer.Verified {
	t.Helper()
	p, found := compiler.Compile(source.NewFile("plan.yaml", []byte(text)), compiler.Options{Functions: []string{"f", "g"}})
	analysis := analyzer.Analyze(p, found, analyzer.Config{})
	v, found := analysis.Verified, analysis.Findings
	if v == nil {
		t.Fatal(found)
	}
	return v
}

func text(v any) string {
	out, _ := json.Marshal(v)
	return string(out)
}

// LANGUAGE.md#instances: where a plan has too many calls for single instances to be judged for
// each of them, a cycle in one of those fails there, and the run ends.
func TestCycleInOneInstanceOfTooMany(t *testing.T) {
	t.Parallel()
	if amount.Of(0, 1, 1) == 0 {
		t.Skip("judges as many calls as may be; run it with -thorough")
	}
	var b strings.Builder
	b.WriteString("plan: many\ncalls:\n")
	for i := range 1000 {
		fmt.Fprintf(&b, "- {_tool: f, n: %d, _outputPath: out%d}\n", i, i)
	}
	for i := range 300 {
		fmt.Fprintf(&b, "- {_tool: f, _instance: i%d, n: †state.out%d, _outputPath: own}\n", i, i)
	}
	b.WriteString("- {_tool: f, _instance: i299, n: †state.right, _outputPath: left}\n- {_tool: f, _instance: i299, n: †state.left, _outputPath: right}\n")
	b.WriteString("instances:\n")
	for i := range 300 {
		fmt.Fprintf(&b, "  i%d: {}\n", i)
	}
	m := runtime.New(verify(t, b.String()), runtime.Options{})
	events := []runtime.Event{{Kind: runtime.RunBegan}}
	var outcome *runtime.Outcome
	for len(events) > 0 && outcome == nil {
		e := events[0]
		events = events[1:]
		for _, c := range m.Step(e) {
			switch c.Kind {
			case runtime.Start:
				events = append(events, runtime.Event{Kind: runtime.Ended, Try: c.Try, Route: -1, Value: 1.0})
			case runtime.Finish:
				outcome = c.Outcome
			}
		}
	}
	if outcome == nil {
		t.Fatal("the run never ends")
	}
	if e := outcome.Errors; len(e) != 1 || e[0].Code != "bad-instance" || e[0].Instance != "i299" {
		t.Errorf("the errors are %v", e)
	}
}
