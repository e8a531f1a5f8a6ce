package schema

import (
	"math/rand/v2"
	"testing"

	"github.com/obelus-dev/obelus/testdata/amount"
)

// A closeGenerator makes schemas of the keywords that speak of what isn't named:
// patterns of names, counts, what nothing else has evaluated, some item. There
// are so few names, items and scalars that everything meets, and that the values
// over them can be gone through.
type closeGenerator struct{ *generator }

var (
	closeNames    = []string{"a", "b", "ab"}
	closePatterns = []string{"^a", "b$", "^.$", "^[ab]*$", "^(ab|ba)$", "c"}
)

func (g closeGenerator) scalar() any {
	return pick[any](g.generator, map[string]any{"type": "string"}, map[string]any{"type": "integer"}, map[string]any{"const": 1.0}, map[string]any{"enum": []any{1.0, "a"}},
		map[string]any{"type": "null"}, map[string]any{"not": map[string]any{"const": "a"}}, false, true, map[string]any{"type": []any{"string", "null"}})
}

// names is a schema of names.
func (g closeGenerator) names() any {
	return pick[any](g.generator, map[string]any{"pattern": pick(g.generator, closePatterns...)}, map[string]any{"enum": []any{"a", "b"}}, map[string]any{"maxLength": 1.0},
		map[string]any{"minLength": 2.0}, map[string]any{"not": map[string]any{"pattern": pick(g.generator, closePatterns...)}}, map[string]any{"const": "ab"})
}

func (g closeGenerator) object(depth int) any {
	m := map[string]any{"type": "object"}
	inner := func() any {
		if depth > 0 && g.r.IntN(6) == 0 {
			return g.schema(depth - 1)
		}
		return g.scalar()
	}
	for range 1 + g.r.IntN(3) {
		switch g.r.IntN(11) {
		case 0, 1:
			patterns, _ := m["patternProperties"].(map[string]any)
			if patterns == nil {
				patterns = map[string]any{}
			}
			patterns[pick(g.generator, closePatterns...)] = inner()
			m["patternProperties"] = patterns
		case 2:
			m["maxProperties"] = float64(g.r.IntN(3))
		case 3:
			m["minProperties"] = float64(g.r.IntN(3))
		case 4:
			m["propertyNames"] = g.names()
		case 5:
			m["additionalProperties"] = inner()
		case 6:
			m["unevaluatedProperties"] = inner()
		case 7:
			m["required"] = []any{pick(g.generator, closeNames...)}
		case 8:
			m["properties"] = map[string]any{pick(g.generator, closeNames...): inner()}
		case 9:
			m["dependentRequired"] = map[string]any{pick(g.generator, closeNames...): []any{pick(g.generator, closeNames...)}}
		case 10:
			m["dependentSchemas"] = map[string]any{pick(g.generator, closeNames...): g.schema(depth - 1)}
		}
	}
	return m
}

func (g closeGenerator) array(depth int) any {
	m := map[string]any{"type": "array"}
	inner := func() any {
		if depth > 0 && g.r.IntN(6) == 0 {
			return g.schema(depth - 1)
		}
		return g.scalar()
	}
	for range 1 + g.r.IntN(3) {
		switch g.r.IntN(8) {
		case 0:
			m["contains"] = inner()
		case 1:
			m["contains"], m["minContains"] = inner(), float64(g.r.IntN(3))
		case 2:
			m["contains"], m["maxContains"] = inner(), float64(g.r.IntN(3))
		case 3:
			m["uniqueItems"] = true
		case 4:
			m["prefixItems"] = []any{inner(), inner()}[:1+g.r.IntN(2)]
		case 5:
			m["items"] = inner()
		case 6:
			m["unevaluatedItems"] = inner()
		case 7:
			m[pick(g.generator, "minItems", "maxItems")] = float64(g.r.IntN(4))
		}
	}
	return m
}

func (g closeGenerator) schema(depth int) any {
	if depth > 0 && g.r.IntN(3) == 0 {
		list := []any{g.schema(depth - 1), g.schema(depth - 1)}
		if g.r.IntN(4) == 0 {
			list = append(list, g.schema(depth-1))
		}
		switch g.r.IntN(8) {
		case 0:
			return map[string]any{"not": list[0]}
		case 1:
			return map[string]any{"if": list[0], "then": list[1], "else": list[len(list)-1]}
		case 2, 3:
			return map[string]any{"allOf": list, pick(g.generator, "unevaluatedProperties", "unevaluatedItems"): g.r.IntN(2) == 0}
		case 4:
			return map[string]any{"oneOf": list}
		}
		return map[string]any{"anyOf": list}
	}
	if g.objects() {
		return g.object(depth)
	}
	return g.array(depth)
}

