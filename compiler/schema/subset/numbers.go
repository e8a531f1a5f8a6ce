package subset

import (
	"math"
	"math/big"
	"slices"

	"github.com/obelus-dev/obelus/compiler/schema/ast"
)

// A numberGoal is what is asked of a number: an interval, what it is a multiple
// of, what it isn't, and single numbers that it isn't.
type numberGoal struct {
	low, high           *float64
	lowOpen, highOpen   bool
	multiples, unlikely []float64 // unlikely: numbers that it is no multiple of
	not                 []float64
}

func (g *numberGoal) clip() {
	g.multiples, g.unlikely, g.not = slices.Clip(g.multiples), slices.Clip(g.unlikely), slices.Clip(g.not)
}

// sound reports whether the interval has a number in it.
func (g *numberGoal) sound() bool {
	return g.low == nil || g.high == nil || *g.low < *g.high || *g.low == *g.high && !g.lowOpen && !g.highOpen
}

func (g *numberGoal) accept(r *ast.NumberRules) bool {
	for _, b := range boundsOf(r) {
		g.narrow(b)
	}
	if r.Multiple != nil && !slices.Contains(g.multiples, *r.Multiple) {
		g.multiples = append(g.multiples, *r.Multiple)
	}
	return g.sound()
}

// A bound is one from below, or from above, and open where the number itself is beyond it; without a number it is none.
type bound struct {
	f           *float64
	open, above bool
}

func boundsOf(r *ast.NumberRules) [4]bound {
	return [4]bound{{r.Min, false, false}, {r.Above, true, false}, {r.Max, false, true}, {r.Below, true, true}}
}

func (g *numberGoal) narrow(b bound) {
	switch {
	case b.f == nil:
	case b.above && (g.high == nil || *b.f < *g.high || *b.f == *g.high && b.open):
		g.high, g.highOpen = b.f, b.open
	case !b.above && (g.low == nil || *b.f > *g.low || *b.f == *g.low && b.open):
		g.low, g.lowOpen = b.f, b.open
	}
}

func numberRefusals(r *ast.NumberRules) []goal {
	var options []goal
	for _, b := range boundsOf(r) {
		if b.f != nil { // what is beyond it
			options = append(options, demand(func(s *state) bool {
				s.number.narrow(bound{b.f, !b.open, !b.above})
				return s.number.sound()
			}))
		}
	}
	if of := r.Multiple; of != nil {
		options = append(options, demand(func(s *state) bool {
			s.number.unlikely = append(s.number.unlikely, *of)
			return !slices.Contains(s.number.multiples, *of)
		}))
	}
	return options
}

// fits reports whether a number is as asked, apart from its kind.
func (g *numberGoal) fits(f float64) bool {
	if g.low != nil && (f < *g.low || f == *g.low && g.lowOpen) || g.high != nil &&
		(f > *g.high || f == *g.high && g.highOpen) {
		return false
	}
	for _, m := range g.multiples {
		if !ast.IsMultiple(f, m) {
			return false
		}
	}
	for _, m := range g.unlikely {
		if ast.IsMultiple(f, m) {
			return false
		}
	}
	return !slices.Contains(g.not, f)
}

// solve finds the simplest such number: near zero, with few digits.
func (g *numberGoal) solve(p *Prover, kind ast.Kinds) finding {
	fits := func(f float64) bool { return ast.KindOfFloat(f) == kind && g.fits(f) }
	for _, f := range []float64{0, 1, 0.5, -1} {
		if fits(f) {
			return some(f)
		}
	}
	grid := g.multiples
	if kind == ast.Integer {
		grid = append(slices.Clip(grid), 1)
	}
	switch {
	case len(grid) > 0:
		return g.onGrid(p, grid, kind)
	case g.low != nil && g.high != nil && *g.low == *g.high:
		if fits(*g.low) {
			return some(*g.low)
		}
		return none()
	}
	for digits := -1; digits >= -17; digits-- { // any other interval holds some: of as many digits as it takes
		if f := g.onGrid(p, []float64{math.Pow10(digits)}, kind); f.Status != Empty {
			return f
		}
	}
	return unknown("multipleOf")
}

// onGrid finds a multiple of all the grids: of their least common multiple.
func (g *numberGoal) onGrid(p *Prover, grids []float64, kind ast.Kinds) finding {
	step := ast.Rational(grids[0])
	for _, m := range grids[1:] {
		step = commonMultiple(step, ast.Rational(m))
	}
	if step.Num().BitLen() > 1024 || step.Denom().BitLen() > 1024 {
		return unknown("multipleOf")
	}
	for _, m := range g.unlikely {
		if new(big.Rat).Quo(step, ast.Rational(m)).IsInt() {
			return none() // whatever is on the grid is a multiple of what it mustn't be
		}
	}
	if kind == ast.Fraction && step.IsInt() {
		return none()
	}
	var first, last *big.Int
	if g.low != nil {
		first = ceiling(new(big.Rat).Quo(ast.Rational(*g.low), step), g.lowOpen)
	}
	if g.high != nil {
		last = ceiling(new(big.Rat).Neg(new(big.Rat).Quo(ast.Rational(*g.high), step)), g.highOpen)
		last.Neg(last)
	}
	if first != nil && last != nil && first.Cmp(last) > 0 {
		return none()
	}
	// Go outwards from the point of the grid that is nearest to zero.
	k := new(big.Int)
	if first != nil && first.Sign() > 0 {
		k.Set(first)
	}
	if last != nil && last.Sign() < 0 {
		k.Set(last)
	}
	inside := func(x *big.Int) bool {
		return (first == nil || x.Cmp(first) >= 0) && (last == nil || x.Cmp(last) <= 0)
	}
	for i := range int64(1_000) {
		if !p.spend(1) {
			return unknown("budget")
		}
		up, down := new(big.Int).Add(k, big.NewInt(i)), new(big.Int).Sub(k, big.NewInt(i))
		for _, x := range []*big.Int{up, down} {
			value := new(big.Rat).Mul(step, new(big.Rat).SetInt(x))
			f, _ := value.Float64()
			if inside(x) && f-f == 0 && ast.Rational(f).Cmp(value) == 0 && ast.KindOfFloat(f) == kind && g.fits(f) {
				return some(f)
			}
		}
		if !inside(up) && !inside(down) {
			return none() // what float64 can't hold is no number here
		}
	}
	return unknown("multipleOf")
}

// commonMultiple is the least common multiple of two positive rationals.
func commonMultiple(a, b *big.Rat) *big.Rat {
	num := new(big.Int).Mul(a.Num(), b.Num())
	num.Quo(num, new(big.Int).GCD(nil, nil, a.Num(), b.Num()))
	den := new(big.Int).GCD(nil, nil, a.Denom(), b.Denom())
	return new(big.Rat).SetFrac(num, den)
}

// ceiling is the least integer that is not below r, or above r when open.
func ceiling(r *big.Rat, open bool) *big.Int {
	q, m := new(big.Int).DivMod(r.Num(), r.Denom(), new(big.Int))
	if m.Sign() > 0 || open {
		q.Add(q, big.NewInt(1))
	}
	return q
}
