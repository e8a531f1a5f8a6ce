package layout

import (
	"cmp"
	"math"
	"slices"

	"github.com/obelus-dev/obelus/compiler/dag"
)

// A gap holds one variable at least a length beyond another.
type gap struct{ from, to, length int }

// A spring makes each unit that two variables are nearer or further apart than its length cost its weight.
type spring struct{ from, to, length, weight int }

// rounds is how often all variables are moved at once, at most.
const rounds = 200

// A solver finds places for variables that hold all gaps, at a low cost of the springs.
type solver struct {
	order         []int32 // each variable comes after those that gaps lead from
	before, after [][]gap // by variable: the gaps to it, and from it
	springs       [][]spring
	pos           []int
}

// newSolver puts every variable as far to the front as the gaps let it, or reports that they form a cycle.
func newSolver(variables int, gaps []gap, springs []spring) (*solver, bool) {
	s := &solver{
		before: make([][]gap, variables), after: make([][]gap, variables),
		springs: make([][]spring, variables), pos: make([]int, variables),
	}
	waits := make([][]int32, variables)
	for _, g := range gaps {
		s.before[g.to], s.after[g.from] = append(s.before[g.to], g), append(s.after[g.from], g)
		waits[g.to] = append(waits[g.to], int32(g.from))
	}
	graph := dag.Of(waits)
	s.order = graph.Order()
	for _, one := range springs {
		s.springs[one.from] = append(s.springs[one.from], one)
		s.springs[one.to] = append(s.springs[one.to], spring{one.to, one.from, -one.length, one.weight})
	}
	s.forwards(s.pos)
	return s, len(s.order) == variables
}

func (s *solver) forwards(pos []int) {
	for _, v := range s.order {
		for _, g := range s.after[v] {
			pos[g.to] = max(pos[g.to], pos[v]+g.length)
		}
	}
}

// best is the place of a variable at which its springs cost least.
func (s *solver) best(v int) int {
	at := func(one spring) int { return s.pos[one.to] - one.length }
	total := 0
	for _, one := range s.springs[v] {
		total += one.weight
	}
	slices.SortStableFunc(s.springs[v], func(a, b spring) int { return cmp.Compare(at(a), at(b)) })
	for i, one := range s.springs[v] {
		if total -= 2 * one.weight; total < 0 {
			return at(one)
		} else if total == 0 { // all places up to the next are as good
			return min(max(s.pos[v], at(one)), at(s.springs[v][i+1]))
		}
	}
	return s.pos[v]
}

// spread moves all variables at once to where their springs pull them, and then apart again: the mean of moving them
// apart forwards and backwards holds all gaps, since both do.
func (s *solver) spread(work int) {
	least, kept := math.MaxInt, s.pos
	for round := 0; round < rounds && work > 0; round++ {
		first := make([]int, len(s.pos))
		for v := range first {
			sum, weight := s.pos[v], 1
			for _, one := range s.springs[v] {
				sum += (s.pos[one.to] - one.length) * one.weight
				weight += one.weight
			}
			first[v] = int(math.Floor(float64(sum) / float64(weight)))
			work -= 4 * (1 + len(s.springs[v]))
		}
		last := slices.Clone(first)
		s.forwards(first)
		for _, v := range slices.Backward(s.order) {
			for _, g := range s.before[v] {
				last[g.from] = min(last[g.from], last[v]-g.length)
			}
		}
		cost := 0
		for v := range first {
			first[v] = (first[v] + last[v]) >> 1
		}
		for _, all := range s.springs {
			for _, one := range all {
				cost += one.weight * max(first[one.to]-first[one.from]-one.length,
					first[one.from]+one.length-first[one.to])
			}
		}
		if s.pos = first; cost < least {
			least, kept = cost, first
		}
	}
	s.pos = kept
}

// settle moves one variable after the other to its best place within the gaps.
func (s *solver) settle(work int) {
	for moved := true; moved && work > 0; {
		moved = false
		for v := range s.pos {
			work -= 4 * (1 + len(s.springs[v]))
			at := s.best(v)
			for _, g := range s.before[v] {
				at = max(at, s.pos[g.from]+g.length)
			}
			for _, g := range s.after[v] {
				at = min(at, s.pos[g.to]-g.length)
			}
			moved = moved || at != s.pos[v]
			s.pos[v] = at
		}
	}
}
