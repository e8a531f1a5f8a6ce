package expression

import (
	"reflect"
	"testing"
)

// LANGUAGE.md#references-and-expressions: the tree shows what an expression passes on, and nothing else.
func TestPassedOn(t *testing.T) {
	for text, want := range map[string]any{
		`†state.a`:                          "ref 0",
		`†state.a || †state.b || 5`:         []any{"or", "ref 0", "ref 1", 5.0},
		`†state.a && †state.b`:              []any{"and", "ref 0", "ref 1"},
		`†(†state.a > 1 ? †state.b : "x")`:  []any{"either", "computed", "ref 1", "x"},
		`†state.a || [1, {"k": "v"}]`:       []any{"or", "ref 0", []any{1.0, map[string]any{"k": "v"}}},
		`†state.a || †state.b + 1`:          []any{"or", "ref 0", "computed"},
		`†state.a | map(# || 1)`:            "computed",
		`†(†state.a && †state.b || null)`:   []any{"or", []any{"and", "ref 0", "ref 1"}, nil},
		`†(let x = †state.a; x || 1)`:       "computed",
		`†state.a or †state.b`:              "computed",
		`†(†state.a || †state.b) && "done"`: []any{"and", []any{"or", "ref 0", "ref 1"}, "done"},
	} {
		e, err := Parse(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if got := sketch(e.Root()); !reflect.DeepEqual(got, want) {
			t.Errorf("%s is %v, want %v", text, got, want)
		}
	}
}

func sketch(n *Node) any {
	names := map[Op]string{OpFallback: "or", OpGate: "and", OpCond: "either"}
	switch {
	case n.Op == OpRef:
		return "ref " + itoa(n.Index)
	case n.Constant:
		return n.Value
	case n.Open() || names[n.Op] == "":
		return "computed"
	}
	out := []any{names[n.Op]}
	for _, a := range n.Args {
		out = append(out, sketch(a))
	}
	return out
}

// What is written in several ways has one shape, and what means something else another.
func TestShape(t *testing.T) {
	seen := map[string]string{}
	for _, alike := range [][]string{
		{`†state.a > 1`, `†( (†state.a)>1.0)`, `†(†state["a"] > (1))`},
		{`†state.a >= 1`, `†(†state.a >= 1e0)`},
		{`†(1 < †state.a)`}, {`†state.a > "1"`, `†state.a > '1'`}, {`†state?.a > 1`}, {`†state.a.b[1]`}, {`†state.a.b["1"]`},
		{`†(†state.a + †state.b * 2)`, `†(†state.a + (†state.b * 2))`}, {`†((†state.a + †state.b) * 2)`},
		{`†state.a[1:]`}, {`†state.a[:1]`}, {`†state.a ?: 1`, `†(†state.a ? †state.a : 1)`}, {`†(upper(†state.a))`, `†state.a | upper()`},
		{`†(lower(†state.a))`}, {`†(date(†state.a).Year() > 1)`}, {`†(date(†state.a).Day() > 1)`},
	} {
		for i, text := range alike {
			e := parseOK(t, text)
			shape := e.Shape(e.Root(), nil)
			if first, ok := seen[shape]; ok != (i > 0) || ok && first != alike[0] {
				t.Errorf("%s has the shape %s of %q", text, shape, first)
			}
			seen[shape] = alike[0]
		}
	}
}

// LANGUAGE.md#references-and-expressions: a part is checked by itself.
func TestPartsAreChecked(t *testing.T) {
	e, err := Parse(`†state.a || †state.b > 1`)
	if err != nil {
		t.Fatal(err)
	}
	number := func(int) *Type { return &Type{Kinds: Number} }
	parts := e.Root().Args
	if got := e.CheckPart(parts[0], number); got == nil || got.Kinds != Number {
		t.Errorf("the first operand is %+v", got)
	}
	if got := e.CheckPart(parts[1], number); got == nil || got.Kinds != Bool {
		t.Errorf("the second operand is %+v", got)
	}
	if got := e.CheckPart(parts[1], func(int) *Type { return &Type{Kinds: Object} }); got != nil {
		t.Errorf("what always fails is %+v", got)
	}
}

// The walk visits every node, the operands of a chain and those of members included, and leaves out missing bounds.
func TestWalk(t *testing.T) {
	e := parseOK(t, `†(1 < (†state.a || 2) < 3 ? (†state.b)["k"] : †state.c[1:])`)
	var ops []Op
	for n := range e.Root().All() {
		ops = append(ops, n.Op)
	}
	fallback := []Op{OpFallback, OpRef, OpLiteral}
	want := append([]Op{OpCond, OpAnd, OpLess, OpLiteral}, fallback...)
	want = append(append(append(want, OpLess), fallback...), OpLiteral)
	want = append(want, OpMember, OpRef, OpLiteral, OpSlice, OpRef, OpLiteral)
	if !reflect.DeepEqual(ops, want) {
		t.Errorf("it visits %v, want %v", ops, want)
	}
	for range e.Root().All() {
		break // which ends it
	}
}

// LANGUAGE.md#references-and-expressions: chains of references are told from everything else.
func TestAlternatives(t *testing.T) {
	for text, want := range map[string][2]bool{
		`†state.a || †state.b`:            {true, false},
		`†state.a ?? †state.b?.c || 5`:    {true, true},
		`†(†state.a || null)`:             {true, true},
		`†state.a`:                        {false, false},
		`†state.a?.b`:                     {false, false},
		`†state.a && †state.b`:            {false, false},
		`†state.a || 5 || †state.b`:       {false, false},
		`†state.a || †state.b + 1`:        {false, false},
		`†state.a || (†state.b && 1)`:     {false, false},
		`†(†state.a || †state.b) + 1`:     {false, false},
		`†state.a || [1]`:                 {false, false},
		`†(let x = 1; x || †state.a)`:     {false, false},
		`†state.items | map(# || "none")`: {false, false},
	} {
		e, err := Parse(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if yes, literal := e.Alternatives(); yes != want[0] || literal != want[1] {
			t.Errorf("%s: %v, %v; want %v", text, yes, literal, want)
		}
	}
}
