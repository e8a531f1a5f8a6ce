package runtime

import (
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/runtime/request"
)

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
