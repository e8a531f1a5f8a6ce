package expression

import "testing"

// S15.3: a term of a loop or of a let has no value by itself, and the whole of it has.
func TestTermsOfLoopsHaveNoValueAlone(t *testing.T) {
	for _, c := range []struct {
		text  string
		terms int // that have a value
	}{
		{"any(†state.l, # != null)", 3},
		{"all(†state.l, 0 < # < 9)", 4},
		{"all(†state.l, len(†state.l) == 2 and #index >= 0)", 7},
		{"let n = len(†state.l); n > 1", 4},
		{"first(†state.l).size", 3},
		{"reduce(†state.l, #acc + #, 0) == 3", 5},
	} {
		e, err := Parse("†("+c.text+")", Limits{})
		if err != nil {
			t.Fatal(c.text, err)
		}
		left, found := Meter{1000, 100_000}, 0
		var visit func(*Term)
		visit = func(term *Term) {
			if _, ok := e.ValueOf(term, func(int) (any, Presence) { return []any{1.0, 2.0}, There }, nil, &left); ok {
				found++
			}
			for _, a := range term.Args {
				visit(a)
			}
		}
		visit(e.Logic())
		if found != c.terms {
			t.Errorf("%s: %d terms have a value, want %d", c.text, found, c.terms)
		}
	}
}
