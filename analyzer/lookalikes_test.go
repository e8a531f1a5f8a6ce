package analyzer

import (
	"testing"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/source"
)

// LANGUAGE.md#references-and-expressions: a reference that is written as elsewhere becomes one, alone or within a
// text, and the text keeps its layout.
func TestLookalikesAreMended(t *testing.T) {
	for _, c := range []struct{ name, before, after string }{
		{"a.yaml", "calls: [{_tool: a, b: \"{{state.c}}\"}]\n", "calls: [{_tool: a, b: \"†state.c\"}]\n"},
		{"a.yaml", "calls: [{_tool: a, b: Dear ${input.c}}]\n", "calls: [{_tool: a, b: Dear ${input.c}}]\n"},
		{"a.yaml", "calls: [{_tool: a, b: \"$state.c, $state.d\"}]\n", "calls: [{_tool: a, b: \"†{state.c}, †{state.d}\"}]\n"},
		{"a.yaml", "calls: [{_tool: a, b: '$state.c, $state.d'}]\n", "calls: [{_tool: a, b: '†{state.c}, †{state.d}'}]\n"},
		{"a.yaml", "calls:\n  - _tool: a\n    b: |\n      See {{state.c}}\n      and $state.d.\n", "calls:\n  - _tool: a\n    b: |\n      See {{state.c}}\n      and $state.d.\n"}, // over several lines
	} {
		file := source.NewFile(c.name, []byte(c.before))
		plan, found := compiler.Compile(file, compiler.Options{})
		if after, _ := diag.Apply(file, Analyze(plan, found, Config{SampleRun: SampleRuns}).Findings, source.DefaultLimits(), nil); string(after) != c.after {
			t.Errorf("%s becomes\n%swant\n%s", c.before, after, c.after)
		}
	}
}
