package layout

import (
	"cmp"
	"slices"

	"github.com/obelus-dev/obelus/compiler/dag"
)

// A gap holds one variable at least a length beyond another.
type gap struct{ from, to, length int }

// A spring makes each unit that two variables are nearer or further apart than its length cost its weight.
type spring struct{ from, to, length, weight int }

// A solver finds places for variables that hold all gaps, at a low cost of the springs.
type solver struct {
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
	order := graph.Order()
	for _, one := range springs {
		s.springs[one.from] = append(s.springs[one.from], one)
		s.springs[one.to] = append(s.springs[one.to], spring{one.to, one.from, -one.length, one.weight})
	}
	for _, v := range order {
		for _, g := range s.after[v] {
			s.pos[g.to] = max(s.pos[g.to], s.pos[v]+g.length)
		}
	}
	return s, len(order) == variables
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
			return (at(one) + at(s.springs[v][i+1])) / 2
		}
	}
	return s.pos[v]
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
