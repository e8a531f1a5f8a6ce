package branch

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
)

// Bounds on the samples of one variable, and on making them.
const (
	maxSamples  = 1_000   // of one variable
	maxTogether = 60      // of a variable that is compared with others
	maxOutcomes = 300_000 // of all samples of one variable, each with all of its predicates
	sampleSteps = 1_000   // of making one value
	sampleWork  = 200_000 // of making values for one plan
	listSteps   = 2_000   // of proving that a schema lists all its values
)

// samples are the values that a variable is tried with: the constants of the conditions and of the schema, their
// neighbours, and values that the schema and one of the conditions allow.
type samples struct {
	e         *variables
	of        *variable
	constants []any // of all conditions that the variable is in, and of what it is compared with
	values    []any
	known     map[any]bool
	most      int
	exact     bool // every other value gives the same results as one of these
}

func newSamples(e *variables, s *variable) *samples {
	x := &samples{e: e, of: s, known: map[any]bool{},
		most: min(maxSamples, max(maxTogether, maxOutcomes/max(1, len(s.predicates))))}
	if !s.isAlone() {
		x.most = maxTogether
	}
	var related []*variable
	for _, a := range s.predicates {
		for _, other := range a.variables {
			if !slices.Contains(related, other) {
				related = append(related, other)
			}
		}
	}
	for _, other := range related {
		for _, a := range other.predicates {
			for n := range a.term.All() {
				if n.Constant {
					x.constants = append(x.constants, n.Value)
				}
			}
		}
		marks := other.domain.Schema.Landmarks()
		x.constants = append(x.constants, marks.Listed...)
		for _, v := range marks.Numbers {
			x.constants = append(x.constants, v)
		}
	}
	kinds := s.domain.Schema.Kinds() &^ schema.Null
	for _, v := range x.constants {
		x.add(v)
	}
	if kinds&schema.Boolean != 0 {
		x.add(true)
		x.add(false)
	}
	x.exact = !slices.ContainsFunc(s.predicates, func(a *predicate) bool { return !comparesWithConstants(a.term) })
	if kinds&schema.Number != 0 {
		x.numbers()
	}
	if r := &e.plan.Reads[s.read]; r.Path != pathtree.Root {
		given, _ := compiler.BeginsWith(e.plan, &plan.Instance{}, r.Path)
		x.add(given)
	}
	if !x.exact {
		x.combined()
	}
	texts, lists := []any{"text", "", "a", "A", "some text", "1"},
		[]any{[]any{}, []any{1.0}, []any{"text"}, []any{1.0, 2.0}, object{}}
	for _, v := range append(texts, lists...) {
		x.add(v)
	}
	x.sample()
	x.exact = x.represent(kinds)
	return x
}

// isHole reports whether a term is the value itself that a predicate is about. A fallback for it
// counts as the value: null and absence are states of their own.
func isHole(t *expression.Node) bool {
	return t.Op == expression.OpRef ||
		t.Op == expression.OpFallback && len(t.Args) == 2 && t.Args[0].Op == expression.OpRef && t.Args[1].Constant
}

// comparesWithConstants reports whether a predicate is a value, or compares one with constants: all values between two
// constants then give the same result. Texts are only compared for equality.
func comparesWithConstants(t *expression.Node) bool {
	if isHole(t) {
		return true
	}
	if !t.Op.Compares() && t.Op != expression.OpIn {
		return false
	}
	value, constant := sides(t)
	_, isText := constant.Value.(string)
	_, isList := constant.Value.([]any)
	switch {
	case !isHole(value) || !constant.Constant:
		return false
	case t.Op.Orders():
		return !isText
	}
	return t.Op.Compares() || isList
}

// sides are the operands of a comparison or of "in", of a comparison a constant as the second.
func sides(t *expression.Node) (value, constant *expression.Node) {
	if value, constant = t.Args[0], t.Args[1]; value.Constant && t.Op.Compares() {
		return constant, value
	}
	return value, constant
}

// add adds a value that the variable may have.
func (x *samples) add(v any) {
	key := v
	if schema.KindOf(v)&(schema.Array|schema.Object) != 0 {
		key = fmt.Sprintf("%#v", v)
	}
	if v != nil && len(x.values) < x.most && !x.known[key] && x.of.domain.Schema.Accepts(v) {
		x.values, x.known[key] = append(x.values, v), true
	}
}

