package runtime

import (
	"fmt"
	"maps"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
)

// A call with "_each" runs as a frame of calls, one for each item: each takes a place, is asked about, tried again,
// bounded in time, journaled and resumed as any call is. The frame has no state of its own: what its calls read is what
// the call above reads, and what they give is kept until the list is whole.

// An item is what one of these calls is run with, worked out for all before the first
// starts: a structural error is found before a call has done anything.
type item struct {
	params  map[string]any
	skip    string   // why it isn't run; "" where it is
	failure *Failure // why it can't be run, where such failures are collected
	before  bool     // an earlier tick has done it
	output  any      // what it gave then
}

type items struct {
	list []any
	of   []item
}

type results struct {
	values  []any
	collect bool
	failure *Failure // of the first in the list that failed, of those that have ended
	failed  int32    // its index
}

// enumerate works out what each item of a call's list is run with, once all that it may
// read has settled. It gives the call's parameters, which are those of its items.
func (r *resolver) enumerate(i int32, own map[string]any, given any) (map[string]any, *Failure) {
	call := r.plan.Calls[i]
	list, isList := given.([]any)
	switch {
	case !isList:
		return nil, &Failure{Code: "expression-type",
			Message: fmt.Sprintf("\"_each\" must be a list, and %s is none", call.Each.Text())}
	case len(list) > compiler.MaxItems:
		return nil, &Failure{Code: codeLimit,
			Message: fmt.Sprintf("\"_each\" has %d items; the limit is %d", len(list), compiler.MaxItems)}
	}
	all, params := &items{list, make([]item, len(list))}, make([]any, len(list))
	r.calls[i].details().items = all
	for at := range list {
		r.turnTo(i, at)
		one := r.itemOf(call, own)
		if one.failure != nil && !call.Each.Collect {
			return nil, ofItem(one.failure, at)
		}
		all.of[at] = one
		if one.params != nil {
			params[at] = one.params
		}
	}
	return map[string]any{"_each": params}, nil
}

// turnTo lets what a call reads of an item be that of one item.
func (r *resolver) turnTo(i int32, at int) {
	for _, number := range r.plan.Calls[i].Reads {
		read := &r.plan.Reads[number]
		if !compiler.ReadsItem(r.plan, read) {
			continue
		}
		state := &r.reads[number]
		state.known = true
		if read.Ref.Kind == "index" {
			state.value, state.there = pathtree.Walk(float64(at), read.Ref.Path)
		} else {
			state.value, state.there = pathtree.Walk(r.calls[i].more.items.list[at], read.Ref.Path)
		}
	}
}

// itemOf is what the item at hand is run with; own are the parameters that are the same for all.
func (r *resolver) itemOf(call *plan.Call, own map[string]any) item {
	var v readiness
	r.ofItem = true
	defer func() { r.ofItem = false }()
	if call.When.PerItem() {
		r.meets(call, &v)
	}
	params := make(map[string]any, len(own))
	for i := 0; i < len(call.Params.Fields) && v.skip == ""; i++ {
		field := &call.Params.Fields[i]
		if params[field.Key] = own[field.Key]; field.Value.PerItem() {
			params[field.Key] = r.value(field.Value, &v)
		}
	}
	switch {
	case v.skip != "":
		return item{skip: v.skip}
	case v.failure == nil && !r.machine.overMatched(): // else nothing starts any more
		v.failure = invalid(r.plan, call, params, &r.machine.matching)
	}
	return item{params: params, failure: v.failure}
}

// expandItems begins the items of a call. It takes no place from activities: they do.
func expandItems(f *frame, i int32) {
	call, state := f.plan.Calls[i], &f.calls[i]
	if revive(f, i) {
		return
	}
	if !f.transition(i, Running) {
		return
	}
	state.attempt++
	all := state.more.items.of
	f.machine.delegated += len(all)
	c := f.emit(i, Enter)
	c.Params, c.Count = state.params, len(all)
	d := openBelow(f, i, f.site)
	d.plan, d.program, d.log = compiler.Items(f.plan, call, len(all)), f.program, f.log
	d.items = &results{values: make([]any, len(all)), collect: call.Each.Collect}
	d.calls = make([]callState, len(all))
	d.boundBy.reach(len(all), 0)
	d.orderedBy.reach(len(all), 0)
	d.unsettled = len(all)
	f.machine.unsettled += len(all)
	if len(all) == 0 {
		f.machine.finished = append(f.machine.finished, d)
	}
	for at, one := range all {
		switch {
		case one.skip != "":
			d.settle(int32(at), Settlement{Status: Skipped, Reason: one.skip})
		case one.failure != nil:
			d.settle(int32(at), Settlement{Status: Failed, Failure: one.failure})
		case one.before:
			d.settle(int32(at), doneBefore(one.output))
		default:
			d.ready(int32(at), one.params)
		}
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
		f.items.values[i] = failure.record()
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
		f.settle(i, Settlement{Status: Cancelled, Reason: fmt.Sprintf("%q failed", f.plan.Calls[failed].Name)})
	}
}

func returnList(f *frame) {
	releaseFrame(f)
	f.parent.calls[f.under].more.results = f.items
	handUp(f)
	var failure *Failure
	if f.items.failure != nil {
		failure = ofItem(f.items.failure, int(f.items.failed))
	}
	f.parent.complete(f.under, f.items.values, -1, failure)
}

func ofItem(failure *Failure, index int) *Failure {
	details := maps.Clone(mapping(failure.Details))
	if details == nil {
		details = map[string]any{}
		if failure.Details != nil {
			details["details"] = failure.Details
		}
	}
	details["index"] = float64(index)
	return &Failure{Code: failure.Code, Message: fmt.Sprintf("item %d: %s", index, failure.Message), Details: details}
}

// reader is the frame whose state a frame's calls read: of items that of the call above.
func (f *frame) reader() *frame {
	if f.items != nil {
		return f.parent
	}
	return f
}
