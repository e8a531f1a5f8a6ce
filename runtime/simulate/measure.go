package simulate

import (
	"cmp"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/runtime"
)

// A ruler measures how far an expression was from being true or false.
type ruler struct {
	of     *expression.Expr
	look   expression.Lookup
	params map[string]any
	meter  *expression.Meter
	hints  [][2]string
}

// value is what a term came to.
func (r *ruler) value(t *expression.Term) (any, bool) {
	return r.of.ValueOf(t, r.look, r.params, r.meter)
}

// Distances: beside is how far a number is from one that is more or less, apart how far
// values of different kinds are.
const (
	beside = 1e-3
	apart  = 1e9
)

// far is how far a term was from coming out as wanted; 0 where it did.
func (r *ruler) far(t *expression.Term, want bool) float64 {
	v, ok := r.value(t)
	if ok && v == want {
		return 0
	}
	switch t.Op {
	case expression.TermNot:
		return r.far(t.Args[0], !want)
	case expression.TermAnd, expression.TermOr:
		sum, least := 0.0, math.Inf(1)
		for _, a := range t.Args {
			one := r.far(a, want)
			sum, least = sum+one, min(least, one)
		}
		if want == (t.Op == expression.TermAnd) {
			return max(sum, beside)
		}
		return max(least, beside)
	}
	if t.Op < expression.TermEqual {
		r.suggest(t)
		return 1
	}
	a, _ := r.value(t.Args[0])
	b, _ := r.value(t.Args[1])
	return max(r.compared(t.Op, a, b, want), beside/2)
}

// suggest takes up the texts of a question about two of them, or about one and a list.
func (r *ruler) suggest(t *expression.Term) {
	if t.Op != expression.TermOther || len(t.Args) != 2 {
		return
	}
	a, _ := r.value(t.Args[0])
	b, _ := r.value(t.Args[1])
	list, isList := b.([]any)
	if !isList {
		list = []any{b}
	}
	for _, one := range list {
		r.hint(a, one)
	}
}

func (r *ruler) hint(a, b any) {
	x, text := a.(string)
	if y, both := b.(string); text && both && len(r.hints) < 20 {
		r.hints = append(r.hints, [2]string{x, y}, [2]string{y, x})
	}
}

// compared is how far two values were from comparing as wanted.
func (r *ruler) compared(op expression.TermOp, a, b any, want bool) float64 {
	if !want {
		op = map[expression.TermOp]expression.TermOp{
			expression.TermEqual: expression.TermUnequal, expression.TermUnequal: expression.TermEqual, expression.TermLess: expression.TermMoreEqual,
			expression.TermMoreEqual: expression.TermLess, expression.TermMore: expression.TermLessEqual, expression.TermLessEqual: expression.TermMore,
		}[op]
	}
	x, isNumber := a.(float64)
	if y, both := b.(float64); isNumber && both {
		switch op {
		case expression.TermEqual:
			return math.Abs(x - y)
		case expression.TermLess, expression.TermLessEqual:
			return x - y + beside
		case expression.TermMore, expression.TermMoreEqual:
			return y - x + beside
		}
		return 1
	}
	r.hint(a, b)
	switch {
	case op == expression.TermUnequal:
		return 1
	case schema.KindOf(a) != schema.KindOf(b):
		return apart
	}
	if x, text := a.(string); text {
		y := b.(string)
		same := 0
		for same < len(x) && same < len(y) && x[same] == y[same] {
			same++
		}
		return float64(len(x) + len(y) - 2*same)
	}
	if x, list := a.([]any); list {
		return 1 + math.Abs(float64(len(x)-len(b.([]any))))
	}
	return 1
}

// observe measures the sites of an expression that a rehearsal has resolved.
func (c *course) observe(under string, t *compiler.Template, look expression.Lookup) {
	for ref := -1; ref < len(t.Reads); ref++ {
		if one := c.steering.sites[siteKey{under, t, ref}]; one != nil {
			c.mark(one, &ruler{of: t.Expr, look: look, meter: &c.steering.meter})
		}
	}
}

// decides measures the sites in the code of a call that is about to be evaluated.
func (c *course) decides(path string, command runtime.Command) {
	if c.steering == nil {
		return
	}
	code := command.Plan.Activities[command.Of.Activity].Expression
	for _, one := range c.steering.code[path] {
		c.mark(one, &ruler{of: code, params: command.Params, meter: &c.steering.meter})
	}
}

// mark notes how far a site was from each of its ways, at the nearest.
func (c *course) mark(one *site, r *ruler) {
	m := c.marks[one]
	if m == nil {
		m = &mark{far: slices.Repeat([]float64{math.Inf(1)}, len(one.ways))}
		c.marks[one] = m
	}
	for way := range one.ways {
		if far := one.far(way, r); one.ofItems && way == 1 && !math.IsInf(m.far[way], 1) {
			m.far[way] += far // it holds for none
		} else {
			m.far[way] = min(m.far[way], far)
		}
	}
	if one.items != nil && m.far[1] == 0 { // a list of none: it holds for none of it
		c.marks[one.items] = &mark{far: []float64{math.Inf(1), 0}}
	}
	m.hints = append(m.hints, r.hints[:min(len(r.hints), 20)]...)
}

