package analyzer

import (
	"testing"

	"github.com/obelus-dev/obelus/analyzer/rules"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/source"
)

// LANGUAGE.md#findings: a key of the output may be null where it is missing, and that is offered. The
// whole may not: a run whose output comes to nothing has failed.
func TestNullIsOfferedForPartsOfTheOutput(t *testing.T) {
	const calls = "inputSchema: {properties: {go: {type: boolean}}, required: [go]}\ncalls: [{_tool: a, _when: †input.go, _outputPath: †state.x}]\n"
	for output, offered := range map[string]int{"output: {x: †state.x}\n": 1, "output: †state.x\n": 0} {
		plan, found := compiler.Compile(source.NewFile("a.yaml", []byte(calls+output)), compiler.Options{})
		seen := false
		for _, f := range Analyze(plan, found, Config{SampleRun: SampleRuns}).Findings {
			if f.Rule == rules.MaybeMissing.Rule {
				seen = true
				if len(f.Fixes) != offered {
					t.Errorf("%s: %d fixes are offered, want %d", output, len(f.Fixes), offered)
				}
			}
		}
		if !seen {
			t.Errorf("%s: nothing was found", output)
		}
	}
}
