package simulate_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/simulate"
)

// EXECUTION.md#limits: a simulation costs no more steps than it may: what is too large stops it,
// with the same steps every time.
func TestSimulationsAreBounded(t *testing.T) {
	repeat := func(n int, line string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(strings.ReplaceAll(line, "%", fmt.Sprint(i)) + "\n")
		}
		return b.String()
	}
	const most, deep = 50_000, 18
	twice := func(i int) string {
		return "calls:\n" + repeat(2, fmt.Sprintf("- {_tool: t, _delegate: d%d.yaml, _outputPath: p%%}", i+1))
	}
	open := func(name string) ([]byte, error) { // the last does nothing, so that all takes no time
		if i, _ := strconv.Atoi(strings.Trim(name, "d.yaml")); i < deep {
			return []byte(twice(i)), nil
		}
		return []byte("calls: []\n"), nil
	}
	for name, c := range map[string]struct {
		text   string
		status runtime.RunStatus
	}{
		"readers of all":  {"calls:\n" + repeat(300, "- {_tool: t, _outputPath: p%}") + repeat(300, "- {_tool: t, x: †state}"), "stopped"},
		"doubled":         {"tools: {d: {properties: {a: {}}}}\nactivities: {d: {expr: '[a, a]'}}\nstate: {p: 1}\ncalls:\n" + repeat(40, "- {_tool: d, a: †state.p, _outputPath: p}"), "stopped"},
		"many instances":  {"calls:\n" + repeat(100, "- {_tool: t, _outputPath: p%}") + "instances:\n" + repeat(200, "  i%: {}"), "stopped"},
		"large instances": {"calls:\n" + repeat(3000, "- {_tool: t, _outputPath: p%}") + "instances:\n" + repeat(20, "  i%: {}"), "stopped"},
		"delegates":       {twice(0), "stopped"},
		"an ordinary one": {"state: {a: 1}\ncalls:\n" + repeat(20, "- {_tool: t, x: †state.a, _outputPath: p%}") + "instances:\n" + repeat(20, "  i%: {}"), "done"},
	} {
		p, found := compiler.Compile(source.NewFile("plan.yaml", []byte(c.text)), compiler.Options{Open: open})
		found = analyzer.Analyze(p, found, analyzer.Config{SampleRun: simulate.SampleRun}).Findings
		r := analyzer.Simulate(p, found)
		if r == nil {
			t.Fatalf("%s: %s", name, found[len(found)-1].Message)
		}
		s := simulate.Run(r, simulate.Options{Steps: most, Seed: 3})
		if s.Steps > 2*most || s.Outcome.Status != c.status || (c.status == "stopped") != (s.Outcome.Reason == simulate.TooLong) {
			t.Errorf("%s: %d steps, %s for %q", name, s.Steps, s.Outcome.Status, s.Outcome.Reason)
		}
		if again := simulate.Run(r, simulate.Options{Steps: most, Seed: 3}); again.Makespan != s.Makespan || again.Outcome.Counts != s.Outcome.Counts {
			t.Errorf("%s: the same simulation ends otherwise", name)
		}
	}
}
