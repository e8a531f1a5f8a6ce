package expression

import (
	"fmt"
	"math"
	"math/rand"
	"reflect"
	"strings"
	"testing"

	"github.com/expr-lang/expr"
	"github.com/obelus-dev/obelus/testdata/amount"
)

// A tree is a random expression of references, literals, fallbacks, gates and
// lists, the last standing for everything that needs all that is in it.
type tree struct {
	kind byte // 'r' reference, 'l' literal, '|', '&', '['
	ref  int
	lit  any
	sub  []*tree
}

const treeRefs = 5

func randomTree(r *rand.Rand, depth int) *tree {
	switch n := r.Intn(10); {
	case depth == 0 || n < 3:
		if r.Intn(4) == 0 {
			return &tree{kind: 'l', lit: []any{nil, 1.0, "x", false}[r.Intn(4)]}
		}
		return &tree{kind: 'r', ref: r.Intn(treeRefs)}
	default:
		t := &tree{kind: "||&&["[r.Intn(5)]}
		for range 2 + r.Intn(2) {
			t.sub = append(t.sub, randomTree(r, depth-1))
		}
		return t
	}
}

func (t *tree) text(b *strings.Builder) {
	switch t.kind {
	case 'r':
		fmt.Fprintf(b, "†state.r%d", t.ref)
	case 'l':
		switch v := t.lit.(type) {
		case nil:
			b.WriteString("null")
		case string:
			fmt.Fprintf(b, "%q", v)
		default:
			fmt.Fprint(b, v)
		}
	case '[':
		b.WriteString("[")
		for i, s := range t.sub {
			if i > 0 {
				b.WriteString(", ")
			}
			s.text(b)
		}
		b.WriteString("]")
	default:
		b.WriteString("(")
		for i, s := range t.sub {
			if i > 0 {
				b.WriteString(" " + strings.Repeat(string(t.kind), 2) + " ")
			}
			s.text(b)
		}
		b.WriteString(")")
	}
}

// outcome is what the contract says of a tree, computed in the plainest way.
type outcome struct {
	value any
	p     Presence
}

func (t *tree) naive(world []outcome) outcome {
	switch t.kind {
	case 'r':
		return world[t.ref]
	case 'l':
		return outcome{t.lit, There}
	case '|':
		for _, s := range t.sub {
			o := s.naive(world)
			switch {
			case o.p == Pending:
				return outcome{nil, Pending}
			case o.p == There && (o.value != nil || s.kind == 'l'):
				return o
			}
		}
		return outcome{nil, Absent}
	}
	var all []outcome
	for _, s := range t.sub {
		all = append(all, s.naive(world))
	}
	for _, o := range all {
		if o.p == Absent || t.kind == '&' && o.p == There && o.value == nil {
			return outcome{nil, Absent}
		}
	}
	for _, o := range all {
		if o.p == Pending {
			return outcome{nil, Pending}
		}
	}
	if t.kind == '&' {
		return all[len(all)-1]
	}
	values := []any{}
	for _, o := range all {
		values = append(values, o.value)
	}
	return outcome{values, There}
}

func randomWorld(r *rand.Rand) []outcome {
	world := make([]outcome, treeRefs)
	for i := range world {
		switch r.Intn(6) {
		case 0, 1:
			world[i] = outcome{nil, Pending}
		case 2:
			world[i] = outcome{nil, Absent}
		case 3:
			world[i] = outcome{nil, There}
		default:
			world[i] = outcome{float64(i), There}
		}
	}
	return world
}

func (e *Expr) in(world []outcome) outcome {
	v, p, err := e.Eval(func(i int) (any, Presence) {
		o := world[e.References()[i].Path[0].Key[1]-'0']
		return o.value, o.p
	}, nil)
	if err != nil {
		return outcome{err.Error(), 99}
	}
	return outcome{v, p}
}

// LANGUAGE.md#missing-values: fallbacks and gates against a plain reading of the contract,
// for random trees and presences; and what is decided stays decided.
func TestFallbacksAndGatesAgainstTheContract(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	var seen [3]int
	cases := amount.Of(800, 10_000, 200_000)
	for range cases {
		tr := randomTree(r, 4)
		var b strings.Builder
		tr.text(&b)
		text := mark + "(" + b.String() + ")"
		e := parseOK(t, text)
		for range 5 {
			world := randomWorld(r)
			want, got := tr.naive(world), e.in(world)
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("%s over %v = %v, want %v", text, world, got, want)
			}
			seen[got.p]++
			for range 3 {
				later := randomWorld(r)
				for i := range world {
					if world[i].p != Pending {
						later[i] = world[i]
					}
				}
				if after := e.in(later); got.p != Pending && !reflect.DeepEqual(after, got) {
					t.Fatalf("%s over %v = %v, but later, over %v, it is %v", text, world, got, later, after)
				}
			}
		}
	}
	for p, n := range seen {
		if n < cases*3/10 {
			t.Errorf("only %d outcomes have presence %d", n, p)
		}
	}
}

