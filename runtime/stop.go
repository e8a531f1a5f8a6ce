package runtime

import (
	"container/heap"
	"time"
)

// drain lets what runs come to its end and starts nothing more; then the run
// stops. What was in flight is thus not in doubt when it is resumed.
func (m *Machine) drain(reason string) {
	if m.draining == "" {
		m.draining = reason
	}
}

// stop cancels what runs and reports everything that hasn't settled as
// cancelled. Where calls stand is kept: the run can be resumed (S8.8).
func (m *Machine) stop(reason string) {
	outcome := m.outcome("stopped", reason)
	if m.planning() {
		m.emit(Command{Kind: Cancel, Call: Run})
	}
	for i := range m.calls {
		state := &m.calls[i]
		if state.status == Running || state.status == Asking {
			m.emitOf(int32(i), Command{Kind: Cancel})
		}
		if !state.status.Settled() {
			outcome.Counts.Add(Cancelled)
			m.emitOf(int32(i), Command{Kind: Settle, Settlement: &Settlement{Status: Cancelled, Reason: "the run was stopped", Attempts: int(state.attempt)}})
		}
	}
	m.stopped, m.draining, m.ending = true, "", reason
	m.finish(outcome)
}

// checkBudget stops a run that has used up what its limits allow (S11.7).
func (m *Machine) checkBudget() {
	limits, spent := &m.plan.Limits, &m.spent.usage
	switch {
	case m.over:
	case limits.Tokens > 0 && m.usage.tokens()-spent.tokens() >= limits.Tokens:
		m.drain("limits.tokens")
	case limits.Cost > 0 && m.usage.Cost-spent.Cost >= limits.Cost:
		m.drain("limits.cost")
	}
}

// A budget is what a run has used up of its limits.
type budget struct {
	calls, ticks int
	time         time.Duration
	usage        Usage
}

// extend gives a run that stopped at a limit as much again of what it ran out
// of: whoever resumes it wants it to go on.
func (m *Machine) extend(reason string) {
	switch reason {
	case "limits.calls":
		m.spent.calls = m.started
	case "limits.ticks":
		m.spent.ticks = m.tick
	case "limits.time":
		m.spent.time = m.now
	case "limits.tokens", "limits.cost":
		m.spent.usage = m.usage
	}
}

// resume goes on where a stopped or killed run stood (S8.6). A call that was at
// work is tried again if that can't do harm, and otherwise as the event says.
func (m *Machine) resume(e Event) {
	if m.over && !m.stopped {
		return
	}
	how := Resumption{}
	if e.Resumption != nil {
		how = *e.Resumption
	}
	if how.Confirm != nil {
		m.options.Confirm = *how.Confirm
	}
	m.extend(m.ending)
	m.over, m.stopped, m.draining = false, false, ""
	if !m.begun { // it was killed before its first event was kept
		m.begin()
		return
	}
	if limit := m.plan.Limits.Time; limit > 0 {
		m.emit(Command{Kind: SetTimer, Call: Run, After: max(limit-(m.now-m.spent.time), time.Nanosecond)})
	}
	if m.planning() {
		m.askPlanner(m.loop.stream.Text())
	}
	for at := range m.calls {
		i, state := int32(at), &m.calls[at]
		switch state.status {
		case Running:
			m.running--
			state.particular().lost++
			m.inFlight(i, how.InFlight)
		case Pausing:
			m.pause(i, max(state.more.due-m.now, time.Nanosecond))
		case Asking:
			if q := state.more.question; q.InFlight {
				m.inFlight(i, how.InFlight)
			} else if m.options.Confirm.asks(m.plan, m.call(i)) {
				m.ask(i, q.Problem)
			} else {
				state.status = Queued
				heap.Push(&m.queue, i)
			}
		}
	}
}

// inFlight decides about a call that was at work when the run was killed.
func (m *Machine) inFlight(i int32, how string) {
	switch {
	case m.repeatable(i) || how == "retry":
		m.calls[i].status = Queued
		heap.Push(&m.queue, i)
	case how == "fail":
		m.interrupted(i)
	default:
		m.askInFlight(i)
	}
}

// interrupted fails a call of which nobody knows what it did.
func (m *Machine) interrupted(i int32) {
	failure := &Failure{Code: "interrupted", Message: "the run was killed while this call was at work, and it isn't known whether it took effect"}
	routed := m.routes(m.call(i), failure)
	m.settle(i, Settlement{Status: Failed, Failure: failure, Routed: routed, Attempts: int(m.calls[i].attempt)})
}

// repeatable tells whether running a call twice does no more than running it
// once: its tool says so, an expression computes it, or a model answers it.
func (m *Machine) repeatable(i int32) bool {
	call := m.call(i)
	if a := m.plan.Activities[call.Activity]; call.Activity == "" || a != nil && a.Kind == "expr" {
		return true
	}
	if call.Tool == nil {
		return false
	}
	yes := func(hint *bool) bool { return hint != nil && *hint }
	return yes(call.Tool.Hints.Idempotent) || yes(call.Tool.Hints.ReadOnly)
}
