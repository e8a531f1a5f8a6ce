package branch

import (
	"math/rand/v2"
	"testing"

	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/testdata/amount"
)

// EXECUTION.md#approval: of conditions that are said to imply each other none is true where the other isn't,
// for any values, absent ones included; and what is easily seen is seen.
func TestImpliesAgreesWithEvaluation(t *testing.T) {
	r := rand.New(rand.NewPCG(16, 2))
	var draw func(depth int) string
	draw = func(depth int) string {
		path := []string{"†state.a", "†state.b.ok", "†state?.c"}[r.IntN(3)]
		if depth == 0 || r.IntN(4) == 0 {
			return []string{path, path, path + " == 'x'", path + " != 'x'", path + " > 1", path + " >= 2", path + " < 3", path + " == 2", "(" + path + " || false)", path + " in [1, 2]", "len(" + path + ") > 1", path + " == null"}[r.IntN(12)]
		}
		switch r.IntN(3) {
		case 0:
			return "not (" + draw(depth-1) + ")"
		case 1:
			return "(" + draw(depth-1) + " and " + draw(depth-1) + ")"
		}
		return "(" + draw(depth-1) + " or " + draw(depth-1) + ")"
	}
	values := []any{absent{}, nil, true, false, 1.0, 1.5, 2.0, 3.0, "x", "yy"}
	holds := func(text string, a, b, c any) bool {
		e, err := expression.Parse(text, expression.Limits{})
		if err != nil {
			t.Fatal(text, err)
		}
		v, presence, failed := e.Eval(func(i int) (any, expression.Presence) {
			one := map[string]any{"a": a, "b": b, "c": c}[e.References()[i].Path[0].Key]
			if _, gone := one.(absent); gone {
				return nil, expression.Absent
			}
			return one, expression.There
		})
		return failed == nil && presence == expression.There && v == true
	}
	implied := 0
	for range amount.Of(60, 600, 5000) {
		one, other := "†("+draw(2)+")", "†("+draw(1)+")"
		if r.IntN(3) == 0 {
			one = "†(" + other[len("†"):] + " and " + draw(1) + ")"
		}
		if !Implies(one, other) {
			continue
		}
		implied++
		for _, a := range values {
			for _, b := range values {
				for _, c := range values {
					if holds(one, a, b, c) && !holds(other, a, b, c) {
						t.Fatalf("%s is said to imply %s, and doesn't for %v, %v, %v", one, other, a, b, c)
					}
				}
			}
		}
	}
	if implied < 10 {
		t.Errorf("%d implied each other", implied)
	}
	for one, other := range map[string]string{
		"†(†state.a and †state.b)": "†state.a", "†(†state.a and †state.b == 1)": "†(†state.a or †state.b == 2)", "†(†state.n > 5)": "†(†state.n >= 3)", "†(†state.n == 4)": "†(†state.n > 3 and †state.n < 5)",
		"†(not (not †state.a))": "†state.a", "†(†state.a == 'x')": "†(†state.a in ['x', 'y'])", "†(†state.a == true)": "†state.a", "†(†state.a < 3 and †state.b)": "†(†state.b and not (†state.a >= 3))",
	} {
		if !Implies(one, other) {
			t.Errorf("%s isn't seen to imply %s", one, other)
		}
	}
	for one, other := range map[string]string{"†(not †state.a)": "†state.a", "†state.a": "†(not †state.a)", "†(†state.c)": "†(†state.c or †state.b)", "†(†state.a or †state.b)": "†state.a", "†(†state.b)": "†state.a", "†(not (†state.a == 'x'))": "†(†state.a == 'y')"} {
		if Implies(one, other) {
			t.Errorf("%s is said to imply %s", one, other)
		}
	}
}

func BenchmarkImplies(b *testing.B) {
	for b.Loop() {
		Implies("†(†state.v.ok and †state.n > 3)", "†(†state.v.ok and †state.n > 2)")
	}
}
