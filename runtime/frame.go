package runtime

import (
	"cmp"
	"fmt"
	"iter"
	"time"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/analyzer/facts"
	"github.com/obelus-dev/obelus/analyzer/permit"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/heap"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/policy"
	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/obelus-dev/obelus/runtime/guard"
	"github.com/obelus-dev/obelus/runtime/request"
	"github.com/obelus-dev/obelus/runtime/resolve"
)

// A frame is one plan at work on one state: that of the run, of one of its instances, or of a delegate.
type frame struct {
	position
	schedule
	rejects  bool // it has failed for a call that isn't to be tried again
	errors   []runError
	readable []any    // what †error reads from the start, or of earlier ticks: the data of error messages, oldest first
	instance Instance // what its instance brought of its own
	left     bool     // it is that of an instance that has ended
	givenUp  bool     // a delegate whose call is given up: it is over when what it has at work has ended
	items    *results // of a frame whose calls are one call's, for one item each; else nil

	stale   []int32 // a heap of calls to look at again: the earliest-listed comes out first
	isAwake bool    // some call is to be looked at, and the machine knows it

	history []request.Written // what its calls did in earlier ticks
	draft   *analyzer.Draft   // of the solution that is arriving
	ranking []plan.Rank       // what the advisors make of the tools
	orders  policy.Counts     // of a frame of the run: the order rules of policies
}

// position is where a frame is among those of its run.
type position struct {
	number int
	site   Site
	order  int32 // of its instance
	place  int32 // of the call that it carries out, in the plan of the run; -1 for a frame of the run itself
	parent *frame
	under  int32 // the call of its parent that it carries out
	// the calls above it that are carried out, from the outermost, and after each the number of the frame below
	path []int32
}

// A schedule is how far the calls of a frame are, and which of them wait for which.
type schedule struct {
	resolve.Resolver
	machine            *Machine
	calls              []callState
	boundBy, orderedBy links // reads by the call that they are bound to; calls by the one that must settle first
	unsettled          int   // its calls that haven't settled
}

type callState struct {
	status   Status
	queued   bool  // is among the stale
	partial  bool  // may be decided before all its reads are settled
	held     bool  // must wait for the whole plan
	approved bool  // a person has said yes
	open     int32 // its reads that aren't settled
	// how many may still be unsettled of the calls that must settle first: for _after, a choice, or the order of writes
	order   int32
	attempt int32
	params  map[string]any
	more    *callDetails
}

type callDetails struct {
	lost        int32         // tries that a kill or a stop cut short
	uncertain   bool          // such a try may have had its effect; it runs again only if a resume says so once more
	due         time.Duration // the end of a pause, or of the time for an answer
	question    *Question     // that a person is asked
	decision    *Decision
	earlier     []*Decision    // taken before that
	changed     *Decision      // by which a person has it run with other values
	replacement *replacement   // what a person put in its place
	settlement  *Settlement    // kept in ticks, for the next request
	ran         map[string]any // its parameters, kept in ticks once it has settled
	last        *frame         // what carried out its last try, where it may be continued, or requests report of it
	again       bool           // it had failed for good, and runs again
	// it isn't to be tried again, as a person rejected what is within it, or nobody knows what it did
	refused bool
	child   *frame         // its delegate, or its items, at work
	items   *resolve.Items // of a call with "_each", until it settles
	overdue bool           // its try ran out of time, and hasn't ended yet
	arrival *arrival       // its result, while it is Writing

	// Of a call under a permit:
	early           bool                // a reviewer is asked about it, as it arrived
	isAgain         bool                // a reviewer has it run again that was cut short, however often that is then
	approvedOutside []permit.Difference // by a reviewer
	facts           *facts.Call         // of what a reviewer made of it
}

func (c *callState) details() *callDetails {
	if c.more == nil {
		c.more = &callDetails{}
	}
	return c.more
}

// all are the calls of a frame by number; of one that is over there are none.
func (f *frame) all() iter.Seq[int32] {
	return func(yield func(int32) bool) {
		for i := 0; f != nil && i < len(f.calls) && yield(int32(i)); i++ {
		}
	}
}

