//go:build unix

package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// working are families for commands that do more than check: plans without errors
// of which drawings, compiled forms, simulations and runs may be far larger than the
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
	{"dense: pushes onto one list", filled("plan.yaml", "calls:\n", "", "", numbered("- {_tool: t, _outputPath: a.b, _outputMethod: push}\n"))},
	{"dense: items of one list", filled("plan.yaml", "calls:\n", "", "", numbered("- {_tool: t, _outputPath: '†state.a[%d]'}\n"))},
	{"dense: keys, merges and items below one path", filled("plan.yaml", "tools: {m: {_mock: {b: {c: 1}}}}\ncalls:\n- {_tool: m, _id: c0, _outputPath: a}\n", "", "", func(i int) string {
		path := []string{"a.l, _outputMethod: push", "a.m, _outputMethod: merge", "a.m.k%[1]d", "a.k%[1]d.x", "'†state.a.z[%[2]d]'", "a, _outputMethod: assign"}[i%6]
		return fmt.Sprintf("- {_tool: m, _id: c%[3]d, _after: [c%[1]d], _outputPath: "+path+"}\n", i, i/6, i+1)
	})},
	{"dense: conditions on remainders", filled("plan.yaml", "inputSchema: {properties: {n: {type: integer}}, required: [n]}\ncalls:\n", "", "", func(i int) string {
		return fmt.Sprintf("- {_tool: t, _when: '†input.n %% %d == %d and †input.n > %d', _outputPath: a%d || b%[4]d}\n", i+2, i%3, i, i)
	})},
	{"dense: conditions of several results", filled("plan.yaml", "tools: {t: {_output: {type: integer}}}\ncalls:\n", "", "", func(i int) string {
		return fmt.Sprintf("- {_tool: t, _outputPath: x%[1]d}\n- {_tool: t, _when: '†state.x%[1]d * †state.x%[2]d + †state.x%[3]d == %[4]d', _outputPath: y%[1]d}\n", i, i/2, i/3, i*31+7)
	})},
	{"dense: instances with calls of their own", func(bytes int) map[string]string {
		own, _ := fill(bytes*3/4, "", numbered("- {_tool: t, _instance: i%d, _outputPath: a}\n"))
		shared, _ := fill(bytes/4-20, "", func(int) string { return "- {_tool: t, x: †state.a}\n" })
		return map[string]string{"plan.yaml": "calls:\n" + own + shared}
	}},
	{"dense: a long name", func(bytes int) map[string]string {
		return filled("plan.yaml", "calls:\n- {_tool: t, _id: "+strings.Repeat("i", bytes/2)+", _outputPath: p}\n", "", "", numbered("- {_tool: t, x: †state.p}\n"))(bytes)
	}},
	{"values: a long text for a dear pattern, many times", func(bytes int) map[string]string {
		const tool = `{properties: {x: {pattern: "(a|b|ab)*(a|aa|aaa){20}$|b"}}}`
		head := "tools: {t: " + tool + "}\nactivities: {t: {expr: '1'}}\nstate: {s: " + strings.Repeat("a", bytes*2/5) + "}\ncalls:\n"
		return filled("plan.yaml", head, "", "", numbered("- {_tool: t, x: †state.s, _outputPath: p%d}\n"))(bytes)
	}},
	{"values: a long text for many dear patterns", func(bytes int) map[string]string {
		return texts(bytes, "{pattern: '(a|b|ab)*(a|aa|aaa){20}$|b%[1]d'}", func(int) string { return "a" })
	}},
	{"values: a long text for many patterns of many states", func(bytes int) map[string]string {
		r := rand.New(rand.NewPCG(18, 1))
		return texts(bytes, "{pattern: '(a|b)*a(a|b){17}$|c%[1]d'}", func(int) string { return string("ab"[r.IntN(2)]) })
	}},
	{"values: short texts for many patterns", func(bytes int) map[string]string {
		return texts(bytes, "{items: {pattern: '^([a-z]|[b-y]x){1,20}$|c%[1]d'}}", func(i int) string {
			switch i {
			case 0:
				return "["
			case bytes*2/5 - 1:
				return "]"
			}
			return "ab,"[i%3:][:1]
		})
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
	{"values: many large ones", func(bytes int) map[string]string {
		return evaluated("repeat(\"x\", 3000000)", bytes)
	}},
	{"values: many large lists", func(bytes int) map[string]string {
		return evaluated("(1..60000) | map([#])", bytes)
	}},
	{"values: many objects", func(bytes int) map[string]string {
		return evaluated("(1..20000) | map({\"a\": #})", bytes)
	}},
	{"values: dear expressions", func(bytes int) map[string]string {
		return evaluated("(1..60000) | filter(# > 0) | map(# * 2) | len()", bytes)
	}},
	{"values: one that is only handed on", func(bytes int) map[string]string {
		tree, _ := fill(bytes/2, ",", numbered("[%d]"))
		return filled("plan.json", `{"tools":{"t":{"properties":{"x":{}}}},"activities":{"t":{"expr":"x"}},"state":{"a":[`+tree+`]},"calls":[{"_tool":"t","x":1}`, `]}`, "", numbered(`,{"_tool":"t","x":"†state.a","_outputPath":"b%d"}`))(bytes)
	}},
	{"values: a condition that costs", evaluating("- {_tool: d, _when: '†(1..100000) | map(# * 2) | len() > state.p', a: 1}")},
	{"values: an output of the same many times", func(bytes int) map[string]string {
		tree, _ := fill(bytes/2, ",", numbered("[%d]"))
		return filled("plan.json", `{"state":{"a":[`+tree+`]},"calls":[],"output":["†state"`, `]}`, "", numbered(`,"†state"`))(bytes)
	}},
	{"values: an output that costs", filled("plan.json", `{"state":{"a":3},"calls":[],"output":["†state"`, `]}`, "", numbered(`,"†(1..100000) | map(# * state.a + %d)"`))},
	{"values: a parameter of the same many times", func(bytes int) map[string]string {
		tree, _ := fill(bytes/2, ",", numbered("[%d]"))
		return filled("plan.json", `{"tools":{"t":{"properties":{"x":{}}}},"activities":{"t":{"expr":"x"}},"state":{"a":[`+tree+`]},"calls":[{"_tool":"t","_outputPath":"b","x":["†state.a"`, `]}]}`, "", numbered(`,"†state.a"`))(bytes)
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
	{"delegates: doubled, within what a plan may have", nested(16, "")},
	{"delegates: doubled, of nothing", nested(17, "calls: []\n")},
	{"delegates: doubled, more than a plan may have", nested(30, "")},
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

// evaluated makes a plan whose calls all evaluate an expression, and keep what it gives.
func evaluated(code string, bytes int) map[string]string {
	return filled("plan.yaml", "tools: {d: {properties: {a: {}}}}\nactivities: {d: {expr: '"+code+"'}}\ncalls:\n", "", "",
		numbered("- {_tool: d, a: 1, _outputPath: p%d}\n"))(bytes)
}

// evaluating makes a plan of calls that an expression carries out.
func evaluating(item string) func(int) map[string]string {
	return filled("plan.yaml", "tools: {d: {properties: {a: {}}}}\nactivities: {d: {expr: a}}\nstate: {p: 3}\ncalls:\n", "", "", func(i int) string { return strings.ReplaceAll(item, "#i", fmt.Sprint(i)) + "\n" })
}

// doubled makes a plan of an expression that gives its parameter twice, again and
// again.
// texts are calls that each hold the same text, which is made letter by letter, against a
// schema of their own: a parameter, and what an expression makes of it.
func texts(bytes int, schema string, letter func(i int) string) map[string]string {
	long := ""
	for i := range bytes * 2 / 5 {
		long += letter(i)
	}
	tools, n := fill(bytes/3, "", numbered("  t%[1]d: {properties: {x: "+schema+"}}\n"))
	calls, expr := "", ""
	for i := range n {
		calls += fmt.Sprintf("- {_tool: t%d, x: †state.s}\n", i)
		expr += fmt.Sprintf("  t%d: {expr: '1'}\n", i)
	}
	return map[string]string{"plan.yaml": "tools:\n" + tools + "activities:\n" + expr + "state: {s: " + long + "}\ncalls:\n" + calls}
}

func doubled(code string, bytes int) map[string]string {
	return filled("plan.yaml", "tools: {d: {properties: {a: {}}}}\nactivities: {d: {expr: '"+code+"'}}\nstate: {p: ab}\ncalls:\n", "", "",
		numbered("- {_tool: d, a: †state.p, _outputPath: p}\n"))(bytes)
}

// nested makes a plan that runs another twice, which runs another twice, and so on,
// but no more than some calls of it start.
func nested(deep int, last string) func(int) map[string]string {
	return func(int) map[string]string {
		files := map[string]string{"plan.yaml": "limits: {calls: 100}\n" + fmt.Sprintf(twice, 1)}
		for i := 1; i < deep; i++ {
			files[fmt.Sprintf("d%d.yaml", i)] = fmt.Sprintf(twice, i+1)
		}
		if last == "" {
			last = "activities: {t: {expr: '1'}}\ncalls:\n- {_tool: t, _outputPath: a}\noutput: †state.a\n"
		}
		files[fmt.Sprintf("d%d.yaml", deep)] = last
		return files
	}
}

const twice = "calls:\n- {_tool: t, _delegate: d%[1]d.yaml, _outputPath: a}\n- {_tool: t, _delegate: d%[1]d.yaml, _outputPath: b}\noutput: †state.a\n"
