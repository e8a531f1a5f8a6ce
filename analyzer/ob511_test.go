package analyzer

import (
	"slices"
	"testing"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/source"
)

// LANGUAGE.md#two-writers-of-one-path: calls for which no schedules differ run as listed, so that a method is
// judged by what the call listed before it writes.
func TestMethodsAreJudgedInTheOrderOfTheList(t *testing.T) {
	const text = `
tools:
  o: {type: object, _output: {type: object, properties: {a: {type: integer}}, required: [a]}}
  n: {type: object, _output: {type: integer}}
calls:
  - {_tool: o, _outputPath: r}
  - {_tool: n, _outputPath: r, _outputMethod: push}
output: {o: †state.r || null}
`
	plan, found := compiler.Compile(source.NewFile("a.yaml", []byte(text)), compiler.Options{})
	same := func(*Simulation, Schedule) (any, error) { return nil, nil }
	findings := Analyze(plan, found, Config{Replay: same}).Findings
	for code, severity := range map[string]diag.Severity{"OB401": diag.Warning, "OB511": diag.Error} {
		if !slices.ContainsFunc(findings, func(f diag.Diagnostic) bool { return f.Rule.Code == code && f.Severity == severity }) {
			t.Errorf("no %v %s: %v", severity, code, findings)
		}
	}
}
