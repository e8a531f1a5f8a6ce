package flow

import (
	"math"
	"slices"

	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/schema"
)

// Schemas keep what was worked out of schemas. What is asked again gets the very same schema, so that what is known of
// one is worked out once, too, however many calls, of however many plans, pass values of it.
type Schemas struct {
	places   map[place]schema.Place
	literals map[any]*schema.Schema // by value, floats by their bits
	meets    map[[2]*schema.Schema]*schema.Schema
	bare     map[*schema.Schema]*schema.Schema // less null
	declared map[description]*schema.Schema
	verdicts map[[2]*schema.Schema]schema.Verdict
	types    map[description]*expression.Type
	likes    map[*expression.Type]*schema.Schema
	made     map[any]*schema.Schema // of few words: lists, lengths, indexes, what a request can be made of
	Steps    int                    // of reasoning that may still be done
}

// MaxReasoning bounds the reasoning about all values of a plan, in steps of containment: about a second's worth.
const MaxReasoning = 400_000

// NewSchemas begins the table of one plan, or of several that share tools.
func NewSchemas() *Schemas {
	return &Schemas{
		places: map[place]schema.Place{}, literals: map[any]*schema.Schema{},
		meets: map[[2]*schema.Schema]*schema.Schema{}, bare: map[*schema.Schema]*schema.Schema{},
		declared: map[description]*schema.Schema{}, verdicts: map[[2]*schema.Schema]schema.Verdict{},
		types: map[description]*expression.Type{}, likes: map[*expression.Type]*schema.Schema{},
		made: map[any]*schema.Schema{}, Steps: MaxReasoning,
	}
}

// Once works something out the first time that it is asked.
func Once[K comparable, V any](known map[K]V, key K, work func() V) V {
	v, ok := known[key]
	if !ok {
		v = work()
		known[key] = v
	}
	return v
}

// A place is a path in what a schema describes.
type place struct {
	schema *schema.Schema
	step   expression.Segment // the first, which mostly is all
	rest   string
}

func placeIn(s *schema.Schema, path []expression.Segment) place {
	at := place{schema: s, step: path[0]}
	if len(path) > 1 {
		at.rest = expression.Reference{Path: path[1:]}.String()
	}
	return at
}

// At is what a schema says of a path.
func (t *Schemas) At(s *schema.Schema, path []expression.Segment) schema.Place {
	if len(path) == 0 {
		return schema.Place{Schema: s, Possible: true, Named: true, Required: true}
	}
	return Once(t.places, placeIn(s, path), func() schema.Place { return s.At(path) })
}

// A description is a schema, and whether what it describes is external to the plan: then of
// the properties that it names only those are there for sure which it requires.
type description struct {
	schema   *schema.Schema
	external bool
	sample   bool
}

// AsDeclared is a schema as its author means it.
func (t *Schemas) AsDeclared(s *schema.Schema, external bool) *schema.Schema {
	return Once(t.declared, description{s, external, false}, func() *schema.Schema { return s.AsDeclared(external) })
}

// Meet is the schema of what two schemas accept; nil accepts everything.
func (t *Schemas) Meet(a, b *schema.Schema) *schema.Schema {
	switch {
	case a == nil || a == b:
		return b
	case b == nil:
		return a
	}
	return Once(t.meets, [2]*schema.Schema{a, b}, func() *schema.Schema { return schema.AllOf(a, b) })
}

// NotNull is a schema less null.
func (t *Schemas) NotNull(s *schema.Schema) *schema.Schema {
	if s == nil || s.Kinds()&schema.Null == 0 {
		return s
	}
	return Once(t.bare, s, func() *schema.Schema { return schema.AllOf(s, notNull) })
}

var notNull = schema.OfKinds(schema.Anything &^ schema.Null)

// literal is the schema of a value that an expression gives word for word.
func (t *Schemas) literal(value any) *schema.Schema {
	key := value
	switch v := value.(type) {
	case float64:
		key = math.Float64bits(v) // which tells -0 from 0
	case []any, map[string]any:
		return schema.Const(value)
	}
	return Once(t.literals, key, func() *schema.Schema { return schema.Const(value) })
}

// TypeOf is the type of what a schema accepts. It mustn't be changed.
func (t *Schemas) TypeOf(s *schema.Schema, external bool) *expression.Type {
	return Once(t.types, description{s, external, false},
		func() *expression.Type { return typeOfSchema(s, external, (*schema.Schema).Closed, typeDepth) })
}