func (f *frame) begin() {
	if len(f.calls) == 0 {
		f.machine.finished = append(f.machine.finished, f)
	}
	if f.machine.options.Continue && f.parent == nil {
		settleContinued(f)
	}
	for i := range f.calls {
		f.look(int32(i))
	}
}

// call is what runs in a place of the plan: what stands there, or what a person put in its place.
func (s *schedule) call(i int32) *plan.Call {
	if r := s.replacement(i); r != nil {
		return r.call
	}
	return s.Plan.Calls[i]
}

// emit appends a command about a call, and gives it to the caller to be filled in.
func (f *frame) emit(i int32, kind CommandKind) *Command {
	c := f.machine.emit(kind)
	c.Try, c.Site, c.Plan, c.Of = f.tryOf(i), &f.site, f.Plan, f.call(i)
	return c
}

func (f *frame) look(call int32) {
	if f.calls[call].status == Waiting {
		f.inspect(call)
	}
}

func (f *frame) inspect(call int32) {
	if f.calls[call].queued {
		return
	}
	f.calls[call].queued = true
	heap.Push(&f.stale, call, cmp.Less[int32])
	if !f.isAwake {
		f.isAwake = true
		f.machine.awake = append(f.machine.awake, f)
	}
}

func (f *frame) settleAll() {
	for len(f.stale) > 0 {
		call := heap.Pop(&f.stale, cmp.Less[int32])
		one := &f.calls[call]
		one.queued = false
		switch {
		case one.status == Writing:
			f.judgePending(call)
		case one.status == Waiting && !one.held && !one.asks():
			f.decide(call)
		}
	}
	f.isAwake = false
}

// decide settles a waiting call that can't run, and queues one that can.
func (f *frame) decide(i int32) {
	call, state := f.Plan.Calls[i], &f.calls[i]
	params, verdict := f.verdict(i)
	given := f.chosen(i)
	if given != nil {
		verdict.Failure = nil // its own values aren't what it runs with
	}
	switch {
	case verdict.Skip != "":
		f.settle(i, Settlement{Status: Skipped, Reason: verdict.Skip, absent: true})
		return
	case verdict.Pending, state.order > 0, call.Each != nil && state.open > 0:
		return
	case call.Each != nil && verdict.Failure == nil:
		state.details().items, params, verdict.Failure = f.Enumerate(call, params, verdict.List)
	}
	if verdict.Failure == nil {
		number, pending := f.dedupe(i, params)
		if number > 0 {
			f.settle(i, doneBefore(f.Memory.Completed[number-1].Output))
		}
		if pending || number > 0 {
			return
		}
	}
	switch {
	case f.IsTaken(call):
		f.settle(i, Settlement{Status: Skipped, Reason: alreadyThere})
	case verdict.Failure != nil:
		f.settle(i, Settlement{Status: Failed, Failure: verdict.Failure})
	default:
		if m := f.machine; call.Each == nil && given == nil && !m.budget.IsExhausted() { // else nothing starts any more
			if failure := f.Invalid(call, params); failure != nil {
				f.settle(i, Settlement{Status: Failed, Failure: failure})
				return
			}
		}
		f.ready(i, params)
	}
}

// alreadyThere is why a call is skipped whose path has a value that stays.
const alreadyThere = "a value is already there"

// verdict is whether a call can run, by its reads and by the calls that must be done before it.
func (s *schedule) verdict(i int32) (map[string]any, resolve.Readiness) {
	call := s.Plan.Calls[i]
	params, v := s.Evaluate(call)
	for _, a := range call.After {
		if status := s.calls[a.Call].status; v.Skip == "" && !a.Settled && status > Done {
			v.Skip = fmt.Sprintf("it comes after %q, which %s", s.Plan.Calls[a.Call].Name, cameTo[status])
		}
	}
	return params, v
}

var cameTo = map[Status]string{Failed: "failed", Skipped: "was skipped", Rejected: "was rejected",
	Cancelled: "was cancelled"}

