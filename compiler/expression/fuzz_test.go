package expression

import (
	"math/rand"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/obelus-dev/obelus/compiler/reference"
	"github.com/obelus-dev/obelus/testdata/cputime"
)

var seeds = []string{
	"†state.a", "†state.a[0][\"x\"].0", "†state.a || †state.b ?? 10", "†state.a && †state.b", "†state.items | filter(.price > 10) | map(.name)",
	`†("Hello " + †input.name)`, "†state.age >= 18 and not †input.dryRun", "†state.x[†state.i]", "†state.user?.name", "†(let x = †state.a; x + 1)",
	"†(1 < †state.a < 5)", "†state.a ? 1 : 2", "†(if †state.a { 1 } else { 2 })", "†({\"a\": [1, 2], (†state.k): null})", "†state.a[1:-1]",
	"†(reduce(†state.items, #acc + #, 0))", "†(date(\"2024-02-29\").Year())", "†\"①😀\"", "††", "†state.a.", "†state..a", "†(((", "†state.a /* x */ + 1 // y",
	"†state.items | map({let y = #; y || †state.a})", "†(`raw ``quoted`` text`)", "†state.a matches \"^(a|b)+$\"", "†(\"\\u{1F600}\\n\")", "†(1e3 + 0x1F + 1_000)",
	"a †{state.a} b ††{c} †{†state.b || input.c} d", "†{len(state.items)}†{'}'}", "†††{state.a}", "††{x} †{({\"state\": state.x})} †{`}`}", "†{map(state.l, {let x = #.state; x})}",
	"†{state.a", "†{}", "†{state.a }}", "†{'", "a||b†{", "†{in.a} †{state-a}", "†{\"†\"}†{state.a}", "†{1e400} †{null} †{[1]} †{true}",
	"a || b && (c || d)", "†state.a && b['x y']", "price * count", "$env[\"x\"]",
}

// placed checks that an error's place is in the text, on characters' borders.
func placed(t *testing.T, text string, err *Error) {
	t.Helper()
	if err.Start < 0 || err.End < err.Start || err.End > len(text) || err.Message == "" {
		t.Fatalf("%q: the place %d-%d is outside (%s)", text, err.Start, err.End, err.Message)
	}
	if utf8.ValidString(text) && (!utf8.ValidString(text[:err.Start]) || !utf8.ValidString(text[err.Start:err.End])) {
		t.Fatalf("%q: the place %d-%d cuts a character (%s)", text, err.Start, err.End, err.Message)
	}
}

func prompt(t *testing.T, text string, since time.Duration) {
	t.Helper()
	if took := cputime.Used() - since; took > 5*time.Second { // EXECUTION.md#limits's second, and as much again for being watched and in company
		t.Fatalf("%.200q takes %v", text, took)
	}
}

// LANGUAGE.md#documents: whatever the text, reading it ends soon, its places are inside.
func FuzzParse(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		start := cputime.Used()
		for _, parse := range []func(string) (*Expr, *Error){Parse, ParseCode, parseTextAlways} {
			e, err := parse(text)
			if err != nil {
				placed(t, text, err)
				continue
			}
			for _, r := range e.References() {
				if piece := text[r.Start:r.End]; !strings.HasPrefix(strings.TrimPrefix(piece, mark), r.Kind) {
					t.Fatalf("%q: the reference %s stands at %q", text, r, piece)
				}
			}
			if err := e.Check(func(int) *Type { return nil }).Err; err != nil {
				placed(t, text, err)
			}
		}
		for _, there := range []bool{false, true} {
			m, ok := Lookalike(text, func(Reference) bool { return there })
			if !ok {
				continue
			}
			if _, err := parseString(m.Intended); err != nil && utf8.ValidString(text) && !reference.IsText(text) {
				t.Fatalf("%q, which %q is taken for, isn't read: %s", m.Intended, text, err.Message)
			}
		}
		if _, err := reference.Parse(text); err != nil {
			placed(t, text, err)
		}
		prompt(t, text, start)
	})
}

