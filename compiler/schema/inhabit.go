package schema

import (
	"math"
	"slices"
)

// Inhabit looks for a value that some schemas accept and none of others does. It is
// found where a value comes back with true; there is none where it comes back as not
// found and known; else it couldn't be told within the budget.
func Inhabit(accept, refuse []*Schema, b Budget) (value any, ok, known bool) {
	if b.Steps == 0 {
		b.Steps = defaultSteps
	}
	p := newProver(b.Steps)
	var literals []literal
	for deny, list := range [][]*Schema{accept, refuse} {
		for _, s := range list {
			if s.Compile() != nil {
				return nil, false, false
			}
			literals = append(literals, literal{s.ready(), deny == 1})
		}
	}
	f := p.inhabit(literals)
	if f.status != found {
		return nil, false, f.status == empty
	}
	p.allow(b.Steps)
	right := func(v any) bool {
		for _, l := range literals {
			if p.accepts(l.node, v) == l.deny {
				return false
			}
		}
		return !p.out
	}
	if !right(f.value) {
		return nil, false, false
	}
	return f.value, true, true
}

// Landmarks are where what a schema says of a value changes.
type Landmarks struct {
	Numbers []float64 // bounds of numbers, and numbers that it lists
	Step    float64   // what it wants numbers to be a multiple of; 0 for nothing
	Lengths []int     // bounds of how many characters, items or properties there are
	Listed  []any     // the values that it lists

	Patterns []string // what it wants texts to match
}

// Landmarks are those of the schema and of the parts that it applies to the same value.
func (s *Schema) Landmarks() Landmarks { return s.landmarks((*node).inPlace) }

// landmarks are those of the schema and of the parts that a function visits.
func (s *Schema) landmarks(parts func(n *node, visit func(*node))) Landmarks {
	var all Landmarks
	seen := map[*node]bool{}
	var visit func(n *node)
	visit = func(n *node) {
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
	marks := s.landmarks(func(n *node, visit func(*node)) {
		n.inPlace(visit)
		n.below(visit)
	})
	for _, length := range marks.Lengths {
		if length > 0 {
			marks.Numbers = append(marks.Numbers, float64(length))
		}
	}
	slices.Sort(marks.Numbers)
	return slices.Compact(slices.DeleteFunc(marks.Numbers, func(v float64) bool { return math.Abs(v) >= maxCount }))
}

// maxLandmarks bounds how many parts of a schema are looked at for landmarks.
const maxLandmarks = 200

func (l *Landmarks) of(n *node) {
	for _, v := range n.values {
		l.Listed = append(l.Listed, v)
		if f, ok := number(v); ok {
			l.Numbers = append(l.Numbers, f)
		}
	}
	if r := n.numbers; r != nil {
		for _, bound := range []*float64{r.min, r.max, r.above, r.below} {
			if bound != nil {
				l.Numbers = append(l.Numbers, *bound)
			}
		}
		if r.multiple != nil {
			l.Step = max(l.Step, *r.multiple)
		}
	}
	if n.strings != nil {
		l.Lengths = append(l.Lengths, n.strings.min, n.strings.max)
		if n.strings.pattern != nil {
			l.Patterns = append(l.Patterns, n.strings.pattern.Source)
		}
	}
	if n.arrays != nil {
		l.Lengths = append(l.Lengths, n.arrays.min, n.arrays.max)
	}
	if n.objects != nil {
		l.Lengths = append(l.Lengths, n.objects.min, n.objects.max)
	}
}

// Empty reports whether no value fits a schema, if that can be proven in so many steps. It takes the steps that it
// needs off those that are left.
func Empty(s *Schema, steps int, left *int) bool {
	if s.Compile() != nil || *left <= 0 {
		return false
	}
	p := newProver(min(steps, *left))
	f := p.inhabit([]literal{{s.ready(), false}})
	*left -= p.steps + 1
	return f.status == empty
}
