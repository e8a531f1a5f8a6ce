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
	if f.program.ByTime {
		return false
	}
	for _, route := range routes {
		for _, path := range route {
			if behind := f.ahead(i, path.ID, method); behind >= 0 {
				if before := f.calls[i].status; f.transition(i, Writing) {
					if before == Running {
						f.tried(i, a.failure, 0)
					}
					f.calls[i].details().arrival = &arrival{a.value, a.route, a.failure, behind}
					f.pendingWrites = append(f.pendingWrites, i)
				}
				return true
			}
		}
	}
	return false
}

// ahead is a call that must have settled before a write can be judged, of several the
// one listed last: when it has settled, most others have; -1 for none. Where one of
// those that count before it makes a difference, the others may make one to that one.
func (s *schedule) ahead(i int32, path pathtree.ID, method plan.Method) int32 {
	if !s.needsBase(path, method) {
		return -1
	}
	around, mine, behind := s.plan.Around(path), s.log.Place(i), int32(-1)
	for _, w := range slices.Backward(around) {
		if !s.calls[w.Call].status.Settled() && w.Call != i && s.log.Place(w.Call) < mine {
			behind = w.Call
			break
		}
	}
	judged := s.schemaAt(path) != nil
	if behind < 0 || !slices.ContainsFunc(around, func(w plan.Writer) bool {
		how := s.call(w.Call).Method
		if w.Sets {
			how = plan.Set
		}
		return w.Call != i && s.decides(w.Path, how, path, method, judged) && s.log.Place(w.Call) < mine
	}) {
		return -1
	}
	return behind
}

// needsBase reports whether a write asks for something of what stands there already: one that sets a key of the state
// itself does so only if the state may be something else than an object.
func (s *store) needsBase(path pathtree.ID, method plan.Method) bool {
	if method != plan.Set || s.plan.Paths.Depth(path) > 2 {
		return true
	}
	above := s.plan.Paths.Parent(path)
	return above != pathtree.Root && s.program.IsWritten(above)
}

// decides reports whether a write that counts before another may decide whether
// that one fits, or what becomes of it where a schema judges that.
func (s *store) decides(first pathtree.ID, how plan.Method, path pathtree.ID, method plan.Method, judged bool) bool {
	paths := s.plan.Paths
	switch {
	case first != path && !paths.Overlap(first, path):
		return s.divides(first, path)
	case judged && method != plan.Set:
		return true
	case first != path:
		return paths.IsAbove(first, path) // what a write makes of the way to its own path is what that one needs as well
	case method == plan.Set:
		return false
	case method == plan.Push || method == plan.Concat:
		return how != plan.Push && how != plan.Concat
	}
	return how != plan.Assign // what is merged may be something else than an object
}

// divides reports whether two paths part at items of a list, the first at an earlier one: that may make the list long
// enough for the other. A key and an item are never both right.
func (s *store) divides(first, path pathtree.ID) bool {
	paths := s.plan.Paths
	for paths.Depth(first) > paths.Depth(path) {
		first = paths.Parent(first)
	}
	for paths.Depth(path) > paths.Depth(first) {
		path = paths.Parent(path)
	}
	for paths.Parent(first) != paths.Parent(path) {
		first, path = paths.Parent(first), paths.Parent(path)
	}
	a, b := paths.Segment(first), paths.Segment(path)
	if !a.IsIndex || !b.IsIndex {
		return a.IsIndex || b.IsIndex
	}
	return a.Index < b.Index
}

func (f *frame) releaseAfter(behind int32) {
	f.pendingWrites = slices.DeleteFunc(f.pendingWrites, func(i int32) bool {
		if f.calls[i].more.arrival.behind != behind {
			return false
		}
		f.releasedWrites = append(f.releasedWrites, i)
		return true
	})
	if len(f.releasedWrites) > 0 {
		f.wake()
	}
}

func (f *frame) releaseAll() {
	if len(f.pendingWrites) > 0 {
		f.releasedWrites, f.pendingWrites = append(f.releasedWrites, f.pendingWrites...), nil
		f.wake()
	}
}

func (f *frame) judgePending(i int32) {
	a := f.calls[i].more.arrival
	f.calls[i].more.arrival = nil
	switch {
	case f.calls[i].status != Writing: // it was given up meanwhile
	case a.failure != nil && !f.givenUp:
		f.failedForGood(i, a.failure)
	default:
		f.complete(i, a.value, a.route, a.failure)
	}
}
