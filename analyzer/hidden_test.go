package analyzer

import (
	"slices"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/source"
)

// LANGUAGE.md#findings: whatever error stands beside it, a fault of a plan is found, or the judgement
// says that faults of its kind weren't looked for everywhere.
func TestNothingIsHiddenWithoutAWord(t *testing.T) {
	const tools = `tools:
  n: {type: object, properties: {x: {type: string}}, _output: {type: integer}}
  s: {type: object, properties: {x: {type: string}}, _output: {type: string}}
`
	faults := []struct{ code, kind, calls string }{
		{"OB505", "types", "- {_tool: n, x: a, _outputPath: †state.n1}\n- {_tool: s, x: †state.n1, _outputPath: †state.s1}\n"},
		{"OB510", "types", "- {_tool: s, x: a, _outputPath: †state.t1}\n- {_tool: s, x: '†(†state.t1 - 1)', _outputPath: †state.s1}\n"},
		{"OB205", "branches", "- {_tool: s, x: a, _outputPath: †state.ok || †state.bad}\n- {_tool: s, x: †state.ok, _outputPath: †state.s1}\n"},
		{"OB401", "conflicts", "- {_tool: n, x: a, _outputPath: †state.s1}\n- {_tool: s, x: b, _outputPath: †state.s1}\n"},
		{"OB401", "conflicts", "- {_tool: s, x: †state.of, _outputPath: †state.s1}\n- {_tool: s, x: b, _outputPath: †state.s1}\n- {_tool: s, x: b, _outputPath: †state.of}\n"},
	}
	errors := []string{
		"", "- {_tool: s, x: '†((', _outputPath: †state.z}\n", "- {_tool: s, x: b, _outputPth: †state.z}\n", "- {_tool: s, x: 1, x: 2}\n",
		"- {_tool: s, _outputPath: '†('}\n", "- {_tool: gone, x: b}\n", "- {_tool: s, x: †state.offf, _outputPath: †state.z}\n", "- {x: b}\n",
		"- {_tool: s, x: †nothing.x}\n", "- {_tool: s, _after: [nobody]}\n", "- {_tool: s, <<: {x: b}}\n", "- {_tool: s, x: †state.y1, _outputPath: †state.y2}\n- {_tool: s, x: †state.y2, _outputPath: †state.y1}\n",
		"state: {a: 1, a: 2}\n", "stateSchema: {type: strin}\n", "outputs: {}\n", "limits: {ticks: -1}\n", "import: [nowhere.yaml]\n", "instances: 3\n", "input: [1\n", "activities: {n: {}}\n",
	}
	for _, fault := range faults {
		for _, e := range errors {
			text := tools + "calls:\n" + fault.calls
			if strings.HasPrefix(e, "-") {
				text += e
			} else {
				text = e + text
			}
			text += "output: †state.s1\n"
			plan, found := compiler.Compile(source.NewFile("plan.yaml", []byte(text)), compiler.Options{Name: "plan.yaml"})
			j := Analyze(plan, found, Config{SampleRun: SampleRuns})
			there := slices.ContainsFunc(j.Findings, func(d diag.Diagnostic) bool { return d.Rule.Code == fault.code })
			if !there && !slices.Contains(j.Unjudged, fault.kind) {
				t.Errorf("%s is hidden without a word (%v) beside %s\n%s\n%s", fault.code, j.Unjudged, e, text, every(j.Findings))
			}
			if e == "" && (len(j.Unjudged) > 0 || !there) {
				t.Errorf("%s by itself: %v are unjudged\n%s", fault.code, j.Unjudged, every(j.Findings))
			}
		}
	}
}