func (f *frame) ready(i int32, params map[string]any) {
	if given := f.chosen(i); given != nil {
		params = given
	}
	f.calls[i].params = params
	f.transition(i, Queued)
	f.lookAgain(i)
}

func (f *frame) line(i int32) { heap.Push(&f.machine.queue, f.inLine(i), ready.before) }

// inLine is a call with its position in the order in which calls start.
func (f *frame) inLine(i int32) ready {
	place := f.place
	if place < 0 {
		place = int32(f.Plan.Calls[i].Place)
	}
	return ready{f, i, place, f.order}
}

// nextTry counts a further try of a call.
func (f *frame) nextTry(i int32) {
	f.transition(i, Running)
	if f.calls[i].attempt == 0 {
		f.machine.started++
	}
	tellGuards(f, i, guard.Started)
	f.calls[i].attempt++
	if more := f.calls[i].more; more != nil {
		more.uncertain = false
	}
}

func (f *frame) start(i int32) {
	call, state := f.call(i), &f.calls[i]
	f.nextTry(i)
	f.machine.running++
	c := f.emit(i, Start)
	c.Params, c.Context, c.Uncertainty = state.params, f.context(i), uncertainty(f, call)
	if call.Activity == "" && !f.machine.simulated {
		c.Request = latentRequest(f, i)
	}
	if call.Timeout > 0 {
		f.emit(i, SetTimer).After = call.Timeout
	}
}

// isAtWork reports whether an attempt of a call is at work outside of the machine.
func (f *frame) isAtWork(i int32) bool { return f.calls[i].status == Running && f.child(i) == nil }

func (f *frame) ended(e Event) {
	i := int32(e.Call)
	if more := f.calls[i].more; e.Text != "" && !f.givenUp && (more == nil || !more.overdue) {
		f.cutShort(i)
		f.transition(i, Queued)
		f.machine.drain(Reason(e.Text))
		return
	}
	f.machine.running--
	if a := f.Plan.Activities[f.call(i).Activity]; a == nil || a.Expression == nil {
		f.Budget.Matching.Refill(e.Value)
	}
	f.complete(i, e.Value, e.Route, e.Failure)
}

// complete takes the result of a try. One that ran out of time has failed, whatever it still brought.
func (f *frame) complete(i int32, value any, route int, failure *Failure) {
	call := f.call(i)
	switch more := f.calls[i].more; {
	case f.givenUp:
		f.settle(i, Settlement{Status: Cancelled, Reason: wasGivenUp, Attempts: int(f.calls[i].attempt)})
		return
	case more != nil && more.overdue:
		more.overdue = false
		f.failed(i, &Failure{Code: "timeout", Message: fmt.Sprintf("no result within %v", call.Timeout)})
		return
	}
	if failure == nil {
		failure = f.Refused(call, value)
	}
	if failure == nil && len(call.Output) > 0 {
		if f.park(i, f.Candidates(call, value, route), call.Method, arrival{value: value, route: route}) {
			return
		}
		route, failure = f.Admitted(call, value, route)
	}
	if failure != nil {
		f.failed(i, failure)
		return
	}
	if len(call.Output) > 0 {
		for _, path := range call.Output[route] {
			f.write(call, path.ID, call.Method, value, f.Plan.Writes == plan.Once && route == call.FailureRoute())
		}
	}
	f.settle(i, Settlement{Status: Done, Output: value, Attempts: int(f.calls[i].attempt)})
}

// fired ends a try that runs, a pause between two, or the time in which a person could answer.
func (f *frame) fired(i int32) {
	switch f.calls[i].status {
	case Running:
		if more := f.calls[i].details(); !more.overdue {
			more.overdue = true
			f.giveUp(i)
		}
	case Pausing:
		f.transition(i, Queued)
	case Asking:
		unanswered(f, i)
	}
}

// giveUp asks that a try be given up. It holds its place until it has ended.
func (f *frame) giveUp(i int32) {
	if child := f.child(i); child != nil {
		child.givenUp = true
		cancelCalls(child, true, wasGivenUp)
		return
	}
	f.emit(i, Cancel)
}

