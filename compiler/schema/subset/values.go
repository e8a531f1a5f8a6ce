package subset

import (
	"cmp"
	"math"
	"math/big"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/obelus-dev/obelus/compiler/schema/ast"
)

// A bound of a number is open where the number itself is beyond it; without a number it is none.
type bound struct {
	f    *float64
	open bool
}

func (b *branch) acceptNumber(r *ast.NumberRules) bool {
	for _, x := range []bound{{r.Min, false}, {r.Above, true}} {
		if x.f != nil && (b.low.f == nil || *x.f > *b.low.f || *x.f == *b.low.f && x.open) {
			b.low = x
		}
	}
	for _, x := range []bound{{r.Max, false}, {r.Below, true}} {
		if x.f != nil && (b.high.f == nil || *x.f < *b.high.f || *x.f == *b.high.f && x.open) {
			b.high = x
		}
	}
	return b.low.f == nil || b.high.f == nil || *b.low.f < *b.high.f ||
		*b.low.f == *b.high.f && !b.low.open && !b.high.open
}

func (p *Prover) numberRefusals(r *ast.NumberRules) (ways []way) {
	beyond := []ast.NumberRules{{Below: r.Min}, {Max: r.Above}, {Above: r.Max}, {Min: r.Below}}
	for i, f := range []*float64{r.Min, r.Above, r.Max, r.Below} {
		if f != nil {
			ways = append(ways, p.asks(ast.Node{Numbers: &beyond[i]}))
		}
	}
	if r.Multiple != nil {
		ways = append(ways, p.atom(ast.Node{Numbers: &ast.NumberRules{Multiple: r.Multiple}}))
	}
	return ways
}

// number finds the simplest number: near zero, with few digits.
func (b *branch) number() finding {
	if f := b.p.among([]any{0.0, 1.0, 0.5, -1.0}, b.asked); f.Status == Found {
		return f
	}
	step := new(big.Rat) // what it is a multiple of; of several this is the largest
	if b.kind == ast.Integer {
		step.SetInt64(1)
	}
	for _, n := range b.accepted {
		if n.Numbers != nil && n.Numbers.Multiple != nil {
			if m := ast.Rational(*n.Numbers.Multiple); m.Cmp(step) > 0 {
				step = m
			}
		}
	}
	if step.Sign() > 0 {
		for _, x := range b.atoms {
			if x.Numbers != nil && new(big.Rat).Quo(step, ast.Rational(*x.Numbers.Multiple)).IsInt() {
				return none() // whatever is on the grid is a multiple of what it mustn't be
			}
		}
		if b.kind == ast.Fraction && step.IsInt() {
			return none()
		}
		return b.onGrid(step)
	}
	if b.low.f != nil && b.high.f != nil && *b.low.f == *b.high.f {
		return b.p.among([]any{*b.low.f}, b.asked)
	}
	for digits := -1; digits >= -17; digits-- { // any other interval holds some: of as many digits as it takes
		if f := b.onGrid(ast.Rational(math.Pow10(digits))); f.Status != Empty {
			return f
		}
	}
	return unknown("multipleOf")
}

// onGrid finds a multiple of a number, from zero or what is nearest to it outwards.
func (b *branch) onGrid(step *big.Rat) finding {
	first, last := math.Inf(-1), math.Inf(1)
	unit, _ := step.Float64()
	if b.low.f != nil { // what is rounded is off by less than one
		first = math.Ceil(*b.low.f/unit) - 1
	}
	if b.high.f != nil {
		last = math.Floor(*b.high.f/unit) + 1
	}
	const exact = 1 << 53
	from := min(max(0, first), last)
	for i := range 200 {
		ks := []float64{from + float64(i), from - float64(i)}
		if ks[0] > last && ks[1] < first {
			return none()
		}
		if math.Abs(ks[0]) >= exact || math.Abs(ks[1]) >= exact || !b.p.spend(1) {
			break
		}
		for _, k := range ks {
			f, _ := new(big.Rat).Mul(step, new(big.Rat).SetFloat64(k)).Float64()
			if b.low.f != nil && f < *b.low.f || b.high.f != nil && f > *b.high.f {
				continue
			}
			if found := b.p.among([]any{f}, b.asked); found.Status == Found {
				return found
			}
		}
	}
	return unknown("multipleOf")
}

func (b *branch) acceptText(r *ast.StringRules) bool {
	b.size.Narrow(r.Size)
	if r.Pattern != nil {
		least, most := r.Pattern.Lengths()
		b.size.Narrow(ast.Size{Min: least, Max: min(most, ast.MaxCount)})
	}
	return b.size.Min <= b.size.Max
}

func (p *Prover) textRefusals(r *ast.StringRules) []way {
	ways := sizeRefusals(r.Size, func(z ast.Size) way { return p.asks(ast.Node{Strings: &ast.StringRules{Size: z}}) })
	if r.Pattern != nil {
		ways = append(ways, p.atom(ast.Node{Strings: &ast.StringRules{Size: ast.AnySize, Pattern: r.Pattern}}))
	}
	if r.Valid != nil {
		only := ast.StringRules{Size: ast.AnySize, Format: r.Format, Valid: r.Valid}
		ways = append(ways, p.atom(ast.Node{Strings: &only}))
	}
	return ways
}

// plainWords are some of no format.
var plainWords = []any{"a", "?", "\\", "(", "{", "é", "%", "\n", "a\n"}

// text finds such a string among some. That there is none is known only where nothing but lengths count.
func (b *branch) text() finding {
	if b.size.Min > ast.Longest {
		return unknown("minLength")
	}
	why, excluded, candidates := "", 0, []any{""}
	for _, n := range slices.Concat(b.accepted, b.atoms) {
		switch {
		case n.Strings == nil:
		case n.Strings.Pattern != nil:
			why = "pattern"
		case n.Strings.Valid != nil:
			why = cmp.Or(why, "format")
		}
	}
	for _, x := range b.atoms {
		excluded += len(x.Values)
		for _, n := range b.accepted {
			if r, s := x.Strings, n.Strings; r != nil && s != nil &&
				(r.Pattern != nil && s.Pattern != nil && r.Pattern.Same(s.Pattern) ||
					r.Valid != nil && s.Valid != nil && r.Format == s.Format) {
				return none()
			}
		}
	}
	more := min(excluded, 1_000) + 1 // one more than aren't allowed
	if !b.p.spend(more * (1 + b.size.Min/64)) {
		return unknown("budget")
	}
	for i := range more {
		candidates = append(candidates, strings.Repeat("a", max(0, b.size.Min-1))+string(rune('a'+i)))
	}
	candidates = append(candidates, plainWords...)
	candidates = slices.DeleteFunc(candidates,
		func(v any) bool { return !b.size.Holds(utf8.RuneCountInString(v.(string))) })
	if f := b.p.among(candidates, b.asked); f.Status == Found {
		return f
	}
	if why == "" && b.size.Max == 0 {
		return none()
	}
	return unknown(cmp.Or(why, "enum"))
}
