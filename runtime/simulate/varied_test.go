package simulate_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/simulate"
)

// EXECUTION.md#branches: what was made up is what conditions ask for, also of items and of each variant, wherever its
// schema allows it; and all is said to be played only where it was.
func TestBranchesVaryWhatIsMadeUp(t *testing.T) {
	t.Parallel()
	tools := map[string]string{
		"t":     `{type: object, properties: {v: {type: [string, integer]}}, required: [v], _output: {type: string}, x-simulate: {failure: 0}}`,
		"event": `{type: object, x-simulate: {failure: 0}, _output: {oneOf: [{type: object, properties: {kind: {const: mail}, to: {type: string}}, required: [kind, to], additionalProperties: false}, {type: object, properties: {kind: {const: call}, tel: {type: integer}}, required: [kind, tel], additionalProperties: false}]}}`,
		"found": `{type: object, x-simulate: {failure: 0}, _output: {type: object, properties: {by: {type: [string, "null"]}, names: {type: object, additionalProperties: {type: string}}, list: {type: array, items: {type: string}}}, required: [by, names, list]}}`,
	}
	for _, c := range []struct {
		name, plan string
		input      map[string]any // made up
		fails      string         // the way to the failure that is found
		open       bool           // a call never ran
	}{
		{"two nulls that a condition asks for together", "inputSchema: {type: object, properties: {a: {type: [integer, \"null\"]}, b: {type: [integer, \"null\"]}}, required: [a, b]}\ncalls:\n- {_tool: t, v: 1, _when: '†(not (†input.a == null or †input.b == null))', _outputPath: r}\noutput: {r: '†state.r || \"-\"'}",
			map[string]any{"a": 1.0, "b": nil}, "", false},
		{"each variant, by a condition", "calls:\n- {_tool: event, _outputPath: e}\n- {_tool: t, v: †state.e.to, _when: †state.e.kind == \"mail\", _outputPath: r}\n- {_tool: t, v: †state.e.tel, _when: †state.e.kind == \"call\", _outputPath: r}\noutput: †state.r",
			nil, "", false},
		{"of each variant what conditions compare", "calls:\n- {_tool: event, _outputPath: e}\n- {_tool: t, v: 1, _when: '†(†state.e.kind == \"mail\" and len(†state.e.to) > 40)', _outputPath: r}\n- {_tool: t, v: 2, _when: '†(†state.e.kind == \"call\" and †state.e.tel == 42)', _outputPath: r}\noutput: {r: '†state.r || \"-\"'}",
			nil, "", false},
		{"an item that a condition asks for", "calls:\n- {_tool: found, _outputPath: f}\n- {_tool: t, _each: †state.f.list, _when: '†item == \"a\"', v: 1, _outputPath: r}\noutput: {r: '†state.r || \"-\"'}",
			nil, "", false},
		{"what never has a value", "calls:\n- {_tool: found, _outputPath: f}\n- {_tool: t, v: '†state.f.list[1]', _when: '†(len(†state.f.list) == 1)', _outputPath: r}\noutput: {r: '†state.r || \"-\"'}",
			nil, "", true},
		{"the calls of each instance", "instances: {a: {state: {x: 1}}, b: {state: {x: 2}}}\ncalls:\n- {_tool: t, _instance: a, v: †state.x, _outputPath: r}\n- {_tool: t, _instance: b, v: 5, _outputPath: r}\noutput: {r: †state.r}",
			nil, "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			plan := "tools:\n"
			for _, name := range slices.Sorted(maps.Keys(tools)) {
				if strings.Contains(c.plan, "_tool: "+name+",") {
					plan += "  " + name + ": " + tools[name] + "\n"
				}
			}
			var made []string
			for key := range c.input {
				made = append(made, key)
			}
			x := simulate.Explore(verified(t, plan+c.plan), simulate.Options{Options: runtime.Options{Input: c.input}, Seed: 1, Steps: 500_000, Generated: made}, 500)
			if !x.Complete || len(x.Idle) > 0 != c.open {
				t.Errorf("complete is %v; %v never ran", x.Complete, x.Idle)
			}
			found := []string{}
			for _, p := range x.Problems {
				words := []string{}
				for _, b := range p.Path {
					words = append(words, analyzer.InWords(b))
				}
				found = append(found, strings.Join(words, ", "))
			}
			if strings.Join(found, "; ") != c.fails {
				t.Errorf("it goes wrong where %q; want %q", found, c.fails)
			}
		})
	}
}
