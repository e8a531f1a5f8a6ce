package runtime_test

import (
	"fmt"
	"testing"

	"github.com/obelus-dev/obelus/runtime"
)

// EXECUTION.md#output: in whatever an output puts its leaves, it comes to nothing where none of them
// is there; null isn't, be it written, given or that of a skipped item; false, 0, "" and
// what an author says that it comes to are.
func TestNullIsNoOutput(t *testing.T) {
	leaves := []struct {
		text  string
		there bool
	}{
		{`"†state.null"`, false}, {`"†state.skipped[0]"`, false}, {`"†state.gone || †state.null"`, false}, {`"†state.no && †state.null"`, false}, {`"†state.gone"`, false},
		{`"†state.no"`, true}, {`"†state.zero"`, true}, {`"†state.empty"`, true}, {`"†state.null || null"`, true}, {`"†state.no || 1"`, true}, {`null`, true}, {`1`, true},
	}
	shapes := []string{`%s`, `{"a": %s}`, `[%s]`, `{"a": [{"b": %s}]}`, `{"a": {}, "b": [[], %s]}`}
	for _, shape := range shapes {
		for _, first := range leaves {
			for _, second := range leaves {
				text := fmt.Sprintf(shape, first.text)
				there := first.there
				if shape != `%s` {
					text, there = fmt.Sprintf(`{"one": %s, "other": %s}`, text, second.text), first.there || second.there
				} else if first.text == "null" {
					continue // it declares none
				}
				v := verify(t, `
tools: {f: {properties: {n: {}}}, skip: {properties: {n: {}}}}
state: {"null": null, "no": false, zero: 0, empty: ""}
calls:
- {_tool: f, _when: "†state.no", _outputPath: gone}
- {_tool: f, _each: [1], n: †item, _when: †item > 1, _outputPath: skipped}
output: `+text+"\n")
				if _, outcome := played(v, runtime.Options{}); (outcome.Status == runtime.RunDone) != there {
					t.Errorf("%s ends %s: %v", text, outcome.Status, outcome.Errors)
				}
			}
		}
	}
}