// crowded is a pair in which one value has to refuse several schemas at once, with
// little room to do so.
func (g closeGenerator) crowded() (from, to any) {
	var refused []any
	for range 2 + g.r.IntN(2) {
		if g.objects() {
			refused = append(refused, map[string]any{"patternProperties": map[string]any{pick(g.generator, closePatterns...): g.scalar()}})
		} else {
			refused = append(refused, map[string]any{pick(g.generator, "items", "contains"): g.scalar()})
		}
	}
	limit := map[string]any{"type": "object", "maxProperties": float64(1 + g.r.IntN(2)), pick(g.generator, "propertyNames", "x"): g.names()}
	if !g.objects() {
		limit = map[string]any{"type": "array", "maxItems": float64(1 + g.r.IntN(3)), "uniqueItems": g.r.IntN(2) == 0}
	}
	return limit, map[string]any{"anyOf": refused}
}

// objects reports whether this pair is about objects: pairs about two kinds would
// seldom meet.
func (g closeGenerator) objects() bool { return !g.exact }

// closeValues are the objects of up to two properties, and the arrays of up to
// three items, over few names and scalars.
func closeValues() (objects, arrays []any) {
	scalars := []any{"a", "b", 1.0, nil}
	names := []string{"a", "b", "ab", "ba", "c", "", "cb", "ac", "aa"}
	objects, arrays = []any{map[string]any{}}, []any{[]any{}}
	for i, x := range names {
		for _, v := range scalars {
			objects = append(objects, map[string]any{x: v})
			for _, y := range names[i+1:] {
				for _, w := range scalars {
					objects = append(objects, map[string]any{x: v, y: w})
				}
			}
		}
	}
	for _, x := range scalars {
		arrays = append(arrays, []any{x})
		for _, y := range scalars {
			arrays = append(arrays, []any{x, y})
			for _, z := range scalars {
				arrays = append(arrays, []any{x, y, z})
			}
		}
	}
	return objects, arrays
}

// LANGUAGE.md#findings: OB505: what fits is refuted by no value of a world so small that it can be
// gone through, and what never fits by none that both accept, by the judgement of
// the ordinary validator. -long tries far more pairs.
func TestVerdictsAreTrueOfFewNames(t *testing.T) {
	seed := chooseSeed(t)
	counts, unknowns := map[Relation]int{}, map[string]int{}
	objects, arrays := closeValues()
	for i := range uint64(amount.Of(800, 2000, 100_000)) {
		g := closeGenerator{&generator{r: rand.New(rand.NewPCG(seed, i)), draft: draft2020, exact: i%3 == 2}}
		from, to := g.schema(1), g.schema(2)
		if i%4 == 0 {
			from, to = g.crowded()
		}
		a, b := New(from, Options{}), New(to, Options{})
		if a.Compile() != nil || b.Compile() != nil {
			t.Fatalf("seed %d case %d: %s %s", seed, i, all(from), all(to))
		}
		v := Contains(a, b, Budget{})
		counts[v.Relation]++
		fail := func(value any) {
			t.Errorf("seed %d case %d: %v (witness %v, alarm %v, reason %s)\n%s\n%s\n%v", seed, i, v.Relation, short(v.Witness), v.Alarm, v.Keyword, all(from), all(to), all(value))
		}
		if v.Alarm {
			fail(nil)
		}
		if v.Relation == Unknown {
			unknowns[v.Keyword]++
		}
		if v.Relation != Fits && v.Relation != Never {
			continue
		}
		producer, _ := a.Ordinary()
		consumer, _ := b.Ordinary()
		values := objects
		if !g.objects() {
			values = arrays
		}
		for _, x := range values {
			// Ours sorts out what is worth asking the slower one about.
			if a.Accepts(x) && b.Accepts(x) == (v.Relation == Never) {
				if producer.Validate(x) == nil && (consumer.Validate(x) == nil) == (v.Relation == Never) {
					fail(x)
					break
				}
			}
		}
	}
	t.Logf("seed %d: %v, unknown for %v", seed, counts, unknowns)
	if counts[Fits] < 60 || counts[Never] < 60 || counts[MayNotFit] < 60 {
		t.Errorf("too few of a kind: %v", counts)
	}
}
