package dag

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// LANGUAGE.md#output-paths-and-state: order, ranks, cycles and reach are those that going through all
// pairs shows.
func TestGraphsAgreeWithAllPairs(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 6))
		n := 1 + r.IntN(30)
		b, deps := NewBuilder(0, 0), make([][]bool, n)
		for i := range n {
			deps[i] = make([]bool, n)
			for range r.IntN(4) {
				if d := r.IntN(n); d != i && (d < i || r.IntN(6) == 0) {
					b.Add(int32(d))
					deps[i][d] = true
				}
			}
			b.Next()
		}
		g := b.Graph(nil)
		reaches := make([][]bool, n)
		for i := range n {
			reaches[i] = slices.Clone(deps[i])
		}
		for k := range n {
			for i := range n {
				for j := range n {
					reaches[i][j] = reaches[i][j] || reaches[i][k] && reaches[k][j]
				}
			}
		}

		var order []int32
		for {
			next := slices.IndexFunc(deps, func(of []bool) bool {
				i := int32(slices.IndexFunc(deps, func(other []bool) bool { return &other[0] == &of[0] }))
				for d, is := range of {
					if is && !slices.Contains(order, int32(d)) {
						return false
					}
				}
				return !slices.Contains(order, i)
			})
			if next < 0 {
				break
			}
			order = append(order, int32(next))
		}
		if !slices.Equal(g.Order(), order) || g.Acyclic() != (len(order) == n) {
			t.Fatalf("seed %d: the order is %v, acyclic: %v; want %v", seed, g.Order(), g.Acyclic(), order)
		}
		for i := range n {
			for j := range n {
				if i != j && (g.Component(i) == g.Component(j)) != (reaches[i][j] && reaches[j][i]) {
					t.Fatalf("seed %d: components %d of %d, %d of %d", seed, g.Component(i), i, g.Component(j), j)
				}
				if reaches[i][j] && !reaches[j][i] && g.Rank(i) <= g.Rank(j) {
					t.Fatalf("seed %d: %d depends on %d and has rank %d, not above %d", seed, i, j, g.Rank(i), g.Rank(j))
				}
			}
		}
		for _, cycle := range g.Cycles() {
			for at, i := range cycle {
				if !deps[i][cycle[(at+1)%len(cycle)]] || i < cycle[0] {
					t.Fatalf("seed %d: %v is no cycle from its first node", seed, cycle)
				}
			}
		}
		var of []int32
		for i := range int32(n) {
			if r.IntN(2) == 0 {
				of = append(of, i)
			}
		}
		g.Reach(of, func(i int32, from int, set *Set) {
			for at, j := range of {
				if set.Has(from, at) != reaches[i][j] {
					t.Fatalf("seed %d: %d reaches %d: %v", seed, i, j, set.Has(from, at))
				}
			}
		})
	}
}
