package schema

import (
	"math"
	"math/big"
	"slices"
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

func (g *numberGoal) atLeast(f *float64, open bool) {
	if f != nil && (g.low == nil || *f > *g.low || *f == *g.low && open) {
		g.low, g.lowOpen = f, open
	}
}

func (g *numberGoal) atMost(f *float64, open bool) {
	if f != nil && (g.high == nil || *f < *g.high || *f == *g.high && open) {
		g.high, g.highOpen = f, open
	}
}

// sound reports whether the interval has a number in it.
func (g *numberGoal) sound() bool {
	return g.low == nil || g.high == nil || *g.low < *g.high || *g.low == *g.high && !g.lowOpen && !g.highOpen
}

func (g *numberGoal) accept(r *numberRules) bool {
	for _, b := range r.bounds() {
		b.narrow(g)
	}
	if r.multiple != nil && !slices.Contains(g.multiples, *r.multiple) {
		g.multiples = append(g.multiples, *r.multiple)
	}
	return g.sound()
}

type (
	// A bound is one from below, or from above, and open where the number itself
	// is beyond it; without a number it is none.
	bound struct {
		f           *float64
		open, above bool
	}
	noMultiple float64
	notNumber  float64
)

func (r *numberRules) bounds() [4]bound {
	return [4]bound{{r.min, false, false}, {r.above, true, false}, {r.max, false, true}, {r.below, true, true}}
}

func (g bound) narrow(n *numberGoal) {
	if g.above {
		n.atMost(g.f, g.open)
	} else {
		n.atLeast(g.f, g.open)
	}
}

func (g bound) apply(_ *prover, s *state) bool {
	g.narrow(&s.number)
	return s.number.sound()
}

func (g noMultiple) apply(_ *prover, s *state) bool {
	if slices.Contains(s.number.multiples, float64(g)) {
		return false
	}
	s.number.unlikely = append(s.number.unlikely, float64(g))
	return true
}

func (g notNumber) apply(_ *prover, s *state) bool {
	s.number.not = append(s.number.not, float64(g))
	return true
}

func (r *numberRules) refusals() []goal {
	var options []goal
	for _, b := range r.bounds() {
		if b.f != nil { // what is beyond it
			options = append(options, bound{b.f, !b.open, !b.above})
		}
	}
	if r.multiple != nil {
		options = append(options, noMultiple(*r.multiple))
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
		if !isMultiple(f, m) {
			return false
		}
	}
	for _, m := range g.unlikely {
		if isMultiple(f, m) {
			return false
		}
	}
	return !slices.Contains(g.not, f)
}

// solve finds the simplest such number: near zero, with few digits.
func (g *numberGoal) solve(p *prover, kind Kinds) finding {
	fits := func(f float64) bool { return kindOfFloat(f) == kind && g.fits(f) }
	for _, f := range []float64{0, 1, 0.5, -1} {
		if fits(f) {
			return some(f)
		}
	}
	grid := g.multiples
	if kind == Integer {
		grid = append(slices.Clip(grid), 1)
	}
	if len(grid) > 0 {
		return g.onGrid(p, grid, kind)
	}
	return g.between(p, fits)
}

// between finds a number that needn't be a multiple of anything. Any interval
// of more than one point holds some: as many digits as it takes are tried.
func (g *numberGoal) between(p *prover, fits func(float64) bool) finding {
	if g.low != nil && g.high != nil && *g.low == *g.high {
		if fits(*g.low) {
			return some(*g.low)
		}
		return none()
	}
	start := 0.0
	switch {
	case g.low != nil && (*g.low > 0 || g.high == nil):
		start = *g.low
	case g.high != nil && *g.high < 0:
		start = *g.high
	}
	tries := 4 + len(g.not) + len(g.unlikely)
	for digits := 1; digits <= 17; digits++ {
		scale := math.Pow(10, float64(digits))
		k := math.Trunc(start * scale)
		for i := 0; i <= 2*tries; i++ {
			if !p.spend(1) {
				return unknown("budget")
			}
			d := float64((i + 1) / 2)
			if i%2 == 0 {
				d = -d
			}
			if f := (k + d) / scale; fits(f) {
				return some(f)
			}
		}
	}
	return unknown("multipleOf")
}

// onGrid finds a multiple of all the grids: of their least common multiple.
func (g *numberGoal) onGrid(p *prover, grids []float64, kind Kinds) finding {
	step := rational(grids[0])
	for _, m := range grids[1:] {
		step = commonMultiple(step, rational(m))
	}
	if step.Num().BitLen() > 1024 || step.Denom().BitLen() > 1024 {
		return unknown("multipleOf")
	}
	for _, m := range g.unlikely {
		if new(big.Rat).Quo(step, rational(m)).IsInt() {
			return none() // whatever is on the grid is a multiple of what it mustn't be
		}
	}
	if kind == Fraction && step.IsInt() {
		return none()
	}
	var first, last *big.Int
	if g.low != nil {
		first = ceiling(new(big.Rat).Quo(rational(*g.low), step), g.lowOpen)
	}
	if g.high != nil {
		last = ceiling(new(big.Rat).Neg(new(big.Rat).Quo(rational(*g.high), step)), g.highOpen)
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
	const most = 1_000
	inside := func(x *big.Int) bool {
		return (first == nil || x.Cmp(first) >= 0) && (last == nil || x.Cmp(last) <= 0)
	}
	upOver, downOver := false, false
	for i := int64(0); i < most; i++ {
		if !p.spend(1) {
			return unknown("budget")
		}
		for _, d := range []int64{i, -i} {
			if i == 0 && d < 0 {
				continue
			}
			x := new(big.Int).Add(k, big.NewInt(d))
			if !inside(x) {
				upOver, downOver = upOver || d >= 0, downOver || d < 0
				continue
			}
			value := new(big.Rat).Mul(step, new(big.Rat).SetInt(x))
			f, _ := value.Float64()
			if f-f == 0 && rational(f).Cmp(value) == 0 && kindOfFloat(f) == kind && g.fits(f) {
				return some(f)
			}
		}
		if upOver && downOver {
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
