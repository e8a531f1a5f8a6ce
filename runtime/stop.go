package runtime

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/obelus-dev/obelus/runtime/guard"
)

// drain lets what runs end, so that it isn't in doubt when the run is resumed, and starts nothing more.
func (m *Machine) drain(reason Reason) {
	if m.draining == "" {
		m.draining = reason
	}
}

// stop cancels what runs and reports what hasn't settled as cancelled. The run can be resumed.
func (m *Machine) stop(reason Reason) {
	outcome := m.outcome(RunStopped, reason)
	m.ending = reason
	if m.planning() {
		m.emitRun(Cancel)
	}
	for _, f := range m.frames {
		for i := range f.all() {
			state := &f.calls[i]
			if (state.status == Running || state.asks()) && f.child(i) == nil {
				f.emit(i, Cancel)
			}
			if !state.status.Settled() {
				outcome.Counts.Add(Cancelled)
				f.emit(i, Settle).Settlement = &Settlement{Status: Cancelled, Attempts: int(state.attempt),
					Reason: state.left(), Left: true}
			}
		}
	}
	outcome.Asked = m.Questions()
	m.stopped, m.draining, m.why = true, "", ""
	m.finish(outcome)
}

// left is the reason of a call that a stop finds unsettled, and that continues when the run does.
func (c *callState) left() string {
	switch {
	case c.status == Asking:
		return "it waits for an answer"
	case c.status == Running && (c.more == nil || c.more.child == nil):
		return "it was at work when the run stopped"
	case c.status == Running, c.status == Writing, c.attempt > 0:
		return "it is unfinished"
	}
	return "it hasn't begun"
}

func checkBudget(m *Machine) {
	limits, spent := &m.plan.Limits, &m.spent.usage
	switch {
	case m.over:
	case limits.Tokens > 0 && m.usage.Tokens()-spent.Tokens() >= limits.Tokens:
		m.drain(ReasonTokens)
	case limits.Cost > 0 && m.usage.Cost-spent.Cost >= limits.Cost:
		m.drain(ReasonCost)
	case overspends(m, 0):
		m.drain(ReasonPermit)
	}
}

// limitOf is the limit that lets a call not start, or "".
func limitOf(f *frame, i int32) Reason {
	m, call, within := f.machine, f.call(i), 0
	most := m.plan.Limits.Calls
	if call.Latent() && call.Produced != nil {
		return ""
	}
	if call.Each != nil {
		within = len(f.calls[i].more.items.Of)
	} else if d := f.Plan.Delegates[call.Delegate]; d != nil {
		within = len(d.Calls)
	}
	if call.Each == nil && most > 0 && m.started-m.spent.calls >= most && f.calls[i].attempt == 0 {
		return ReasonCalls
	}
	if within > 0 && m.mostDelegated > 0 && m.delegated+within >= m.mostDelegated || m.budget.IsExhausted() {
		return m.tooMuch
	}
	return ""
}

// overspends reports whether a run, with further requests to its planner, exceeds the budget of its permit.
func overspends(m *Machine, further int) bool {
	if m.permit == nil {
		return false
	}
	if m.loop != nil {
		further += m.tick - m.loop.unasked
	}
	why := m.permit.Overspent(further, m.usage.Cost, m.now.Seconds())
	m.why = cmp.Or(why, m.why)
	return why != ""
}

// setDeadline sets the timer of how long the run may still take by its own limit and by its permit.
func setDeadline(m *Machine) {
	left := time.Duration(math.MaxInt64)
	if limit := m.plan.Limits.Time; limit > 0 {
		left = limit - (m.now - m.spent.time)
	}
	if m.permit != nil {
		if seconds, bounded := m.permit.Budget["time"]; bounded {
			left = min(left, time.Duration(seconds*float64(time.Second))+time.Nanosecond-m.now)
		}
	}
	if left < math.MaxInt64 {
		m.emitRun(SetTimer).After = max(left, time.Nanosecond)
	}
}

type budget struct {
	calls, ticks int
	time         time.Duration
	usage        Usage
}

// renewBudget gives a run that stopped at a limit as much again of what it ran out of: resuming means continuing.
func renewBudget(m *Machine, reason Reason) {
	switch reason {
	case ReasonCalls:
		m.spent.calls = m.started
	case ReasonTicks:
		m.spent.ticks = m.tick
	case ReasonTime:
		m.spent.time = m.now
	case ReasonTokens, ReasonCost:
		m.spent.usage = m.usage
	}
}

