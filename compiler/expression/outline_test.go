package expression

import (
	"reflect"
	"testing"
)

// LANGUAGE.md#references-and-expressions: an outline names what an expression hands on, and nothing else.
func TestOutline(t *testing.T) {
	for text, want := range map[string]any{
		`†state.a`:                          "ref 0",
		`†state.a || †state.b || 5`:         []any{"or", "ref 0", "ref 1", 5.0},
		`†state.a && †state.b`:              []any{"and", "ref 0", "ref 1"},
		`†(†state.a > 1 ? †state.b : "x")`:  []any{"either", "ref 1", "x"},
		`†state.a || [1, {"k": "v"}]`:       []any{"or", "ref 0", []any{1.0, map[string]any{"k": "v"}}},
		`†state.a || †state.b + 1`:          []any{"or", "ref 0", "computed"},
		`†state.a | map(# || 1)`:            "computed",
		`†(†state.a && †state.b || null)`:   []any{"or", []any{"and", "ref 0", "ref 1"}, nil},
		`†(let x = †state.a; x || 1)`:       "computed",
		`†state.a or †state.b`:              "computed",
		`†(†state.a || †state.b) && "done"`: []any{"and", []any{"or", "ref 0", "ref 1"}, "done"},
	} {
		e, err := Parse(text, Limits{})
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if got := sketch(e.Outline()); !reflect.DeepEqual(got, want) {
			t.Errorf("%s is %v, want %v", text, got, want)
		}
	}
}

func sketch(p Part) any {
	names := map[PartKind]string{Fallback: "or", Gate: "and", Choice: "either"}
	switch p.Kind {
	case Computed:
		return "computed"
	case Referred:
		return "ref " + itoa(p.Ref)
	case Written:
		return p.Value
	}
	out := []any{names[p.Kind]}
	for _, part := range p.Parts {
		out = append(out, sketch(part))
	}
	return out
}

// LANGUAGE.md#references-and-expressions: a part is checked by itself.
func TestPartsAreChecked(t *testing.T) {
	e, err := Parse(`†state.a || †state.b > 1`, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	number := func(int) *Type { return &Type{Kinds: Number} }
	parts := e.Outline().Parts
	if got := parts[0].Check(number); got == nil || got.Kinds != Number {
		t.Errorf("the first operand is %+v", got)
	}
	if got := parts[1].Check(number); got == nil || got.Kinds != Bool {
		t.Errorf("the second operand is %+v", got)
	}
	if got := parts[1].Check(func(int) *Type { return &Type{Kinds: Object} }); got != nil {
		t.Errorf("what can't come out well is %+v", got)
	}
	var starts []int
	e, err = Parse(`†(†state.a || (†state.b && 1)) + (†state.c || 2)`, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	e.Presences(func(p Part) { starts = append(starts, len(p.Parts)) })
	if !reflect.DeepEqual(starts, []int{2, 2, 2}) {
		t.Errorf("there are %v", starts)
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
		e, err := Parse(text, Limits{})
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if yes, literal := e.Alternatives(); yes != want[0] || literal != want[1] {
			t.Errorf("%s: %v, %v; want %v", text, yes, literal, want)
		}
	}
}
