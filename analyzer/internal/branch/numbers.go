package branch

import (
	"math"
	"slices"

	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/schema"
)

// A quantity is a number that hangs on a value: the value itself, or how long it is.
type quantity struct {
	of     *subject
	length bool
}

// A line is a sum of quantities, each times a factor, and a constant. Where it is zero
// an atom may change.
type line struct {
	parts    []linePart
	constant float64
}

type linePart struct {
	of     quantity
	factor float64
}

// numbers finds the numbers that are enough to try: those at which atoms change, and
// some between them.
type numbers struct {
	d     *division
	known map[quantity]*number
	order []*number
	lines []line // that several quantities are on
}

// A number is what is known of one quantity.
type number struct {
	quantity
	integer  bool
	bounds   []float64 // where what the schema says changes
	critical []float64 // where an atom changes, or what the schema says
	run      int       // how many numbers that follow each other tell remainders apart
	listed   bool      // there are few, and all of them are tried
	points   []float64 // to try
	apart    bool      // it is on a line with others: for lengths, its points are all that are tried
}

const (
	maxForms   = 24  // of one side of a comparison
	maxRun     = 60  // of integers for remainders
	fewNumbers = 40  // are all tried
	maxPoints  = 160 // of one quantity
	maxReduced = 400 // ways in which a line meets quantities of which all numbers are tried
)

func newNumbers(d *division) numbers { return numbers{d: d, known: map[quantity]*number{}} }

func (n *numbers) number(q quantity) *number {
	x := n.known[q]
	if x == nil {
		x = &number{quantity: q, run: 1, integer: q.length || q.of.domain.schema.Kinds()&schema.Fraction == 0}
		marks := q.of.domain.schema.Landmarks()
		if q.length {
			x.critical = append(x.critical, 0)
			for _, length := range marks.Lengths {
				if length < 1<<20 {
					x.critical = append(x.critical, float64(length))
				}
			}
		} else {
			x.bounds = marks.Numbers
			x.critical = append(x.critical, marks.Numbers...)
			if step := marks.Step; step > 1 && step == math.Trunc(step) && step <= maxRun {
				x.run = int(step)
			} else if step > 0 && step != 1 {
				q.of.whole &^= schema.Number
			}
		}
		n.known[q] = x
		n.order = append(n.order, x)
	}
	return x
}

// read takes up the comparisons of numbers in an atom, if it can be understood as
// one.
func (n *numbers) read(a *atom) bool {
	r := numberReader{n: n, a: a}
	t := a.term
	switch {
	case t.Op >= expression.TermEqual:
		left, right := r.forms(t.Args[0]), r.forms(t.Args[1])
		if left == nil || right == nil {
			return false
		}
		r.differ(left, right)
	case t.Op == expression.TermOther && t.Name == "in":
		left, list := r.forms(t.Args[0]), numbersIn(t.Args[1])
		if left == nil || list == nil {
			return false
		}
		r.differ(left, list)
	default:
		return false
	}
	r.take()
	return true
}

// numbersIn are the numbers of a list that is written out, or of a range.
func numbersIn(t *expression.Term) []line {
	var list []line
	switch {
	case t.Op == expression.TermLiteral:
		items, ok := t.Value.([]any)
		if !ok {
			return nil
		}
		for _, item := range items {
			if v, ok := item.(float64); ok {
				list = append(list, line{constant: v})
			}
		}
	case t.Name == "..":
		from, ok := t.Args[0].Value.(float64)
		to, both := t.Args[1].Value.(float64)
		if !ok || !both || to-from > fewNumbers {
			return nil
		}
		for v := from; v <= to; v++ {
			list = append(list, line{constant: v})
		}
	}
	return list
}

// A numberReader reads one atom. What it finds counts only if all of it is understood.
type numberReader struct {
	n       *numbers
	a       *atom
	changes []line // where they are zero the atom may change
	runs    []runOf
	stepped bool
}

type runOf struct {
	on     line
	length int
}

// differ notes where forms of two sides are the same.
func (r *numberReader) differ(left, right []line) {
	for _, a := range left {
		for _, b := range right {
			r.changes = append(r.changes, a.plus(b, -1))
		}
	}
}

// take lets what was read count.
func (r *numberReader) take() {
	for _, l := range r.changes {
		switch len(l.parts) {
		case 0:
		case 1:
			x := r.n.number(l.parts[0].of)
			at := -l.constant/l.parts[0].factor + 0 // which makes 0 of -0
			x.critical = append(x.critical, at)
			if r.stepped {
				x.critical = append(x.critical, math.Floor(at), math.Ceil(at))
			}
		default:
			for _, p := range l.parts {
				r.n.number(p.of)
			}
			r.n.lines = append(r.n.lines, l)
		}
	}
	for _, run := range r.runs {
		for _, p := range run.on.parts {
			x := r.n.number(p.of)
			x.apart = x.apart || p.of.length
			if x.run = lcm(x.run, run.length); x.run > maxRun || p.factor != math.Trunc(p.factor) {
				x.run = 1
				p.of.of.whole = 0
			}
		}
	}
}

