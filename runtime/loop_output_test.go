package runtime_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/obelus-dev/obelus/runtime"
)

// EXECUTION.md#the-planning-loop: a planned run ends with the first solution that ends the loop and whose
// output, null included, its schema accepts; with every way to end a loop, schema and
// output, with instances and without.
func TestPlannedOutputFits(t *testing.T) {
	type schema struct {
		document any
		accepts  func(value any) bool
	}
	object := func(value any) bool { o, ok := value.(map[string]any); return ok && o["a"] != nil }
	schemas := []schema{
		{nil, func(any) bool { return true }},
		{map[string]any{"type": "object", "required": []any{"a"}}, object},
		{map[string]any{"type": []any{"object", "null"}, "required": []any{"a"}}, func(value any) bool { return value == nil || object(value) }},
	}
	outputs := []struct{ text, value string }{
		{``, `null`}, {`, "output": null`, `null`}, {`, "output": "†state.n"`, `null`}, {`, "output": "†input.x"`, `{"a":2}`},
		{`, "output": {"a": 1}`, `{"a":1}`}, {`, "output": {"b": "†state.n"}`, `{"b":null}`},
	}
	for _, terminate := range []string{"output", "calls"} {
		for at, schema := range schemas {
			for _, output := range outputs {
				for _, calls := range []string{`[]`, `[{"_tool": "fetch", "x": 1}]`} {
					for _, instances := range []bool{false, true} {
						doc := map[string]any{"plan": "p", "tools": toolDefinitions(), "input": map[string]any{"x": map[string]any{"a": 2}}, "state": map[string]any{"n": nil}, "terminate": terminate, "calls": []any{}}
						if schema.document != nil {
							doc["outputSchema"] = schema.document
						}
						if instances {
							doc["instances"] = map[string]any{"i": map[string]any{}, "j": map[string]any{}}
						}
						name := fmt.Sprint(terminate, " schema ", at, calls, output.text, instances)
						v, why := compileGenerated(t, doc)
						if v == nil {
							t.Fatal(name, why)
						}
						r := simulator{
							t: t, verified: v, options: runtime.Options{Planned: true}, act: func(string, int, map[string]any) (any, string, *failure) { return 1.0, "", nil }, order: rand.New(rand.NewPCG(1, 1)),
							solutions: []string{`{"calls": ` + calls + output.text + `}`, `{"calls": [], "output": {"a": 3}}`},
						}
						end := r.run()
						var value any
						if err := json.Unmarshal([]byte(output.value), &value); err != nil {
							t.Fatal(err)
						}
						ends := value != nil
						if terminate == "calls" {
							ends = calls == `[]`
						}
						want := 2
						if ends && schema.accepts(value) {
							want = 1
						}
						if end.Status != runtime.RunDone || end.Ticks != want {
							t.Errorf("%s: %s after %d ticks, want done after %d: %v", name, end.Status, end.Ticks, want, end.Errors)
						}
					}
				}
			}
		}
	}
}
