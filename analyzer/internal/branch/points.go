package branch

import (
	"math"
	"slices"

	"github.com/obelus-dev/obelus/compiler/schema"
)

// choose finds the points of all quantities.
func (n *numbers) choose() {
	for _, x := range n.order {
		x.list()
	}
	group := map[*number][]line{}
	var rest []line
	for _, l := range n.lines {
		rest = append(rest, n.reduced(l)...)
	}
	// Quantities that stand on a line together are chosen together.
	under := map[*number]*number{}
	var top func(x *number) *number
	top = func(x *number) *number {
		if under[x] == nil || under[x] == x {
			return x
		}
		return top(under[x])
	}
	for _, l := range rest {
		first := top(n.known[l.parts[0].of])
		for _, p := range l.parts[1:] {
			under[top(n.known[p.of])] = first
		}
	}
	for _, l := range rest {
		first := top(n.known[l.parts[0].of])
		group[first] = append(group[first], l)
	}
	for _, x := range n.order {
		if lines := group[x]; len(lines) > 0 && top(x) == x {
			var all []*number
			for _, y := range n.order {
				if top(y) == x {
					all = append(all, y)
				}
			}
			together(all, lines)
		}
	}
	for _, x := range n.order {
		if x.points == nil {
			x.points = x.around(x.critical, x.run)
		}
		if len(x.points) > maxPoints {
			x.points, x.of.whole = x.points[:maxPoints], 0
		}
	}
}

// list takes all numbers of a quantity that has but few.
func (x *number) list() {
	if len(x.bounds) == 0 || !x.integer || x.length {
		return
	}
	low, high := math.Ceil(slices.Min(x.bounds)), math.Floor(slices.Max(x.bounds))
	s := x.of.domain.schema
	if s == nil || high-low > fewNumbers || s.Accepts(low-1) || s.Accepts(high+1) {
		return
	}
	// Below the lowest of what a schema says of numbers, and above the highest, it says
	// the same of all.
	for v := low; v <= high; v++ {
		if s.Accepts(v) {
			x.points = append(x.points, v)
		}
	}
	x.listed = true
	if x.of.domain.kinds() == schema.Integer {
		x.of.listed = x.of.domain.sure
	}
}

// reduced are the lines that are left of one when the quantities of which all numbers
// are tried have each of these. On a line with only one quantity that one is critical.
func (n *numbers) reduced(l line) (rest []line) {
	all := []line{{constant: l.constant}}
	for _, p := range l.parts {
		x := n.known[p.of]
		x.apart = true
		if !x.listed {
			for i := range all {
				all[i].parts = append(slices.Clip(all[i].parts), p)
			}
			continue
		}
		var next []line
		for _, one := range all {
			for _, v := range x.points {
				next = append(next, line{one.parts, one.constant + v*p.factor})
			}
		}
		if all = next; len(all) > maxReduced {
			for _, p := range l.parts {
				p.of.of.whole = 0
			}
			return nil
		}
	}
	for _, one := range all {
		switch len(one.parts) {
		case 0:
		case 1:
			x := n.known[one.parts[0].of]
			x.critical = append(x.critical, -one.constant/one.parts[0].factor+0)
		default:
			rest = append(rest, one)
		}
	}
	return rest
}

// together chooses the points of quantities that stand on lines together: where all of
// these say which of two is larger, as many between any two numbers as there are
// quantities; of two quantities those where lines cross, and for each of these those on
// the lines. For more than that not all that is needed can be tried.
func together(all []*number, lines []line) {
	order := !slices.ContainsFunc(lines, func(l line) bool {
		return len(l.parts) != 2 || l.constant != 0 || l.parts[0].factor != -l.parts[1].factor
	})
	run := 1
	var critical []float64
	for _, x := range all {
		run = max(run, x.run)
		critical = append(critical, x.critical...)
	}
	if order || len(all) != 2 {
		for _, x := range all {
			x.points = x.around(critical, run*len(all))
			if !order {
				x.of.whole = 0
			}
		}
		return
	}
	x, y := all[0], all[1]
	for _, v := range y.critical {
		lines = append(lines, line{[]linePart{{y.quantity, 1}}, -v})
	}
	on := func(l line) (a, b, c float64) {
		for _, p := range l.parts {
			if p.of == x.quantity {
				a = p.factor
			} else {
				b = p.factor
			}
		}
		return a, b, l.constant
	}
	crossings := slices.Clone(x.critical)
	for i := range lines {
		for k := range i {
			a, b, c := on(lines[i])
			p, q, r := on(lines[k])
			if det := a*q - p*b; det != 0 && len(crossings) < maxPoints {
				crossings = append(crossings, (b*r-q*c)/det)
			}
		}
	}
	x.points = x.around(crossings, run+2)
	var meets []float64
	for _, v := range x.points {
		for _, l := range lines {
			if a, b, c := on(l); b != 0 {
				meets = append(meets, -(a*v+c)/b)
			}
		}
	}
	y.points = y.around(meets, run)
	if run > 1 || len(crossings) >= maxPoints {
		x.of.whole, y.of.whole = 0, 0
	}
}

