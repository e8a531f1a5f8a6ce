package runtime

import (
	"slices"

	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/runtime/guard"
	"github.com/obelus-dev/obelus/runtime/request"
	"github.com/obelus-dev/obelus/runtime/resolve"
)

// Reopenable keeps of what fails all that it takes to run it again ([Resumption]). It is
// to be said before the run begins.
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

// failedCalls are the calls of a frame that failed, whose failure nothing took, and of
// which something can run again. There are none where the frame fails whatever they come
// to: a person rejected an item of a list, or what was given up with the frame stands.
func failedCalls(f *frame) []int32 {
	var failed []int32
	allOrNothing := f.items != nil && !f.items.collect
	for at := range f.calls {
		i, status := int32(at), f.calls[at].status
		unrouted := f.items != nil || slices.ContainsFunc(f.errors, func(e runError) bool { return e.place == i })
		switch {
		case status == Rejected && allOrNothing:
			return nil
		case !(status == Failed && unrouted || status == Cancelled && f.parent != nil):
		case !f.isFinal(i):
			failed = append(failed, i)
		case allOrNothing || status == Cancelled:
			return nil
		}
	}
	return failed
}

// isFinal reports whether a call was carried out by a delegate, or by its items, and nothing
// of them can run again: started anew, it would repeat what was done or decided.
func (s *schedule) isFinal(i int32) bool {
	more := s.calls[i].more
	return more != nil && more.kept != nil && len(failedCalls(more.kept)) == 0
}

// reopenRun has what failed run again, and what was skipped for it; nothing that was done. A
// failure that the plan took, and what a person rejected, stand as they are.
func reopenRun(m *Machine) {
	reopened := map[string]*frame{} // by instance
	for _, f := range m.frames {
		if f == nil || f.parent != nil || !reopenFrame(f) {
			continue
		}
		if reopened[f.site.Instance] = f; f.left {
			f.left = false
			m.instances.working++
		}
	}
	if m.instances != nil {
		m.instances.ends = slices.DeleteFunc(m.instances.ends,
			func(end InstanceEnd) bool { return reopened[end.ID] != nil })
	}
	m.errors = slices.DeleteFunc(m.errors, func(e runError) bool {
		f := reopened[e.Instance]
		return f != nil && !slices.Contains(f.errors, e)
	})
}

// lacksItems reports whether a call is done, and some of the items that it ran for were skipped.
func (s *schedule) lacksItems(i int32) bool {
	more := s.calls[i].more
	if s.calls[i].status != Done || more == nil || more.kept == nil || more.kept.items == nil {
		return false
	}
	return slices.ContainsFunc(more.kept.calls, func(one callState) bool { return one.status == Skipped })
}

func reopenFrame(f *frame) bool {
	again := make([]bool, len(f.calls))
	failed := failedCalls(f)
	for _, i := range failed {
		again[i] = true
	}
	if len(failed) == 0 && f.items == nil {
		return false
	}
	if f.items == nil {
		waits := func(on int32) bool { return again[on] }
		for _, i := range f.Plan.Graph.Order() {
			isOpen := f.calls[i].status == Skipped || f.lacksItems(i)
			again[i] = again[i] || isOpen && slices.ContainsFunc(f.Plan.Graph.Deps(int(i)), waits)
		}
		isUnrouted := func(e runError) bool { return e.failure != nil }
		if slices.ContainsFunc(f.errors, isUnrouted) { // †error reads what stood there from the start
			var given any
			if f.parent != nil {
				given = f.parent.context(f.under)["error"]
			}
			f.Log.Give("error", given)
			showFailures(f)
		}
		f.errors = slices.DeleteFunc(f.errors,
			func(e runError) bool { return e.place == atLast || e.place >= 0 && again[e.place] })
	} else {
		f.items.failure = nil
		for i, one := range f.parent.calls[f.under].more.items.Of {
			again[i] = again[i] || f.calls[i].status == Skipped && one.Skip == ""
		}
		if !slices.Contains(again, true) {
			f.machine.finished = append(f.machine.finished, f)
		}
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

// resetCall puts a call in the place of one that has settled: it waits, as none of it had been
// before but its tries, and what a person gave it to run with. What it wrote is taken back.
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
		lost: state.attempt, again: true, kept: was.kept, override: was.override, replacement: was.replacement,
		permitState: permitState{changed: was.permitState.changed, replaced: was.permitState.replaced},
	}}
}

