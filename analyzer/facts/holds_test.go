package facts_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/obelus-dev/obelus/analyzer/facts"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/testdata/amount"
)

// What a call that hands something out may hold is what can be reached backwards over the
// reads of values, and is told where that is more than these reads themselves say.
func TestWhatCallsMayHold(t *testing.T) {
	told := 0
	for seed := range uint64(amount.Of(100, 1000, 20_000)) {
		p := written(rand.New(rand.NewPCG(seed, 19))).compile(t)
		if !p.Graph.Acyclic() {
			continue
		}
		for i, c := range facts.Of(p, facts.Options{}).Calls {
			if !c.Leaves() {
				continue
			}
			direct, all, seen := map[string]bool{}, map[string]bool{}, map[int]bool{}
			var follow func(call int, into ...map[string]bool)
			follow = func(call int, into ...map[string]bool) {
				reads := given(p, p.Calls[call])
				start := func(kind string) {
					for _, set := range into {
						set["†"+kind] = true
					}
				}
				if p.Calls[call].Latent() {
					start("input")
					start("state")
				}
				for _, r := range reads {
					if r.Start || len(r.Writers) == 0 {
						start(r.Ref.Kind)
					}
					for _, w := range r.Writers {
						name := p.Calls[w].Name
						if tool := p.Calls[w].ToolName; tool != "ask" && tool != "calc" {
							for _, set := range into {
								set[name] = true
							}
						}
						if !seen[int(w)] {
							seen[int(w)] = true
							follow(int(w), all)
						}
					}
				}
			}
			follow(i, direct, all)
			var want []string
			if len(all) > len(direct) {
				for name := range all {
					want = append(want, name)
				}
				told++
			}
			got := slices.Sorted(slices.Values(c.Holds))
			if slices.Sort(want); !slices.Equal(got, want) {
				t.Fatalf("seed %d: %s may hold %v, want %v", seed, c.Name, got, want)
			}
		}
	}
	if told < 20 {
		t.Errorf("only %d calls hold something by way of others", told)
	}
}

// given are the reads of all values that a call is given; an item is of the list.
func given(p *compiler.Plan, c *compiler.Call) (reads []*compiler.Read) {
	add := func(_ string, of []int) {
		for _, r := range of {
			if read := &p.Reads[r]; !p.OfItem(read) {
				reads = append(reads, read)
			}
		}
	}
	leaves(fmt.Sprint(c.Index), c.Params, add)
	if c.Each != nil {
		leaves("", c.Each.List, add)
	}
	return reads
}
