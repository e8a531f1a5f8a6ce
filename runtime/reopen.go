package runtime

import (
	"slices"

	"github.com/obelus-dev/obelus/runtime/resolve"
)

// Reopenable keeps of what fails all that it takes to run it again ([Resumption]), from before the run begins.
func (p *progress) Reopenable() { p.keepsFailed = true }

// Failed reports how many calls of the run itself have failed and can be run again.
func (m *Machine) Failed() (calls int) {
	for _, f := range m.frames {
		if f != nil && f.parent == nil {
			calls += len(failedCalls(f))
		}
	}
	return calls
}

// failedCalls are the calls of a frame that failed unhandled, and of which something can run again. There are none
// where the frame fails anyway: a person rejected an item of a list, or what was given up with the frame stands.
func failedCalls(f *frame) (failed []int32) {
	allOrNothing := f.items != nil && !f.items.collect
	for at := range f.calls {
		i, status := int32(at), f.calls[at].status
		unrouted := f.items != nil || slices.ContainsFunc(f.errors, func(e runError) bool { return e.place == i })
		switch hasFailed := status == Failed && unrouted || status == Cancelled && f.parent != nil; {
		case hasFailed && !f.isFinal(i):
			failed = append(failed, i)
		case (hasFailed || status == Rejected) && (allOrNothing || status == Cancelled):
			return nil
		}
	}
	return failed
}

// isFinal reports whether nothing can run again of the frame below that carried a call out.
func (s *schedule) isFinal(i int32) bool {
	more := s.calls[i].more
	return more != nil && more.last != nil && len(failedCalls(more.last)) == 0
}

// reopenRun has what failed run again, and what was skipped for it; nothing that was done. A failure that the plan
// took, and what a person rejected, stand as they are.
func reopenRun(m *Machine) {
	for _, f := range m.frames {
		if f != nil && f.parent == nil && reopenFrame(f) && f.left { // its instance had ended
			f.left = false
			m.instances.working++
			m.instances.ends = slices.DeleteFunc(m.instances.ends,
				func(end InstanceEnd) bool { return end.ID == f.site.Instance })
		}
	}
}

// lacksItems reports whether a call is done, and some of the items that it ran for were skipped.
func (s *schedule) lacksItems(i int32) bool {
	more := s.calls[i].more
	return s.calls[i].status == Done && more != nil && more.last != nil && more.last.items != nil &&
		slices.ContainsFunc(more.last.calls, func(one callState) bool { return one.status == Skipped })
}

// reopenFrame reports whether anything of a frame runs again.
func reopenFrame(f *frame) bool {
	failed, again := failedCalls(f), make([]bool, len(f.calls))
	for _, i := range failed {
		again[i] = true
	}
	switch {
	case f.items != nil:
		f.items.failure = nil
		for i, one := range f.items.Of {
			again[i] = again[i] || f.calls[i].status == Skipped && one.Skip == ""
		}
		if !slices.Contains(again, true) {
			f.machine.finished = append(f.machine.finished, f)
		}
	case len(failed) == 0:
		return false
	default:
		waits := func(on int32) bool { return again[on] }
		for _, i := range f.Plan.Graph.Order() {
			isOpen := f.calls[i].status == Skipped || f.lacksItems(i)
			again[i] = again[i] || isOpen && slices.ContainsFunc(f.Plan.Graph.Deps(int(i)), waits)
		}
		isUnrouted := func(e runError) bool { return e.failure != nil }
		if slices.ContainsFunc(f.errors, isUnrouted) { // †error reads what stood there from the start
			var initial any
			if f.parent != nil {
				initial = f.parent.context(f.under)["error"]
			}
			f.Log.Give("error", initial)
			showFailures(f)
		}
		f.errors = slices.DeleteFunc(f.errors,
			func(e runError) bool { return e.place == atLast || e.place >= 0 && again[e.place] })
	}
	f.givenUp = false
	for i, yes := range again {
		if yes {
			resetCall(f, int32(i))
		}
	}
	for i, yes := range again {
		switch {
		case !yes:
		case f.items != nil:
			startItem(f, int32(i))
		default:
			f.connect(i)
			f.look(int32(i))
		}
	}
	return true
}

// resetCall puts a call in the place of one that has settled: it waits, as none of it had been before but its tries,
// and what a person gave it to run with. What it wrote is taken back.
func resetCall(f *frame, i int32) {
	state := &f.calls[i]
	*f.machine.counts.of(state.status)--
	if state.status == Done {
		f.Log.Retract(int(i))
		f.Learned = 0
	}
	f.unsettled++
	f.machine.unsettled++
	if f.items == nil {
		for _, r := range f.Plan.Calls[i].Reads {
			f.Reads[r] = resolve.Read{}
		}
	}
	was := state.details()
	*state = callState{attempt: state.attempt, more: &callDetails{
		lost: state.attempt, again: true, last: was.last, changed: was.changed, replacement: was.replacement,
		facts: was.facts,
	}}
}

// revivable is the frame of a call's last try, which failed, where something of it can run again; or nil.
func (s *schedule) revivable(i int32) *frame {
	more := s.calls[i].more
	if more == nil || !more.again || more.last == nil || more.last.items == nil && s.isFinal(i) {
		return nil
	}
	return more.last
}
