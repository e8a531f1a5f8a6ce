package facts_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/obelus-dev/obelus/analyzer/facts"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/testdata/amount"
)

// What a model has chosen of what a call passes out is what comes from one at once or by expressions alone; of what
// comes from another plan it is anything.
func TestWhatModelsChoose(t *testing.T) {
	chosen := 0
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
		}
	}
	if chosen < 20 {
		t.Errorf("models have chosen values of only %d calls", chosen)
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
	} else if all[facts.Anything] {
		return map[string]bool{facts.Anything: true}
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
				all[facts.Anything] = true
			case c.ToolName == "calc":
				seen[int(w)] = true
				maps.Copy(all, choosing(p, int(w), seen))
			}
		}
	}
	if all[facts.Anything] {
		return map[string]bool{facts.Anything: true}
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
