//go:build unix

package main

import (
	"fmt"
	"strings"
)

// fill joins as many items as fit into so many bytes, and says how many these are.
func fill(bytes int, separator string, item func(i int) string) (string, int) {
	var b strings.Builder
	for i := 0; ; i++ {
		next := item(i)
		if b.Len()+len(next)+len(separator) > bytes {
			return b.String(), i
		}
		if i > 0 {
			b.WriteString(separator)
		}
		b.WriteString(next)
	}
}

// filled is fill for one file with something before and after the items.
func filled(file, before, after, separator string, item func(i int) string) func(int) map[string]string {
	return func(bytes int) map[string]string {
		text, _ := fill(bytes-len(before)-len(after), separator, item)
		return map[string]string{file: before + text + after}
	}
}

// calls makes a plan of nothing but calls.
func calls(item string) func(int) map[string]string {
	return filled("plan.yaml", "calls:\n", "", "", func(i int) string { return strings.ReplaceAll(item, "#", fmt.Sprint(i)) + "\n" })
}

// flows makes a plan in which values of producers go to parameters of consumers:
// as many pairs as fit, but no more than most.
func flows(most int, from, to string) func(int) map[string]string {
	return func(bytes int) map[string]string {
		var tools, calls []string
		for i, left := 0, bytes-30; i < most; i++ {
			with := func(schema string) string { return strings.ReplaceAll(schema, "#", fmt.Sprint(i)) }
			tool := fmt.Sprintf(`"a%d":{"_output":%s},"b%d":{"properties":{"p":%s}}`, i, with(from), i, with(to))
			call := fmt.Sprintf(`{"_tool":"a%d","_outputPath":"x%d"},{"_tool":"b%d","p":"†state.x%d"}`, i, i, i, i)
			if left -= len(tool) + len(call) + 2; left < 0 {
				break
			}
			tools, calls = append(tools, tool), append(calls, call)
		}
		return map[string]string{"plan.json": `{"tools":{` + strings.Join(tools, ",") + `},"calls":[` + strings.Join(calls, ",") + `]}`}
	}
}

// withSchema makes a plan whose state has a schema.
func withSchema(before, after, separator string, item func(i int) string) func(int) map[string]string {
	return filled("plan.json", `{"stateSchema":`+before, after+`,"state":{"a":1},"tools":{"t":{"properties":{"p":{"type":"string"}},"_output":{"type":"object"}}},"calls":[{"_tool":"t","_outputPath":"a","p":"†state.b"},{"_tool":"t","p":"†state"}]}`, separator, item)
}

// numbered makes items in which their number stands first, then their number and
// each of the values.
func numbered(format string, values ...int) func(int) string {
	return func(i int) string {
		list := make([]any, 0, len(values)+1)
		list = append(list, i)
		for _, v := range values {
			list = append(list, i+v)
		}
		if !strings.Contains(format, "%") {
			list = nil // all are alike
		}
		return fmt.Sprintf(format, list...)
	}
}

// many is more than fit.
const many = 1 << 20

// imported makes a plan that imports i0.yaml, and files that import others; each
// says something of its own.
func imported(most int, of func(i, n int) []int) func(int) map[string]string {
	return func(bytes int) map[string]string {
		files := map[string]string{"plan.yaml": "import: [i0.yaml]\ncalls:\n- {_tool: t0}\n"}
		n := min(most, bytes/120)
		for i := range n {
			var names []string
			for _, j := range of(i, n) {
				if j < n {
					names = append(names, fmt.Sprintf("i%d.yaml", j))
				}
			}
			files[fmt.Sprintf("i%d.yaml", i)] = fmt.Sprintf("import: [%s]\ntools: {t%d: {}}\n", strings.Join(names, ", "), i)
		}
		return files
	}
}

func span(from, to int) []int {
	var list []int
	for i := from; i < to; i++ {
		list = append(list, i)
	}
	return list
}

const fewProperties = `{"type":"object","maxProperties":10}`

