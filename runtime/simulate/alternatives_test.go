package simulate_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/obelus-dev/obelus/runtime/simulate"
	"github.com/obelus-dev/obelus/testdata/amount"
)

// EXECUTION.md#branches: several things may go otherwise at once. With room for all each combination that
// can be reached is told of once, and whatever is set, exactly one of them is what comes of
// it: the one in which all that it came by is as set, or else as usual.
func TestAlternativesTogether(t *testing.T) {
	plans, told := 0, 0
	for n := 0; plans < amount.Of(20, 50, 500); n++ {
		random := rand.New(rand.NewPCG(uint64(n), 16))
		text, r := branching(random, 6, n%2 > 0)
		if r == nil {
			continue
		}
		whole := simulate.Explore(r, simulate.Options{Seed: 1}, 500)
		if !whole.Complete || whole.Played < 6 {
			continue
		}
		plans++
		of := simulate.Begin(r, simulate.Options{Seed: 1})
		var all []*simulate.Alternative
		of.Alternatives(2_000, func(a *simulate.Alternative) bool { all = append(all, a); return true })
		if len(all) != whole.Played {
			t.Fatalf("plan %d: %d combinations of %d\n%s", n, len(all), whole.Played, text)
		}
		told += len(all)
		choices := of.Choices
		for range 20 {
			set := make([]int, len(choices))
			for i := range set {
				if random.IntN(3) == 0 {
					set[i] = random.IntN(len(choices[i]))
				}
			}
			fit := 0
			for _, a := range all {
				if !slices.ContainsFunc(a.Picks, func(p [2]int) bool { return set[p[0]] != p[1] }) {
					fit++
				}
			}
			if fit != 1 {
				t.Fatalf("plan %d: %d simulations are what comes of %v\n%s", n, fit, set, text)
			}
		}
	}
	t.Logf("%d plans, %d combinations", plans, told)
}
