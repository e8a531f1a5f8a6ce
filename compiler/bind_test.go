package compiler

import (
	"fmt"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
)

// compiled compiles YAML that must have no error.
func compiled(t testing.TB, text string) *plan.Plan {
	t.Helper()
	p, found := Compile(source.NewFile("plan.yaml", []byte(text)), Options{})
	for _, f := range found {
		if f.Severity == diag.Error {
			t.Fatalf("%s %s: %s\n%s", f.Rule.Code, f.Span.Text(), f.Message, text)
		}
	}
	return p
}

// bindings writes a plan's reads as "reader path ← writers", a line each.
func bindings(p *plan.Plan) string {
	var b strings.Builder
	for i := range p.Reads {
		r := &p.Reads[i]
		reader := "output"
		if r.Call >= 0 {
			reader = p.Calls[r.Call].Name
		}
		fmt.Fprintf(&b, "%s %s ←", reader, p.Paths.String(r.Path))
		for _, w := range r.Writers {
			fmt.Fprintf(&b, " %s", p.Calls[w].Name)
		}
		if r.Start {
			b.WriteString(" start")
		}
		b.WriteString("\n")
	}
	return b.String()
}

func TestBinding(t *testing.T) {
	for _, c := range []struct{ name, plan, want string }{
		{"earlier writers before later ones", `
calls:
- {_id: a, _tool: t, _outputPath: x}
- {_id: b, _tool: t, in: †state.x, _outputPath: x}
- {_id: c, _tool: t, in: †state.x, _outputPath: x}
output: †state.x
`, "b †state.x ← a\nc †state.x ← a b\noutput †state.x ← a b c\n"},
		{"later writers when there are no earlier", `
calls:
- {_id: a, _tool: t, in: †state.x.y}
- {_id: b, _tool: t, _outputPath: x}
- {_id: c, _tool: t, _outputPath: x.y.z}
- {_id: d, _tool: t, _outputPath: x.other}
`, "a †state.x.y ← b c\n"},
		{"none when it is there from the start", `
state: {x: 1, n: null}
calls:
- {_id: a, _tool: t, in: †state.x, and: †state.n}
- {_id: b, _tool: t, _outputPath: x && n}
`, "a †state.x ← start\na †state.n ← b\n"},
		{"required by the state schema", `
stateSchema: {type: object, properties: {x: {type: object, properties: {y: {type: number}}, required: [y]}}, required: [x]}
calls:
- {_id: a, _tool: t, in: †state.x.y}
- {_id: b, _tool: t, _outputPath: x.y}
`, "a †state.x.y ← start\n"},
		{"all of them under once, the reader aside", `
writes: once
state: {x: 1}
calls:
- {_id: a, _tool: t, _outputPath: x}
- {_id: b, _tool: t, in: †state.x, _outputPath: y}
- {_id: c, _tool: t, _outputPath: x}
`, "b †state.x ← a c start\n"},
		{"a prefix either way, indexes and quoted keys apart", `
calls:
- {_id: a, _tool: t, _outputPath: 'list[0]'}
- {_id: b, _tool: t, _outputPath: 'list["0"]'}
- {_id: c, _tool: t, one: †state.list.0, key: '†state.list["0"]', all: †state.list}
`, "c †state.list[0] ← a\nc †state.list[\"0\"] ← b\nc †state.list ← a b\n"},
		{"every path of every alternative", `
calls:
- {_id: a, _tool: t, _outputPath: †state.p && †state.q || †state.error}
- {_id: b, _tool: t, in: '†state.q || †state.error'}
`, "b †state.q ← a\nb †state.error ← a\n"},
		{"a kind that a message declares, under both its names", `
- {type: data, kind: user, data: {name: John}}
- {type: plan, plan: [{_id: a, _tool: t, _outputPath: †data.user.summary}, {_id: b, _tool: t, in: †user.summary, of: †user.name}]}
`, "b †data.user.summary ← a\nb †data.user.name ← start\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := bindings(compiled(t, c.plan)); got != c.want {
				t.Errorf("got\n%swant\n%s", got, c.want)
			}
		})
	}
}