// Likeness is the schema of what a type describes; nil where it says nothing.
func (t *Schemas) Likeness(of *expression.Type) *schema.Schema {
	if of == nil {
		return nil
	}
	return Once(t.likes, of, func() *schema.Schema { return schemaOfType(of, typeDepth) })
}

// typeOfAll is the type of a value that is one of some variants.
func (t *Schemas) typeOfAll(variants []Variant) *expression.Type {
	all := make([]*expression.Type, 0, 2)
	for i := range variants {
		v := &variants[i]
		switch {
		case v.Schema == nil:
			return nil
		case v.Sample:
			all = append(all, Once(t.types, description{v.Schema, v.External, true}, func() *expression.Type {
				return typeOfValue(v.example(), typeDepth)
			}))
		default:
			all = append(all, t.TypeOf(v.Schema, v.External))
		}
	}
	if len(all) == 0 {
		return nil
	}
	return joined(all)
}

// example is the value of a sample.
func (v *Variant) example() any { return v.Schema.Raw().(map[string]any)["enum"].([]any)[0] }

// ofLengths is the schema of all values but lists of other lengths.
func (t *Schemas) ofLengths(least, most int) *schema.Schema {
	return Once[any](t.made, [2]int{least, most}, func() *schema.Schema {
		raw := map[string]any{"minItems": float64(least)}
		if most >= 0 && most < expression.AnyLength {
			raw["maxItems"] = float64(most)
		}
		return schema.New(raw, schema.Options{})
	})
}

// Contains asks for a containment once a pair. Past the plan's budget the answer is unknown.
func (t *Schemas) Contains(producer, consumer *schema.Schema) schema.Verdict {
	key := [2]*schema.Schema{producer, consumer}
	v, ok := t.verdicts[key]
	if ok {
		return v
	}
	const least = 200 // what the rest of an answer costs
	if t.Steps < least {
		return schema.Verdict{Keyword: "budget"}
	}
	v = schema.Contains(producer, consumer, schema.Budget{})
	t.Steps -= v.Steps + least
	t.verdicts[key] = v
	return v
}

// Fits compares a producer's schema with a consumer's. A refused value counts only if the schema
// describes it: not for an optional property that it names, except in external values, and not for
// undescribed parts.
func (t *Schemas) Fits(producer, consumer *schema.Schema, external bool) schema.Verdict {
	v := t.Contains(producer, consumer)
	if v.Relation != schema.MayNotFit {
		return v
	}
	if declared := t.AsDeclared(producer, external); declared != producer {
		if v = t.Contains(declared, consumer); v.Relation == schema.Never {
			v.Relation = schema.MayNotFit
		}
	}
	if v.Relation == schema.MayNotFit && IsUndescribed(producer, consumer, v.Witness) {
		return schema.Verdict{} // the producer says nothing of it
	}
	return v
}

// IsUndescribed reports whether a value is refused because of a part that the producer doesn't
// describe.
func IsUndescribed(producer, consumer *schema.Schema, witness any) bool {
	why := consumer.Validate(witness)
	if why == nil {
		return false
	}
	at := producer.At(why.Path)
	if at.Schema == nil || at.Schema.Kinds() == schema.Anything {
		return true
	}
	part, _ := pathtree.Walk(witness, why.Path)
	object, is := part.(map[string]any)
	if why.Keyword != "required" || !is || len(at.Schema.Properties()) > 0 {
		return false
	}
	for _, name := range consumer.At(why.Path).Schema.Properties() { // of a map it says what is under any name
		of := at.Schema.Part(name)
		if object[name] == nil && of.Named && of.Schema.Kinds() != schema.Anything {
			return false
		}
	}
	return true
}

// lessImpossible drops variants without possible values, from an index on.
func (t *Schemas) lessImpossible(variants []Variant, from int) []Variant {
	return append(variants[:from], slices.DeleteFunc(variants[from:], func(v Variant) bool {
		return v.Schema != nil && t.Contains(v.Schema, schema.AnyOf()).Relation == schema.Fits
	})...)
}

// lessNull leaves of the variants from an index on what counts as there: null doesn't.
func (t *Schemas) lessNull(variants []Variant, from int) []Variant {
	there := variants[:from]
	for _, v := range variants[from:] {
		if v.Schema = t.NotNull(v.Schema); v.Schema == nil || v.Schema.Kinds() != 0 {
			there = append(there, v)
		}
	}
	return there
}
