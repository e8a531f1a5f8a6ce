package analyzer

import (
	"slices"

	"github.com/obelus-dev/obelus/compiler/bind"
	"github.com/obelus-dev/obelus/compiler/policy"
)

// A solution is held to a policy's order rules as it runs, since what earlier ticks did counts. Calls that a rule
// relates run as they are listed if one may be refused, so that timing doesn't decide which.

// relatedCalls are, by call, the calls listed before it with which order rules relate it.
func relatedCalls(p *Pass) [][]int {
	with := make([][]int, len(p.Plan.Calls))
	for at, c := range orderChecks(p) {
		type related struct {
			share
			total int // of AtMost: how often the subjects may have started, this one included
		}
		var known []related
		total := 0
		if live := p.Plan.Live; live != nil && at < len(live.Started) {
			total = live.Started[at]
		}
		for i, call := range p.Plan.Calls {
			one := shareOf(p, at, call)
			if call.Delegate != "" { // of its calls nothing is known here
				one.subject, one.other, one.count = true, true, c.Most+1
			}
			if !one.subject && !one.other {
				continue
			}
			total = min(total+one.count, c.Most+1)
			for _, t := range slices.Backward(known) {
				if c.Kind == policy.AtMost && total <= c.Most { // there is room for all of them
					break
				}
				if one.subject && t.other || t.subject && one.other {
					with[i] = append(with[i], t.call.Index)
				}
				if c.Kind == policy.AtMost && t.total > c.Most { // which waits for those before it
					break
				}
			}
			known = append(known, related{one, total})
		}
	}
	return with
}

// asListed are the pairs of calls of a solution that run as listed for the sake of orders. Those of calls that have
// been held are left out where calls would wait for each other.
func asListed(p *Pass, related [][]int, held func(call int) bool) (pairs [][2]int) {
	var late [][2]int
	for call, with := range related {
		slices.Sort(with)
		for _, earlier := range slices.Compact(with) {
			if pair := [2]int{earlier, call}; held(call) {
				late = append(late, pair)
			} else {
				pairs = append(pairs, pair)
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
