package analyzer

import (
	"slices"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/dag"
	"github.com/obelus-dev/obelus/runtime/orders"
)

// A solution is held to a policy's orders as it runs, since what earlier ticks did counts.
// So that neither timing nor the pieces in which it comes decide which of its calls is
// refused (S11.4), calls that an order speaks of together run as they are listed, unless
// nothing can be refused among them.

// A told call is one of a solution, as a check sees it.
type toldCall struct {
	call  int
	role  orders.Role
	total int // of AtMost: how often the subjects may have begun, this one included
}

// related are the calls listed before one with which orders speak of it.
func (p *Pass) related(call *compiler.Call) (with []int) {
	checks := p.orderChecks()
	if p.told == nil {
		p.told = make([][]toldCall, len(checks))
	}
	for at := range checks {
		c := &checks[at]
		one := toldCall{call: call.Index, role: c.Role(p.Plan, call)}
		own := p.share(at, c, call, one.role).begins
		if call.Plan() != "" { // of its calls nothing is known here
			one.role, own = orders.Subject|orders.Other, c.Most+1
		}
		known := p.told[at]
		before, _ := slices.BinarySearchFunc(known, call.Index, func(t toldCall, call int) int { return t.call - call })
		if one.role == 0 {
			continue
		}
		others := func(t toldCall) bool {
			return one.role&orders.Subject != 0 && t.role&orders.Other != 0 || t.role&orders.Subject != 0 && one.role&orders.Other != 0
		}
		if c.Kind == orders.AtMost {
			if live := p.Plan.Live; live != nil && at < len(live.Begun) {
				one.total = live.Begun[at]
			}
			if before > 0 {
				one.total = known[before-1].total
			}
			one.total = capped(c.Most+1, one.total+own)
			others = func(toldCall) bool { return true }
		}
		with = append(with, few(known[:before], &one, others, c)...)
		p.told[at] = append(known[:before:before], one)
	}
	slices.Sort(with)
	return slices.Compact(with)
}

// few are those of the calls before one that orders speak of with it; of many as many as it
// takes to come after all: the last of its own role waits for those before that.
func few(before []toldCall, one *toldCall, others func(toldCall) bool, c *orders.Check) (with []int) {
	const many = 64
	atMost := c.Kind == orders.AtMost
	if atMost && one.total <= c.Most {
		return nil
	}
	if len(before) > many || atMost {
		for at, t := range slices.Backward(before) {
			if t.role&one.role == one.role && (!atMost || t.total > c.Most) {
				with, before = append(with, t.call), before[at+1:]
				break
			}
		}
	}
	for _, t := range before {
		if others(t) {
			with = append(with, t.call)
		}
	}
	return with
}

// asListed are the pairs of calls of a solution that run as listed for the sake of orders.
// Those of calls that have been held are left out where calls would wait for each other.
func (p *Pass) asListed(held func(call int) bool) (pairs [][2]int) {
	if len(p.orderChecks()) == 0 {
		return nil
	}
	var trace dag.Trace
	var late [][2]int
	for _, call := range p.fresh() {
		for _, earlier := range p.related(call) {
			pair := [2]int{earlier, call.Index}
			if !held(call.Index) {
				pairs = append(pairs, pair)
			} else if trace.Follow(&p.Plan.Graph, int32(earlier), 0); !trace.Met(int32(call.Index)) {
				late = append(late, pair)
			}
		}
	}
	if all := slices.Concat(pairs, late); len(late) > 0 && p.Plan.InOrder(slices.Concat(p.ordered, all)).Graph.Acyclic() {
		return all
	}
	return pairs
}
