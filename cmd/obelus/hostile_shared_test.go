//go:build unix

package main

import (
	"fmt"
	"strings"
)

// shared are families in which many take in one large thing: a schema, a catalogue, an
// import, a value.
var shared = []family{
	{"shared: a schema by its name", sharing("{$ref: \"#/schemas/S\"}")},
	{"shared: a schema as a parameter", sharing("{properties: {p: {$ref: \"#/schemas/S\"}}}")},
	{"shared: a schema as output", sharing("{_output: {$ref: \"#/schemas/S\"}}")},
	{"shared: a schema in calls", func(bytes int) map[string]string {
		properties, _ := fill(bytes/8, ", ", numbered("p%d: {type: string}"))
		tools, n := fill(bytes/3, "", numbered("  t%d: {$ref: \"#/schemas/S\", _output: {$ref: \"#/schemas/S\"}}\n"))
		calls, _ := fill(bytes/2, "", func(i int) string {
			return fmt.Sprintf("- {_tool: t%d, p1: †state.a%d.p1, _outputPath: a%d}\n", i%n, max(i-1, 0), i)
		})
		return map[string]string{"plan.yaml": "schemas: {S: {type: object, properties: {" + properties + "}}}\ntools:\n" + tools + "calls:\n" + calls}
	}},
	{"shared: a catalogue by delegates", func(bytes int) map[string]string {
		files, tools := delegating(bytes, "")
		files["obelus.yaml"] = "tools: [c.yaml]\n"
		files["c.yaml"] = tools
		return files
	}},
	{"shared: an import by delegates", func(bytes int) map[string]string {
		files, tools := delegating(bytes, "import: [i.yaml]\n")
		files["i.yaml"] = tools
		return files
	}},
	{"shared: catalogues and imports", func(bytes int) map[string]string {
		tools, _ := fill(bytes/4, "", numbered("  t%d: {properties: {x: {type: string}}}\n"))
		files := map[string]string{"obelus.yaml": "tools: [c0.yaml, c1.yaml, ./c0.yaml, x/../c1.yaml]\n", "plan.yaml": "import: [c0.yaml, i.yaml]\ncalls:\n- {_tool: t0}\n"}
		for _, name := range []string{"c0.yaml", "c1.yaml", "i.yaml"} {
			files[name] = "tools:\n" + tools
		}
		return files
	}},
	{"shared: a value by patterns", func(bytes int) map[string]string {
		return map[string]string{"plan.json": `{"tools":{"t":{"properties":{"p":{"allOf":[` + longPatterns(bytes, `{"pattern":"(a|b%d)*c{900}$|^"}`) + `]}}}},"calls":[{"_tool":"t","p":"` + strings.Repeat("ab", bytes/4) + `"}]}`}
	}},
	{"shared: a value by optional patterns", func(bytes int) map[string]string {
		return map[string]string{"plan.json": `{"stateSchema":{"properties":{"p":{"anyOf":[` + longPatterns(bytes, `{"pattern":"^(a?b?){300}x%d$"}`) + `,{"type":"string"}]}}},"state":{"p":"` + strings.Repeat("ab", bytes/4) + `"},"calls":[]}`}
	}},
	{"shared: a value by names of patterns", func(bytes int) map[string]string {
		return map[string]string{"plan.json": `{"tools":{"t":{"properties":{"p":{"patternProperties":{` + longPatterns(bytes, `"((a|b)*c%d){300}$":{}`) + `}}}}},"calls":[{"_tool":"t","p":{"` + strings.Repeat("ab", bytes/4) + `":1}}]}`}
	}},
	{"shared: results by patterns", func(bytes int) map[string]string {
		return filled("plan.json", `{"tools":{"t":{"properties":{"p":{}},"_output":{"anyOf":[`+longPatterns(bytes, `{"pattern":"([ab]*c%d){300}$"}`)+`,{"type":"string"}]}}},"activities":{"t":{"expr":"repeat(p, 45000)"}},"calls":[{"_tool":"t","p":"a"}`, `]}`, "",
			numbered(`,{"_tool":"t","p":"ab","_outputPath":"a%d"}`))(bytes)
	}},
}

// longPatterns are schemas of patterns with as many states as there may be.
func longPatterns(bytes int, schema string) string {
	text, _ := fill(min(bytes/4, 30*len(schema)), ",", numbered(schema))
	return text
}

// sharing makes tools that all refer to one large schema.
func sharing(tool string) func(int) map[string]string {
	return func(bytes int) map[string]string {
		properties, _ := fill(bytes/8, ", ", numbered("p%d: {}"))
		calls, _ := fill(bytes/4, "", numbered("- {_tool: t%d, p1: x, _outputPath: a%d}\n", 0))
		return filled("plan.yaml", "schemas: {S: {type: object, properties: {"+properties+"}}}\ncalls:\n"+calls+"tools:\n", "", "", func(i int) string { return fmt.Sprintf("  t%d: %s\n", i, tool) })(bytes)
	}
}

// delegating makes a plan of as many delegates as there may be, and the tools that
// each takes in.
func delegating(bytes int, before string) (files map[string]string, tools string) {
	files = map[string]string{}
	calls, n := fill(bytes/8, "", numbered("- {_tool: t0, _delegate: d%d.yaml}\n"))
	files["plan.yaml"] = "calls:\n" + calls
	for i := range min(n, 250) {
		files[fmt.Sprintf("d%d.yaml", i)] = before + "calls: [{_tool: t0, x: a}]\n"
	}
	text, _ := fill(bytes/2, "", numbered("  t%d: {properties: {x: {type: string, pattern: '^a'}}}\n"))
	return files, "tools:\n" + text
}
