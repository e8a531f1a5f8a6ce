package facts_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/obelus-dev/obelus/analyzer/facts"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/testdata/amount"
)

// What a call that hands something out may hold is what can be reached backwards over the
// reads of values, and is told where that is more than these reads themselves say. What a
// model has chosen of it is what comes from one at once or by expressions alone.
func TestWhatCallsMayHold(t *testing.T) {
	told, chosen := 0, 0
	for seed := range uint64(amount.Of(50, 500, 20_000)) {
		p := written(rand.New(rand.NewPCG(seed, 19))).compile(t)
		if !p.Graph.Acyclic() {
			continue
		}
		for i, c := range facts.Of(p, facts.Options{}).Calls {
			if !c.Leaves() {
				continue
			}
			if got, want := models(&c), choosing(p, i, map[int]bool{}); !maps.Equal(got, want) {
				t.Fatalf("seed %d: the values of %s are chosen by %v, want %v", seed, c.Name, got, want)
			} else if len(want) > 0 {
				chosen++
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
	if told < 20 || chosen < 20 {
		t.Errorf("only %d calls hold something by way of others, and of %d models have chosen values", told, chosen)
	}
}

// models are those that may have chosen a value of a call.
func models(c *facts.Call) map[string]bool {
	all := map[string]bool{}
	for _, v := range c.Values {
		for _, name := range v.Models {
			all[name] = true
		}
	}
	if c.Runs.Kind == facts.Model {
		return map[string]bool{}
	}
	return all
}

// choosing are the models whose answers a call's parameters are, or are worked out of.
func choosing(p *plan.Plan, call int, seen map[int]bool) map[string]bool {
	all := map[string]bool{}
	for _, r := range given(p, p.Calls[call]) {
		for _, w := range r.Writers {
			switch c := p.Calls[w]; {
			case seen[int(w)] || p.Calls[call].ToolName == "ask":
			case c.ToolName == "ask":
				all[c.Name] = true
			case c.ToolName == "sub":
				all["sub.yaml: inner#1"] = true
			case c.ToolName == "calc":
				seen[int(w)] = true
				maps.Copy(all, choosing(p, int(w), seen))
			}
		}
	}
	return all
}

// given are the reads of all values that a call is given; an item is of the list.
func given(p *plan.Plan, c *plan.Call) (reads []*plan.Read) {
	add := func(_ string, of []int) {
		for _, r := range of {
			if read := &p.Reads[r]; !compiler.ReadsItem(p, read) {
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