func (f *frame) settle(i int32, s Settlement) {
	state := &f.calls[i]
	f.transition(i, s.Status)
	stage := guard.Ended
	if s.before {
		stage = guard.DoneBefore
	} else if s.Status == Done {
		stage = guard.Done
	}
	tellGuards(f, i, stage)
	if state.more != nil && state.more.early {
		closeEarly(f, i)
		f.emit(i, Cancel)
	}
	if s.Failure != nil && !s.redacted {
		s.Failure = withoutSecrets(f, i, s.Failure)
	}
	if f.machine.loop != nil || f.chosen(i) != nil { // showErrors reads it
		more := state.details()
		more.ran, more.settlement = state.params, &s
	}
	state.params = nil
	if state.more != nil {
		s.Decision, s.Earlier, state.more.items = state.more.decision, state.more.earlier, nil
	}
	if f.machine.loop != nil && f.parent == nil {
		f.machine.loop.changed = f.machine.loop.changed || (s.Status == Done || s.Status == Failed) && s.Attempts > 0
		f.lookAgain(i)
	}
	if s.before {
		f.emit(i, Repeat).Settlement = &s
	} else {
		f.machine.counts.Add(s.Status)
		if s.Failure != nil && !s.Routed && f.items == nil { // else it is the call above that fails
			f.recordError(CallError{Call: f.Plan.Calls[i].Name, Code: s.Failure.Code, Message: s.Failure.Message}, i,
				s.Failure)
		}
		f.emit(i, Settle).Settlement = &s
	}
	if f.items != nil {
		itemSettled(f, i, &s)
	}
}

// release counts a call that has settled, and lets those go on that waited for it.
func (f *frame) release(i int32) {
	f.machine.unsettled--
	if f.unsettled--; f.unsettled == 0 {
		f.machine.finished = append(f.machine.finished, f)
	}
	for r, ok := f.boundBy.take(i); ok; r, ok = f.boundBy.take(i) {
		if f.Reads[r].Open--; !f.isSettled(r) {
			continue
		}
		if reader := f.Plan.Reads[r].Call; reader >= 0 && f.calls[reader].status == Waiting {
			state := &f.calls[reader]
			state.open--
			if _, presence := f.Read(int(r)); state.partial || state.open == 0 || presence == expression.Absent {
				f.look(int32(reader))
			}
		}
	}
	for waiting, ok := f.orderedBy.take(i); ok; waiting, ok = f.orderedBy.take(i) {
		if f.calls[waiting].status == Writing {
			f.inspect(waiting)
		} else if f.calls[waiting].order--; f.isOrdered(waiting) || f.calls[i].status != Done {
			f.look(waiting)
		}
	}
}

func (f *frame) write(call *plan.Call, path pathtree.ID, method plan.Method, value any, failure bool) {
	message := Message{Path: path, Method: method, Value: value, Tick: f.machine.tick, Call: call.Index,
		At: f.machine.now, Failure: failure}
	if f.machine.loop != nil && f.parent == nil {
		f.machine.loop.changed = true
	}
	if f.machine.permit != nil {
		entry := f.machine.permit.EntryOf(guardedCall(f, int32(call.Index)))
		message.By = permit.Writer{Entry: entry, Tool: call.ToolName}
	}
	f.Log.Append(message)
}

// Whether a call is tried again is decided here: after a try that failed, and after a kill that cut one short.

// longestPause is how long a call waits for its next try at most. One that is asked to wait for longer has failed.
const longestPause = time.Hour

