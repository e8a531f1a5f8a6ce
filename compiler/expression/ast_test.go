package expression

import (
	"testing"
)

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
