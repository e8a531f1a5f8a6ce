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

// relatedCalls are by call the indexes of those listed before it with which order rules relate it.
type relatedCalls struct{ before [][]int }

func related(p *Pass) [][]int {
	with := analysis.Kept[relatedCalls](p.Store)
	if with.before != nil {
		return with.before
	}
	with.before = make([][]int, len(p.Plan.Calls))
	for at, c := range policy.Checks(p.Plan.Policies) {
		j := &orderJudge{Pass: p, check: &c, inner: map[*plan.Plan]share{}}
		total := 0 // of AtMost: how often the subjects may have started
		if live := p.Plan.Live; live != nil && at < len(live.Started) {
			total = live.Started[at]
		}
		var known []share
		for i, call := range p.Plan.Calls {
			one := j.share(call)
			if call.Delegate != "" { // of its calls nothing is known here
				one.subject, one.other, one.count = true, true, c.Most+1
			}
			if !one.subject && !one.other {
				continue
			}
			total = min(total+one.count, c.Most+1)
			if c.Kind != policy.AtMost || total > c.Most { // else there is room for all of them
				for _, t := range known {
					if one.subject && t.other || t.subject && one.other {
						with.before[i] = append(with.before[i], t.call.Index)
					}
				}
				if c.Kind == policy.AtMost {
					known = nil // which this one waits for
				}
			}
			known = append(known, one)
		}
	}
	for i, calls := range with.before {
		slices.Sort(calls)
		with.before[i] = slices.Compact(calls)
	}
	return with.before
}

// asListed are the pairs of calls of a solution that run as listed for the sake of orders.
// Those of calls that have been held are left out where calls would wait for each other.
func asListed(p *Pass, held func(call int) bool) (pairs [][2]int) {
	if len(p.Plan.Policies) == 0 {
		return nil
	}
	with := related(p)
	var trace dag.Trace
	var late [][2]int
	for _, call := range p.Fresh() {
		for _, earlier := range with[call.Index] {
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
