package compiler

import (
	"testing"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/source"
)

// LANGUAGE.md#findings: a name that differs in case or separators alone is mended by --fix, one that
// is a slip away is only offered, and the mended text keeps its layout.
func TestSafeFixes(t *testing.T) {
	for _, c := range []struct{ name, before, after string }{
		{"a.yaml", "calls:\n  - _tool: a\n    _output_path:  x # kept\n", "calls:\n  - _tool: a\n    _outputPath:  x # kept\n"},
		{"a.json", `{"calls": [{"_tool": "a", "_outputpath": "x"}]}`, `{"calls": [{"_tool": "a", "_outputPath": "x"}]}`},
		{"a.yaml", "calls: [{_tool: a, _outputMethod: 'Push', _outputPath: x}]\n", "calls: [{_tool: a, _outputMethod: 'push', _outputPath: x}]\n"},
		{"a.yaml", "calls: [{_tool: a, b: †State.c}]\n", "calls: [{_tool: a, b: †state.c}]\n"},
		{"a.yaml", "calls: [{_tool: a, _outputPth: x}]\n", "calls: [{_tool: a, _outputPth: x}]\n"},                                                     // a slip is offered
		{"a.yaml", "calls: [{_tool: a, b: †stat.c}]\n", "calls: [{_tool: a, b: †stat.c}]\n"},                                                           // here too
		{"a.yaml", "calls: [{_tool: a, _id: v11_2}, {_tool: a, _after: [v1_12]}]\n", "calls: [{_tool: a, _id: v11_2}, {_tool: a, _after: [v1_12]}]\n"}, // other numbers
		{"a.yaml", "calls: [{_tool: a, b: † state.c}]\n", "calls: [{_tool: a, b: † state.c}]\n"},
		{"a.yaml", "calls: [{_tool: a, 1: x, true: y}]\n", "calls: [{_tool: a, \"1\": x, \"true\": y}]\n"},
		{"a.yaml", "calls: [{_tool: a, _id: ab1, _when: true}, {_tool: a, _id: ab2}, {_tool: a, _after: [ab3]}]\n", "calls: [{_tool: a, _id: ab1, _when: true}, {_tool: a, _id: ab2}, {_tool: a, _after: [ab3]}]\n"}, // two are near
		{"a.yaml", "calls: [{_tool: a, _output_path: x, _outputPath: y}]\n", "calls: [{_tool: a, _output_path: x, _outputPath: y}]\n"},                                                                               // it would be there twice
	} {
		file := source.NewFile(c.name, []byte(c.before))
		_, found := Compile(file, Options{})
		if after, _ := diag.Apply(file, found, source.DefaultLimits(), nil); string(after) != c.after {
			t.Errorf("%s becomes\n%swant\n%s", c.before, after, c.after)
		}
	}
}
