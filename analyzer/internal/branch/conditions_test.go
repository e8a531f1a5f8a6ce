package branch

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/analyzer/internal/logic"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/source"
)

// FuzzConditions: whatever a condition is, a formula allows what evaluating it
// gives: where it comes out true, false, null or absent for some values, it does
// so in a world in which as much is there, and as much null, as then.
func FuzzConditions(f *testing.F) {
	for _, text := range []string{
		"†input.a > 1 and not †input.b", "†input.a || †input.b == 'x'", "†input.a && †input.b || false", "†(†input.a || null) == null", "†input?.a == null",
		"†input.a in [1, 'x', null, true]", "†(1 < †input.a <= 2)", "†input.a != 'x' or †input.b", "†(not (†input.a || †input.b))", "†(†input.a ?? 1) > 0 and †input.b < 3",
		"†input.a == †input.b", "†len(†input.a) > 1 or †input.b", "†input.a ? †input.b : false", "†(†input.a && null || †input.b)", "†input.a.b?.c == 'x' && †input.b",
	} {
		f.Add(text, uint64(1))
	}
	f.Fuzz(func(t *testing.T, text string, seed uint64) {
		if len(text) > 300 || !strings.HasPrefix(text, "†") {
			return
		}
		document, err := json.Marshal(map[string]any{"calls": []any{map[string]any{"_tool": "a", "_when": text}}})
		if err != nil {
			t.Fatal(err)
		}
		plan, found := compiler.Compile(source.NewFile("plan.json", document), compiler.Options{})
		if diag.HasErrors(found) || len(plan.Calls) != 1 || plan.Calls[0].When == nil || plan.Calls[0].When.Expr == nil {
			return
		}
		call := plan.Calls[0]
		e := New(plan, Nothing{})
		form := e.formula(call.When)
		form.alone = map[int]valued{}
		term := call.When.Expr.Root()
		h, v := form.holds(term), form.value(term)
		r := rand.New(rand.NewPCG(seed, 43))
		for range 20 {
			fixed := logic.True
			values := map[pathtree.ID]any{}
			value, presence, err := call.When.Expr.Eval(func(i int) (any, expression.Presence) {
				read := &plan.Reads[call.When.Reads[i]]
				some, known := values[read.Path]
				if !known {
					some = []any{nil, nil, true, false, 0.0, 1.0, 2.0, 2.5, 3.0, "x", "y", "", []any{1.0}, map[string]any{"b": "x"}, absent{}, absent{}}[r.IntN(16)]
					values[read.Path] = some
				}
				if _, yes := some.(absent); yes {
					return nil, expression.Absent
				}
				return some, expression.There
			}, nil)
			var all []int
			for read := range form.alone {
				all = append(all, read)
			}
			slices.Sort(all)
			for _, read := range all {
				some, known := values[plan.Reads[read].Path]
				if !known {
					continue
				}
				_, gone := some.(absent)
				one := form.alone[read]
				there, solid := logic.Constant(!gone), logic.Constant(!gone && some != nil)
				fixed = e.And(fixed, e.IfThenElse(there, one.there, one.there.Not()))
				fixed = e.And(fixed, e.IfThenElse(solid, one.solid, one.solid.Not()))
			}
			want := v.there.Not()
			switch {
			case err != nil:
				continue
			case presence == expression.There && value == true:
				want = e.And(v.there, h.yes)
			case presence == expression.There && value == false:
				want = e.And(v.there, h.no)
			case presence == expression.There:
				want = e.And(v.there, e.And(h.yes.Not(), h.no.Not()))
				if len(e.predicates) > 0 {
					continue // a predicate that isn't a boolean is an error where a condition is wanted
				}
			}
			if a := e.Solve(e.And(fixed, want), false); a.Impossible {
				t.Fatalf("%s with %v is %v (%v), and the formula doesn't allow it", text, values, value, presence)
			}
		}
	})
}

type absent struct{}
