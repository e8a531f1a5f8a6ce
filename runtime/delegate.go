package runtime

import (
	"slices"

	"github.com/obelus-dev/obelus/runtime/request"
	"github.com/obelus-dev/obelus/runtime/state"
)

func (s *schedule) child(i int32) *frame {
	if more := s.calls[i].more; more != nil {
		return more.child
	}
	return nil
}

// startDelegate begins the next try of a call that a plan carries out. It takes no
// place from activities: its own calls do.
func startDelegate(f *frame, i int32) {
	call, status := f.call(i), &f.calls[i]
	plan := f.Plan.Delegates[call.Delegate]
	if revive(f, i) {
		return
	}
	f.nextTry(i)
	f.machine.delegated += len(plan.Calls) + 1
	enter(f, i, 0).Uncertainty = uncertainty(f, call)
	site := Site{Instance: f.site.Instance, Under: Path(f.site.Under, call.Name), Delegate: call.Delegate,
		Tries: append(slices.Clip(f.site.Tries), int(status.attempt))}
	d := openBelow(f, i, site)
	given := f.context(i)
	d.Log = state.New(state.Delegated(plan, given, status.params))
	for _, kind := range []string{"error", "advice"} {
		if value, ok := given[kind]; ok {
			d.Log.Give(kind, value)
		}
	}
	d.Plan, d.Program = plan, f.machine.program(plan)
	d.Log.Follow(&d.Program.Layout)
	d.takeUp(nil)
	d.begin()
}

// enter sets the time of a call that calls carry out, so many for items, and lets be known that they begin.
func enter(f *frame, i int32, items int) *Command {
	if call := f.call(i); call.Timeout > 0 && call.Each == nil {
		f.pause(i, call.Timeout)
	}
	c := f.emit(i, Enter)
	c.Params, c.Count = f.calls[i].params, items
	return c
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

func returnResult(f *frame) {
	if f.givenUp {
		handUp(f)
		releaseFrame(f)
		f.parent.complete(f.under, nil, -1, nil)
		return
	}
	if f.items != nil {
		returnList(f)
		return
	}
	output := concludeFrame(f)
	releaseFrame(f)
	var failure *Failure
	if len(f.errors) > 0 {
		failure = delegateFailure(f)
		handUp(f)
	}
	f.parent.complete(f.under, output, -1, failure)
}

// A doneCall is a call that was carried out for another, its item or a call of its delegate, and what it came to.
type doneCall struct {
	request.Settled
	item    int32 // -1 for none of the other's own
	decided bool  // a person decided otherwise than to let it run
}

func (d *doneCall) isDone() bool { return d.Status == Done.String() }

func isDeviation(d *Decision) bool { return d != nil && d.Verdict != Approve }

// handUp leaves with the call above what was done in its stead: the next request reports it where that has failed, so
// that it isn't done again for want of knowing. Of items it also leaves what people decided otherwise than to let them
// run.
func handUp(f *frame) {
	if f.machine.loop == nil {
		return
	}
	above := f.parent.calls[f.under].more
	for i := range f.calls {
		more := f.calls[i].more
		one := doneCall{item: -1, Settled: request.Settled{Tool: f.call(int32(i)).ToolName,
			Tick: f.machine.tick, Params: more.ran,
			Standing: standingOf(f.Plan.Calls[i], f.site.Instance, more.settlement), Result: more.settlement.Output}}
		if f.items != nil {
			one.item, one.Params = int32(i), above.items.Of[i].Params
			one.decided = isDeviation(more.settlement.Decision)
		}
		if !one.isDone() {
			for _, within := range more.doneCalls {
				if within.item = -1; within.isDone() {
					above.doneCalls = append(above.doneCalls, within)
				}
			}
		}
		if one.isDone() && !more.settlement.before || one.decided {
			above.doneCalls = append(above.doneCalls, one)
		}
	}
}

func delegateFailure(f *frame) *Failure {
	first := sortedErrors(f.errors)[0]
	failure := &Failure{Code: first.Code, Message: first.Message,
		Details: map[string]any{"delegate": f.site.Delegate, "call": first.Call}}
	if first.Call != "" {
		failure.Message = first.Call + ": " + first.Message
	}
	return failure
}

// cancelDelegate gives a delegate up. What it has at work is asked to end, and when that has ended the call above has.
func cancelDelegate(f *frame) {
	f.givenUp = true
	for i := range f.calls {
		switch state := &f.calls[i]; {
		case state.status == Running:
			f.giveUp(int32(i))
		case state.status == Asking:
			f.emit(int32(i), Cancel)
			settleCancelled(f, int32(i))
		case !state.status.Settled():
			settleCancelled(f, int32(i))
		}
	}
}

func settleCancelled(f *frame, i int32) {
	f.settle(i, Settlement{Status: Cancelled, Reason: "the call that delegates was given up",
		Attempts: int(f.calls[i].attempt)})
}

func releaseFrame(f *frame) {
	more := f.parent.calls[f.under].more
	f.machine.frames[f.number], more.child, more.refused = nil, nil, f.rejects
	if f.machine.keepsFailed {
		more.kept = f
	}
}

// context is what a call is given besides its parameters.
func (f *frame) context(i int32) map[string]any {
	if r := f.replacement(i); r != nil {
		return r.context
	}
	if f.items != nil {
		f.parent.TurnTo(f.parent.Plan.Calls[f.under], f.parent.calls[f.under].more.items, int(i))
	}
	return state.ScopeValues(f.Plan.Calls[i], f.reader().Read)
}
