package runtime

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
)

// takeUp takes up further calls of the plan. The draft says which of them are held until it is whole; nil is whole.
func (f *frame) takeUp(d *analyzer.Draft) {
	first := len(f.calls)
	n := len(f.Plan.Calls)
	f.calls = slices.Grow(f.calls, n-first)[:n]
	f.Reads = slices.Grow(f.Reads, max(0, len(f.Plan.Reads)-len(f.Reads)))[:len(f.Plan.Reads)]
	f.boundBy.reach(n, len(f.Reads))
	f.orderedBy.reach(n, n)
	f.unsettled += n - first
	f.machine.unsettled += n - first
	f.Log.Grow(n - first) // few write more than one
	for i := first; i < n; i++ {
		if f.calls[i].held = d != nil && d.Held(i); !f.calls[i].held {
			f.connect(i)
		}
	}
}

func (s *schedule) connect(i int) {
	call, state := s.Plan.Calls[i], &s.calls[i]
	for _, r := range call.Reads {
		s.Reads[r].Open = int32(len(s.Plan.Reads[r].Writers))
		if !s.isSettled(int32(r)) {
			state.open++
		}
	}
	state.partial = call.When != nil || call.Each != nil || !plain(call.Params)
	state.order = int32(len(call.Waits) + len(call.Choices) + len(call.After))
	s.isOrdered(int32(i))
}

// isSettled reports whether all writers that a read is bound to have settled; if not, it waits for one of them.
func (s *schedule) isSettled(r int32) bool {
	read, writers := &s.Reads[r], s.Plan.Reads[r].Writers
	for ; read.Open > 0; read.Open-- {
		if w := writers[read.Open-1]; !s.calls[w].status.Settled() {
			s.boundBy.add(w, r)
			return false
		}
	}
	return true
}

// isOrdered reports whether all calls have settled that must before one starts; if not, it waits for one of them.
func (s *schedule) isOrdered(i int32) bool {
	state := &s.calls[i]
	for ; state.order > 0; state.order-- {
		if first := waitsFor(s.Plan.Calls[i], int(state.order-1)); !s.calls[first].status.Settled() {
			s.orderedBy.add(first, i)
			return false
		}
	}
	return true
}

// waitsFor is one of the calls, by number, that must have settled before another starts.
func waitsFor(call *plan.Call, n int) int32 {
	if n < len(call.Waits) {
		return call.Waits[n]
	}
	if n -= len(call.Waits); n < len(call.Choices) {
		return call.Choices[n]
	}
	return int32(call.After[n-len(call.Choices)].Call)
}

// plain reports whether all expressions in a template are references: then each of its reads decides alone.
func plain(t *plan.Template) bool {
	for one := range t.Expressions() {
		if !one.Expr.Plain() {
			return false
		}
	}
	return true
}

// A ready call and its position in the order of EXECUTION.md#order-of-calls: by its place in the plan, then by its
// instance; a delegate's calls have the position of the delegate. So of delegates within delegates the first is carried
// through before the next begins, and no more of them are at work than keep every place busy.
type ready struct {
	frame        *frame
	call         int32
	place, order int32
}

func (a ready) before(b ready) bool { return a.compare(b) < 0 }

func (a ready) compare(b ready) int {
	if a.place != b.place || a.order != b.order {
		return cmp.Or(cmp.Compare(a.place, b.place), cmp.Compare(a.order, b.order))
	}
	x, y := a.frame.path, b.frame.path
	n, i, j := min(len(x), len(y)), a.call, b.call
	if len(x) > n {
		i = x[n]
	}
	if len(y) > n {
		j = y[n]
	}
	return cmp.Or(slices.Compare(x[:n], y[:n]), cmp.Compare(i, j), len(x)-len(y))
}

// Whether a write fits, and what its state schema says of the result, is judged on all that counts before it: earlier
// ticks, and in its own the calls that have their place before its own in the graph's order. Those that it depends on
// have settled when it starts. Of the others few can make a difference: a result is kept until these have settled, so
// that no verdict depends on timing, and what was found to fit then fits whenever the state is put together again.
// There is no deadlock: calls wait for earlier places only.

// An arrival is the result of the activity of a call, kept until it can be judged.
type arrival struct {
	value   any
	route   int
	failure *Failure
	first   int32 // the call that must settle before
}

// park keeps the result of a call if its writes can't be judged yet, and reports whether it does.
func (f *frame) park(i int32, routes []plan.Route, method plan.Method, a arrival) bool {
	for _, path := range slices.Concat(routes...) {
		if a.first = f.ahead(i, path.ID, method); a.first >= 0 {
			if f.calls[i].status == Running {
				f.tried(i, a.failure, 0)
			}
			f.transition(i, Writing)
			f.calls[i].details().arrival = &a
			f.orderedBy.add(a.first, i)
			return true
		}
	}
	return false
}