// A speaker writes random code whose kinds fit.
type speaker struct{ *rand.Rand }

func (s speaker) pick(options ...func() string) string { return options[s.Intn(len(options))]() }

func (s speaker) number(d int) string {
	if d <= 0 {
		return []string{"a", "b", "f", "z", "3", "-2", "0.5", "1"}[s.Intn(8)]
	}
	n, l, t := func() string { return s.number(d - 1) }, func() string { return s.numbers(d - 1) }, func() string { return s.text(d - 1) }
	return s.pick(
		func() string { return "(" + n() + []string{" + ", " - ", " * ", " / "}[s.Intn(4)] + n() + ")" },
		func() string { return "(int(" + n() + ") % 7)" },
		func() string { return "(" + n() + " ** 2)" },
		func() string { return []string{"abs", "ceil", "floor", "round"}[s.Intn(4)] + "(" + n() + ")" },
		func() string { return "-" + n() },
		func() string { return "len(" + t() + ")" },
		func() string { return "(" + l() + " | sum())" },
		func() string { return "(" + l() + " | count(# > " + n() + "))" },
		func() string { return []string{"min", "max", "mean"}[s.Intn(3)] + "(" + n() + ", " + n() + ")" },
		func() string { return "median(" + l() + ")" },
		func() string { return "(" + s.boolean(d-1) + " ? " + n() + " : " + n() + ")" },
		func() string { return "reduce(" + l() + ", #acc + # * 2, " + n() + ")" },
		func() string { return "(let v" + fmt.Sprint(d) + " = " + n() + "; v" + fmt.Sprint(d) + " + 1)" },
		func() string { return "((" + l() + ")[0] ?? 0)" },
		func() string { return "indexOf(" + t() + ", \"b\")" },
		func() string { return "bitand(a, 6)" },
		func() string { return "m.x" },
	)
}

func (s speaker) numbers(d int) string {
	if d <= 0 {
		return []string{"l", "[1, 2, 3]", "(1..4)", "[a, b]"}[s.Intn(4)]
	}
	l, n := func() string { return s.numbers(d - 1) }, func() string { return s.number(d - 1) }
	return s.pick(
		func() string { return "(" + l() + " | map(# + " + n() + "))" },
		func() string { return "(" + l() + " | filter(# > 1))" },
		func() string { return "concat(" + l() + ", " + l() + ")" },
		func() string { return "sort(" + l() + ", \"desc\")" },
		func() string { return "reverse(" + l() + ")" },
		func() string { return "uniq(" + l() + ")" },
		func() string { return "take(" + l() + ", 2)" },
		func() string { return "(" + l() + ")[1:]" },
		func() string { return "(" + l() + " | sortBy(-#))" },
		func() string { return "[" + n() + ", " + n() + "]" },
		func() string { return "flatten([" + l() + ", [" + l() + "]])" },
		func() string { return "(items | map(.price))" },
		func() string { return "(items | groupBy(.name) | get(\"a\") | map(.price))" },
	)
}

func (s speaker) text(d int) string {
	if d <= 0 {
		return []string{"s", "t", "\"abc\"", "\"\""}[s.Intn(4)]
	}
	t := func() string { return s.text(d - 1) }
	return s.pick(
		func() string { return "(" + t() + " + " + t() + ")" },
		func() string { return []string{"upper", "lower", "trim"}[s.Intn(3)] + "(" + t() + ")" },
		func() string { return "replace(" + t() + ", \"b\", \"xy\")" },
		func() string { return "join(split(" + t() + ", \"b\"), \"-\")" },
		func() string { return "repeat(" + t() + ", 2)" },
		func() string { return "string(len(" + t() + "))" },
		func() string { return "trimPrefix(" + t() + ", \"a\")" },
		func() string { return "fromBase64(toBase64(" + t() + "))" },
		func() string { return "toJSON(" + t() + ")" },
		func() string { return "m[\"n\"]" },
		func() string { return "type(" + t() + ")" },
		func() string { return "(items | map(.name) | join(\",\"))" },
		func() string { return "(keys(m) | sort() | join(\",\"))" },
	)
}

func (s speaker) boolean(d int) string {
	if d <= 0 {
		return []string{"true", "false", "yes", "z == nil"}[s.Intn(3)]
	}
	n, t, b, l := func() string { return s.number(d - 1) }, func() string { return s.text(d - 1) }, func() string { return s.boolean(d - 1) }, func() string { return s.numbers(d - 1) }
	return s.pick(
		func() string {
			return "(" + n() + []string{" < ", " > ", " <= ", " >= ", " == ", " != "}[s.Intn(6)] + n() + ")"
		},
		func() string {
			return "(" + t() + []string{" < ", " == ", " contains ", " startsWith ", " endsWith "}[s.Intn(5)] + t() + ")"
		},
		func() string { return "(" + b() + []string{" and ", " or "}[s.Intn(2)] + b() + ")" },
		func() string { return "not " + b() },
		func() string { return "(" + n() + " in " + l() + ")" },
		func() string { return []string{"all", "any", "none", "one"}[s.Intn(4)] + "(" + l() + ", # > 1)" },
		func() string { return "(" + t() + " matches \"^a.*\")" },
		func() string { return "(1 < a < " + n() + ")" },
		func() string { return "(" + t() + " not in [\"abc\", s])" },
		func() string { return "(" + l() + " == " + l() + ")" },
	)
}

