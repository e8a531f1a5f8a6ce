package dot

import (
	"slices"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/compiler/diag"
)

// LANGUAGE.md#documents: the outline is that of the effect. A warning about what destroys takes nothing
// from it, and gives its colour to nothing that only reads; the legend
// names an outline only where no box has one for what became of it.
func TestOutlineIsOfTheEffect(t *testing.T) {
	p, _ := compile(t, "pay.yaml", `
calls:
  - {_id: look, _tool: look, _retry: {attempts: 2}, _outputPath: a}
  - {_id: pay, _tool: pay, n: †state.a, _retry: {attempts: 2}, _outputPath: b}
tools: {look: {type: object}, pay: {type: object, properties: {n: {}}}}
activities:
  look: {exec: {argv: [look]}, annotations: {readOnlyHint: true}}
  pay: {exec: {argv: [pay]}, annotations: {destructiveHint: true}}
`)
	var found []diag.Diagnostic
	for _, call := range []string{"look", "pay"} {
		found = append(found, diag.Diagnostic{Rule: &diag.Rule{Code: "OB607"}, Severity: diag.Warning, Call: call})
	}
	v := FromPlan(p, found, Options{})
	for i := range v.Nodes { // the plan's own word for what only reads doesn't count
		if v.Nodes[i].Call == "look" {
			v.Nodes[i].Marks = []Mark{v.Nodes[i].Marks[0]}
		}
	}
	outlined := func(call, tone string) {
		t.Helper()
		if class := readSVG(t, v.SVG())[Anchor(call)].class; strings.Contains(class, "line-") != (tone != "") || !strings.Contains(class, tone) {
			t.Errorf("the outline of %s is of %q, want %q", call, class, tone)
		}
	}
	outlined("look", "")
	outlined("pay", "line-danger")
	for form, class := range map[string]string{"mermaid": "fill:#fbdad5,stroke:#b42318", "dot": `fillcolor="#fbdad5", color="#b42318"`} {
		if drawn := Formats[form](v); strings.Count(drawn, class) != 1 {
			t.Errorf("%s: not one %s:\n%s", form, class, drawn)
		}
	}
	if told := v.DOT(); strings.Count(told, `\nwarning OB607\n"`) != 2 || !strings.Contains(told, "▲: destroys") {
		t.Errorf("no warning in two boxes, or no sign in the legend:\n%s", told)
	}

	// The state of a run is shown beside the danger: the outline is that of the state, the fill stays red.
	v.Nodes[slices.IndexFunc(v.Nodes, func(n Node) bool { return n.Call == "pay" })].Mark(Mark{Kind: Done})
	outlined("pay", "line-fine")
	if class := readSVG(t, v.SVG())[Anchor("pay")].class; !strings.Contains(class, "mark-destroys") {
		t.Errorf("what destroys and is done has the classes %q", class)
	}
	if drawn := v.DOT(); !strings.Contains(drawn, `fillcolor="#fbdad5", color="#1a7f37"`) {
		t.Errorf("what destroys and is done isn't filled red and outlined green:\n%s", drawn)
	}
}

// LANGUAGE.md#references-and-expressions: of several that a text takes each may be missing. A call whose result is
// given runs nothing, and a text says of a call its condition.
func TestFallbacksAreOptional(t *testing.T) {
	p, _ := compile(t, "either.yaml", `
input: {n: 1}
calls:
  - {_id: a, _tool: one, _outputPath: ok || bad}
  - {_id: b, _tool: one, _outputPath: fine || poor}
  - {_id: text, _tool: say, t: "Gone: †{state.bad.message || state.poor.message}", _outputPath: t1}
  - {_id: sum, _tool: say, t: "†(1 + (†state.ok || †state.fine))", _outputPath: t2}
  - {_id: maybe, _tool: say, t: "Gone: †{state.bad.message || state.poor.message || 'no'}", _outputPath: t3}
  - {_id: large, _tool: one, _when: †input.n > 3, _outputPath: x}
  - {_id: small, _tool: one, _when: †input.n <= 3, _outputPath: x}
  - {_id: take, _tool: say, t: †state.x, _outputPath: t4}
  - {_id: part, _tool: one, _outputPath: y.a}
  - {_id: rest, _tool: one, _outputPath: y.b}
  - {_id: whole, _tool: say, t: †state.y, _outputPath: t5}
  - {_id: given, _tool: one, _output: 1, _outputPath: z}
tools: {one: {type: object}, say: {type: object, properties: {t: {}}}}
`)
	v := FromPlan(p, nil, Options{})
	var got []string
	for _, line := range edges(v) {
		if !strings.Contains(line, "input") {
			got = append(got, line)
		}
	}
	same(t, "edges", got, []string{
		"a -data-> sum: †state.ok (if there)",
		"a -failure-> maybe: †state.bad.message (if there)",
		"a -failure-> text: †state.bad.message (if there)",
		"b -data-> sum: †state.fine (if there)",
		"b -failure-> maybe: †state.poor.message (if there)",
		"b -failure-> text: †state.poor.message (if there)",
		"large -data-> take: †state.x",
		"part -data-> whole: †state.y",
		"rest -data-> whole: †state.y",
		"small -data-> take: †state.x",
	})
	v.Detail = true
	text := v.Text()
	for want, n := range map[string]int{"result: ": 1, "if †input.n > 3": 1} {
		if strings.Count(text, want) != n {
			t.Errorf("not %d times %q:\n%s", n, want, text)
		}
	}
}