func lcm(a, b int) int {
	x, y := a, b
	for y != 0 {
		x, y = y, x%y
	}
	return a / x * b
}

// forms are the sums that a term may be: one of them for each value. It is nil for
// what isn't understood.
func (r *numberReader) forms(t *expression.Term) []line {
	switch t.Op {
	case expression.TermLiteral:
		if v, ok := t.Value.(float64); ok {
			return []line{{constant: v}}
		}
		return nil
	case expression.TermReference:
		return []line{{parts: []linePart{{quantity{r.a.subjects[r.a.refs[t.Ref]], false}, 1}}}}
	case expression.TermFallback:
		var all []line
		for _, a := range t.Args {
			some := r.forms(a)
			if some == nil {
				return nil
			}
			all = append(all, some...)
		}
		return few(all)
	case expression.TermOther:
		return few(r.calculated(t))
	}
	return nil
}

func few(all []line) []line {
	if len(all) > maxForms {
		return nil
	}
	return all
}

func (r *numberReader) calculated(t *expression.Term) []line {
	if t.Name == "len" && isHole(t.Args[0]) {
		q := quantity{r.a.subjects[r.a.refs[holeRef(t.Args[0])]], true}
		lines := []line{{parts: []linePart{{q, 1}}}}
		if t.Args[0].Op == expression.TermFallback {
			lines = append(lines, line{constant: float64(lengthOf(t.Args[0].Args[1].Value))})
		}
		return lines
	}
	args := make([][]line, len(t.Args))
	for i, a := range t.Args {
		if args[i] = r.forms(a); args[i] == nil {
			return nil
		}
	}
	switch {
	case t.Name == "-" && len(args) == 1:
		return times(args[0], -1)
	case t.Name == "+" && len(args) == 2:
		return sums(args[0], args[1], 1)
	case t.Name == "-" && len(args) == 2:
		return sums(args[0], args[1], -1)
	case t.Name == "*" && len(args) == 2:
		if c, ok := fixed(args[1]); ok {
			return times(args[0], c)
		} else if c, ok := fixed(args[0]); ok {
			return times(args[1], c)
		}
	case t.Name == "/" && len(args) == 2:
		if c, ok := fixed(args[1]); ok && c != 0 {
			return times(args[0], 1/c)
		}
	case t.Name == "%" && len(args) == 2:
		return r.remainders(args[0], args[1])
	case t.Name == "abs" && len(args) == 1:
		r.changes = append(r.changes, args[0]...)
		return append(args[0], times(args[0], -1)...)
	case (t.Name == "floor" || t.Name == "ceil" || t.Name == "round" || t.Name == "int") && len(args) == 1:
		r.stepped = true
		var all []line
		for _, l := range args[0] {
			for _, by := range []float64{0, 0.5, -0.5, 1, -1} {
				all = append(all, line{l.parts, l.constant + by})
			}
		}
		return all
	case (t.Name == "max" || t.Name == "min") && len(args) > 1:
		for i := range args {
			for k := range i {
				r.differ(args[i], args[k])
			}
		}
		return slices.Concat(args...)
	}
	return nil
}

// remainders are what is left of something divided by a constant.
func (r *numberReader) remainders(of, by []line) []line {
	m, ok := fixed(by)
	if m = math.Abs(m); !ok || m < 1 || m != math.Trunc(m) || m > maxForms/2 {
		return nil
	}
	for _, l := range of {
		r.changes = append(r.changes, l) // remainders have the sign of what is divided
		r.runs = append(r.runs, runOf{l, int(m)})
	}
	var all []line
	for k := 1 - m; k < m; k++ {
		all = append(all, line{constant: k})
	}
	return all
}

// fixed is the one constant that a term is.
func fixed(forms []line) (float64, bool) {
	if len(forms) == 1 && len(forms[0].parts) == 0 {
		return forms[0].constant, true
	}
	return 0, false
}

func (l line) plus(other line, times float64) line {
	sum := line{slices.Clone(l.parts), l.constant + times*other.constant}
	for _, p := range other.parts {
		at := slices.IndexFunc(sum.parts, func(x linePart) bool { return x.of == p.of })
		if at < 0 {
			sum.parts = append(sum.parts, linePart{p.of, times * p.factor})
		} else if sum.parts[at].factor += times * p.factor; sum.parts[at].factor == 0 {
			sum.parts = slices.Delete(sum.parts, at, at+1)
		}
	}
	return sum
}

func sums(a, b []line, times float64) []line {
	var all []line
	for _, x := range a {
		for _, y := range b {
			all = append(all, x.plus(y, times))
		}
	}
	return all
}

func times(lines []line, factor float64) []line {
	var all []line
	for _, l := range lines {
		all = append(all, line{}.plus(l, factor))
	}
	return all
}
