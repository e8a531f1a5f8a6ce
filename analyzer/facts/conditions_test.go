package facts_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/analyzer/facts"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/source"
)

// EXECUTION.md#approval: branches as conditions: a call is shown with all that must hold for it to run by
// what it declares itself, and the calls that it reads from.
func TestConditionsOfCalls(t *testing.T) {
	text := `
tools: {pay: {}, hold: {}, release: {properties: {hold: {}, why: {}}}, node: {}, drain: {properties: {of: {}}}, note: {properties: {of: {}}}}
calls:
- {_id: hold, _tool: hold, _when: †input.total < 100, _outputPath: '†state.hold || †state.noHold'}
- {_id: pay, _tool: pay, _outputPath: '†state.paid || †state.unpaid'}
- {_id: release, _tool: release, hold: †state.hold, why: †state.unpaid.message || †state.noHold.message}
- {_id: tell, _tool: note, of: †state.unpaid.message || "fine"}
- {_id: cordon, _tool: node, _when: †input.bad, _outputPath: †state.cordoned}
- {_id: drain, _tool: drain, of: †state.cordoned, _outputPath: †state.drained}
- {_id: last, _tool: node, _after: [drain]}
- {_id: packed, _tool: note, _each: †input.list, of: †item, _when: †item > 100, _outputPath: †state.packed}
- {_id: wiped, _tool: drain, _each: †input.list, of: [†item, †state.packed], _outputPath: †state.wiped}
- {_id: marked, _tool: note, _each: †input.list, of: "†{item} of †{state.cordoned}", _outputPath: †state.marked}
- {_id: dropped, _tool: drain, of: †state.marked}
- {_id: asked, _tool: note, _each: †input.list, of: †item, _when: †input.go, _outputPath: †state.asked}
- {_id: ended, _tool: drain, of: †state.asked}
- {_id: anyway, _tool: node, _after: [{call: drain, settled: true}]}
`
	p, _ := compiler.Compile(source.NewFile("plan.yaml", []byte(text)), compiler.Options{})
	want := map[string]string{
		"hold":    "if †input.total < 100",
		"pay":     "",
		"release": "if hold writes †state.hold, if †input.total < 100 for hold",
		"tell":    "",
		"cordon":  "if †input.bad",
		"drain":   "if †input.bad for cordon",
		"packed":  "for each of †input.list, if †item > 100",
		"wiped":   "for each of †input.list",
		"marked":  "for each of †input.list, if †input.bad for cordon",
		"dropped": "",
		"ended":   "",
		"last":    "after drain is done",
	}
	for _, c := range facts.Of(p, facts.Options{}).Calls {
		expected, asked := want[c.Name]
		if !asked {
			continue
		}
		var all []string
		for _, one := range c.Conditions {
			words := slices.DeleteFunc([]string{one.Words, one.Text, one.More, one.Path}, func(w string) bool { return w == "" })
			all = append(all, strings.Join(words, " "))
		}
		if got := strings.Join(all, ", "); got != expected {
			t.Errorf("%s runs %q, want %q", c.Name, got, expected)
		}
	}
}