// families are workspaces that would cost somebody dear. An # in an item stands
// for its number.
var families = []family{
	// Imports: each file is read once, however many ways lead to it.
	{"imports: each the next twice", imported(20, func(i, n int) []int { return []int{i + 1, i + 1} })},
	{"imports: diamonds", imported(300, func(i, n int) []int { return []int{i + 1, i + 2} })},
	{"imports: every later one", imported(70, func(i, n int) []int { return span(i+1, n) })},
	{"imports: a ring", imported(300, func(i, n int) []int { return []int{(i + 1) % n} })},
	{"imports: all of all", imported(60, func(i, n int) []int { return span(0, n) })},
	{"imports: a chain", imported(95, func(i, n int) []int { return []int{i + 1} })},
	{"imports: a star", imported(800, func(i, n int) []int {
		if i > 0 {
			return nil
		}
		return span(1, n)
	})},
	{"imports: one file a thousand times", func(bytes int) map[string]string {
		list, _ := fill(bytes/2, ", ", numbered("./x/../i.yaml"))
		tools, _ := fill(bytes/3, "\n", numbered("  t%d: {}"))
		return map[string]string{"plan.yaml": "import: [" + list[:strings.LastIndex(list, ",")] + "]\ncalls:\n- {_tool: t0}\n", "i.yaml": "tools:\n" + tools + "\n"}
	}},
	{"imports: none of which is there", filled("plan.yaml", "import: [", "]\ncalls: []\n", ", ", numbered("i%d.yaml"))},

	// Delegates.
	{"delegates: each the next twice", func(bytes int) map[string]string {
		files := map[string]string{"plan.yaml": "calls:\n- {_tool: t, _delegate: d0.yaml}\n- {_tool: u, _delegate: d0.yaml}\n"}
		for i := range min(30, bytes/150) {
			files[fmt.Sprintf("d%d.yaml", i)] = fmt.Sprintf("calls:\n- {_tool: t, _delegate: d%[1]d.yaml, _outputPath: a}\n- {_tool: u, _delegate: d%[1]d.yaml, x: †state.a}\n", i+1)
		}
		return files
	}},
	{"delegates: one by all calls", func(bytes int) map[string]string {
		list, _ := fill(bytes-200, "", numbered("- {_tool: t, _delegate: d.yaml, x: 1, _outputPath: p%d}\n"))
		return map[string]string{"plan.yaml": "calls:\n" + list, "d.yaml": "inputSchema: {type: object, required: [y], properties: {x: {type: string}}}\ncalls:\n- {_tool: u, x: †input.x, _outputPath: a}\noutput: †state.a\n"}
	}},
	{"delegates: many", func(bytes int) map[string]string {
		files := map[string]string{}
		list, n := fill(bytes/2, "", numbered("- {_tool: t, _delegate: d%d.yaml}\n"))
		for i := range min(n, 250) {
			files[fmt.Sprintf("d%d.yaml", i)] = "calls:\n- {_tool: u, _outputPath: a || b}\noutput: †state.a\n"
		}
		files["plan.yaml"] = "calls:\n" + list
		return files
	}},

	// Samples and witnesses.
	{"samples: ten million properties", flows(1, `{"type":"object","minProperties":10000000}`, fewProperties)},
	{"samples: a million properties", flows(1, `{"type":"object","minProperties":1000000}`, fewProperties)},
	{"samples: names of a long pattern", flows(6, `{"type":"object","minProperties":255,"propertyNames":{"pattern":"a{1000}"}}`, fewProperties)},
	{"samples: many names of long patterns", flows(many, `{"type":"object","minProperties":255,"propertyNames":{"pattern":"a{1000}|b#"}}`, fewProperties)},
	{"samples: a long string of a word", flows(1, `{"type":"string","pattern":"\\bfoo\\b","minLength":65536}`, `{"type":"string","maxLength":10}`)},
	{"samples: long strings of words", flows(many, `{"type":"string","pattern":"\\bfoo#\\b","minLength":65536}`, `{"pattern":"^x#y"}`)},
	{"samples: a hundred of a long pattern", flows(1, `{"type":"array","contains":{"pattern":"a{1000}"},"minContains":100}`, `{"items":{"type":"number"}}`)},
	{"samples: hundreds of long patterns", flows(many, `{"type":"array","contains":{"pattern":"a{1000}|b#"},"minContains":100}`, `{"items":{"type":"number"}}`)},
	{"samples: properties of a starred pattern", flows(1, `{"type":"object","minProperties":65536,"patternProperties":{"^(a|b)*$":{"type":"string"}}}`, fewProperties)},
	{"samples: properties of starred patterns", flows(many, `{"type":"object","minProperties":1500,"patternProperties":{"^(a|b|c#)*$":{"type":"string"}}}`, `{"type":"object","additionalProperties":{"type":"number"}}`)},
	{"samples: different items", flows(many, `{"type":"array","uniqueItems":true,"minItems":60,"items":{"pattern":"^[a-z#]{3,}$","type":"string"}}`, `{"items":{"type":"string","maxLength":#}}`)},
	{"samples: arrays in arrays", flows(many, `{"type":"array","minItems":1000,"items":{"type":"array","minItems":1000,"items":{"type":"array","minItems":1000}}}`, `{"items":{"items":{"items":{"type":"string"}}}}`)},
	{"samples: objects in objects", flows(many, `{"type":"object","minProperties":200,"additionalProperties":{"type":"object","minProperties":200,"additionalProperties":{"type":"object","minProperties":200}}}`, `{"additionalProperties":{"additionalProperties":{"type":"string"}}}`)},
	{"samples: repetitions of repetitions", flows(many, `{"type":"string","pattern":"^((a{1,30}){1,30}b#){1}$"}`, `{"type":"string","maxLength":1}`)},
	{"samples: examples that are large", flows(200, `{"type":"object","examples":[`+strings.Repeat(`{"a":[`+strings.Repeat("1,", 200)+`1]},`, 4)+`{"a":#}],"minProperties":200}`, `{"type":"object","maxProperties":#}`)},
	{"samples: deep trees", flows(many, `{"$ref":"#/$defs/t","$defs":{"t":{"type":"object","required":["l","r"],"properties":{"l":{"anyOf":[{"type":"null"},{"$ref":"#/$defs/t"}]},"r":{"anyOf":[{"type":"null"},{"$ref":"#/$defs/t"}]}}}}}`, `{"type":"object","properties":{"l":{"type":"object"}}}`)},
	{"samples: a parameter of a large default", flows(many, `{"type":"string"}`, `{"type":"string","format":"uuid","maxLength":#,"pattern":"^(x|y)*z{500}$"}`)},

	// Containment.
	{"flows: products of anyOfs", flows(many, `{"type":"object","allOf":[`+strings.TrimSuffix(strings.Repeat(`{"anyOf":[{"required":["a"]},{"required":["b#"]},{"minProperties":3}]},`, 16), ",")+`]}`,
		`{"anyOf":[{"minProperties":24},{"required":["z#"]},{"not":{"type":"object"}}]}`)},
	{"flows: determinisation", flows(many, `{"type":"string","pattern":"^(a|b)*a(a|b){14}c#$"}`, `{"pattern":"^[ab]*a[ab]{14}(c|d#)$"}`)},
	{"flows: scripts", flows(many, `{"type":"string","pattern":"^[\\p{L}#]+\\p{Nd}*$"}`, `{"pattern":"^[\\p{L}\\p{N}]{0,200}$"}`)},
	{"flows: formats", flows(many, `{"type":"string","format":"email","minLength":#,"pattern":"^[a-z]+@"}`, `{"format":"uri","pattern":"#$"}`)},
	{"flows: multiples", flows(many, `{"type":"number","multipleOf":0.0000000001,"minimum":1e300,"maximum":1e301}`, `{"multipleOf":1e-9,"not":{"multipleOf":#3}}`)},
	{"flows: counts", flows(many, `{"type":"array","minItems":40,"allOf":[{"contains":{"minimum":1},"minContains":10},{"contains":{"maximum":5},"minContains":10},{"contains":{"multipleOf":2},"maxContains":3}]}`, `{"contains":{"const":#}}`)},
	{"flows: patterns for names", flows(many, `{"type":"object","patternProperties":{"a":{"type":"string"},"b":{"type":"string"},"c":{"type":"string"},"d":{"type":"string"},"e#":{"type":"string"},"f":{"type":"string"}}}`, `{"patternProperties":{"abc":{"type":"integer"},"x#":{}}}`)},
	{"flows: giant enums", func(bytes int) map[string]string {
		a, _ := fill(bytes/3, ",", numbered(`"w%d"`))
		b, _ := fill(bytes/3, ",", numbered(`"w%d"`, 1))
		return flows(1, `{"enum":[`+a+`]}`, `{"enum":[`+b+`]}`)(bytes)
	}},
	{"flows: giant enums of objects", func(bytes int) map[string]string {
		a, _ := fill(bytes/3, ",", numbered(`{"a":{"b":%d}}`))
		return flows(1, `{"enum":[`+a+`]}`, `{"not":{"enum":[`+a+`]}}`)(bytes)
	}},
	{"flows: lists of many alternatives", func(bytes int) map[string]string {
		alternatives, _ := fill(bytes-300, ",", numbered(`{"type":"integer","multipleOf":%d.7}`))
		list := `{"type":"array","uniqueItems":true,"minItems":500,"items":{"anyOf":[` + alternatives + `]}}`
		return map[string]string{"plan.json": `{"schemas":{"A":` + list + `},"calls":[{"_tool":"t","_outputPath":"o"},{"_tool":"t","v":"†state.o","_outputPath":"p"}],` +
			`"output":"†state.p","tools":{"t":{"properties":{"v":{"$ref":"#/schemas/A"},"_output":{"$ref":"#/schemas/A"}}}}}`}
	}},
	{"flows: one of many to many", func(bytes int) map[string]string {
		variants, _ := fill(bytes/3, ",", numbered(`{"type":"object","properties":{"kind":{"const":"k%d"},"v":{"type":"string"}},"required":["kind"]}`))
		return flows(1, `{"oneOf":[`+variants+`]}`, `{"oneOf":[`+variants+`,{"type":"string"}]}`)(bytes)
	}},
	{"flows: one producer, all consumers", func(bytes int) map[string]string {
		calls, _ := fill(bytes-600, "", numbered("- {_tool: b, p: †state.x.a%d}\n"))
		return map[string]string{"plan.yaml": "tools:\n  a: {_output: {type: object, additionalProperties: {type: object, minProperties: 200, propertyNames: {pattern: 'a{1000}'}}}}\n  b: {properties: {p: {type: object, maxProperties: 10}}}\ncalls:\n- {_tool: a, _outputPath: x}\n" + calls}
	}},
	{"flows: expressions of schemas", func(bytes int) map[string]string {
		calls, _ := fill(bytes-600, "", numbered("- {_tool: b, p: '†state.x | filter(.a > %d)'}\n"))
		return map[string]string{"plan.yaml": "tools:\n  a: {_output: {type: array, items: {type: object, minProperties: 100, properties: {a: {type: number}}, propertyNames: {pattern: '^[a-c]{1,50}$'}}}}\n  b: {properties: {p: {type: array, maxItems: 10, items: {type: string}}}}\ncalls:\n- {_tool: a, _outputPath: x}\n" + calls}
	}},

	// Schemas.
	{"schemas: a ladder of references", withSchema(`{"$ref":"#/$defs/s0","$defs":{`, `"z":{}}}`, "", numbered(`"s%d":{"$ref":"#/$defs/s%d"},`, 1))},
	{"schemas: doubled references", withSchema(`{"$ref":"#/$defs/s0","$defs":{`, `"z":{}}}`, "", numbered(`"s%d":{"allOf":[{"$ref":"#/$defs/s%d"},{"$ref":"#/$defs/s%d"}]},`, 1, 1))},
	{"schemas: a tower of allOf", func(bytes int) map[string]string {
		return withSchema(strings.Repeat(`{"allOf":[`, 40)+`{"minProperties":1`, `}`+strings.Repeat(`]}`, 40), "", numbered(`,"x-%d":1`))(bytes)
	}},
	{"schemas: wide allOf", withSchema(`{"allOf":[`, `]}`, ",", numbered(`{"properties":{"a":{"minimum":%d}}}`))},
	{"schemas: wide anyOf", withSchema(`{"anyOf":[`, `]}`, ",", numbered(`{"properties":{"a":{"minimum":%d}},"required":["b%d"]}`, 0))},
	{"schemas: wide oneOf", withSchema(`{"oneOf":[`, `]}`, ",", numbered(`{"properties":{"a":{"minimum":%d}},"required":["b%d"]}`, 0))},
	{"schemas: conditions", func(bytes int) map[string]string {
		n := min(bytes/60, 90)
		return withSchema(strings.Repeat(`{"if":{"required":["a"]},"then":`, n)+`{"minProperties":1`, `}`+strings.Repeat(`,"else":{"minProperties":1}}`, n), "", numbered(`,"x-%d":1`))(bytes)
	}},
	{"schemas: a list of conditions", withSchema(`{"allOf":[`, `]}`, ",", numbered(`{"if":{"required":["a%d"]},"then":{"required":["a%d"]},"else":{"properties":{"a%d":false}}}`, 1, 2))},
	{"schemas: dependencies", withSchema(`{"dependentSchemas":{`, `"z":{}}}`, "", numbered(`"a%d":{"required":["a%d"]},`, 1))},
	{"schemas: dependent names", withSchema(`{"dependentRequired":{`, `"z":[]}}`, "", numbered(`"a%d":["a%d","a%d"],`, 1, 2))},
	{"schemas: patterns", withSchema(`{"patternProperties":{`, `"z":{}}}`, "", numbered(`"^(a|b)*%d.{0,900}$":{"type":"string"},`))},
	{"schemas: unevaluated", withSchema(`{"unevaluatedProperties":false,"allOf":[`, `]}`, ",", numbered(`{"unevaluatedProperties":{"type":"string"},"anyOf":[{"properties":{"a%d":{}}},{"properties":{"b%d":true},"required":["c"]}]}`, 0))},
	{"schemas: unevaluated items", withSchema(`{"properties":{"b":{"unevaluatedItems":false,"allOf":[`, `]}}}`, ",", numbered(`{"anyOf":[{"prefixItems":[{}]},{"contains":{"minimum":%d}}]}`))},
	{"schemas: unique items", func(bytes int) map[string]string {
		items, _ := fill(bytes/2, ",", numbered(`{"a":[%d]}`))
		return withSchema(`{"properties":{"b":{"uniqueItems":true,"default":[`+items+`]}},"x":[`, `]}`, ",", numbered(`{"a":%d}`))(bytes)
	}},
	{"schemas: dynamic references", withSchema(`{"$dynamicRef":"#n","$defs":{`, `"z":{}}}`, "", numbered(`"s%d":{"$dynamicAnchor":"n%d","$dynamicRef":"#n%d"},`, 0, 1))},
	{"schemas: drafts", func(bytes int) map[string]string {
		drafts := []string{"http://json-schema.org/draft-04/schema#", "http://json-schema.org/draft-06/schema#", "http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2019-09/schema", "https://json-schema.org/draft/2020-12/schema"}
		tools, n := fill(bytes*2/3, ",", func(i int) string {
			return fmt.Sprintf(`"t%d":{"_output":{"$schema":%q,"definitions":{"a":{"minimum":1}},"properties":{"x":{"$ref":"#/definitions/a"}},"dependencies":{"x":["y"]}}}`, i, drafts[i%5])
		})
		calls, _ := fill(bytes/4, ",", func(i int) string {
			return fmt.Sprintf(`{"_tool":"t%d","_outputPath":"x%d","p":"†state.x%d"}`, i%n, i, i+1)
		})
		return map[string]string{"plan.json": `{"tools":{` + tools + `},"calls":[` + calls + `]}`}
	}},
	{"schemas: named, each by the next", filled("plan.json", `{"schemas":{`, `"z":{}},"inputSchema":{"properties":{"x":{"$ref":"#/schemas/s0"}}},"input":{"x":{}},"calls":[{"_tool":"a","x":"†input.x"}]}`, "",
		numbered(`"s%d":{"properties":{"a":{"$ref":"#/schemas/s%d"}}},`, 1))},
	{"schemas: named, all at fault", filled("plan.json", `{"schemas":{`, `"z":{}},"calls":[]}`, "", numbered(`"s%d":{"type":"strin","$ref":"#/schemas/s%d"},`, 1))},
	{"schemas: long patterns", filled("plan.json", `{"tools":{`, `"z":{}},"calls":[]}`, "", numbered(`"t%d":{"properties":{"p":{"pattern":"((a{1,9}){1,9}){1,9}x%d"}}},`, 0))},

	// Keys, names and findings.
	{"keys: unknown", filled("plan.yaml", "calls: []\n", "", "", numbered("k%d: 1\n"))},
	{"keys: unknown, long", filled("plan.yaml", "calls: []\n", "", "", numbered("inputSchemaOfTheThird%d: 1\n"))},
	{"keys: unknown, of a call", filled("plan.json", `{"calls":[{"_tool":"a"`, `}]}`, "", numbered(`,"_k%d":1`))},
	{"keys: unknown, of a tool", filled("plan.json", `{"tools":{"a":{"properties":{"x":{}}}},"calls":[{"_tool":"a"`, `}]}`, "", numbered(`,"k%d":1`))},
	{"keys: unknown, of limits", filled("plan.yaml", "calls: []\nlimits:\n", "", "", numbered("  tick%d: 1\n"))},
	{"keys: unknown, of activities", filled("plan.yaml", "calls: []\nactivities:\n", "", "", numbered("  a%d: {exek: {}}\n"))},
	{"keys: unknown, of instances", filled("plan.yaml", "calls: []\ninstances:\n", "", "", numbered("  a%d: {stat: {}}\n"))},
	{"keys: in other letters", func(bytes int) map[string]string {
		word, n := "inputschema", 0
		text, _ := fill(bytes-20, "", func(i int) string {
			n++
			letters := []byte(word)
			for b := range letters {
				if (i+1)>>b&1 == 1 {
					letters[b] -= 32
				}
			}
			if i+1 >= 1<<len(letters) {
				return fmt.Sprintf("k%d: 1\n", i)
			}
			return string(letters) + ": 1\n"
		})
		return map[string]string{"plan.yaml": "calls: []\n" + text}
	}},
	{"keys: of state", filled("plan.yaml", "calls: []\nstate:\n", "", "", numbered("  key%d: 1\n"))},
	{"keys: of input", filled("plan.yaml", "calls: []\ninput:\n", "", "", numbered("  key%d: 1\n"))},
	{"names: near", calls("- {_tool: a, x: †state.pathnumbered#, _outputPath: pathnumbred#}")},
	{"names: alike", calls("- {_tool: a#, _outputPath: pаth#, x: †state.path#}")},
	{"names: ids alike", calls("- {_tool: a, _id: cаll#, _after: [call#]}")},
	{"names: long", func(bytes int) map[string]string {
		long := strings.Repeat("n", bytes/20)
		return filled("plan.yaml", "calls:\n", "", "", func(i int) string { return fmt.Sprintf("- {_tool: a, _outputPath: %s%d}\n", long, i) })(bytes)
	}},
	{"names: tools one letter off", func(bytes int) map[string]string {
		tools, n := fill(bytes/2, ",", numbered(`"tool-number-%d":{}`))
		calls, _ := fill(bytes/3, ",", func(i int) string { return fmt.Sprintf(`{"_tool":"tool-numbr-%d"}`, i%n) })
		return map[string]string{"plan.json": `{"tools":{` + tools + `},"calls":[` + calls + `]}`}
	}},
	{"findings: one a byte", filled("plan.yaml", "calls: [", "]\n", ",", numbered("1"))},
	{"findings: dangling", calls("- {_tool: a, x: †state.q#}")},
	{"findings: bad expressions", calls("- {_tool: a, x: '†state.q# +'}")},
	{"findings: conflicts", calls("- {_tool: a, _outputPath: p}")},
	{"findings: literals like references", calls("- {_tool: a, x: '$state.x#', y: '{{state.y}}'}")},
	{"findings: duplicate keys", filled("plan.yaml", "calls: []\nstate: {a: {", "}}\n", ",", numbered(" k: 1"))},
	{"findings: aliases that aren't there", filled("plan.yaml", "calls: []\nstate:\n", "", "", numbered("  k%d: *a\n"))},
	{"findings: suppressed", calls("- {_tool: a, x: †state.q#} # obelus:ignore OB203 why not")},

	// Aliases and depth.
	{"aliases: a billion", filled("plan.yaml", "calls: []\nx-a: &a0 [1,2,3,4,5,6,7,8,9]\n", "", "", numbered("x-%d: &a%d [*a%[1]d,*a%[1]d,*a%[1]d,*a%[1]d,*a%[1]d,*a%[1]d,*a%[1]d,*a%[1]d]\n", 1))},
	{"aliases: one of many", func(bytes int) map[string]string {
		inner, _ := fill(bytes/8, ",", numbered("%d"))
		return filled("plan.yaml", "calls: []\nx-a: &a ["+inner+"]\nstate:\n", "", "", numbered("  k%d: *a\n"))(bytes)
	}},
	{"aliases: of schemas", func(bytes int) map[string]string {
		inner, _ := fill(bytes/12, ",", numbered("k%d: {type: object, minProperties: 3}"))
		return filled("plan.yaml", "x-a: &a {type: object, properties: {"+inner+"}}\ncalls:\n- {_tool: t0, _outputPath: x}\n- {_tool: t1, p: †state.x}\ntools:\n", "", "", numbered("  t%d: {_output: *a, properties: {p: *a}}\n"))(bytes)
	}},
	{"depth: brackets", func(bytes int) map[string]string { return map[string]string{"plan.yaml": strings.Repeat("[", bytes)} }},
	{"depth: braces", func(bytes int) map[string]string {
		return map[string]string{"plan.json": strings.Repeat(`{"a":`, bytes/5)}
	}},
	{"depth: paths", calls("- {_tool: a, x: †state" + strings.Repeat(".k", 95) + ".k#, _outputPath: †state" + strings.Repeat(".k", 98) + "}")},

	// Paths and bindings.
	{"paths: one", calls("- {_tool: a, x: †state.p, _outputPath: p}")},
	{"paths: all of state", calls("- {_tool: a, x: †state, _outputPath: p#}")},
	{"paths: a knot", calls("- {_tool: a, x: †state, _outputPath: p#, y: †state.p1}")},
	{"paths: once", filled("plan.yaml", "writes: once\ncalls:\n", "", "", numbered("- {_tool: a, x: †state.q, _outputPath: p}\n"))},
	{"paths: once, below one", filled("plan.yaml", "writes: once\ncalls:\n", "", "", numbered("- {_tool: a, x: †state.a, _outputPath: a.b%d}\n"))},
	{"paths: once, alternatives", filled("plan.yaml", "writes: once\ncalls:\n", "", "", numbered("- {_tool: a, _outputPath: p || †state.q%d || r}\n"))},
	{"paths: a cycle", func(bytes int) map[string]string {
		n := bytes / 50
		return filled("plan.yaml", "calls:\n", "", "", func(i int) string {
			return fmt.Sprintf("- {_tool: a, x: †state.p%d, _outputPath: p%d}\n", (i+1)%n, i)
		})(bytes)
	}},
	{"paths: pushes", calls("- {_tool: a, x: †state.p, _outputPath: q#}\n- {_tool: a, _outputPath: p, _outputMethod: push}")},
	{"paths: rewrites", calls("- {_tool: a, x: †state.p, _outputPath: p, _outputMethod: merge}\n- {_tool: a, x: †state.p.a#, _outputPath: p.b#}")},
	{"paths: indexes", calls("- {_tool: a, x: '†state.p[#]', _outputPath: '†state.p[#]'}\n- {_tool: a, x: †state.p, _outputPath: p, _outputMethod: push}")},
	{"paths: scopes", calls("- {_tool: a, _scopes: [state, input, †state.p], _outputPath: p#}")},
	{"paths: after", calls("- {_tool: a, _id: c#, _after: [c0, c1, c2, c3, c4, c5, c6, c7, c8, c9]}")},
	{"paths: after all", func(bytes int) map[string]string {
		ids, n := fill(bytes/4, ", ", numbered("c%d"))
		list, _ := fill(bytes/3, "\n", func(i int) string { return fmt.Sprintf("- {_tool: a, _id: c%d}", i%max(n, 1)) })
		return map[string]string{"plan.yaml": "calls:\n" + list + "\n- {_tool: a, _after: [" + ids + "]}\n- {_tool: a, _after: [" + ids + "]}\n"}
	}},

	// Alternatives and presence.
	{"branches: a chain", calls("- {_tool: j, x: †state.a#, _outputPath: †state.b# || †state.c#}\n- {_tool: f, x: †state.b#, _outputPath: p}")},
	{"branches: both ways", calls("- {_tool: j, _outputPath: †state.a# || †state.b#}\n- {_tool: f, x: †state.a#, _outputPath: c#}\n- {_tool: f, x: †state.b#, _outputPath: c#}")},
	{"branches: joined", func(bytes int) map[string]string {
		head, n := fill(bytes*3/4, "", numbered("- {_tool: j, _outputPath: †state.a%[1]d || †state.b%[1]d}\n"))
		all, _ := fill(bytes/4-60, ", ", func(i int) string { return fmt.Sprintf("†state.a%[1]d || †state.b%[1]d", i%n) })
		return map[string]string{"plan.yaml": "calls:\n" + head + "- {_tool: f, x: [" + all + "]}\n"}
	}},
	{"branches: each way a call, joined", func(bytes int) map[string]string {
		head, n := fill(bytes*5/8, "", numbered("- {_tool: j, _outputPath: †state.a%[1]d || †state.b%[1]d}\n- {_tool: f, x: †state.a%[1]d, _outputPath: c%[1]d}\n- {_tool: f, x: †state.b%[1]d, _outputPath: d%[1]d}\n"))
		all, _ := fill(bytes/4-60, ", ", func(i int) string { return fmt.Sprintf("†state.c%[1]d || †state.d%[1]d", i%n) })
		return map[string]string{"plan.yaml": "calls:\n" + head + "- {_tool: f, x: [" + all + "]}\n- {_tool: f, x: [" + all[:strings.LastIndex(all[:len(all)/3], ",")] + "], y: †state.c3, z: †state.d5}\n"}
	}},
	{"branches: in one of many places", calls("- {_tool: j, _outputPath: †state.a || †state.b#}\n- {_tool: f, x: †state.a || †state.b#, _outputPath: †state.a || †state.c#}\n- {_tool: f, x: †state.b#, y: †state.c# || †state.a}")},
	{"branches: once and alternatives", filled("plan.yaml", "writes: once\ncalls:\n", "", "", numbered("- {_tool: j, x: †state.p%[1]d || †state.q, _outputPath: †state.p%[2]d || †state.q}\n- {_tool: f, _when: †state.p%[1]d > 1, x: †state.q, _outputPath: p%[2]d}\n", 1))},
	{"branches: layers", func(bytes int) map[string]string {
		list, _ := fill(bytes-20, "", func(i int) string {
			if i < 5 {
				return fmt.Sprintf("- {_tool: j, _outputPath: †state.s0x%[1]d || †state.t0x%[1]d}\n", i)
			}
			layer, k := i/5, i%5
			var needs strings.Builder
			for m := range 5 {
				fmt.Fprintf(&needs, ", p%[1]d: †state.s%[2]dx%[1]d || †state.t%[2]dx%[3]d", m, layer-1, (m+1)%5)
			}
			return fmt.Sprintf("- {_tool: j%s, _outputPath: †state.s%[2]dx%[3]d || †state.t%[2]dx%[3]d}\n", needs.String(), layer, k)
		})
		return map[string]string{"plan.yaml": "calls:\n" + list}
	}},
	{"branches: many ways out", func(bytes int) map[string]string {
		ways, n := fill(bytes/2, " || ", numbered("†state.w%d"))
		reads, _ := fill(bytes/3, "", func(i int) string { return fmt.Sprintf("- {_tool: f, x: †state.w%d, _outputPath: z}\n", i%n) })
		return map[string]string{"plan.yaml": "calls:\n- {_tool: j, _outputPath: " + ways + "}\n" + reads}
	}},
	{"branches: when", calls("- {_tool: a, _when: †input.x > #, _outputPath: p#}\n- {_tool: a, _when: not (†input.x > #), x: †state.p#, _outputPath: q}")},
	{"branches: when of what is written", calls("- {_tool: a, _when: †state.p# == 1 or †state.q#, _outputPath: p}\n- {_tool: j, _outputPath: †state.p# || †state.q#}")},
	{"branches: alternatives of fan-outs", filled("plan.yaml", "calls:\n- _tool: a\n  _outputPath: ", "†state.c\n", "", numbered("(†state.a%d || †state.b%d) && ", 0))},
	{"branches: an output of all", func(bytes int) map[string]string {
		head, n := fill(bytes*2/3, "", numbered("- {_tool: j, _outputPath: †state.a%[1]d || †state.b%[1]d}\n"))
		all, _ := fill(bytes/3-60, ", ", func(i int) string { return fmt.Sprintf("†state.a%d", i%n) })
		return map[string]string{"plan.yaml": "calls:\n" + head + "output: {all: [" + all + "]}\n"}
	}},
	{"branches: failure routes", calls("- {_tool: a, x: †state.p#, _outputPath: †state.q# || †state.error}\n- {_tool: a, x: †state.error, _outputPath: p#}")},

	// Expressions.
	{"expressions: a long fallback", filled("plan.yaml", "calls:\n- _tool: a\n  x: ", "0\n", "", numbered("†state.p%d || "))},
	{"expressions: fallbacks of what is written", func(bytes int) map[string]string {
		head, n := fill(bytes*2/3, "", numbered("- {_tool: j, _outputPath: a%d}\n"))
		return filled("plan.yaml", "calls:\n"+head+"- _tool: a\n  x: ", "0\n", "", func(i int) string { return fmt.Sprintf("†state.a%d || ", i%n) })(bytes)
	}},
	{"expressions: gates", calls("- {_tool: a, x: †state.a && †state.b && (†state.c || †state.d) && †state.e#, _outputPath: a}")},
	{"expressions: nested predicates", calls("- {_tool: a, x: '†state.a | all(# | all(# | all(# > 1)))', _outputPath: a}")},
	{"expressions: parentheses", func(bytes int) map[string]string {
		return map[string]string{"plan.yaml": "calls:\n- {_tool: a, x: '†state.a + " + strings.Repeat("(", bytes/2) + "1" + strings.Repeat(")", bytes/2-100) + "'}\n"}
	}},
	{"expressions: deep ones", calls("- {_tool: a, x: '†state.a + " + strings.Repeat("(", 45) + "#" + strings.Repeat(")", 45) + "'}")},
	{"expressions: constants that cost", calls("- {_tool: a, x: '†(1..1000000) | map(# * 2) | len()'}")},
	{"expressions: strings that grow", calls("- {_tool: a, x: '†repeat(repeat(\"a\", 1000000), 1000000)'}")},
	{"expressions: patterns", calls("- {_tool: a, x: '†state.a matches \"^(a|b)*a(a|b){20}#$\"'}")},
	{"expressions: interpolations", calls("- {_tool: a, x: 'one †{state.a#} two †{input.b} three †{1 + state.c}'}")},
	{"expressions: typed", func(bytes int) map[string]string {
		types, n := fill(bytes/3, ",", numbered(`"name%d":{"type":"object","properties":{"a":{"type":"number"},"b":{"type":"string"}}}`))
		calls, _ := fill(bytes/2, ",", func(i int) string { return fmt.Sprintf(`{"_tool":"a","x":"†input.name%d.a + 1"}`, i%n) })
		return map[string]string{"plan.json": `{"inputSchema":{"properties":{` + types + `}},"calls":[` + calls + `]}`}
	}},

	// Instances, advisors, data, messages.
	{"instances: many", filled("plan.yaml", "calls:\n- {_tool: a, x: †state.s, _outputPath: p}\n- {_tool: a, x: †state.p}\ninstances:\n", "", "", numbered("  i%d: {state: {s: 1}}\n"))},
	{"instances: each its schema", filled("plan.yaml", "calls:\n- {_tool: a, x: †state.s, _outputPath: p}\ninstances:\n", "", "", numbered("  i%d: {state: {s: %d}, stateSchema: {properties: {s: {type: string}, p: {minimum: 3}}}}\n", 0))},
	{"instances: calls of one each", func(bytes int) map[string]string {
		list, n := fill(bytes/2, "", numbered("  i%d: {}\n"))
		return filled("plan.yaml", "instances:\n"+list+"calls:\n", "", "", func(i int) string { return fmt.Sprintf("- {_tool: a, _instance: i%d, _outputPath: p}\n", i%n) })(bytes)
	}},
	{"instances: alike", filled("plan.yaml", "calls: []\ninstances:\n", "", "", numbered("  іnst%d: {}\n  inst%d: {}\n", 0))},
	{"advisors: many", filled("plan.yaml", "calls: []\nadvisors:\n", "", "", numbered("- {id: a%d, role: r, on: start, schema: {type: object, properties: {x: {type: string}}}, scopes: [state, input]}\n"))},
	{"messages: data of many kinds", filled("plan.json", `[{"type":"plan","plan":[{"_tool":"a","x":"†k1.a"}]}`, `]`, "", numbered(`,{"type":"data","kind":"k%d","data":{"a":1}}`))},
	{"messages: patches of state", filled("plan.json", `[{"type":"plan","plan":[{"_tool":"a","x":"†state.a"}]}`, `]`, "", numbered(`,{"type":"state","state":{"a%d":{"b":%d}}}`, 0))},
	{"messages: schemas of state", filled("plan.json", `[{"type":"plan","plan":[{"_tool":"a","x":"†state.a"}]}`, `]`, "", numbered(`,{"type":"state","state":{"a":1},"schema":{"properties":{"a":{"maximum":%d}}}}`))},
	{"messages: tools", filled("plan.json", `[{"type":"plan","plan":[{"_tool":"t1"}]}`, `]`, "", numbered(`,{"type":"tool","tool":{"_tool":"t%d","properties":{"x":{"type":"string"}}}}`))},
	{"messages: one tool again and again", filled("plan.json", `[{"type":"plan","plan":[{"_tool":"t"}]}`, `]`, "", numbered(`,{"type":"tool","tool":{"_tool":"t","properties":{"x%d":{"type":"string"}}}}`))},
	{"solutions: opinions", filled("plan.json", `{"advisors":[`, `],"meta":{},"calls":[]}`, ",", numbered(`{"id":"a%d","calls":"{\"x\":1}"}`))},
	{"calls: each with all meta", calls("- {_tool: a, _id: c#, _when: †input.x, _retry: {attempts: 3, backoff: 1s}, _timeout: 3s, _reasoningForCall: why, _outputPath: p#, _outputMethod: merge, _scopes: [state]}")},
	{"calls: each with each", calls("- {_tool: a, _each: †state.p, x: '†item + †index', _outputPath: q#}")},
	{"calls: parameters", func(bytes int) map[string]string {
		list, _ := fill(bytes-60, ", ", numbered("p%d: †state.q%d", 0))
		return map[string]string{"plan.yaml": "calls:\n- {_tool: a, " + list + "}\n"}
	}},
	{"calls: empty", calls("- {_tool: a}")},
	{"calls: results", filled("plan.yaml", "tools: {a: {_output: {type: object, minProperties: 1000, propertyNames: {pattern: 'a{1000}'}}}}\ncalls:\n", "", "", numbered("- {_tool: a, _outputPath: p%d, _output: {x: 1}}\n"))},
	{"secrets: many", filled("plan.yaml", "tools: {t: {type: object, properties: {password: {type: array}}}}\ncalls:\n", "", "", numbered("- {_tool: t, password: aaaa%d}\n"))},
	{"activities: many", filled("plan.yaml", "calls:\n- {_tool: a1}\nactivities:\n", "", "", numbered("  a%d: {exec: {argv: [sh, '-c', '{x}'], env: {A: '{$B}'}}}\n"))},
	{"activities: expressions", filled("plan.yaml", "calls:\n- {_tool: a1, x: 1}\nactivities:\n", "", "", numbered("  a%d: {expr: 'x + y * (z > 3 ? 1 : 2)'}\n"))},

	// The configuration and a policy, as far as they are read.
	{"settings: unknown keys", func(bytes int) map[string]string {
		text, _ := fill(bytes-100, "", numbered("rul%d: {}\n"))
		return map[string]string{"plan.yaml": "calls: []\n", "obelus.yaml": text}
	}},
	{"settings: ignores", func(bytes int) map[string]string {
		text, _ := fill(bytes-100, "", numbered("- {rule: OB407, files: ['**/*%d*/**/x*'], reason: why not}\n"))
		return map[string]string{"plan.yaml": "calls:\n- {_tool: a, _outputPath: p}\n", "obelus.yaml": "ignores:\n" + text}
	}},
	{"settings: catalogues", func(bytes int) map[string]string {
		tools, _ := fill(bytes/10, "", numbered("  t%d: {properties: {x: {}}}\n"))
		files := map[string]string{"plan.yaml": "calls:\n- {_tool: t0}\n"}
		var list []string
		for i := range 8 {
			name := fmt.Sprintf("c%d.yaml", i)
			files[name] = "tools:\n" + tools
			list = append(list, name)
		}
		files["obelus.yaml"] = "tools: [" + strings.Join(list, ", ") + "]\n"
		return files
	}},
}
