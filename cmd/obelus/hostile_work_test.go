//go:build unix

package main

import (
	"fmt"
	"strings"
)

// working are families for commands that do more than check: plans without errors
// of which drawings, compiled forms, rehearsals and runs may be far larger than the
// plan.
var working = []family{
	{"dense: readers of all state", func(bytes int) map[string]string {
		writers, _ := fill(bytes/2, "", numbered("- {_tool: t, _outputPath: p%d}\n"))
		readers, _ := fill(bytes/2-100, "", numbered("- {_tool: t, x: †state}\n"))
		return map[string]string{"plan.yaml": "calls:\n" + writers + readers}
	}},
	{"dense: one reader, many references", func(bytes int) map[string]string {
		writers, _ := fill(bytes/2, "", numbered("- {_tool: t, _outputPath: p%d}\n"))
		return filled("plan.yaml", "calls:\n"+writers+"- {_tool: t, x: [", "]}\n", ",", numbered("†state"))(bytes)
	}},
	{"dense: rewrites", calls("- {_tool: t, x: †state.p, _outputPath: p}")},
	{"dense: merges", filled("plan.yaml", "tools: {m: {_mock: {"+strings.Repeat("a: {b: [1, 2, 3]}, c: 1, ", 1)+"d: 2}}}\ncalls:\n", "", "", numbered("- {_tool: m, x: †state.p, _outputPath: p, _outputMethod: merge}\n"))},
	{"dense: lists that grow", filled("plan.yaml", "tools: {m: {_mock: [1, 2, 3, 4, 5, 6, 7, 8, 9]}}\ncalls:\n", "", "", numbered("- {_tool: m, x: †state.p, _outputPath: p, _outputMethod: concat}\n"))},
	{"dense: offers below one path", filled("plan.yaml", "writes: once\ncalls:\n", "", "", numbered("- {_tool: t, _outputPath: a.b%d}\n- {_tool: t, x: †state.a}\n"))},
	{"dense: offers of alternatives", filled("plan.yaml", "writes: once\ncalls:\n", "", "", numbered("- {_tool: t, _outputPath: †state.a || †state.b%d}\n"))},
	{"dense: a long name", func(bytes int) map[string]string {
		return filled("plan.yaml", "calls:\n- {_tool: t, _id: "+strings.Repeat("i", bytes/2)+", _outputPath: p}\n", "", "", numbered("- {_tool: t, x: †state.p}\n"))(bytes)
	}},
	{"values: an example many times", func(bytes int) map[string]string {
		return filled("plan.json", `{"tools":{"t":{"_mock":"`+strings.Repeat("x", bytes/2)+`"}},"calls":[{"_tool":"t"}`, `]}`, "", numbered(`,{"_tool":"t","_outputPath":"a%d"}`))(bytes)
	}},
	{"values: doubled strings", func(bytes int) map[string]string {
		return doubled("a + a", bytes)
	}},
	{"values: doubled lists", func(bytes int) map[string]string {
		return doubled("[a, a]", bytes)
	}},
	{"values: a tree many times", func(bytes int) map[string]string {
		tree, _ := fill(bytes/2, ",", numbered("[%d]"))
		return filled("plan.json", `{"state":{"a":[`+tree+`]},"calls":[{"_tool":"t"}`, `]}`, "", numbered(`,{"_tool":"t","x":"†state.a"}`))(bytes)
	}},
	{"instances: many, of many calls", func(bytes int) map[string]string {
		list, _ := fill(bytes/2, "", numbered("- {_tool: t, _outputPath: a%d}\n"))
		return filled("plan.yaml", "calls:\n"+list+"instances:\n", "", "", numbered("  i%d: {}\n"))(bytes)
	}},
	{"instances: their own calls and all state", func(bytes int) map[string]string {
		shared, _ := fill(bytes/3, "", numbered("- {_tool: t, _outputPath: s%d}\n"))
		own, n := fill(bytes/2, "", numbered("- {_tool: t, _instance: i%d, x: †state, _outputPath: a}\n"))
		list := ""
		for i := range n {
			list += fmt.Sprintf("  i%d: {}\n", i)
		}
		return map[string]string{"plan.yaml": "calls:\n" + shared + own + "instances:\n" + list}
	}},
	{"messages: kinds beside latent calls", func(bytes int) map[string]string {
		kinds, _ := fill(bytes/2, ",", numbered(`{"kind":"k%d","data":{"a":1}}`))
		calls, _ := fill(bytes/2-200, ",", numbered(`{"_tool":"t","x":"†k0.a","_outputPath":"a%d"}`))
		return map[string]string{"plan.json": `[` + kinds + `,{"type":"plan","plan":[` + calls + `]}]`}
	}},
	{"messages: kinds that are read", func(bytes int) map[string]string {
		kinds, n := fill(bytes/3, ",", numbered(`{"kind":"k%d"}`))
		calls, _ := fill(bytes/2, ",", func(i int) string { return fmt.Sprintf(`{"_tool":"t","x":"†k%d"}`, i%n) })
		return map[string]string{"plan.json": `[` + kinds + `,{"type":"plan","plan":[` + calls + `]}]`}
	}},
}

// doubled makes a plan of an expression that gives its parameter twice, again and
// again.
func doubled(code string, bytes int) map[string]string {
	return filled("plan.yaml", "tools: {d: {properties: {a: {}}}}\nactivities: {d: {expr: '"+code+"'}}\nstate: {p: ab}\ncalls:\n", "", "",
		numbered("- {_tool: d, a: †state.p, _outputPath: p}\n"))(bytes)
}