// ahead is a call that must have settled before a write can be judged, of several the one listed last: when it has
// settled, most others have; -1 for none.
func (s *schedule) ahead(i int32, path pathtree.ID, method plan.Method) int32 {
	if s.Program.ByTime || !s.NeedsBase(path, method) {
		return -1
	}
	mine := s.Log.Place(i)
	for _, w := range slices.Backward(s.Plan.Around(path)) {
		isOpen := !s.calls[w.Call].status.Settled() && w.Call != i && s.Log.Place(w.Call) < mine
		if isOpen && s.matters(w, path, method) {
			return w.Call
		}
	}
	return -1
}

// matters reports whether a write that counts before another may decide whether that one fits. One that sets the same
// path doesn't, nor does one that appends to the same list that no schema judges.
func (s *schedule) matters(w plan.Writer, path pathtree.ID, method plan.Method) bool {
	appends := func(m plan.Method) bool { return m == plan.Push || m == plan.Concat }
	return w.Path != path ||
		method != plan.Set && (w.Sets || !appends(method) || !appends(w.Method) || s.SchemaAt(path) != nil)
}

// releaseWrites lets all results be judged, as calls have their final places.
func (f *frame) releaseWrites() {
	for i := range f.calls {
		if f.calls[i].status == Writing && !f.calls[i].queued {
			f.orderedBy.remove(f.calls[i].more.arrival.first, int32(i))
			f.inspect(int32(i))
		}
	}
}

func (f *frame) judgePending(i int32) {
	a := f.calls[i].more.arrival
	f.calls[i].more.arrival = nil
	if a.failure != nil && !f.givenUp {
		f.failedForGood(i, a.failure)
	} else {
		f.complete(i, a.value, a.route, a.failure)
	}
}

// links say who waits for which call. Everybody waits for one call at a time: of those that must have settled the last,
// and when that has settled, the next of them that hasn't.
type links struct {
	first []int32 // by call: who waits for it and came last, from 1; 0 for nobody
	next  []int32 // by who waits: who came before and waits for the same call
}

// reach makes room for so many calls, and for so many who wait.
func (l *links) reach(calls, waiting int) {
	l.first = slices.Grow(l.first, calls-len(l.first))[:calls]
	l.next = slices.Grow(l.next, waiting-len(l.next))[:waiting]
}

func (l *links) add(call, who int32) {
	l.next[who] = l.first[call]
	l.first[call] = who + 1
}

// remove lets somebody who waits for a call wait no more.
func (l *links) remove(call, who int32) {
	at := &l.first[call]
	for *at != who+1 {
		at = &l.next[*at-1]
	}
	*at = l.next[who]
}

// take gives who waits for a call, one after the other: each may wait for another then.
func (l *links) take(call int32) (who int32, ok bool) {
	who = l.first[call] - 1
	if who < 0 {
		return 0, false
	}
	l.first[call] = l.next[who]
	return who, true
}

// A transition is how a call comes by a status: from which others, and what that does besides.
type transition struct {
	from []Status
	do   func(f *frame, i int32)
}

// transitions are all that there are, by what a call becomes: nothing follows a status that is settled.
var transitions = [Cancelled + 1]transition{
	// From Queued where a limit stops it, from Running where a kill cut the attempt short or no model answers.
	Queued: {[]Status{Waiting, Queued, Asking, Running, Pausing}, (*frame).line},
	// From Asking where an answer can't be taken, from Running where a kill cut the attempt short.
	Asking:  {[]Status{Queued, Asking, Running}, nil},
	Running: {[]Status{Queued}, nil},
	Pausing: {[]Status{Running, Writing}, nil},
	// From Queued and Asking with a failure record, from Writing where one more call has to settle first.
	Writing: {[]Status{Queued, Asking, Running, Writing}, nil},
	// From Waiting where the call was done before.
	Done: {[]Status{Waiting, Running, Writing}, (*frame).release},
	// From Queued where a guard refuses it, or where who resumes reports that an interrupted attempt has failed.
	Failed:   {[]Status{Waiting, Queued, Asking, Running, Writing}, (*frame).release},
	Skipped:  {[]Status{Waiting}, (*frame).release},
	Rejected: {[]Status{Asking, Writing}, (*frame).release},
	// With the delegate or the list that it is in.
	Cancelled: {[]Status{Waiting, Queued, Asking, Running, Pausing, Writing}, (*frame).release},
}

func mayFollow(from, to Status) bool { return slices.Contains(transitions[to].from, from) }

// Tests see the transitions that are made.
var onTransition func(from, to Status)

// transition gives a call another status: nothing else does.
func (f *frame) transition(i int32, to Status) {
	state := &f.calls[i]
	if !mayFollow(state.status, to) {
		panic(fault(fmt.Sprintf("%q can't be %s after it was %s", f.Plan.Calls[i].Name, to, state.status)))
	}
	if onTransition != nil {
		onTransition(state.status, to)
	}
	state.status = to
	if do := transitions[to].do; do != nil {
		do(f, i)
	}
}
