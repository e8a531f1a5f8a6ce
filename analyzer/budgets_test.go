package analyzer

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/obelus-dev/obelus/analyzer/internal/analysis"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/testdata/cputime"
)

// EXECUTION.md#limits: what costs more than a budget ends within it and with a true statement:
// the finding that is there to be made, none where there is nothing to find, or
// that it is not fully analysed. Of each case this is all that is found, advice
// about tools aside.
func TestBudgetsEndInAStatement(t *testing.T) {
	branches := func(n int) string { // each way of each with a call of its own
		return repeated(n, func(i int) string {
			return fmt.Sprintf(
				"- {_tool: j, _outputPath: †state.a%[1]d || †state.b%[1]d}\n- {_tool: f, x: †state.a%[1]d, "+
					"_outputPath: c%[1]d}\n- {_tool: f, x: †state.b%[1]d, _outputPath: d%[1]d}\n", i)
		})
	}
	chain := func(n int, operand string) string {
		return strings.TrimSuffix(repeated(n, func(i int) string { return fmt.Sprintf(operand, i) + " || " }), " || ")
	}
	list := func(n int, item string) string {
		return strings.TrimSuffix(repeated(n, func(i int) string { return fmt.Sprintf(item, i) + ", " }), ", ")
	}
	flow := func(gives, takes string) string {
		return `{"tools":{"give":{"_output":` + gives + `},"take":{"properties":{"v":` + takes +
			`}}},"calls":[{"_tool":"give","_outputPath":"†state.x"},{"_tool":"take","v":"†state.x"}]}`
	}
	doubled := func(n int, last string) string {
		return `{"$ref":"#/$defs/s0","$defs":{` + repeated(n, func(i int) string {
			return fmt.Sprintf(`"s%d":{"allOf":[{"$ref":"#/$defs/s%d"},{"$ref":"#/$defs/s%d"}]},`, i, i+1, i+1)
		}) + fmt.Sprintf(`"s%d":%s}}`, n, last)
	}
	product := `{"type":"object","allOf":[` +
		list(24, `{"anyOf":[{"required":["a%[1]d"]},{"required":["b%[1]d"]}]}`) + `]}`
	layers := func(reads string) string {
		return "calls:\n" + repeated(80, func(i int) string {
			return repeated(5, func(k int) string {
				needs := ""
				if i > 0 {
					needs = repeated(5, func(m int) string { return fmt.Sprintf(", p%[1]d: "+reads, m, i-1) })
				}
				return fmt.Sprintf("- {_tool: j%s, _outputPath: †state.s%[2]dx%[3]d || †state.t%[2]dx%[3]d}\n",
					needs, i, k)
			})
		})
	}
	type said map[string]string // by "CODE count": what its message says
	for _, c := range []struct {
		name, text string
		want       said
	}{
		{"32 branches, joined", "calls:\n" + branches(32) + "- {_tool: f, x: [" +
			list(32, "†state.c%[1]d || †state.d%[1]d") + "]}\n", said{}},
		{"32 branches, and a call that needs both ways of one",
			"calls:\n" + branches(32) + "- {_tool: f, x: [" + list(32, "†state.c%d") + ", †state.d17]}\n",
			said{"OB302 1": `"f#97" can never run: no branch provides everything that it needs`}},
		{"32 branches, and an output that needs one way of all",
			"calls:\n" + branches(32) + "output: {all: [" + list(32, "†state.c%d") + "]}\n",
			said{"OB205 32": `the output lacks "†state.c\d+" when "j#\d+" chooses "†state.b\d+"`}},
		{"900 operands, any of which may be there", "calls:\n" + repeated(450, func(i int) string {
			return fmt.Sprintf("- {_tool: j, _outputPath: †state.a%[1]d || †state.b%[1]d}\n", i)
		}) + "- {_tool: f, x: " + chain(450, "†state.a%[1]d || †state.b%[1]d") + "}\n", said{}},
		{"900 operands, none of which is written", "calls:\n- {_tool: f, x: " + chain(900, "†state.a%d") + "}\n",
			said{"OB203 1": `"†state.a0" never has a value`}},
		{"900 operands, all but the last of which nothing writes",
			"calls:\n- {_tool: j, _outputPath: b}\n- {_tool: f, x: " + chain(899, "†state.a%d") + " || †state.b}\n",
			said{"OB209 899": `"†state.a\d+" never has a value`}},
		{"900 operands, all but the last of which are there", "calls:\n- {_tool: j, _outputPath: †state.x || †state.y}\n" +
			repeated(899, func(i int) string { return fmt.Sprintf("- {_tool: j, _outputPath: a%d}\n", i) }) +
			"- {_tool: f, x: " + chain(899, "†state.a%d") + " || †state.y, z: †state.x}\n",
			said{"OB209 1": `the operands after "†state.a898" are never used`}},
		{"3,000 operands", "calls:\n- {_tool: j, _outputPath: a0}\n- {_tool: f, x: " + chain(3000, "†state.a%d") +
			"}\n", said{"OB201 1": `more than 1000 nodes`}},
		{"22 doubled $refs", flow(doubled(22, `{"type":"number"}`), `{"type":"string"}`),
			said{"OB509 1": `with its references expanded a schema can have 10000 keywords, and this one has more`}},
		{"8 doubled $refs", flow(doubled(8, `{"type":"number"}`), `{"type":"string"}`),
			said{"OB505 1": `never fits "v" of "take": it is a number; expected a string`}},
		{"a product of 24 anyOfs that never fits", flow(product, `{"type":"string"}`),
			said{"OB505 1": `it is an object; expected a string`}},
		{"a product of 24 anyOfs that fits", flow(product, `{"type":"object"}`), said{}},
		{"a product of 24 anyOfs that takes all of them",
			flow(product, `{"anyOf":[{"minProperties":24},{"not":{"type":"object"}}]}`),
			said{"OB902 1": `whether "†state.x" fits "v" of "take" isn't fully analysed`}},
		{"4 million reads that may see a write", "calls:\n" +
			strings.Repeat("- {_tool: f, _outputPath: l, _outputMethod: push}\n", 1000) + "- {_tool: f, a: [" +
			strings.Repeat("†state.l,", 4100) + "]}\n",
			said{"OB902 1": `what reads the values that calls write is not analysed: calls and reads of one value make 4\d{6} pairs`}},
		{"80 layers, whatever they took", layers("†state.s%[2]dx%[1]d || †state.t%[2]dx%[1]d") +
			"- {_tool: f, a: †state.s79x0, b: †state.t79x1}\n- {_tool: f, a: †state.s79x0, b: †state.t79x0}\n",
			said{"OB302 1": `"f#402" can never run: no branch provides everything`,
				"OB407 3": `nothing reads`}},
		{"80 layers, one way only", layers("†state.s%[2]dx%[1]d") + "- {_tool: f, a: †state.s79x0, b: †state.t3x4}\n",
			said{"OB302 1": `"f#401" can never run: no branch provides everything`,
				"OB407 399": `nothing reads`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if len(c.text) > 100_000 {
				t.Fatalf("%d bytes are too many to mean anything", len(c.text))
			}
			var found []diag.Diagnostic
			if took, ok := cputime.Within(2*time.Second, func() { _, _, found = judged("plan.yaml", c.text) }); !ok {
				t.Errorf("it took %v", took)
			}
			count := map[string]int{}
			for _, d := range found {
				if d.Severity > diag.Info || d.Rule == analysis.NotAnalysed {
					count[d.Rule.Code]++
				}
			}
			got := map[string]bool{}
			for code, n := range count {
				got[fmt.Sprint(code, " ", n)] = true
			}
			if !slices.Equal(slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(c.want))) {
				t.Errorf("found %v, want %v:\n%s", slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(c.want)),
					every(found[:min(len(found), 12)]))
			}
			for key, says := range c.want {
				for _, d := range found {
					if strings.HasPrefix(key, d.Rule.Code) && !regexp.MustCompile(says).MatchString(d.Message) {
						t.Errorf("%s says %q, want %q", d.Rule.Code, d.Message, says)
					}
				}
			}
		})
	}
}
