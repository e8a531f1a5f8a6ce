package analyzer

import (
	"math/rand/v2"

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
	declared := g.pass.flow.AsDeclared(s, external)
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
