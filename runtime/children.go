package runtime

import (
	"fmt"
	"slices"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/runtime/guard"
	"github.com/obelus-dev/obelus/runtime/resolve"
	"github.com/obelus-dev/obelus/runtime/state"
)

// A call that a plan carries out, and one with "_each", runs as a frame of calls below its own: each is like any other
// call, and the call above takes no place. The frame of a delegate has a state of its own. That of items has none: what
// its calls read is what the call above reads, and what they give is kept until the list is whole.

// results are those of a call's items.
type results struct {
	*resolve.Items
	values  []any
	collect bool
	failure *Failure // of the first in the list that failed, of those that have ended
	failed  int32    // its index
}

func (s *schedule) child(i int32) *frame {
	if more := s.calls[i].more; more != nil {
		return more.child
	}
	return nil
}

// startBelow begins the next try of a call that a frame below carries out, or continues with that of its last try.
func startBelow(f *frame, i int32) {
	call, one := f.call(i), &f.calls[i]
	d := f.revivable(i)
	if d == nil && call.Each == nil {
		f.nextTry(i)
	} else { // items count by themselves
		f.transition(i, Running)
		if one.attempt++; d != nil {
			tellGuards(f, i, guard.Continued)
		}
	}
	if call.Timeout > 0 && call.Each == nil {
		f.pause(i, call.Timeout)
	}
	c := f.emit(i, Enter)
	c.Params = one.params
	switch {
	case d != nil:
		if one.more.child, one.more.last, f.machine.frames[d.number] = d, nil, d; d.items != nil {
			d.items.Items = one.more.items
			c.Count = len(d.calls)
		}
		reopenFrame(d)
	case call.Each != nil:
		all := &results{Items: one.more.items, collect: call.Each.Collect}
		n := len(all.Of)
		c.Count = n
		f.machine.delegated += n
		d = openBelow(f, i, f.site)
		d.Plan, d.Program, d.Log = compiler.Items(f.Plan, f.Plan.Calls[i], n), f.Program, f.Log
		d.items, all.values, d.calls, d.unsettled = all, make([]any, n), make([]callState, n), n
		d.boundBy.reach(n, 0)
		d.orderedBy.reach(n, 0)
		if f.machine.unsettled += n; n == 0 {
			f.machine.finished = append(f.machine.finished, d)
		}
		for at := range n {
			startItem(d, int32(at))
		}
	default:
		c.Uncertainty = uncertainty(f, call)
		p, handed := f.Plan.Delegates[call.Delegate], f.context(i)
		f.machine.delegated += len(p.Calls) + 1
		d = openBelow(f, i, Site{Instance: f.site.Instance, Under: Path(f.site.Under, call.Name),
			Delegate: call.Delegate, Tries: append(slices.Clip(f.site.Tries), int(one.attempt))})
		d.Log = state.New(state.Delegated(p, handed, one.params))
		d.setPlan(p)
		d.takeUp(nil)
		d.begin()
	}
}

// openBelow opens the frame of what carries a call out.
func openBelow(f *frame, i int32, site Site) *frame {
	number := len(f.machine.frames)
	site.Parent, site.ParentCall = f.number, int(i)
	at := position{number, site, f.order, f.place, f, i, append(slices.Clip(f.path), i, int32(number))}
	d := &frame{position: at}
	d.machine, d.Budget = f.machine, f.Budget
	if d.place < 0 {
		d.place = int32(f.Plan.Calls[i].Place)
	}
	f.machine.frames = append(f.machine.frames, d)
	f.calls[i].details().child = d
	return d
}

// startItem settles an item, or queues it.
func startItem(f *frame, i int32) {
	switch one := &f.items.Of[i]; {
	case one.Skip != "":
		f.settle(i, Settlement{Status: Skipped, Reason: one.Skip})
	case one.Failure != nil:
		f.settle(i, Settlement{Status: Failed, Failure: one.Failure})
	case one.Before:
		f.settle(i, doneBefore(one.Output))
	default:
		f.ready(i, one.Params)
	}
}

// itemSettled takes the result of an item. Of several that fail the first in the list counts: timing decides nothing.
func itemSettled(f *frame, i int32, s *Settlement) {
	failure, all := s.Failure, f.items
	if s.Status == Rejected {
		failure = &Failure{Code: "rejected", Message: s.Reason}
	}
	switch isFirst := all.failure == nil; {
	case s.Status == Done:
		all.values[i] = s.Output
	case failure == nil: // it was skipped or cancelled
	case all.collect:
		all.values[i] = failure.Record()
	case isFirst || i < all.failed:
		if all.failure, all.failed = failure, i; isFirst {
			cancelCalls(f, false, fmt.Sprintf("%q failed", f.Plan.Calls[i].Name))
		}
	}
}

// cancelCalls gives the calls of a frame up that haven't started, or all of them; what is at work is asked to end.
func cancelCalls(f *frame, all bool, why string) {
	for at := range f.calls {
		i, state := int32(at), &f.calls[at]
		switch {
		case state.status.Settled(), !all && state.attempt > 0:
		case state.status == Running:
			f.giveUp(i)
		default:
			if state.status == Asking {
				f.emit(i, Cancel)
			}
			f.settle(i, Settlement{Status: Cancelled, Reason: why, Attempts: int(state.attempt)})
		}
	}
}

const wasGivenUp = "the call that delegates was given up"

// returnResult completes the call above with what its frame has come to.
func returnResult(f *frame) {
	var output any
	var failure *Failure
	switch {
	case f.givenUp:
	case f.items == nil:
		if output = concludeFrame(f); len(f.errors) > 0 {
			first := sortedErrors(f.errors)[0]
			failure = &Failure{Code: first.Code, Message: first.Message,
				Details: map[string]any{"delegate": f.site.Delegate, "call": first.Call}}
			if first.Call != "" {
				failure.Message = first.Call + ": " + first.Message
			}
		}
	default:
		if output = f.items.values; f.items.failure != nil {
			failure = resolve.OfItem(f.items.failure, int(f.items.failed))
		}
	}
	more := f.parent.calls[f.under].more
	f.machine.frames[f.number], more.child, more.refused = nil, nil, f.rejects
	if f.machine.keepsFailed || f.machine.loop != nil && (f.items != nil || f.givenUp || failure != nil) {
		more.last = f
	}
	f.parent.complete(f.under, output, -1, failure)
}

// reader is the frame whose state a frame's calls read: of items that of the call above.
func (f *frame) reader() *frame {
	if f.items != nil {
		return f.parent
	}
	return f
}

// listedCall is the call of the plan that runs in a place: of an item the one that runs it.
func listedCall(f *frame, i int32) *plan.Call {
	if f.items != nil {
		return f.parent.Plan.Calls[f.under]
	}
	return f.Plan.Calls[i]
}

// context is what a call is given besides its parameters.
func (f *frame) context(i int32) map[string]any {
	if r := f.replacement(i); r != nil {
		return r.context
	}
	if f.items != nil {
		f.parent.TurnTo(listedCall(f, i), f.items.Items, int(i))
	}
	return state.ScopeValues(f.Plan.Calls[i], f.reader().Read)
}
