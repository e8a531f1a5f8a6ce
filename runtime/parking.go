package runtime

import (
	"slices"

	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
)

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
	behind  int32 // the call that must settle first
}

// park keeps the result of a call if its writes can't be judged yet, and reports whether it does.
func (f *frame) park(i int32, routes []plan.Route, method plan.Method, a arrival) bool {
	if f.Program.ByTime {
		return false
	}
	for _, route := range routes {
		for _, path := range route {
			if behind := f.ahead(i, path.ID, method); behind >= 0 {
				if f.calls[i].status == Running {
					f.tried(i, a.failure, 0)
				}
				f.transition(i, Writing)
				f.calls[i].details().arrival = &arrival{a.value, a.route, a.failure, behind}
				return true
			}
		}
	}
	return false
}

func hold(f *frame, i int32) { f.pendingWrites = append(f.pendingWrites, i) }

// ahead is a call that must have settled before a write can be judged, of several the one listed last: when it has
// settled, most others have; -1 for none.
func (s *schedule) ahead(i int32, path pathtree.ID, method plan.Method) int32 {
	if !s.NeedsBase(path, method) {
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

// releaseWrites lets the results be judged that wait for a call to settle, or, for -1, all.
func (f *frame) releaseWrites(behind int32) {
	f.pendingWrites = slices.DeleteFunc(f.pendingWrites, func(i int32) bool {
		isReleased := behind < 0 || f.calls[i].more.arrival.behind == behind
		if isReleased {
			f.inspect(i)
		}
		return isReleased
	})
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
