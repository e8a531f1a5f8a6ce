package runtime

import (
	"fmt"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/runtime/resolve"
)

// A call with "_each" runs as a frame of calls, one for each item: each takes a place, is asked about, tried again,
// bounded in time, journaled and resumed as any call is. The frame has no state of its own: what its calls read is what
// the call above reads, and what they give is kept until the list is whole.

type results struct {
	values  []any
	collect bool
	failure *Failure // of the first in the list that failed, of those that have ended
	failed  int32    // its index
}

// expandItems begins the items of a call. It takes no place from activities: they do.
func expandItems(f *frame, i int32) {
	call, state := f.Plan.Calls[i], &f.calls[i]
	if revive(f, i) {
		return
	}
	f.transition(i, Running)
	state.attempt++
	all := state.more.items.Of
	f.machine.delegated += len(all)
	enter(f, i, len(all))
	d := openBelow(f, i, f.site)
	d.Plan, d.Program, d.Log = compiler.Items(f.Plan, call, len(all)), f.Program, f.Log
	d.items = &results{values: make([]any, len(all)), collect: call.Each.Collect}
	d.calls = make([]callState, len(all))
	d.boundBy.reach(len(all), 0)
	d.orderedBy.reach(len(all), 0)
	d.unsettled = len(all)
	f.machine.unsettled += len(all)
	if len(all) == 0 {
		f.machine.finished = append(f.machine.finished, d)
	}
	for at := range all {
		startItem(d, int32(at))
	}
}

// startItem settles an item, or queues it.
func startItem(f *frame, i int32) {
	switch one := &f.parent.calls[f.under].more.items.Of[i]; {
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

// itemSettled takes the result of an item. Of several that fail the first in the list
// counts: all before it have been started, so that which it is doesn't depend on timing.
func itemSettled(f *frame, i int32, s *Settlement) {
	failure := s.Failure
	switch s.Status {
	case Done:
		f.items.values[i] = s.Output
		return
	case Rejected:
		failure = &Failure{Code: "rejected", Message: s.Reason}
	case Failed:
	default:
		return
	}
	if f.items.collect {
		f.items.values[i] = failure.Record()
		return
	}
	first := f.items.failure == nil
	if first || i < f.items.failed {
		f.items.failure, f.items.failed = failure, i
	}
	if first {
		startNoOther(f, i)
	}
}

func startNoOther(f *frame, failed int32) {
	for at := range f.calls {
		i, state := int32(at), &f.calls[at]
		if state.attempt > 0 || state.status.Settled() {
			continue
		}
		if state.status == Asking {
			f.emit(i, Cancel)
		}
		f.settle(i, Settlement{Status: Cancelled, Reason: fmt.Sprintf("%q failed", f.Plan.Calls[failed].Name)})
	}
}

func returnList(f *frame) {
	releaseFrame(f)
	f.parent.calls[f.under].more.results = f.items
	handUp(f)
	var failure *Failure
	if f.items.failure != nil {
		failure = resolve.OfItem(f.items.failure, int(f.items.failed))
	}
	f.parent.complete(f.under, f.items.values, -1, failure)
}

// reader is the frame whose state a frame's calls read: of items that of the call above.
func (f *frame) reader() *frame {
	if f.items != nil {
		return f.parent
	}
	return f
}