// resolved are the texts that would make one text of a comparison the other, where a text
// that was made up is a part of it, also in other cases.
func resolved(made string, h [2]string) (all []string) {
	have, wanted := h[0], h[1]
	for _, as := range []func(string) string{func(s string) string { return s }, strings.ToUpper, strings.ToLower} {
		if at := strings.Index(have, as(made)); at >= 0 {
			before, after := have[:at], have[at+len(as(made)):]
			if len(before)+len(after) <= len(wanted) && strings.HasPrefix(wanted, before) && strings.HasSuffix(wanted, after) {
				all = append(all, wanted[len(before):len(wanted)-len(after)])
			}
		}
	}
	return append(all, wanted, strings.ToLower(wanted), strings.ToUpper(wanted), made+wanted, wanted+made)
}

// longText is what texts of a length are cut from.
var longText = strings.Repeat("a", 201)

// leaves calls f with every part of a value that holds no others, and with its lists, of
// which only the first items are looked into.
func leaves(v any, steps []expression.Segment, f func([]expression.Segment, any)) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range sortedKeys(v) {
			leaves(v[key], append(slices.Clip(steps), expression.Segment{Key: key}), f)
		}
		return
	case []any:
		for i, item := range v[:min(len(v), 3)] {
			leaves(item, append(slices.Clip(steps), expression.Segment{Key: strconv.Itoa(i), IsIndex: true, Index: i}), f)
		}
	}
	f(steps, v)
}

// leaves are those of a result, or of what was made up of what a run is given.
func (e *ending) leaves(v any, f func([]expression.Segment, any)) {
	leaves(v, nil, func(steps []expression.Segment, now any) {
		if e.made == nil || len(steps) > 0 && slices.Contains(e.made, steps[0].Key) {
			f(steps, now)
		}
	})
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// A change is a part of a value that another has otherwise; a list is one part.
type change struct {
	steps []expression.Segment
	value any
}

func differences(a, b any, steps []expression.Segment) (all []change) {
	x, isObject := a.(map[string]any)
	y, both := b.(map[string]any)
	if !isObject || !both {
		if !reflect.DeepEqual(a, b) {
			all = append(all, change{steps, b})
		}
		return all
	}
	for _, key := range sortedKeys(x) {
		at := append(slices.Clip(steps), expression.Segment{Key: key})
		if other, ok := y[key]; ok {
			all = append(all, differences(x[key], other, at)...)
		} else {
			all = append(all, change{at, missing})
		}
	}
	return all
}

// offer makes a value an option of a part of an ending's value, and gives the part's key and
// the option.
func (e *ending) offer(now any, c change) (key string, option int) {
	at := slices.IndexFunc(e.places, func(p part) bool { return slices.Equal(p.steps, c.steps) })
	if at < 0 {
		name := pathtree.Below(e.name, c.steps)
		p := part{key: e.prefix + name, steps: c.steps}
		usual, ok := pathtree.Walk(now, c.steps)
		if !ok {
			usual = missing
		}
		p.add(name, usual)
		e.places = append(e.places, p)
		slices.SortStableFunc(e.places, func(a, b part) int { return cmp.Compare(len(b.steps), len(a.steps)) })
		at = slices.IndexFunc(e.places, func(q part) bool { return q.key == p.key })
	}
	p := &e.places[at]
	p.add(p.options[0].Reference, c.value)
	return runtime.Path(e.under, p.key), slices.IndexFunc(p.values, func(v any) bool { return reflect.DeepEqual(v, c.value) })
}

// shapes calls f with others in the place of every object of a value that its schema doesn't
// close to one: as other variants of a union have them.
func (e *ending) shapes(v any, f func(steps []expression.Segment, other any)) {
	if e.schema == nil || e.made != nil {
		return
	}
	objects(v, nil, func(steps []expression.Segment, now map[string]any) {
		at := e.schema.At(compiler.SchemaPath(steps))
		if at.Schema == nil {
			return
		}
		for n := range uint64(mostShapes) {
			if other, ok := at.Schema.Sample(rand.New(rand.NewPCG(n, 2))); ok && len(differences(now, other, nil)) > 0 {
				f(steps, other)
			}
		}
	})
}

// mostShapes bounds how many others are tried in the place of an object.
const mostShapes = 8

func objects(v any, steps []expression.Segment, f func([]expression.Segment, map[string]any)) {
	switch v := v.(type) {
	case map[string]any:
		f(steps, v)
		for _, key := range sortedKeys(v) {
			objects(v[key], append(slices.Clip(steps), expression.Segment{Key: key}), f)
		}
	case []any:
		for i, item := range v[:min(len(v), 3)] {
			objects(item, append(slices.Clip(steps), expression.Segment{Key: strconv.Itoa(i), IsIndex: true, Index: i}), f)
		}
	}
}

// item makes up an item of a list in the value.
func (e *ending) item(steps []expression.Segment) (any, bool) {
	if e.schema == nil {
		return nil, false
	}
	at := e.schema.At(append(compiler.SchemaPath(steps), schema.Index(0)))
	if at.Schema == nil {
		return nil, false
	}
	return at.Schema.Sample(rand.New(rand.NewPCG(1, 1)))
}

// partOptions are the options of one of an ending's parts, by its key below other calls.
func (e *ending) partOptions(key string) []analyzer.BranchChoice {
	at := slices.IndexFunc(e.places, func(p part) bool { return runtime.Path(e.under, p.key) == key })
	return named(e.places[at].options, e.under)
}