// exhausted reports whether nothing is left to be tried again of a call that runs again; or
// it failed for one that a person rejected, or that was cut short and may not simply run
// again: begun anew it would ask about that once more, or run it.
func (s *schedule) exhausted(i int32) bool {
	more := s.calls[i].more
	return more != nil && (more.refused || more.again && s.isFinal(i))
}

// revive continues with the delegate, or the items, of a call's last try that failed, where
// something of it can run again.
func revive(f *frame, i int32) bool {
	more := f.calls[i].more
	if more == nil || more.kept == nil || !more.again {
		return false
	}
	d := more.kept
	if more.kept = nil; d.items == nil && len(failedCalls(d)) == 0 {
		return false
	}
	f.transition(i, Running)
	tellGuards(f, i, guard.Continued)
	f.calls[i].attempt++
	items := len(d.calls)
	if d.items == nil {
		items = 0
	}
	enter(f, i, items)
	more.child, f.machine.frames[d.number] = d, d
	reopenFrame(d)
	return true
}

func standingOf(call *plan.Call, instance string, s *Settlement) request.Standing {
	one := request.Standing{Call: call.Node, Name: call.Name, Instance: instance, Status: s.Status.String(),
		Reason: s.Reason, Decision: s.Decision.Report()}
	if s.Failure != nil {
		one.Reason = s.Failure.Code + ": " + s.Failure.Message
	}
	return one
}

// carry makes the solution's calls the next request's plan message, and notes what that and the state don't show them.
func (l *loop) carry() {
	if l.plan.CallsNode == nil {
		return // of a solution that couldn't be read, the plan before it stands
	}
	l.recorded = nil
	l.carried = make([]request.Standing, len(l.plan.Calls))
	for i, call := range l.plan.Calls {
		l.carried[i] = request.Standing{Call: call.Node, Name: call.Name}
	}
	for _, f := range l.roots() {
		for i, call := range f.Plan.Calls {
			s := f.calls[i].details().settlement
			if s.absent { // of several values that it lacks, timing decided which was seen first
				if _, v := f.Evaluate(call); v.Skip != "" {
					s.Reason = v.Skip
				}
			}
			one := standingOf(call, f.site.Instance, s)
			carried := &l.carried[call.Place]
			carried.Each = append(carried.Each, one)
			tellItems(f, int32(i))
			if settled, ok := reportApart(f, int32(i), one, s); ok {
				l.past.Add(settled)
			}
		}
	}
	for i := range l.carried {
		l.carried[i].Fold()
	}
}

// reportApart is what the next requests report about a call besides what it wrote and what the carried plan says of it:
// one that did something and wrote nothing, so that it isn't done again for want of knowing; and, where no plan is
// carried, one about which a person decided otherwise than to let it run.
func reportApart(f *frame, i int32, one request.Standing, s *Settlement) (request.Settled, bool) {
	call := f.Plan.Calls[i]
	acted := s.Status == Done && !s.before && len(call.Output) == 0
	if !acted && (f.machine.loop.carries || !isDeviation(s.Decision)) {
		return request.Settled{}, false
	}
	settled := request.Settled{Standing: one, Tool: f.call(i).ToolName, Tick: f.machine.tick, Result: s.Output}
	if acted && f.replacement(i) == nil { // that one is in the decision
		settled.Params = f.resolvedParams(i)
	}
	return settled, true
}

// tellItems reports of what was done for a call what neither the state nor the plan shows: what people decided about
// its items otherwise than to let them run, and, where the call has failed, what is done all the same.
func tellItems(f *frame, i int32) {
	for _, one := range f.calls[i].more.doneCalls {
		if f.calls[i].status == Failed || one.item >= 0 && one.decided {
			f.machine.loop.past.Add(one.Settled)
		}
	}
}
