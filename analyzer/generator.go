package analyzer

import (
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/obelus-dev/obelus/analyzer/internal/analysis"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/runtime/state"

	"github.com/obelus-dev/obelus/compiler/schema"
)

// A generator makes values for sample runs.
type generator struct {
	pass       *Pass
	random     *rand.Rand
	boundaries boundaryValues // numbers and sizes at which something may change
	left       *int           // steps
	alike      any            // the aim of all
}

// vary prepares the generator for the nth sample run. In two of six runs most numbers and sizes are
// equal, which independent values rarely are.
func (g generator) vary(n int, random *rand.Rand) generator {
	g.random, g.alike = random, nil
	if at := n%6/2 + n/6*2; (n%6 == 1 || n%6 == 3) && len(g.boundaries) > 0 {
		g.alike = g.boundaries[at%len(g.boundaries)]
	}
	return g
}

// maxLandmarks limits the boundary values.
const maxLandmarks = 64

// sample makes up a value that a schema accepts as it is declared, and at times one that
// is remarkable: with an empty list, a zero, a null, a number or a size that is aimed at.
// Of what is brought to the plan nothing is there for sure but what is required.
func (g *generator) sample(s *schema.Schema, external bool) (any, bool) {
	declared := g.pass.Flow.AsDeclared(s, external)
	odd := g.random.IntN(2) == 0
	value, ok := affordable(g.left, func(steps *int) (v any, ok bool) {
		switch {
		case g.alike != nil:
			v, ok = declared.AlikeWithin(g.random, steps, g.alike)
		case odd:
			v, ok = declared.OddWithin(g.random, steps, g.boundaries...)
		}
		if !ok {
			v, ok = declared.SampleWithin(g.random, steps)
		}
		return v, ok
	})
	if !ok {
		return nil, false
	}
	return value, true
}

// sample makes a value up within a budget for many.
func sample(p *Pass, s *schema.Schema, r *rand.Rand, budget *int) (any, bool) {
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

// Sample runs begin with generated input and state. Generated numbers and sizes are near the bounds of
// the schemas and conditions that receive them.

// boundaryValues are numbers, sizes and texts at which a schema or condition may change its answer.
type boundaryValues []any

// atBounds adds those of a schema, and what lies next to them and beyond.
func (a *boundaryValues) atBounds(s *schema.Schema) {
	for _, bound := range s.Bounds() {
		a.add(bound+1, bound, bound-1, 2*bound+2)
	}
}

// atConstants adds the texts of an expression, its numbers and their neighbours, and a count that isn't accepted.
func (a *boundaryValues) atConstants(e *expression.Expr) {
	for n := range e.Root().All() {
		if n.Name == "repeat" || n.Name == "take" {
			a.add(-1.0)
		}
		switch v := n.Value.(type) {
		case float64:
			a.add(v, v-1, v+1)
		case string:
			a.add(v)
		}
	}
}

func (a *boundaryValues) add(all ...any) {
	for _, v := range all {
		if len(*a) < maxLandmarks && !slices.Contains(*a, v) {
			*a = append(*a, v)
		}
	}
}

// findBoundaries collects the bounds of the schemas that receive values.
func (t *sampler) findBoundaries(output bool) {
	p := t.pass
	seen := map[*schema.Schema]bool{nil: true}
	take := func(s *schema.Schema) {
		if !seen[s] && len(t.boundaries) < maxLandmarks {
			seen[s] = true
			t.boundaries.atBounds(s)
		}
	}
	if output {
		take(p.Plan.OutputSchema)
	}
	for _, i := range t.calls {
		call := p.Plan.Calls[i]
		if !t.asked[i] {
			continue
		}
		for _, f := range call.Params.Fields {
			if f.Value.Live() {
				for _, taker := range analysis.Takers(p, call) {
					take(taker.Place(f.Key).Schema)
				}
			}
		}
		for _, path := range call.Paths() {
			take(p.Flow.StateAt(path.ID).Schema)
		}
	}
}

// findInitialState collects the keys of the state that calls read and no call writes.
func (t *sampler) findInitialState() {
	t.initial = map[string]bool{}
	for i := range t.pass.Plan.Reads {
		path := t.pass.Plan.Paths.Segments(t.pass.Plan.Reads[i].Path)
		if len(path) < 2 || path[0].Key != "state" || t.pass.Plan.StateSchema == nil || t.depth > 0 {
			continue
		}
		if id, ok := analysis.Lookup(t.pass, path[:2]); ok && len(t.pass.Plan.Writers(id)) == 0 {
			t.initial[path[1].Key] = true
		}
	}
}

// begin lays values that a schema accepts, of some keys or of all, over what the document
// gives, as a run does: at times, and always where it doesn't begin with the latter alone. It
// reports whether there was room to make them; otherwise the schema may refuse what is there.
func (w *trial) begin(own any, s *schema.Schema, keys map[string]bool) (value any, ok bool) {
	if s == nil || own != nil && w.random.IntN(2) != 0 && s.Accepts(own) {
		return orEmpty(own), true
	}
	v, ok := w.generator.sample(s, true)
	if !ok {
		return orEmpty(own), false
	}
	over, isObject := v.(map[string]any)
	if !isObject {
		return v, true
	}
	over = maps.Clone(over)
	maps.DeleteFunc(over, func(key string, _ any) bool { return keys != nil && !keys[key] })
	return state.Over(own, over), true
}
