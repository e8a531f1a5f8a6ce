package runtime

import (
	"slices"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/label"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
)

// rematchCompleted lists the calls of the tick's whole plan that haven't been, and reports whether more done calls are
// repeated.
func (l *loop) rematchCompleted(plan *plan.Plan) bool {
	grown := false
	for _, f := range l.roots() {
		if f.Memory == nil {
			continue
		}
		view := viewOf(f, plan)
		for _, call := range view.Calls[min(len(f.Memory.Listed), len(view.Calls)):] {
			key := ""
			if call.Tool == nil || !call.Tool.Volatile {
				key = compiler.PlanIdentity(view, call)
			}
			grown = f.Memory.List(key) || grown
		}
	}
	return grown
}

// mayBeListedLater reports whether what earlier ticks wrote at a path may be the work of a done call that is listed
// again only after a call of the tick; some messages don't matter.
func (s *schedule) mayBeListedLater(path pathtree.ID, call *plan.Call, except func(*Message) bool) bool {
	for _, m := range s.Log.Over(path) {
		if m.Completed > 0 && (except == nil || !except(m)) && s.Memory.MayBeListedAfter(m.Completed, call.Index) {
			return true
		}
	}
	return false
}

// dedupe gives the number of the done call that a call repeats whose parameters are resolved, or 0. It is pending where
// another call, ahead of it, may be the one that does: of several that are alike the nth, in the graph's order, repeats
// the nth.
func (s *schedule) dedupe(i int32, params map[string]any) (number int32, pending bool) {
	alike := s.Memory.Alike(i, len(s.calls))
	if alike == nil {
		return 0, false
	}
	var before []int32
	for _, j := range alike {
		if s.Log.Place(j) < s.Log.Place(i) {
			if s.calls[j].status == Waiting {
				return 0, true
			}
			before = append(before, j)
		}
	}
	number = s.Memory.Match(i, params, before)
	if number == 0 && s.Plan.Calls[i].Each != nil {
		for at := range s.calls[i].more.items.Of {
			if one := &s.calls[i].more.items.Of[at]; one.Params != nil && one.Failure == nil {
				one.Output, one.Before = s.Memory.RepeatItem(i, one.Params)
			}
		}
	}
	return number, false
}

// lookAgain notes that those may be decided that waited for a call of their kind.
func (f *frame) lookAgain(i int32) {
	for _, j := range f.Memory.Alike(i, len(f.calls)) {
		f.look(j)
	}
}

func doneBefore(output any) Settlement {
	return Settlement{Status: Done, Output: output, Reason: "done before", before: true}
}

// settleContinued settles the calls that were done before this run began: those of whose output the frame's initial
// state holds one alternative, the failure route included.
func settleContinued(f *frame) {
	for i, call := range f.Plan.Calls {
		for _, route := range call.Output {
			if output, there := f.initialOutput(route); there {
				// and not done, for which a state is no evidence
				f.orders.Started(label.IsMet(f.Plan, call), nil, false)
				f.settle(int32(i), doneBefore(output))
				break
			}
		}
	}
}

// initialOutput reports whether the initial state holds a value, not null, at all paths
// of an alternative, and gives the one at the first.
func (s *schedule) initialOutput(route plan.Route) (first any, there bool) {
	for _, path := range slices.Backward(route) {
		if first, _ = s.Log.Initial(path.ID); first == nil {
			return nil, false
		}
	}
	return first, true
}

// resolvedParams are what the plan resolved a call's parameters to, whatever a person made of them.
func (s *schedule) resolvedParams(i int32) map[string]any {
	call := s.Plan.Calls[i]
	params, v := s.Evaluate(call)
	if call.Each != nil {
		_, params, _ = s.Enumerate(call, params, v.List)
	}
	return params
}