// LANGUAGE.md#references-and-expressions: whatever the text and the values, evaluation ends soon with plain
// data or an error inside the text, twice the same, and leaves its input alone;
// what is decided while something is pending stays so.
func FuzzEval(f *testing.F) {
	for i, s := range seeds {
		f.Add(s, int64(i))
	}
	f.Fuzz(func(t *testing.T, text string, seed int64) {
		e, err := parseString(text)
		if err != nil {
			return
		}
		start := cputime.Used()
		r := rand.New(rand.NewSource(seed))
		values := make([]outcome, len(e.refs))
		for i := range values {
			values[i] = outcome{randomValue(r, 3), Presence(r.Intn(3))}
			if r.Intn(2) == 0 {
				values[i].p = There
			}
		}
		kept := make([]any, len(values))
		for i := range values {
			kept[i] = cloned(values[i].value)
		}
		eval := func(values []outcome) (any, Presence, error) {
			return e.Eval(func(i int) (any, Presence) { return values[i].value, values[i].p }, nil)
		}
		v, p, failure := eval(values)
		if failure != nil {
			placed(t, text, failure.(*Error))
		} else if p == There && !plain(v, 0) {
			t.Fatalf("%q gives %#v", text, v)
		} else if p != There && v != nil {
			t.Fatalf("%q has the presence %d and the value %v", text, p, v)
		}
		if w, q, again := eval(values); !reflect.DeepEqual(v, w) || p != q || (again == nil) != (failure == nil) || again != nil && again.Error() != failure.Error() {
			t.Fatalf("%q gives %v, then %v", text, v, w)
		}
		for i := range values {
			if !reflect.DeepEqual(values[i].value, kept[i]) {
				t.Fatalf("%q changes %v into %v", text, kept[i], values[i].value)
			}
		}
		if p != Pending {
			for i := range values {
				if values[i].p == Pending {
					values[i].p = []Presence{Absent, There}[r.Intn(2)]
				}
			}
			if w, q, again := eval(values); !reflect.DeepEqual(v, w) || p != q || (again == nil) != (failure == nil) {
				t.Fatalf("%q was decided as %v, and then gives %v", text, v, w)
			}
		}
		prompt(t, text, start)
	})
}

func randomValue(r *rand.Rand, depth int) any {
	switch n := r.Intn(9); {
	case n == 0:
		return nil
	case n == 1:
		return r.Intn(2) == 0
	case n < 4:
		return float64(r.Intn(20)-5) / float64(1+r.Intn(2))
	case n < 6 || depth == 0:
		return []string{"", "a", "†state.a", "①😀", "10", "2024-02-29", "[1]"}[r.Intn(7)]
	case n == 6:
		out := object{}
		for range r.Intn(4) {
			out[[]string{"price", "name", "a", "x", "y"}[r.Intn(5)]] = randomValue(r, depth-1)
		}
		return out
	}
	out := []any{}
	for range r.Intn(5) {
		out = append(out, randomValue(r, depth-1))
	}
	return out
}

func cloned(v any) any {
	switch v := v.(type) {
	case []any:
		out := []any{}
		for _, i := range v {
			out = append(out, cloned(i))
		}
		return out
	case object:
		out := object{}
		for k, i := range v {
			out[k] = cloned(i)
		}
		return out
	}
	return v
}

// plain reports whether a value is what JSON can say.
func plain(v any, depth int) bool {
	switch v := v.(type) {
	case nil, bool:
		return true
	case string:
		return utf8.ValidString(v)
	case float64:
		return v-v == 0
	case []any:
		for _, i := range v {
			if depth > maxResultDepth || !plain(i, depth+1) {
				return false
			}
		}
		return true
	case object:
		for k, i := range v {
			if depth > maxResultDepth || !utf8.ValidString(k) || !plain(i, depth+1) {
				return false
			}
		}
		return true
	}
	return false
}
