package expression

import "testing"

// LANGUAGE.md#findings: of a list that an expression gives it is known how many items it may have, where
// that hangs on how many those have that it is made of.
func TestLengths(t *testing.T) {
	const unbounded = AnyLength
	for text, want := range map[string][2]int{
		`†state.a`:                          {2, 5},
		`†state.a || []`:                    {0, 5},
		`†(take(†state.a, 3))`:              {2, 3},
		`†(†state.a[:3])`:                   {2, 3},
		`†(†state.a[1:])`:                   {1, 4},
		`†(1..4)`:                           {4, 4},
		`†(1..†state.n)`:                    {0, unbounded},
		`†(take(†state.a, †state.n))`:       {0, 5},
		`†(†state.a[1:-1])`:                 {0, 5},
		`†(†state.a[-3:])`:                  {2, 3},
		`†(†state.a[-2:4])`:                 {0, 5},
		`†(†state.a[-4:-1])`:                {0, 5},
		`†(†state.a[len(†state.a) - 1:])`:   {0, 5},
		`†state.a | filter(# > 3)`:          {0, 5},
		`†state.a | map(# + 1) | reverse()`: {2, 5},
		`†(sort(uniq(†state.a), "desc"))`:   {0, 5},
		`†state.a | sortBy(-#)`:             {2, 5},
		`†(5..3)`:                           {0, 0},
		`†(keys({"a": †state.a}))`:          {0, unbounded},
		`†(flatten([†state.a]))`:            {0, unbounded},
	} {
		e, err := Parse(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		items := e.Root().Items(func(int) Interval { return Interval{2, 5} })
		least, most := items.Least, items.Most
		if least != want[0] || most != want[1] {
			t.Errorf("%s has %d to %d items, want %v", text, least, most, want)
		}
		for n := 2; n <= 5; n++ {
			list := []any{4.0, 4.0, 3.0, 2.0, 1.0}[:n]
			value, presence, failed := e.Eval(func(i int) (any, Presence) {
				switch e.References()[i].Path[0].Key {
				case "b":
					return n%2 == 0, There
				case "n":
					return float64(n), There
				}
				return list, There
			}, nil)
			if got, ok := value.([]any); failed != nil || presence != There || !ok || len(got) < least || len(got) > most {
				t.Errorf("%s of %d items is %v (%v), not of %d to %d", text, n, value, failed, least, most)
			}
		}
	}
}