// LANGUAGE.md#references-and-expressions: what the library computes over whole numbers as ints is what we compute
// over JSON's numbers, for random code; and what it refuses we refuse, but for
// what this package decides otherwise (see the package's documentation).
func TestAgainstTheLibrary(t *testing.T) {
	item := func(name string, price any) any { return object{"name": name, "price": price} }
	whole := object{"a": 3, "b": 7, "z": 0, "f": 2.5, "s": "abc", "t": "bcb", "yes": true, "l": list(4, 1, 1), "m": object{"x": 2, "n": "nn"},
		"items": list(item("a", 5), item("b", 15))}
	params := plainJSON(whole).(object)
	s := speaker{rand.New(rand.NewSource(7))}
	cases, agreed, refused := amount.Of(2_500, 30_000, 450_000), 0, 0
	for range cases {
		var code string
		switch s.Intn(4) {
		case 0:
			code = s.number(4)
		case 1:
			code = s.text(4)
		case 2:
			code = s.boolean(4)
		default:
			code = s.numbers(3)
		}
		if len(code) > 2000 {
			continue
		}
		ours, err := ParseCode(code)
		if err != nil {
			t.Fatalf("%s: %s (at %q)", code, err.Message, code[err.Start:err.End])
		}
		want, failure := expr.Eval(code, whole)
		want = plainJSON(want)
		got, trouble := ours.EvalCode(params, nil)
		if failure != nil || !finite(want) {
			if trouble == nil && failure != nil && !strings.Contains(failure.Error(), "index out of range") {
				t.Fatalf("%s = %v, and the library refuses it: %v", code, got, failure)
			}
			refused++
			continue
		}
		if trouble != nil {
			if strings.Contains(trouble.Error(), "division by zero") || strings.Contains(trouble.Error(), "too large for a number") {
				refused++ // an infinity on the way
				continue
			}
			t.Fatalf("%s: %v, and the library has %v", code, trouble, want)
		}
		if !near(got, want) {
			t.Fatalf("%s = %#v, and the library has %#v", code, got, want)
		}
		err = ours.CheckCode(func(name string) *Type { return typeOf(params[name]) }).Err
		if err != nil && err.Message != "division by zero" && !failsAlone(code[err.Start:err.End], params) { // in a branch that isn't evaluated
			t.Fatalf("%s is said to be wrong: %s (at %q)", code, err.Message, code[err.Start:err.End])
		}
		agreed++
	}
	t.Logf("%d agreed, %d refused", agreed, refused)
	if agreed < cases/2 {
		t.Errorf("only %d agreed", agreed)
	}
}

// failsAlone reports whether a part of code has no value by itself.
func failsAlone(part string, params object) bool {
	code, wrong := ParseCode(part)
	if wrong != nil {
		return true
	}
	_, err := code.EvalCode(params, nil)
	return err != nil
}

// plainJSON turns the library's values into those of JSON.
func plainJSON(v any) any {
	switch v := reflect.ValueOf(v); v.Kind() {
	case reflect.Int, reflect.Int64:
		return float64(v.Int())
	case reflect.Slice, reflect.Array:
		out := []any{}
		for i := range v.Len() {
			out = append(out, plainJSON(v.Index(i).Interface()))
		}
		return out
	case reflect.Map:
		out := object{}
		for _, k := range v.MapKeys() {
			out[fmt.Sprint(k.Interface())] = plainJSON(v.MapIndex(k).Interface())
		}
		return out
	}
	return v
}

func finite(v any) bool {
	switch v := v.(type) {
	case float64:
		return !math.IsInf(v, 0) && !math.IsNaN(v) && math.Abs(v) < 1<<53
	case []any:
		for _, i := range v {
			if !finite(i) {
				return false
			}
		}
	}
	return true
}

// near is equality, but for the last digits of numbers: the library's whole
// numbers and ours round at different places.
func near(a, b any) bool {
	switch x := a.(type) {
	case float64:
		y, ok := b.(float64)
		return ok && (x == y || math.Abs(x-y) <= 1e-9*math.Max(math.Abs(x), math.Abs(y)))
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for i := range x {
			if !near(x[i], y[i]) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(a, b)
}

// typeOf is the narrowest type of a value.
func typeOf(v any) *Type {
	t := &Type{Kinds: KindOf(v)}
	switch v := v.(type) {
	case []any:
		for i, item := range v {
			if i == 0 {
				t.Elem = typeOf(item)
			} else {
				t.Elem = either(t.Elem, typeOf(item), 0)
			}
		}
	case object:
		t.Fields = map[string]*Type{}
		for name, field := range v {
			t.Fields[name] = typeOf(field)
		}
	}
	return t
}
