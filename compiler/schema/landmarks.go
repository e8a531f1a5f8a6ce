package schema

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/obelus-dev/obelus/compiler/schema/ast"
	"github.com/obelus-dev/obelus/compiler/schema/sample"
	"github.com/obelus-dev/obelus/compiler/schema/subset"
)

// Landmarks are where what a schema says of a value changes.
type Landmarks struct {
	Numbers []float64 // bounds of numbers, and numbers that it lists
	Step    float64   // what it wants numbers to be a multiple of; 0 for nothing
	Lengths []int     // bounds of how many characters, items or properties there are
	Listed  []any     // the values that it lists

	Patterns []string // what it wants texts to match
}

// Landmarks are those of the schema and of the parts that it applies to the same value.
func (s *Schema) Landmarks() Landmarks { return s.landmarks((*ast.Node).InPlace) }

// landmarks are those of the schema and of the parts that a function visits.
func (s *Schema) landmarks(parts func(n *ast.Node, visit func(*ast.Node))) Landmarks {
	var all Landmarks
	seen := map[*ast.Node]bool{}
	var visit func(n *ast.Node)
	visit = func(n *ast.Node) {
		if n == nil || seen[n] || len(seen) > maxLandmarks {
			return
		}
		seen[n] = true
		all.of(n)
		parts(n, visit)
	}
	visit(s.ready())
	return all
}

// Bounds are where a schema bounds a number or a size, in whatever it says of a value and
// of its parts.
func (s *Schema) Bounds() []float64 {
	marks := s.landmarks(func(n *ast.Node, visit func(*ast.Node)) {
		n.InPlace(visit)
		n.Below(visit)
	})
	for _, length := range marks.Lengths {
		if length > 0 {
			marks.Numbers = append(marks.Numbers, float64(length))
		}
	}
	slices.Sort(marks.Numbers)
	return slices.Compact(slices.DeleteFunc(marks.Numbers, func(v float64) bool { return math.Abs(v) >= ast.MaxCount }))
}

// maxLandmarks bounds how many parts of a schema are looked at for landmarks.
const maxLandmarks = 200

func (l *Landmarks) of(n *ast.Node) {
	for _, v := range n.Values {
		l.Listed = append(l.Listed, v)
		if f, ok := ast.Float(v); ok {
			l.Numbers = append(l.Numbers, f)
		}
	}
	if r := n.Numbers; r != nil {
		for _, bound := range []*float64{r.Min, r.Max, r.Above, r.Below} {
			if bound != nil {
				l.Numbers = append(l.Numbers, *bound)
			}
		}
		if r.Multiple != nil {
			l.Step = max(l.Step, *r.Multiple)
		}
	}
	if n.Strings != nil {
		l.Lengths = append(l.Lengths, n.Strings.Min, n.Strings.Max)
		if n.Strings.Pattern != nil {
			l.Patterns = append(l.Patterns, n.Strings.Pattern.Source)
		}
	}
	if n.Arrays != nil {
		l.Lengths = append(l.Lengths, n.Arrays.Min, n.Arrays.Max)
	}
	if n.Objects != nil {
		l.Lengths = append(l.Lengths, n.Objects.Min, n.Objects.Max)
	}
}

// Lengths are how many items the lists among the values that the schema accepts may have, at least and at most, by its
// keywords; most is -1 where they don't bound it.
func (s *Schema) Lengths() (least, most int) {
	z := lengths(s.ready(), maxShape)
	if z.Max == ast.MaxCount {
		return z.Min, -1
	}
	return z.Min, max(z.Min, z.Max)
}

func lengths(n *ast.Node, depth int) ast.Size {
	z := ast.AnySize
	if depth == 0 || n.Verdict != ast.Depends {
		return z
	}
	if a := n.Arrays; a != nil {
		z.Narrow(a.Size)
		if a.Rest != nil && a.Rest.Verdict == ast.Never {
			z.Narrow(ast.Size{Min: 0, Max: len(a.Prefix)})
		}
	}
	if n.Values != nil {
		hull := ast.Size{Min: ast.MaxCount}
		for _, v := range n.Values {
			if list, ok := v.([]any); ok {
				hull = wider(hull, ast.Size{Min: len(list), Max: len(list)})
			}
		}
		if hull.Min <= hull.Max {
			z.Narrow(hull)
		}
	}
	narrower := func(a, b ast.Size) ast.Size { a.Narrow(b); return a }
	return ast.Combined(n, z, narrower, wider, func(x *ast.Node) (ast.Size, bool) {
		return lengths(x, depth-1), x.Possible()&Array != 0
	})
}

func wider(a, b ast.Size) ast.Size { return ast.Size{Min: min(a.Min, b.Min), Max: max(a.Max, b.Max)} }

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
