package analyzer_test

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/runtime/simulate"
	"github.com/obelus-dev/obelus/testdata/amount"
	"github.com/obelus-dev/obelus/testdata/cputime"
)

// hostile are plans of about 100 kB, each of which would cost somebody dear.
func hostile() map[string]string {
	return map[string]string{
		"one-path.yaml": "calls:\n" + repeat(2200, func(int) string { return "- {_tool: a, x: †state.p, _outputPath: p}\n" }),
		"each-of-each.yaml": "tools: {t: {properties: {v: {}, _output: {}}}}\nactivities: {t: {expr: v}}\ncalls:\n- {_tool: t, v: †(1..20000), _outputPath: a}\n" +
			"- {_tool: t, _each: †state.a, v: †state.a, _outputPath: b}\n" + repeat(30, func(int) string {
			return "- {_tool: t, v: †(1..90000), _outputMethod: concat, _outputPath: c}\n"
		}),
		"list-of-itself.yaml": "input: {l: [" + strings.Repeat("1,", 40_000) + "1]}\ntools: {t: {properties: {x: {type: array}, y: {}, _output: {}}}}\nactivities: {t: {expr: '1'}}\ncalls:\n" +
			"- {_tool: t, _each: †input.l, x: †input.l, _outputPath: a}\n- {_tool: t, _each: †input.l, _when: †(†item in †input.l), y: †item, _outputPath: b}\noutput: †state.a\n",
		"sums.yaml": "input: {l: [" + strings.Repeat("1,", 20_000) + "1]}\ncalls: []\noutput: [" + strings.Repeat("†(sum(†input.l)),", 2000) + "0]\n",
		"variants.yaml": "tools: {g: {_output: {anyOf: [" + variants(0) + "]}}, t: {properties: {x: {anyOf: [" + variants(1) + "]}}}}\ncalls:\n" + repeat(6, func(i int) string {
			return fmt.Sprintf("- {_tool: g, _outputPath: r%d}\n- {_tool: t, x: †state.r%d}\n", i, i)
		}),
		"instances-of-a-large-state.yaml": "tools: {t: {properties: {p: {}}}}\nstate: {" + repeat(1500, func(i int) string { return fmt.Sprintf("k%d: {a: %d},", i, i) }) +
			"}\ninstances: {" + repeat(750, func(i int) string { return fmt.Sprintf("i%d: {state: {k%d: {a: 5}, x: %d}},", i, i, i) }) + "}\ncalls:\n" + repeat(350, func(i int) string {
			return fmt.Sprintf("- {_tool: t, p: †state.k%d.a, _when: †(†state.k%d.a > 3)}\n", i, i)
		}),
		"missing.yaml": "calls: []\noutput: [" + repeat(7000, func(int) string { return "†state.a," }) + "0]\n",
		"one-path-once.yaml": "writes: once\ncalls:\n" + repeat(2200, func(int) string {
			return "- {_tool: a, x: †state.q, _outputPath: p}\n"
		}),
		"unordered.yaml": "calls:\n" + repeat(3500, func(int) string { return "- {_tool: a, _outputPath: p}\n" }),
		"cycle.yaml": "calls:\n" + repeat(2000, func(i int) string {
			return fmt.Sprintf("- {_tool: a, x: †state.p%d, _outputPath: p%d}\n", (i+1)%2000, i)
		}),
		"knot.yaml": "calls:\n" + repeat(1500, func(i int) string {
			return fmt.Sprintf("- {_tool: a, x: †state, _outputPath: p%d, y: †state.p%d}\n", i, (i*7+1)%1500)
		}),
		"whole-state.yaml": "calls:\n" + repeat(2000, func(i int) string {
			return fmt.Sprintf("- {_tool: a, x: †state, _outputPath: p%d}\n", i)
		}),
		"deep-paths.yaml": "calls:\n" + repeat(180, func(i int) string {
			return fmt.Sprintf("- {_tool: a, x: †state%s, _outputPath: †state%s}\n", strings.Repeat(".k", 90+i%7), strings.Repeat(".k", 99-i%7))
		}),
		"long-fallback.yaml":   "calls:\n- _tool: a\n  x: " + repeat(900, func(i int) string { return fmt.Sprintf("†state.p%d || ", i) }) + "0\n",
		"longer-fallback.yaml": "calls:\n- _tool: a\n  x: " + repeat(6000, func(i int) string { return fmt.Sprintf("†state.p%d || ", i) }) + "0\n",
		"alternatives.yaml":    "calls:\n- _tool: a\n  _outputPath: " + repeat(2000, func(i int) string { return fmt.Sprintf("(†state.a%d || †state.b%d) && ", i, i) }) + "†state.c\n",
		"same-tools.json": `{"tools":{` + repeat(900, func(i int) string {
			return fmt.Sprintf(`"tool-number-%d":{"type":"object","properties":{"a":{"type":"string"}}},`, i)
		}) + `"z":{}},"calls":[` + repeat(900, func(i int) string { return fmt.Sprintf(`{"_tool":"tool-numbr-%d"},`, i) }) + `{"_tool":"z"}]}`,
		"near-names.yaml": "calls:\n" + repeat(1100, func(i int) string {
			return fmt.Sprintf("- {_tool: a, x: †state.pathnumbered%d, _outputPath: pathnumbred%d}\n", i, i)
		}),
		"doubled-refs.json": `{"schemas":{` + repeat(22, func(i int) string {
			return fmt.Sprintf(`"s%d":{"allOf":[{"$ref":"#/schemas/s%d"},{"$ref":"#/schemas/s%d"}]},`, i, i+1, i+1)
		}) + `"s22":{"type":"number"}},"inputSchema":{"properties":{"x":{"$ref":"#/schemas/s0"}}},"input":{"x":1},"calls":[{"_tool":"a","x":"†input.x"}]}`,
		"closed-state.json": `{"stateSchema":{"type":"object","additionalProperties":false,"properties":{` + repeat(2500, func(i int) string {
			return fmt.Sprintf(`"name%d":{},`, i)
		}) + `"z":{}}},"calls":[` + repeat(1200, func(i int) string {
			return fmt.Sprintf(`{"_tool":"a","_outputPath":"nmae%d"},`, i)
		}) + `{"_tool":"z"}]}`,
		"unnamed-fields.json": `{"tools":{"a":{"_output":{"type":"object","properties":{` + repeat(2500, func(i int) string {
			return fmt.Sprintf(`"name%d":{},`, i)
		}) + `"z":{}}}},"b":{"additionalProperties":true}},"calls":[{"_tool":"a","_outputPath":"x"},` + repeat(1500, func(i int) string {
			return fmt.Sprintf(`{"_tool":"b","x":"†state.x.nmae%d"},`, i)
		}) + `{"_tool":"b"}]}`,
		"unnamed-parameters.json": `{"tools":{"a":{"properties":{` + repeat(2500, func(i int) string {
			return fmt.Sprintf(`"name%d":{},`, i)
		}) + `"z":{}}}},"calls":[` + repeat(600, func(i int) string {
			return fmt.Sprintf(`{"_tool":"a","nmae%d":1,"nema%d":2,"other%d":{"a":3}},`, i, i, i)
		}) + `{"_tool":"a"}]}`,
		"typed-expressions.json": `{"inputSchema":{"properties":{` + repeat(199, func(i int) string {
			return fmt.Sprintf(`"name%d":{"type":"object","properties":{"a":{"type":"number"},"b":{"type":"string"}}},`, i)
		}) + `"z":{}}},"calls":[` + repeat(1500, func(i int) string {
			return fmt.Sprintf(`{"_tool":"a","x":"†input.name%d.a + 1"},`, i%199)
		}) + `{"_tool":"a","x":"†input?.z"}]}`,
		"late-writers.yaml": "calls:\n" + repeat(900, func(i int) string {
			return fmt.Sprintf("- {_tool: a, x: †state.p, _outputPath: q%d}\n- {_tool: a, _outputPath: p, _outputMethod: push}\n", i)
		}),
		"branches.yaml": "calls:\n" + repeat(800, func(i int) string {
			return fmt.Sprintf("- {_tool: a, x: †state.a%d, _outputPath: †state.a%d || †state.b%d}\n- {_tool: a, x: †state.b%d, _outputPath: p}\n", i, i+1, i+1, i+1)
		}),
		"lost-writes.yaml": "calls:\n- {_tool: a, _id: c0}\n" + repeat(1500, func(i int) string {
			return fmt.Sprintf("- {_tool: a, _id: c%d, _after: [c%d], _outputPath: p}\n", i+1, i)
		}),
		"long-path.yaml": "calls:\n- {_tool: a, x: †state" + strings.Repeat(".a", 20_000) + ", _outputPath: " + strings.Repeat("a.", 20_000) + "a}\n",
		"many-oneofs.yaml": "calls: [{_tool: t, x: †state.a, _outputPath: b}]\ntools: {t: {properties: {x: {oneOf: [" + repeat(1000, func(i int) string {
			return fmt.Sprintf("{type: object, properties: {a%d: {enum: [%d]}}},", i, i)
		}) + "]}}}}\nstateSchema: {type: object, properties: {a: {oneOf: [" + repeat(600, func(i int) string {
			return fmt.Sprintf("{type: object, properties: {a%d: {enum: [%d]}}},", i, i)
		}) + "]}}}\n",
		"many-anyofs.yaml": "calls: [{_tool: t, x: †state.a, _outputPath: b}]\ntools: {t: {properties: {x: {required: [z]}}}}\nstateSchema: {type: object, properties: {a: {allOf: [" + repeat(1000, func(i int) string {
			return fmt.Sprintf("{anyOf: [{required: [a%d]},{required: [b%d]}]},", i, i)
		}) + "]}}}\n",
		"brackets.yaml": strings.Repeat("[", 100_000),
		"billion.yaml": "x-a: &a [1,2,3,4,5,6,7,8,9]\n" + repeat(9, func(i int) string {
			return fmt.Sprintf("x-%c: &%c [*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c]\n", 'b'+i, 'b'+i, 'a'+i, 'a'+i, 'a'+i, 'a'+i, 'a'+i, 'a'+i, 'a'+i, 'a'+i)
		}) + "calls: []\n",
		"keys.yaml": "calls: []\nstate:\n" + repeat(9000, func(i int) string { return fmt.Sprintf("  key%d: 1\n", i) }),
		"confusable.yaml": "calls:\n" + repeat(1500, func(i int) string {
			return fmt.Sprintf("- {_tool: a, _outputPath: pаth%d, x: †state.path%d}\n", i, i)
		}),
	}
}

