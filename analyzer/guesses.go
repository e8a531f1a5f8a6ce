package analyzer

import (
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/schema"
)

// A guesser makes values up with which something may go wrong.
type guesser struct {
	pass     *Pass
	random   *rand.Rand
	literals []any    // constants of the expressions that look at the values
	aims     aims     // numbers and sizes at which something may change
	left     *int     // steps
	meager   bool     // of values there is as little as may be
	lists    bool     // even then their lists have items
	alike    *float64 // the aim of all
}

func (t *trier) guesser() guesser {
	return guesser{pass: t.pass, literals: t.literals, aims: t.aims, left: t.left}
}

// vary is what makes the values of the nth trial up. In one of six there is as little as may
// be, and in two most numbers and sizes are alike: what goes wrong where several values meet,
// as where no item of a list is more than ten, seldom comes of values that are each made up
// for itself.
func (g guesser) vary(n int, random *rand.Rand) guesser {
	g.random, g.meager, g.lists, g.alike = random, n%6 == 4, n%12 == 4, nil
	if at := n%6/2 + n/6*2; (n%6 == 1 || n%6 == 3) && len(g.aims) > 0 {
		g.alike = &g.aims[at%len(g.aims)]
	}
	return g
}

// maxLandmarks bounds how many constants are tried, and how many aims.
const maxLandmarks = 64

// landmarks adds the constants of an expression, and numbers next to them.
func landmarks(all []any, e *expression.Expr) []any {
	add := func(v any) {
		if len(all) < maxLandmarks && !slices.Contains(all, v) {
			all = append(all, v)
		}
	}
	e.Literals(func(v any) {
		switch v := v.(type) {
		case float64:
			add(v)
			add(v - 1)
			add(v + 1)
		case string:
			add(v)
		}
	})
	return all
}

// sample makes up a value that a schema accepts as it is declared, and at times one that
// is remarkable: with an empty list, a zero, a null, a number or a size that is aimed at.
// Of what is brought to the plan nothing is there for sure but what is required.
func (g *guesser) sample(s *schema.Schema, brought bool) (any, bool) {
	declared := g.pass.flowing().asDeclared(s, brought)
	odd := g.random.IntN(2) == 0
	value, ok := affordable(g.left, func(steps *int) (v any, ok bool) {
		switch {
		case g.alike != nil:
			v, ok = declared.AlikeWithin(g.random, steps, *g.alike)
		case odd:
			v, ok = declared.OddWithin(g.random, steps, g.aims...)
		}
		if !ok {
			v, ok = declared.SampleWithin(g.random, steps)
		}
		return v, ok
	})
	if !ok {
		return nil, false
	}
	changes := g.random.IntN(3)
	if g.alike != nil {
		changes = 0
	}
	for range changes {
		if bent := g.bend(value, 0); declared.Accepts(bent) {
			value = bent
		}
	}
	if g.meager {
		tries := 40
		value = emptied(value, declared.Accepts, !g.lists, &tries)
	}
	return value, true
}

// emptied is a value with null for each part of it, no text, zero or an empty list or map, as
// far as it may be so; lists and maps are kept where that is said.
func emptied(v any, may func(any) bool, all bool, tries *int) any {
	instead := func(other any) bool {
		*tries--
		return *tries >= 0 && may(other)
	}
	switch v := v.(type) {
	case map[string]any:
		if all && len(v) > 0 && instead(map[string]any{}) {
			return map[string]any{}
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			with := func(part any) map[string]any {
				out := maps.Clone(v)
				out[name] = part
				return out
			}
			if part := v[name]; part == nil || instead(with(nil)) {
				v = with(nil)
			} else {
				v = with(emptied(part, func(other any) bool { return may(with(other)) }, all, tries))
			}
		}
		return v
	case []any:
		if len(v) == 0 || all && instead([]any{}) {
			return []any{}
		}
		for i := range v {
			with := func(item any) []any {
				out := slices.Clone(v)
				out[i] = item
				return out
			}
			v = with(emptied(v[i], func(other any) bool { return may(with(other)) }, all, tries))
		}
		return v
	case float64:
		if v != 0 && instead(0.0) {
			return 0.0
		}
	case string:
		if v != "" && instead("") {
			return ""
		}
	}
	return v
}

// bend changes a part of a value.
func (g *guesser) bend(v any, depth int) any {
	if g.random.IntN(3+depth) == 0 && depth > 0 && g.random.IntN(3) == 0 {
		return nil
	}
	switch v := v.(type) {
	case map[string]any:
		if len(v) == 0 {
			return v
		}
		names := slices.Sorted(maps.Keys(v))
		out := maps.Clone(v)
		name := names[g.random.IntN(len(names))]
		out[name] = g.bend(v[name], depth+1)
		return out
	case []any:
		switch n := len(v); {
		case n == 0:
			return v
		case g.random.IntN(4) == 0:
			return v[:g.random.IntN(2)]
		default:
			out, at := slices.Clone(v), g.random.IntN(n)
			out[at] = g.bend(v[at], depth+1)
			return out
		}
	case float64:
		return g.other(v, []any{0.0, 0.0, -1.0, v + 0.5, v + 0.5})
	case string:
		return g.other(v, []any{"", "a", " "})
	case bool:
		return !v
	}
	return v
}

// other is another value of the same kind: one of some, or one that the plan's
// expressions name.
func (g *guesser) other(v any, some []any) any {
	if len(g.literals) > 0 && g.random.IntN(2) == 0 {
		if l := g.literals[g.random.IntN(len(g.literals))]; schema.KindOf(l)&^schema.Integer == schema.KindOf(v)&^schema.Integer || schema.KindOf(l)&schema.Number != 0 && schema.KindOf(v)&schema.Number != 0 {
			return l
		}
	}
	return some[g.random.IntN(len(some))]
}

// sample makes a value up within a budget for many.
func (p *Pass) sample(s *schema.Schema, r *rand.Rand, budget *int) (any, bool) {
	return affordable(budget, func(steps *int) (any, bool) { return s.SampleWithin(r, steps) })
}

// affordable makes one value of many up.
func affordable(budget *int, sample func(steps *int) (any, bool)) (any, bool) {
	const most = 2_000 // steps for one value
	steps := max(0, min(most, *budget))
	*budget -= steps
	value, ok := sample(&steps)
	*budget += max(0, steps)
	return value, ok
}