// numbers adds the neighbours of zero, all constants and bounds, and a number between each two.
func (x *samples) numbers() {
	marks := []float64{0}
	for _, v := range x.constants {
		if number, ok := v.(float64); ok {
			marks = append(marks, number)
		}
	}
	marks = slices.DeleteFunc(marks, func(v float64) bool { return math.Abs(v) > 1e15 })
	slices.Sort(marks)
	marks = slices.Compact(marks)
	for i, v := range marks {
		next := v + 2
		if i+1 < len(marks) {
			next = marks[i+1]
		}
		above := min(math.Floor(v)+1, next)
		for _, value := range []float64{v, math.Ceil(v) - 1, above, v - 0.5, v + 0.5, (v + next) / 2} {
			x.add(value)
		}
	}
}

// combined adds values for which a predicate is true or false, if a schema describes them, texts first. It
// adds texts and lists that contain one constant or all; the texts begin or end with one of them.
func (x *samples) combined() {
	for _, a := range x.of.predicates {
		for _, holds := range []bool{true, false} {
			ofSubject := func(ref int) ([]schema.Step, bool) { return nil, a.variables[a.refs[ref]] == x.of }
			if s := Implied(a.term, holds, ofSubject); s != nil {
				x.sample(s, schema.OfKinds(schema.String))
				x.sample(s)
			}
		}
		for n := range a.term.All() {
			if n.Op == expression.OpCall && n.Name == "len" {
				x.lengths()
			}
		}
	}
	var words []string
	for _, v := range x.constants {
		if text, ok := v.(string); ok && !slices.Contains(words, text) {
			words = append(words, text)
		}
	}
	all := strings.Join(words, " ")
	for _, word := range words {
		x.add(word + " " + all)
		x.add(all + " " + word)
	}
	for _, v := range x.constants {
		x.add([]any{v})
		if number, ok := v.(float64); ok {
			x.add([]any{number - 1})
			x.add([]any{number + 1})
		}
	}
	x.add(x.constants)
}

// lengths adds texts and lists about as long as the numbers among the constants.
func (x *samples) lengths() {
	for _, v := range x.constants {
		number, _ := v.(float64)
		for _, n := range []float64{number, math.Floor(number) + 1} {
			if n >= 0 && n <= 100 {
				x.sample(schema.New(object{"type": "array", "minItems": n, "maxItems": n}, schema.Options{}))
				x.sample(schema.New(object{"type": "string", "minLength": n, "maxLength": n}, schema.Options{}))
			}
		}
	}
}

// sample adds a value that the variable may have and that fits some schemas.
func (x *samples) sample(fits ...*schema.Schema) {
	if s := x.of.domain.Schema; s != nil {
		fits = append(fits, s)
	}
	if left := sampleSteps; len(fits) > 0 && x.e.sampled < sampleWork {
		if v, ok := schema.AllOf(fits...).SampleWithin(rand.New(rand.NewPCG(1, 1)), &left); ok {
			x.add(v)
		}
		x.e.sampled += sampleSteps - left
	}
}

// represent reports whether every value of some kinds gives the same results as a sample: all values of
// the kind are listed, or all predicates compare with constants and another value was found.
func (x *samples) represent(kinds schema.Kinds) bool {
	d, compares := x.of.domain, x.exact
	if len(x.values) >= x.most || !d.Sure && (kinds != schema.Anything&^schema.Null || !compares) {
		return false
	}
	marks := d.Schema.Landmarks()
	for _, kind := range []schema.Kinds{schema.Number, schema.String, schema.Array, schema.Object} {
		if kinds&kind == 0 || d.Schema != nil && valuesOf(schema.AllOf(d.Schema, schema.OfKinds(kind))) != nil {
			continue
		}
		isOther := func(v any) bool { // of numbers, those between two constants are all tried
			return schema.KindOf(v)&kind != 0 && (kind == schema.Number ||
				!slices.ContainsFunc(x.constants, func(c any) bool { return schema.Equal(c, v) }))
		}
		if !compares || kind == schema.Number && marks.Step != 0 && marks.Step != 1 ||
			!slices.ContainsFunc(x.values, isOther) {
			return false
		}
	}
	return true
}

// valuesOf are all values that a schema accepts, where it lists them.
func valuesOf(s *schema.Schema) []any {
	values := s.Landmarks().Listed
	if s.Kinds() == schema.Boolean {
		values = []any{true, false}
	}
	values = slices.DeleteFunc(values, func(v any) bool { return !s.Accepts(v) })
	every := make([]*schema.Schema, len(values))
	for i, v := range values {
		every[i] = schema.Const(v)
	}
	limit := schema.Budget{Steps: listSteps}
	if len(every) == 0 || schema.Contains(s, schema.AnyOf(every...), limit).Relation != schema.Fits {
		return nil
	}
	return values
}