// variants are alternatives of an object that one property and the bounds of all tell apart.
func variants(from int) string {
	return repeat(40, func(i int) string {
		return fmt.Sprintf("{type: object, required: [a%d], properties: {%s}},", i+from, repeat(40, func(k int) string {
			return fmt.Sprintf("a%d: {minimum: %d},", k, i+from+k)
		}))
	})
}

// EXECUTION.md#limits: checking any file under 100 kB ends within 2 seconds and 256 MiB.
func TestHostilePlansAreBounded(t *testing.T) {
	for name, text := range hostile() {
		if len(name)%amount.Of(6, 1, 1) > 0 { // with -thorough all are tried
			continue
		}
		t.Run(name, func(t *testing.T) {
			if len(text) > 130_000 {
				t.Fatalf("%d bytes are too many to mean anything", len(text))
			}
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			var found []diag.Diagnostic
			check := func() {
				p, read := compiler.Compile(source.NewFile(name, []byte(text)), compiler.Options{})
				found = analyzer.Analyze(p, read, analyzer.Config{SampleRun: simulate.SampleRun}).Findings
			}
			took, soon := cputime.Within(2*time.Second, check)
			runtime.ReadMemStats(&after)
			t.Logf("%d bytes: %d findings, %v, %d MiB allocated in all", len(text), len(found), took.Round(time.Millisecond), (after.TotalAlloc-before.TotalAlloc)>>20)
			if !soon {
				t.Errorf("took %v", took)
			}
			if got := after.HeapSys - before.HeapSys; int64(got) > 256<<20 {
				t.Errorf("the heap grew by %d MiB", got>>20)
			}
		})
	}
}

