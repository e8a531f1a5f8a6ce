package layout

import (
	"container/heap"
	"math"
)

// A constraint holds one variable at least a length beyond another, and makes
// each unit of the distance between them cost its weight.
type constraint struct{ from, to, length, weight int }

func (c constraint) slack(pos []int) int { return pos[c.to] - pos[c.from] - c.length }

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
	links       [][]int // by variable: those of them that are in the tree
	inTree      []bool  // by constraint
	parent      []int   // by variable: the constraint that leads towards the root, -1 for the root
	low, lim    []int   // by variable: the places in order that its subtree takes; the last is its own
	order       []int   // the variables, each after those below it
	excess      []int   // by variable: the weight that leaves its subtree less the weight that enters it
	next        int     // where the search for a constraint to leave continues
	work        int     // steps that are left
}

// solve gives every variable its place, or reports that the constraints form a
// cycle. After so many steps it takes the places that it has: they satisfy the
// constraints, and only cost more than they might.
func solve(variables int, constraints []constraint, work int) (pos []int, ok bool) {
	s := &simplex{
		constraints: constraints, incident: make([][]int, variables), links: make([][]int, variables), inTree: make([]bool, len(constraints)),
		parent: make([]int, variables), low: make([]int, variables), lim: make([]int, variables), order: make([]int, variables), excess: make([]int, variables), work: work,
	}
	for i, c := range constraints {
		s.incident[c.from] = append(s.incident[c.from], i)
		s.incident[c.to] = append(s.incident[c.to], i)
	}
	if !s.feasible() {
		return nil, false
	}
	s.span()
	if variables > 0 {
		s.parent[0] = -1
		s.number(0, 0)
	}
	s.weigh()
	for s.work > 0 {
		leaving := s.leaving()
		if leaving < 0 {
			break
		}
		s.exchange(leaving)
	}
	return s.pos, true
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

// A reach lists constraints between the growing tree and what is outside, the one
// that needs the shortest move of the tree first.
type reach []struct{ key, constraint int }

func (r reach) Len() int { return len(r) }
func (r reach) Less(i, j int) bool {
	return r[i].key < r[j].key || r[i].key == r[j].key && r[i].constraint < r[j].constraint
}
func (r reach) Swap(i, j int) { r[i], r[j] = r[j], r[i] }
func (r *reach) Push(x any)   { *r = append(*r, x.(struct{ key, constraint int })) }
func (r *reach) Pop() any {
	last := (*r)[len(*r)-1]
	*r = (*r)[:len(*r)-1]
	return last
}

// span grows a tree of constraints without slack from the first variable on,
// moving what it has to where the next one is tight. Parts that no constraint
// joins are joined by ones of no weight.
func (s *simplex) span() {
	n := len(s.incident)
	in := make([]bool, n)
	var ahead, behind reach // constraints that lead out of the tree, and into it
	moved := 0              // how far the tree was moved; pos of what is in it lacks that
	add := func(v int) {
		in[v] = true
		s.pos[v] -= moved
		for _, i := range s.incident[v] {
			if c := s.constraints[i]; c.from == v && !in[c.to] {
				heap.Push(&ahead, struct{ key, constraint int }{c.slack(s.pos), i})
			} else if c.to == v && !in[c.from] {
				heap.Push(&behind, struct{ key, constraint int }{c.slack(s.pos), i})
			}
		}
	}
	for start := range n {
		if in[start] {
			continue
		}
		if start > 0 { // a part of its own
			s.constraints = append(s.constraints, constraint{from: 0, to: start, length: s.pos[start] - s.pos[0] - moved})
			s.inTree = append(s.inTree, false)
			for _, v := range []int{0, start} {
				s.incident[v] = append(s.incident[v], len(s.constraints)-1)
			}
			s.link(len(s.constraints) - 1)
		}
		for add(start); len(ahead)+len(behind) > 0; {
			forward := len(behind) == 0 || len(ahead) > 0 && ahead[0].key-moved <= behind[0].key+moved
			side := &behind
			if forward {
				side = &ahead
			}
			c := s.constraints[(*side)[0].constraint]
			if in[c.from] && in[c.to] {
				heap.Pop(side)
				continue
			}
			s.link((*side)[0].constraint)
			if forward {
				moved = (*side)[0].key
				heap.Pop(side)
				add(c.to)
			} else {
				moved = -(*side)[0].key
				heap.Pop(side)
				add(c.from)
			}
		}
	}
	for v := range s.pos {
		s.pos[v] += moved
	}
}

func (s *simplex) link(i int) {
	s.inTree[i] = true
	for _, v := range []int{s.constraints[i].from, s.constraints[i].to} {
		s.links[v] = append(s.links[v], i)
	}
}

func (s *simplex) unlink(i int) {
	s.inTree[i] = false
	for _, v := range []int{s.constraints[i].from, s.constraints[i].to} {
		for at, link := range s.links[v] {
			if link == i {
				s.links[v] = append(s.links[v][:at], s.links[v][at+1:]...)
				break
			}
		}
	}
}

// other is the other end of a constraint.
func (s *simplex) other(i, v int) int {
	c := s.constraints[i]
	return c.from + c.to - v
}

// number orders a subtree anew, from a place on, and returns the next place.
func (s *simplex) number(v, from int) int {
	s.work--
	s.low[v] = from
	for _, i := range s.links[v] {
		if i != s.parent[v] {
			child := s.other(i, v)
			s.parent[child] = i
			from = s.number(child, from)
		}
	}
	s.lim[v], s.order[from] = from, v
	return from + 1
}

// weigh sums up the weights that cross the borders of all subtrees. What runs
// inside of one counts once for and once against it.
func (s *simplex) weigh() {
	for _, c := range s.constraints {
		s.excess[c.from] += c.weight
		s.excess[c.to] -= c.weight
	}
	for _, v := range s.order {
		if i := s.parent[v]; i >= 0 {
			s.excess[s.other(i, v)] += s.excess[v]
		}
	}
}

// holds reports whether w is in the subtree of v.
func (s *simplex) holds(v, w int) bool { return s.low[v] <= s.lim[w] && s.lim[w] <= s.lim[v] }

// leaving finds a variable whose constraint towards the root would better be
// longer: the worst of the next few, or -1.
func (s *simplex) leaving() int {
	worst, found, least := -1, 0, 0
	n := len(s.parent)
	for range n {
		v := s.next
		if s.next++; s.next == n {
			s.next = 0
		}
		s.work--
		if s.parent[v] < 0 {
			continue
		}
		cut := s.excess[v]
		if s.constraints[s.parent[v]].to == v {
			cut = -cut
		}
		if cut < least {
			worst, least = v, cut
		}
		if cut < 0 {
			if found++; found == 30 {
				break
			}
		}
	}
	return worst
}

// exchange takes the constraint above a variable out of the tree, moves the
// smaller part until another constraint is tight, and takes that one in.
func (s *simplex) exchange(c int) {
	old := s.parent[c]
	tail := s.constraints[old].from == c // the subtree stands before the rest
	entering, slack := -1, math.MaxInt
	low, lim, n := s.low[c], s.lim[c], len(s.order)
	below := lim-low+1 <= n/2 // the subtree is the smaller part
	smaller := func(visit func(v int)) {
		for at := range n {
			if below && at > lim-low {
				break
			}
			v := at
			if below {
				v = s.order[low+at]
			} else if v = s.order[at]; low <= at && at <= lim {
				continue
			}
			s.work--
			visit(v)
		}
	}
	smaller(func(v int) {
		for _, i := range s.incident[v] {
			one := s.constraints[i]
			if into := s.holds(c, one.to); into == tail && s.holds(c, one.from) != into {
				if gap := one.slack(s.pos); gap < slack || gap == slack && i < entering {
					entering, slack = i, gap
				}
			}
		}
	})
	if move := slack; move > 0 {
		if tail == below {
			move = -move
		}
		smaller(func(v int) { s.pos[v] += move })
	}
	inside, outside := s.constraints[entering].from, s.constraints[entering].to
	if tail {
		inside, outside = outside, inside
	}
	// The subtree hangs elsewhere now, and from another of its variables.
	top, excess := s.other(old, c), s.excess[c]
	for ; !s.holds(top, outside); top = s.other(s.parent[top], top) {
		s.excess[top] -= excess
	}
	for v := outside; v != top; v = s.other(s.parent[v], v) {
		s.excess[v] += excess
	}
	before := 0
	for v := inside; ; v = s.other(s.parent[v], v) {
		before, s.excess[v] = s.excess[v], excess-before
		if v == c {
			break
		}
	}
	s.unlink(old)
	s.link(entering)
	s.number(top, s.low[top])
}
