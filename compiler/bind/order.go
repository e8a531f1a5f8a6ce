package bind

import (
	"slices"

	"github.com/obelus-dev/obelus/compiler/dag"
	"github.com/obelus-dev/obelus/compiler/plan"
)

// WithOrder is the plan with more order: of each pair of calls, by index, the second waits for the first. It is for
// calls of which it isn't known whether it matters which comes first. The graph may have cycles then. The plan itself
// stays as it is.
func WithOrder(p *plan.Plan, pairs [][2]int) *plan.Plan {
	one := *p
	one.Calls, one.Reads = make([]*plan.Call, len(p.Calls)), slices.Clone(p.Reads)
	for i, of := range p.Calls {
		call := *of
		call.Choices, call.Waits = nil, nil
		one.Calls[i] = &call
	}
	for _, pair := range pairs {
		call := one.Calls[pair[1]]
		call.Ordered = append(slices.Clip(call.Ordered), int32(pair[0]))
	}
	for _, pair := range pairs {
		call := one.Calls[pair[1]]
		slices.Sort(call.Ordered)
		call.Ordered = slices.Compact(call.Ordered)
	}
	one.Unordered, one.Graph, one.Index, one.PlaceIndex = nil, dag.Graph{}, nil, nil
	Plan(&one)
	return &one
}

// WithDelegates is the plan with other plans in the place of some of those that it delegates to, by their paths.
func WithDelegates(p *plan.Plan, delegates map[string]*plan.Plan) *plan.Plan {
	one := *p
	one.Delegates = delegates
	return &one
}
