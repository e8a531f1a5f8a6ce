package compiler

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// What a slab hands out is nobody else's, and numbers are what they say.
func TestSlabs(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 8))
	var s slab[int]
	var all [][]int
	for range 2_000 {
		taken := s.some(r.IntN(40))
		for i := range taken {
			if taken[i] != 0 {
				t.Fatal("what is handed out is used already")
			}
			taken[i] = len(all) + 1
		}
		all = append(all, taken)
		_ = append(taken, -1) // must not reach the neighbour
	}
	for i, taken := range all {
		if slices.ContainsFunc(taken, func(v int) bool { return v != i+1 }) {
			t.Fatalf("the %dth slice holds %v", i+1, taken)
		}
	}
	var n numbers
	for end := 0; end < 5_000; end += r.IntN(50) {
		first := max(0, end-r.IntN(700))
		list := n.from(first, end)
		if len(list) != end-first {
			t.Fatalf("%d to %d are %d numbers", first, end, len(list))
		}
		for i, v := range list {
			if v != first+i {
				t.Fatalf("from %d on: number %d is %d", first, i, v)
			}
		}
		_ = append(list, -1)
	}
}
