package runtime

import "fmt"

type statuses uint16

func setOf(list ...Status) statuses {
	var set statuses
	for _, s := range list {
		set |= 1 << s
	}
	return set
}

func (s statuses) has(one Status) bool { return s&(1<<one) != 0 }

// mayFollow says what a call may become from each status; from one that is settled nothing follows.
var mayFollow = [...]statuses{
	// Done where the call was done before; Cancelled with the delegate that it is in.
	Waiting: setOf(Queued, Done, Failed, Skipped, Cancelled),
	// Queued again where the limit of calls lets it not start, Failed where the order of a policy doesn't, or where a
	// kill cut a try short and who resumes says that it has failed; Writing of its record then.
	Queued: setOf(Queued, Asking, Running, Writing, Failed, Cancelled),
	// Asking again where an answer can't be taken. Failed of a call that a kill cut short that a person reports as
	// failed; Writing of its record, and that of a call which is rejected.
	Asking: setOf(Queued, Asking, Writing, Failed, Rejected, Cancelled),
	// Queued and Asking where a kill cut the try short.
	Running: setOf(Queued, Asking, Pausing, Writing, Done, Failed, Cancelled),
	Pausing: setOf(Queued, Cancelled),
	// Writing again where another call has to settle first; Rejected where the record of that had to wait.
	Writing:   setOf(Pausing, Writing, Done, Failed, Rejected, Cancelled),
	Cancelled: 0, // as of all that is settled
}

// Tests let an illegal transition panic where it happens, and see those that are made.
var (
	panicOnIllegal bool
	onTransition   func(from, to Status)
)

// transition gives a call another status: nothing else does. It reports whether the call may have it now; if not,
// nothing has changed, and the run ends as one in which the machine is inconsistent (see checkItself).
func (s *schedule) transition(i int32, to Status) bool {
	state := &s.calls[i]
	if !mayFollow[state.status].has(to) {
		s.illegal(i, to)
		return false
	}
	if onTransition != nil {
		onTransition(state.status, to)
	}
	state.status = to
	return true
}

func (s *schedule) illegal(i int32, to Status) {
	why := fmt.Sprintf("%q can't be %s after it was %s", s.plan.Calls[i].Name, to, s.calls[i].status)
	if panicOnIllegal {
		panic(why)
	}
	s.machine.inconsistency = why
}