// around are numbers at critical ones, and some between each two and beyond them.
func (x *number) around(critical []float64, some int) []float64 {
	marks := slices.Clone(critical)
	if x.integer {
		marks = marks[:0]
		for _, v := range critical {
			marks = append(marks, math.Floor(v), math.Ceil(v))
		}
	}
	marks = slices.DeleteFunc(marks, func(v float64) bool { return math.IsNaN(v) || math.Abs(v) > 1e15 })
	slices.Sort(marks)
	marks = slices.Compact(marks)
	if len(marks) > maxPoints {
		return marks
	}
	if len(marks) == 0 {
		marks = []float64{1}
	}
	points := slices.Clone(marks)
	follow := func(from, to float64) { // integers between two numbers
		v := math.Floor(from) + 1
		for k := 0; k < some && v < to; k++ {
			points = append(points, v)
			v++
		}
	}
	for i, v := range marks {
		next := math.Inf(1)
		if i+1 < len(marks) {
			next = marks[i+1]
		}
		follow(v, next)
		if !x.integer {
			if math.IsInf(next, 1) {
				next = v + 2
			}
			for k := range some {
				points = append(points, v+(next-v)*float64(k+1)/float64(some+1))
			}
		}
	}
	for k := range some {
		points = append(points, math.Ceil(marks[0])-float64(k+1))
		if !x.integer {
			points = append(points, marks[0]-float64(k)-0.5)
		}
	}
	slices.Sort(points)
	return slices.Compact(points)
}

// fill gives a subject its numbers: the critical ones first.
func (n *numbers) fill(s *subject, list *cellList) {
	x := n.known[quantity{s, false}]
	if x == nil {
		x = n.number(quantity{s, false})
		x.list()
		if x.points == nil {
			x.points = x.around(x.critical, 1)
		}
	}
	some := false
	for _, v := range x.critical {
		if slices.Contains(x.points, v) {
			some = list.add(v) || some
		}
	}
	for _, v := range x.points {
		some = list.add(v) || some
	}
	if !some {
		s.whole &^= schema.Number
	}
}

// shareLengths lets every length that is asked of one subject be asked of all.
func (n *numbers) shareLengths() {
	var all []float64
	apart := false
	for _, x := range n.order {
		if x.length {
			all, apart = append(all, append(x.critical, x.points...)...), apart || x.apart
		}
	}
	if all == nil {
		return
	}
	for _, s := range n.d.subjects {
		x := n.number(quantity{s, true})
		x.critical, x.points, x.apart = all, slices.Compact(slices.Sorted(slices.Values(all))), apart
	}
}

// lengths are the ranges of lengths of a subject between which atoms change; nil where
// none asks for its length.
func (n *numbers) lengths(s *subject) (ranges [][2]int) {
	x := n.known[quantity{s, true}]
	if x == nil {
		return nil
	}
	if x.apart {
		for _, v := range x.points {
			if v >= 0 {
				ranges = append(ranges, [2]int{int(v), int(v)})
			}
		}
		return ranges
	}
	marks := []int{0}
	for _, v := range x.critical {
		if v >= 0 && v < 1<<20 {
			marks = append(marks, int(math.Floor(v)), int(math.Floor(v))+1)
		}
	}
	slices.Sort(marks)
	marks = slices.Compact(marks)
	for i, low := range marks {
		high := -1
		if i+1 < len(marks) {
			high = marks[i+1] - 1
		}
		ranges = append(ranges, [2]int{low, high})
	}
	return ranges
}