func (f *frame) failed(i int32, failure *Failure) {
	call, tries := f.call(i), int(f.calls[i].attempt)
	// Begun anew, it would repeat, or ask about once more, what a person rejected or nobody knows to have been done.
	isExhausted := false
	if more := f.calls[i].more; more != nil {
		tries -= int(more.lost)
		isExhausted = more.refused || more.again && f.isFinal(i)
	}
	switch isTriedAgain := tries < call.Retry.Attempts && call.Each == nil; { // of items each was
	case isTriedAgain && failure.After > longestPause:
		shown := *failure
		shown.Message += fmt.Sprintf("; it isn't tried again, as it asks for a pause of %s, and none is longer than %s",
			wording.Duration(failure.After), wording.Duration(longestPause))
		failure = &shown
	case isTriedAgain && !isExhausted && forbidden(f, i, call, f.calls[i].params) == nil:
		f.transition(i, Pausing)
		pause := max(failure.After, backoff(call.Retry, tries))
		f.tried(i, failure, pause)
		f.pause(i, pause)
		return
	}
	f.failedForGood(i, failure)
}

// failedForGood settles a call that isn't tried again, or that a person rejected, once the failure record can be
// judged: its failure route takes that, if it has one that admits it.
func (f *frame) failedForGood(i int32, failure *Failure) {
	call, state := f.call(i), &f.calls[i]
	at := call.FailureRoute()
	if at >= 0 && f.park(i, call.Output[at:at+1], plan.Set, arrival{failure: failure}) {
		return
	}
	failure = withoutSecrets(f, i, failure)
	s := Settlement{Status: Failed, Failure: failure, Attempts: int(state.attempt), redacted: true}
	if record := failure.Record(); at >= 0 && f.Unfits(call, call.Output[at], plan.Set, record) == nil &&
		f.Occupied(call.Output[at], false) == pathtree.Root {
		for _, path := range call.Output[at] {
			f.write(call, path.ID, plan.Set, record, true)
		}
		s.Routed = true
	}
	if more := state.more; more != nil && more.decision != nil && more.decision.Verdict == Reject {
		s.Status, s.Reason, s.Failure = Rejected, failure.Message, nil
		if !s.Routed && f.items == nil && (f.machine.loop == nil || f.parent != nil) {
			f.recordError(CallError{Call: call.Name, Code: failure.Code, Message: failure.Message}, i, nil)
		}
	}
	f.rejects = f.rejects || !s.Routed && (s.Status == Rejected || state.more != nil && state.more.refused)
	f.settle(i, s)
}

func (f *frame) tried(i int32, failure *Failure, after time.Duration) {
	c := f.emit(i, Tried)
	if c.After = after; failure != nil {
		c.Failure = withoutSecrets(f, i, failure)
	}
}

// pause sets a timer that a resumed run sets again.
func (f *frame) pause(i int32, after time.Duration) *Command {
	f.calls[i].details().due = f.machine.now + after
	c := f.emit(i, SetTimer)
	c.After = after
	return c
}

// backoff is the pause after a try: doubled after each further one, up to the longest.
func backoff(r plan.Retry, attempt int) time.Duration {
	pause := r.Backoff
	for range attempt - 1 {
		if pause >= longestPause {
			return longestPause
		}
		pause *= 2
	}
	return pause
}

// cutShort takes note of a try that came to no end, and may have had none of its effect.
func (f *frame) cutShort(i int32) {
	f.machine.running--
	f.calls[i].details().lost++
	if f.effect(i).Idempotent {
		tellGuards(f, i, guard.Interrupted)
	}
}

// decideInFlight decides about a call that was at work when the run was killed.
func decideInFlight(f *frame, i int32, how InFlight) {
	switch {
	case forbidden(f, i, f.call(i), f.calls[i].params) != nil:
		interrupted(f, i)
	case f.effect(i).Idempotent:
		f.transition(i, Queued)
	case how == InFlightRetry: // which is the answer to what a person would be asked
		f.calls[i].approved, f.calls[i].more.uncertain = true, true
		f.transition(i, Queued)
	case how == InFlightFail:
		interrupted(f, i)
	default:
		more := f.calls[i].details()
		more.question = questionOf(f, i)
		more.question.InFlight = true
		f.ask(i, "")
	}
}

func interrupted(f *frame, i int32) {
	f.calls[i].details().refused = true
	f.failedForGood(i, &Failure{Code: "interrupted",
		Message: "the run broke off while this call was at work, and it isn't known whether it took effect"})
}
