package runtime

import (
	"fmt"
	"time"

	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/obelus-dev/obelus/runtime/guard"
)

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
