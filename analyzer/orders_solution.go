package analyzer

import (
	"slices"

	"github.com/obelus-dev/obelus/analyzer/internal/analysis"
	"github.com/obelus-dev/obelus/compiler/bind"
	"github.com/obelus-dev/obelus/compiler/dag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/policy"
)

// A solution is held to a policy's order rules as it runs, since what earlier ticks did counts. Calls that a rule
// relates run as they are listed if one may be refused, so that timing doesn't decide which.

// An orderedCall is a call of a solution in the view of a check.
type orderedCall struct {
	share
	total int // of AtMost: how often the subjects may have started, this one included
}

// relatedTo is the index of a call whose related calls are known.
type relatedTo int

// related are the calls listed before one with which order rules relate it. It is first asked in the order of the
// calls.
func related(p *Pass, call *plan.Call) []int {
	return analysis.Once(p.Store, relatedTo(call.Index), func() (with []int) {
		ordered := analysis.Table[int, []orderedCall](p.Store) // by check
		for at, c := range orderChecks(p) {
			one, known := orderedCall{share: shareOf(p, at, call)}, ordered[at]
			if call.Delegate != "" { // of its calls nothing is known here
				one.subject, one.other, one.count = true, true, c.Most+1
			}
			if !one.subject && !one.other {
				continue
			}
			if len(known) > 0 {
				one.total = known[len(known)-1].total
			} else if live := p.Plan.Live; live != nil && at < len(live.Started) {
				one.total = live.Started[at]
			}
			one.total = min(one.total+one.count, c.Most+1)
			for _, t := range slices.Backward(known) {
				if c.Kind == policy.AtMost && one.total <= c.Most { // there is room for all of them
					break
				}
				if one.subject && t.other || t.subject && one.other {
					with = append(with, t.call.Index)
				}
				if c.Kind == policy.AtMost && t.total > c.Most { // which waits for those before it
					break
				}
			}
			ordered[at] = append(known, one)
		}
		slices.Sort(with)
		return slices.Compact(with)
	})
}

// asListed are the pairs of calls of a solution that run as listed for the sake of orders.
// Those of calls that have been held are left out where calls would wait for each other.
func asListed(p *Pass, held func(call int) bool) (pairs [][2]int) {
	if len(orderChecks(p)) == 0 {
		return nil
	}
	var trace dag.Trace
	var late [][2]int
	for _, call := range p.Fresh() {
		for _, earlier := range related(p, call) {
			pair := [2]int{earlier, call.Index}
			if !held(call.Index) {
				pairs = append(pairs, pair)
			} else if trace.Follow(&p.Plan.Graph, int32(earlier), 0); !trace.Met(int32(call.Index)) {
				late = append(late, pair)
			}
		}
	}
	components := func(pairs [][2]int) int {
		return bind.WithOrder(p.Plan, slices.Concat(p.Ordered, pairs)).Graph.Components()
	}
	if all := slices.Concat(pairs, late); len(late) > 0 && components(all) == components(pairs) {
		return all // no more calls wait for each other
	}
	return pairs
}
