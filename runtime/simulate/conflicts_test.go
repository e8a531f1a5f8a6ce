package simulate_test

import (
	"testing"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/runtime/simulate"
)

// LANGUAGE.md#two-writers-of-one-path: two schedules with different results show a conflict, also if a call fails in
// only one of them, or one of the calls is for a single instance.
func TestDifferentEndsAreConflicts(t *testing.T) {
	const tools = "tools: {n: {type: object, _output: {type: integer}}, one: {type: object, _output: {const: 1}}, " +
		"object: {type: object, _output: {type: object, properties: {k: {type: integer}}, required: [k]}}, color: {type: object, _output: {enum: [red, green]}}}\n"
	for text, isError := range map[string]bool{
		"calls: [{_tool: n, _outputPath: v}, {_tool: n, _outputPath: v, _outputMethod: push}]":                                                   true,
		"calls: [{_tool: object, _outputPath: v}, {_tool: color, _outputPath: v, _outputMethod: merge}]":                                         true,
		"instances: {A: {state: {q: 1}}, B: {state: {q: 2}}}\ncalls: [{_tool: n, _outputPath: v}, {_tool: n, _instance: B, _outputPath: v}]":     true,
		"instances: {A: {state: {q: 1}}, B: {state: {q: 2}}}\ncalls: [{_tool: one, _outputPath: v}, {_tool: one, _instance: B, _outputPath: v}]": false,
		"calls: [{_tool: one, _outputPath: v}, {_tool: one, _outputPath: v}]":                                                                    false,
	} {
		p, found := compiler.Compile(source.NewFile("plan.yaml", []byte(tools+text+"\noutput: †state.v\n")), compiler.Options{})
		judged := analyzer.Analyze(p, found, analyzer.Config{Replay: simulate.FinalState})
		if conflicts := len(judged.Errors); (conflicts > 0) != isError {
			t.Errorf("%s: %d errors, %v", text, conflicts, judged.Findings)
		}
	}
}