// resumeRun continues where a stopped or killed run stood. A call that was at
// work is tried again if that can't have a second effect, and otherwise as the event says.
func resumeRun(m *Machine, e Event) {
	how := *cmp.Or(e.Resumption, &Resumption{})
	if m.over && !m.stopped && !how.RetryFailed {
		return
	}
	if how.Confirm != nil {
		m.options.Confirm = *how.Confirm
	}
	m.answers = map[KeptAnswer][]string{}
	for _, of := range how.Kept {
		id := of.ID
		of.ID = ""
		m.answers[of] = append(m.answers[of], id)
	}
	renewBudget(m, m.ending)
	m.over, m.stopped, m.draining = false, false, ""
	if how.RetryFailed && m.loop == nil {
		defer reopenRun(m)
	}
	if !m.opened { // it was killed before its first event was kept
		m.begin()
		return
	}
	setDeadline(m)
	late := m.late // it had happened when the run stopped, but came after: nothing reports it again
	m.late = nil
	for _, e := range late {
		if e.Kind != Stopped && e.Kind != Fired { // timers are set anew
			m.take(e)
		}
	}
	switch {
	case !m.planning():
	case m.loop.stream.Err() != nil:
		m.loop.closed(Event{Kind: Closed, Try: Try{Tick: m.tick}})
	default:
		m.loop.askPlanner(m.loop.stream.Text())
	}
	if m.instances != nil {
		m.instances.asked = false // what was asked for and didn't come is asked for again
	}
	for _, f := range m.frames {
		if f != nil {
			resumeFrame(f, how)
		}
	}
}

func resumeFrame(f *frame, how Resumption) {
	for at := range f.calls {
		i, state := int32(at), &f.calls[at]
		if state.status == Waiting && state.asks() {
			f.put(i, state.more.question.Problem)
		}
		isUncertain := state.more != nil && state.more.uncertain // the latest resume decides
		isOverdue := state.more != nil && state.more.overdue
		switch {
		case state.status == Queued && isUncertain && how.InFlight != InFlightRetry,
			state.status == Asking && (isUncertain || state.more.question.InFlight):
			decideInFlight(f, i, how.InFlight)
		case state.status == Asking && checkStart(f, i).Kind == guard.Ask:
			f.ask(i, state.more.question.Problem)
		case state.status == Asking:
			f.transition(i, Queued)
		// it was given up before, and nothing of it is left
		case f.isAtWork(i) && (f.givenUp || isOverdue):
			f.machine.running--
			f.complete(i, nil, -1, nil)
		case f.isAtWork(i):
			f.cutShort(i)
			decideInFlight(f, i, how.InFlight)
		// a delegate's calls see to themselves
		case state.status == Pausing,
			state.status == Running && f.call(i).Each == nil && f.call(i).Timeout > 0 && !isOverdue:
			f.pause(i, max(state.more.due-f.machine.now, time.Nanosecond))
		}
	}
}

// A runError is what went wrong, and where: the order in which errors come depends on timing, that of reports doesn't.
type runError struct {
	CallError
	tick  int
	place int32 // of its call in the plan
	order int32 // of its instance

	failure *Failure // of a call, which †error holds
}

// The places of errors that are about no call: before all calls, or after them.
const (
	atFirst = -1
	atLast  = math.MaxInt32
)

// recordError keeps an error of the call at a place, or of none; that of a delegate is its own.
func (f *frame) recordError(e CallError, place int32, failure *Failure) {
	e.Instance, e.Message = f.site.Instance, f.redact(e.Message)
	f.errors = append(f.errors, runError{e, f.machine.tick, place, f.order, failure})
}

// allErrors are those of the run itself.
func (m *Machine) allErrors() []runError {
	all := slices.Clone(m.errors)
	for _, f := range m.frames {
		if f != nil && f.parent == nil {
			all = append(all, f.errors...)
		}
	}
	return all
}

func sortedErrors(errors []runError) []CallError {
	sorted := slices.Clone(errors)
	slices.SortStableFunc(sorted, func(a, b runError) int {
		return cmp.Or(cmp.Compare(a.tick, b.tick), cmp.Compare(a.place, b.place), cmp.Compare(a.order, b.order))
	})
	list := make([]CallError, len(sorted))
	for i := range sorted {
		list[i] = sorted[i].CallError
	}
	return list
}