// LANGUAGE.md#output-paths-and-state: under once an earlier offer comes first; failure route
// against failure route aside.
func TestChoicesAndWaits(t *testing.T) {
	p := compiled(t, `
writes: once
calls:
- {_id: a, _tool: t, _outputPath: x || fault}
- {_id: b, _tool: t, _outputPath: x || fault}
- {_id: c, _tool: t, _outputPath: y || fault}
- {_id: d, _tool: t, _outputPath: fault.code}
`)
	for i, want := range []string{"[]", "[0]", "[]", "[0 1 2]"} {
		if got := fmt.Sprint(p.Calls[i].Choices); got != want {
			t.Errorf("%s chooses after %s, want %s", p.Calls[i].Name, got, want)
		}
	}
	p = compiled(t, `
calls:
- {_id: a, _tool: t, _outputPath: x}
- {_id: b, _tool: t, in: †state.x, _outputPath: y}
- {_id: c, _tool: t, in: †state.y, _outputPath: x}
- {_id: d, _tool: t, _outputPath: x.deep}
`)
	if got := fmt.Sprint(p.Calls[2].Waits); got != "[0]" {
		t.Errorf("c waits for %s, want [0]", got)
	}
	var pairs []string
	for _, u := range p.Unordered {
		pairs = append(pairs, p.Calls[u.A].Name+p.Calls[u.B].Name+" "+u.PathA.Span().Text()+" "+u.PathB.Span().Text())
	}
	if got := fmt.Sprint(pairs); got != "[ad x x.deep cd x x.deep]" {
		t.Errorf("unordered: %s", got)
	}
}

// LANGUAGE.md#the-graph: shortest cycles, one a component, and calls that need only themselves.
func TestCycles(t *testing.T) {
	p := compiled(t, `
calls:
- {_id: a, _tool: t, in: †state.c, _outputPath: a}
- {_id: b, _tool: t, in: †state.a, _outputPath: b}
- {_id: c, _tool: t, in: †state.b, also: †state.d, _outputPath: c}
- {_id: d, _tool: t, in: †state.c, _outputPath: d}
- {_id: e, _tool: t, in: †state.e, _outputPath: e}
- {_id: f, _tool: t, in: '†state.f || 1', _outputPath: f}
`)
	if got := fmt.Sprint(p.Graph.Cycles(), p.Graph.SelfCycles(), p.Graph.Acyclic()); got != "[[0 2 1]] [4] false" {
		t.Errorf("cycles %s", got)
	}
}

// LANGUAGE.md#the-graph: what is on a cycle comes behind the order, and what hangs on it behind the
// whole of it, so that whatever of such a plan can run writes in one order.
func TestRanksBehindCycles(t *testing.T) {
	p := compiled(t, `
calls:
- {_id: late, _tool: t, in: '†state.after || †state.x', _outputPath: late}
- {_id: after, _tool: t, in: †state.b, _outputPath: after}
- {_id: a, _tool: t, in: †state.b, _outputPath: a}
- {_id: free, _tool: t, _outputPath: x}
- {_id: b, _tool: t, in: †state.a, _outputPath: b}
`)
	var order []string
	for rank := range p.Calls {
		for i, call := range p.Calls {
			if p.Graph.Rank(i) == rank {
				order = append(order, call.Name)
			}
		}
	}
	if got := fmt.Sprint(order); got != "[free a b after late]" {
		t.Errorf("ranks %s", got)
	}
}

// LANGUAGE.md#the-graph: the order takes the earliest-listed ready call first.
func TestOrder(t *testing.T) {
	p := compiled(t, `
calls:
- {_id: a, _tool: t, in: †state.c}
- {_id: b, _tool: t, _outputPath: b}
- {_id: c, _tool: t, in: †state.d, _outputPath: c}
- {_id: d, _tool: t, _outputPath: d}
`)
	if got := fmt.Sprint(p.Graph.Order()); got != "[1 3 2 0]" {
		t.Errorf("order %s", got)
	}
}

// LANGUAGE.md#output-paths-and-state: one result isn't written over itself.
func TestFanOutOverItself(t *testing.T) {
	for output, at := range map[string]string{
		"x && y.z || y && x && y.z": "y.z", "x && x": "x", "x && y && †state.x": "†state.x", "x && x || y && x": "x",
	} {
		_, found := Compile(source.NewFile("plan.yaml", []byte("calls:\n- {_tool: a, _outputPath: "+output+"}\n")), Options{})
		if len(found) != 1 || found[0].Rule != diag.BadExpression || found[0].Span.Text() != at {
			t.Errorf("%s: found %v", output, found)
		}
	}
}
