package schema

import (
	"math/rand/v2"

	"github.com/obelus-dev/obelus/compiler/schema/ast"
	"github.com/obelus-dev/obelus/compiler/schema/sample"
	"github.com/obelus-dev/obelus/compiler/schema/subset"
)

// Sample generates a value that the schema accepts: by its default, const, enum or examples if it has them, realistic
// otherwise. The same state of r gives the same value. False doesn't mean that there is none.
func (s *Schema) Sample(r *rand.Rand) (any, bool) {
	steps := SampleSteps
	return s.SampleWithin(r, &steps)
}

// SampleWithin is Sample with a budget of steps like that of [Contains], from which it subtracts the cost of the value.
func (s *Schema) SampleWithin(r *rand.Rand, steps *int) (any, bool) {
	return s.sampleWithin(r, steps, sample.Usual, nil)
}

// FullWithin is SampleWithin that looks for values with every property that the schema names, and with no null where
// another value is possible. Where it finds none by guessing it takes whatever the prover finds.
func (s *Schema) FullWithin(r *rand.Rand, steps *int) (any, bool) {
	v, ok := s.sampleWithin(r, steps, sample.Full, nil)
	if most := min(*steps, defaultSteps); !ok && most > 0 {
		*steps -= most
		p, accept := subset.NewProver(most), []*ast.Node{s.ready()}
		found := p.Find(accept, nil)
		p.Allow(most)
		v, ok = found.Value, found.Status == subset.Found && p.Confirms(accept, nil, found.Value)
	}
	return v, ok
}

// OddWithin is SampleWithin that looks for unusual values: a null, a zero or a fraction where there may be one, a list
// of several, a target (a number, which is a size too, or a text) or what is as near to it as the schema lets it come.
// With one target most numbers and sizes, or texts, are that.
func (s *Schema) OddWithin(r *rand.Rand, steps *int, targets ...any) (any, bool) {
	return s.sampleWithin(r, steps, sample.Odd, targets)
}

func (s *Schema) sampleWithin(r *rand.Rand, steps *int, of sample.Taste, targets []any) (any, bool) {
	left := *steps * ast.ChecksPerStep
	v, ok := sample.Value(s.ready(), r, &left, of, targets)
	*steps = left / ast.ChecksPerStep
	return v, ok
}

// SampleSteps is the default budget of one value.
const SampleSteps = 10_000
