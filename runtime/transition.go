package runtime

import (
	"fmt"
	"slices"
)

// A transition is how a call comes by a status: from which others, and what that does besides.
type transition struct {
	from []Status
	do   func(f *frame, i int32)
}

// transitions are all that there are, by what a call becomes: nothing follows a status that is settled.
var transitions = [Cancelled + 1]transition{
	// From Queued where a limit stops it, from Running where a kill cut the attempt short or no model answers.
	Queued: {[]Status{Waiting, Queued, Asking, Running, Pausing}, (*frame).line},
	// From Asking where an answer can't be taken, from Running where a kill cut the attempt short.
	Asking:  {[]Status{Queued, Asking, Running}, nil},
	Running: {[]Status{Queued}, nil},
	Pausing: {[]Status{Running, Writing}, nil},
	// From Queued and Asking with a failure record, from Writing where one more call has to settle first.
	Writing: {[]Status{Queued, Asking, Running, Writing}, nil},
	// From Waiting where the call was done before.
	Done: {[]Status{Waiting, Running, Writing}, (*frame).release},
	// From Queued where a guard refuses it, or where who resumes reports that an interrupted attempt has failed.
	Failed:   {[]Status{Waiting, Queued, Asking, Running, Writing}, (*frame).release},
	Skipped:  {[]Status{Waiting}, (*frame).release},
	Rejected: {[]Status{Asking, Writing}, (*frame).release},
	// With the delegate or the list that it is in.
	Cancelled: {[]Status{Waiting, Queued, Asking, Running, Pausing, Writing}, (*frame).release},
}

func mayFollow(from, to Status) bool { return slices.Contains(transitions[to].from, from) }

// Tests see the transitions that are made.
var onTransition func(from, to Status)

// transition gives a call another status: nothing else does.
func (f *frame) transition(i int32, to Status) {
	state := &f.calls[i]
	if !mayFollow(state.status, to) {
		panic(fault(fmt.Sprintf("%q can't be %s after it was %s", f.Plan.Calls[i].Name, to, state.status)))
	}
	if onTransition != nil {
		onTransition(state.status, to)
	}
	state.status = to
	if do := transitions[to].do; do != nil {
		do(f, i)
	}
}