func repeat(n int, f func(i int) string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(f(i))
	}
	return b.String()
}

// EXECUTION.md#limits: so it is with policies: over thousands of values that calls are counted by, and over schemas that hold
// themselves and a secret.
func TestPoliciesAreJudgedInTime(t *testing.T) {
	calls := repeat(2500, func(i int) string { return fmt.Sprintf("- {_tool: send, to: \"%d\"}\n", min(i, 2498)) })
	for _, c := range []struct{ name, policy, plan, code string }{
		{"values", `
rules:
- rule: one each
  order: {send: {at-most: 1, per: to}}
  allows: [{send: {to: a}}, {send: {to: b}}]
  denies: [{send: {to: a}}, {send: {to: a}}]
`, "tools: {send: {properties: {to: {type: string}}}}\ncalls:\n" + calls, "OB706"},
		{"secrets", "values: {input.x: {trust: untrusted}}\n", "schemas: {N: {type: object, properties: {" + repeat(10, func(i int) string {
			return fmt.Sprintf("p%d: {$ref: \"#/schemas/N\"}, ", i)
		}) + "z: {type: string, writeOnly: true}}}}\ntools: {t: {_output: {$ref: \"#/schemas/N\"}}, u: {properties: {x: {}}}}\n" +
			"calls:\n- {_tool: t, _outputPath: a}\n- {_tool: u, x: †state.a}\n", "OB702"},
	} {
		policy := compiler.PolicyFile{File: source.NewFile("policy.yaml", []byte(c.policy)), Counts: true}
		var found []diag.Diagnostic
		took, soon := cputime.Within(2*time.Second, func() {
			p, read := compiler.Compile(source.NewFile("plan.yaml", []byte(c.plan)), compiler.Options{Policies: []compiler.PolicyFile{policy}})
			found = analyzer.Analyze(p, read, analyzer.Config{SampleRun: simulate.SampleRun}).Findings
		})
		if !soon {
			t.Errorf("%s took %v", c.name, took)
		}
		has := func(d diag.Diagnostic) bool { return d.Rule.Code == c.code && d.Severity == diag.Error }
		if !slices.ContainsFunc(found, has) {
			t.Errorf("%s: %v", c.name, found)
		}
	}
}
