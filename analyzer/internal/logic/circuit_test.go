package logic

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// The circuit's ways of answering agree: what trying finds holds, and what is
// proven is what going through all assignments shows.
func TestCircuitsAgreeWithAllAssignments(t *testing.T) {
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 1986))
		c := New(100_000)
		lits := []Literal{True, False}
		n := 1 + r.IntN(9)
		for range n {
			lits = append(lits, c.Variable(r.IntN(3) > 0, r.IntN(2) == 0, nil))
		}
		for range r.IntN(60) {
			a, b := lits[r.IntN(len(lits))]^Literal(r.IntN(2)), lits[r.IntN(len(lits))]^Literal(r.IntN(2))
			switch r.IntN(3) {
			case 0:
				lits = append(lits, c.And(a, b))
			case 1:
				lits = append(lits, c.Or(a, b))
			default:
				lits = append(lits, c.IfThenElse(lits[r.IntN(len(lits))], a, b))
			}
		}
		var goals []Literal
		for range 5 {
			goals = append(goals, lits[len(lits)-1-r.IntN(min(len(lits), 12))]^Literal(r.IntN(2)))
		}
		for _, strict := range []bool{false, true} {
			possible := make([]bool, len(goals))
			for bits := range 1 << n {
				var w Assignment
				for v := range int32(n) {
					if bits>>v&1 == 1 {
						w = append(w, v)
					}
				}
				if strict && slices.ContainsFunc(w, func(v int32) bool { return !c.vars[v].choice }) {
					continue
				}
				for i, goal := range goals {
					possible[i] = possible[i] || c.Holds(goal, w)
				}
			}
			check := func(by string, i int, a Answer) {
				if a.Possible != possible[i] || a.Impossible == possible[i] {
					t.Fatalf("seed %d, %s, strict %v: goal %d is possible: %v, answered: %+v", seed, by, strict, i, possible[i], a)
				}
				if a.Possible && !c.Holds(goals[i], a.Assignment) {
					t.Fatalf("seed %d, %s: goal %d doesn't hold in %v", seed, by, i, a.Assignment)
				}
				if strict && slices.ContainsFunc(a.Assignment, func(v int32) bool { return !c.vars[v].choice }) {
					t.Fatalf("seed %d, %s: %v isn't strict", seed, by, a.Assignment)
				}
			}
			for i, goal := range goals {
				a := c.Solve(goal, strict)
				check("solved", i, a)
				check("proven", i, c.prove(goal, strict))
				if !a.Possible {
					continue
				}
				// Nothing but the implicant counts.
				implicant := c.Implicant(goals[i], a.Assignment)
				for range 8 {
					var other Assignment
					for v := range int32(n) {
						_, fixed := slices.BinarySearch(implicant, v)
						if fixed && a.Assignment.Flips(v) || !fixed && r.IntN(2) == 0 {
							other = append(other, v)
						}
					}
					if !c.Holds(goals[i], other) {
						t.Fatalf("seed %d: goal %d hangs on more than %v", seed, i, implicant)
					}
				}
			}
		}
	}
}
