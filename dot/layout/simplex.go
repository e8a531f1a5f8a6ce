package layout

import (
	"math"
	"slices"
)

// A constraint holds one variable at least a length beyond another, and makes
// each unit of the distance between them cost its weight.
type constraint struct{ from, to, length, weight int }

func (c constraint) slack(pos []int) int { return pos[c.to] - pos[c.from] - c.length }

// other is the other end of a constraint.
func (c constraint) other(v int) int { return c.from + c.to - v }

// A simplex finds places for variables that satisfy all constraints at the least
// cost: the network simplex method of Gansner, Koutsofios, North and Vo, A
// Technique for Drawing Directed Graphs (IEEE Transactions on Software
// Engineering 19, 1993), section 2.3. It holds a spanning tree of constraints
// without slack, which determines all places; as long as one of them would
// better be longer, it leaves the tree, and another one closes the gap.
type simplex struct {
	constraints []constraint
	incident    [][]int // by variable: the constraints that it is in
	pos         []int
	inTree      []bool // by constraint
	parent      []int  // by variable: the constraint that leads towards the root, -1 for the root
	order       []int  // the variables, each before those below it
	in          []bool // by variable: it is in the part of the tree that is being looked at
}

// solve gives every variable its place, or reports that the constraints form a
// cycle. After so many steps it takes the places that it has: they satisfy the
// constraints, and only cost more than they might.
func solve(variables int, constraints []constraint, work int) (pos []int, ok bool) {
	s := &simplex{constraints: constraints, incident: make([][]int, variables), parent: make([]int, variables), in: make([]bool, variables)}
	for i := range constraints {
		s.attach(i)
	}
	if !s.feasible() {
		return nil, false
	}
	s.span()
	for ; work > 0; work -= variables + len(s.constraints) {
		s.hang()
		leaving := s.leaving()
		if leaving < 0 {
			break
		}
		s.exchange(leaving)
	}
	return s.pos, true
}

func (s *simplex) attach(i int) {
	for _, v := range []int{s.constraints[i].from, s.constraints[i].to} {
		s.incident[v] = append(s.incident[v], i)
	}
	s.inTree = append(s.inTree, false)
}

// feasible puts every variable as far to the front as the constraints let it.
func (s *simplex) feasible() bool {
	n := len(s.incident)
	s.pos = make([]int, n)
	waiting := make([]int, n)
	for _, c := range s.constraints {
		waiting[c.to]++
	}
	ready := make([]int, 0, n)
	for v := range n {
		if waiting[v] == 0 {
			ready = append(ready, v)
		}
	}
	for at := 0; at < len(ready); at++ {
		for _, i := range s.incident[ready[at]] {
			if c := s.constraints[i]; c.from == ready[at] {
				s.pos[c.to] = max(s.pos[c.to], s.pos[c.from]+c.length)
				if waiting[c.to]--; waiting[c.to] == 0 {
					ready = append(ready, c.to)
				}
			}
		}
	}
	return len(ready) == n
}

// span grows a tree of constraints without slack from the first variable on,
// moving it to where the next one is tight. Parts that no constraint joins are
// joined by ones of no weight.
func (s *simplex) span() {
	for size := 1; size < len(s.in); size++ {
		s.in[0] = true
		entering, slack := s.tightest(func(c constraint) bool { return s.in[c.from] != s.in[c.to] })
		if entering < 0 {
			v := slices.Index(s.in, false)
			entering, slack = len(s.constraints), 0
			s.constraints = append(s.constraints, constraint{from: 0, to: v, length: s.pos[v] - s.pos[0]})
			s.attach(entering)
		}
		c := s.constraints[entering]
		if s.in[c.to] {
			slack = -slack
		}
		s.move(slack)
		s.inTree[entering], s.in[c.from], s.in[c.to] = true, true, true
	}
}

// tightest is the constraint of some with the least slack; -1 where there is none.
func (s *simplex) tightest(of func(c constraint) bool) (entering, slack int) {
	entering, slack = -1, math.MaxInt
	for i, c := range s.constraints {
		if gap := c.slack(s.pos); gap < slack && of(c) {
			if entering, slack = i, gap; slack == 0 {
				break
			}
		}
	}
	return entering, slack
}

// move moves the part of the tree that is being looked at.
func (s *simplex) move(by int) {
	for v, in := range s.in {
		if in && by != 0 {
			s.pos[v] += by
		}
	}
}

// hang orders the tree from its root on.
func (s *simplex) hang() {
	s.order = append(s.order[:0], 0)[:min(1, len(s.parent))]
	for at := 0; at < len(s.order); at++ {
		v := s.order[at]
		if at == 0 {
			s.parent[v] = -1
		}
		for _, i := range s.incident[v] {
			if child := s.constraints[i].other(v); s.inTree[i] && i != s.parent[v] {
				s.parent[child] = i
				s.order = append(s.order, child)
			}
		}
	}
}

// leaving is the variable whose constraint towards the root would best be longer, by the
// weights that leave its subtree less those that enter it; -1 where none would.
func (s *simplex) leaving() int {
	excess := make([]int, len(s.parent))
	for _, c := range s.constraints {
		excess[c.from] += c.weight
		excess[c.to] -= c.weight
	}
	worst, least := -1, 0
	for _, v := range slices.Backward(s.order) {
		i := s.parent[v]
		if i < 0 {
			break
		}
		cut := excess[v]
		if s.constraints[i].to == v {
			cut = -cut
		}
		if cut < least {
			worst, least = v, cut
		}
		excess[s.constraints[i].other(v)] += excess[v]
	}
	return worst
}

// exchange takes the constraint above a variable out of the tree, moves the
// subtree until another constraint is tight, and takes that one in.
func (s *simplex) exchange(top int) {
	clear(s.in)
	for _, v := range s.order {
		s.in[v] = v == top || s.parent[v] >= 0 && s.in[s.constraints[s.parent[v]].other(v)]
	}
	old := s.parent[top]
	before := s.constraints[old].from == top // the subtree stands before the rest
	entering, slack := s.tightest(func(c constraint) bool { return s.in[c.to] == before && s.in[c.from] != before })
	if before {
		slack = -slack
	}
	s.move(slack)
	s.inTree[old], s.inTree[entering] = false, true
}
