package runtime

import (
	"fmt"
)

type statuses uint16

func setOf(list ...Status) statuses {
	var set statuses
	for _, s := range list {
		set |= 1 << s
	}
	return set
}

func (s statuses) has(one Status) bool { return s&(1<<one) != 0 }

// A transition is how a call comes by a status: from which others, and what that does besides.
type transition struct {
	from statuses
	to   Status
	do   func(f *frame, i int32)
}

// transitions are all that there are: nothing follows a status that is settled.
var transitions = []transition{
	// From Queued where the limit of calls lets it not start, from Running where a kill cut the attempt short or no
	// model answers.
	{setOf(Waiting, Queued, Asking, Running, Pausing), Queued, (*frame).line},
	// From Asking where an answer can't be taken, from Running where a kill cut the attempt short.
	{setOf(Queued, Asking, Running), Asking, nil},
	{setOf(Queued), Running, nil},
	{setOf(Running, Writing), Pausing, nil},
	// From Queued and Asking with the record of a rejection or an interruption, from Writing where one more call has to
	// settle first.
	{setOf(Queued, Asking, Running, Writing), Writing, hold},
	// From Waiting where the call was done before.
	{setOf(Waiting, Running, Writing), Done, (*frame).release},
	// From Queued where a guard refuses it, or where who resumes reports that an interrupted attempt has failed.
	{setOf(Waiting, Queued, Asking, Running, Writing), Failed, (*frame).release},
	{setOf(Waiting), Skipped, (*frame).release},
	{setOf(Asking, Writing), Rejected, (*frame).release},
	// With the delegate or the list that it is in.
	{setOf(Waiting, Queued, Asking, Running, Pausing, Writing), Cancelled, (*frame).release},
}

// mayFollow is by status what a call may become, and onEntry what that does.
var mayFollow, onEntry = byStatus()

func byStatus() (follow [Cancelled + 1]statuses, onEntry [Cancelled + 1]func(*frame, int32)) {
	for _, t := range transitions {
		onEntry[t.to] = t.do
		for from := range follow {
			if t.from.has(Status(from)) {
				follow[from] |= setOf(t.to)
			}
		}
	}
	return follow, onEntry
}

// Tests let an illegal transition panic where it happens, and see those that are made.
var (
	panicOnIllegal bool
	onTransition   func(from, to Status)
)

// transition gives a call another status: nothing else does. It reports whether the call may have it now; if not,
// nothing has changed, and the run ends as one in which the machine is inconsistent (see checkItself).
func (f *frame) transition(i int32, to Status) bool {
	state := &f.calls[i]
	if !mayFollow[state.status].has(to) {
		f.illegal(i, to)
		return false
	}
	if onTransition != nil {
		onTransition(state.status, to)
	}
	state.status = to
	if do := onEntry[to]; do != nil {
		do(f, i)
	}
	return true
}

func (s *schedule) illegal(i int32, to Status) {
	why := fmt.Sprintf("%q can't be %s after it was %s", s.Plan.Calls[i].Name, to, s.calls[i].status)
	if panicOnIllegal {
		panic(why)
	}
	s.machine.inconsistency = why
}
