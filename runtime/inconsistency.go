package runtime

import "fmt"

const codeInternal = "internal"

// checkItself ends a run in which the machine isn't consistent, before anybody waits for what can't come: an event to
// which nothing would ever answer, a state that can't be made of what was written, a call's status that can't follow
// its last. The event that showed it is in the journal, so that a resumed run ends the same way.
func checkItself(m *Machine) {
	switch {
	case m.over:
	case m.inconsistency != "":
		endInconsistent(m, m.inconsistency)
	case isStuck(m):
		endInconsistent(m, fmt.Sprintf("nothing is at work, and %d calls haven't settled", m.unsettled))
	}
}

// isStuck reports whether the machine waits although nobody will tell it anything any more.
func isStuck(m *Machine) bool {
	if !m.opened || m.unsettled == 0 || m.running > 0 || m.planning() || m.instances != nil && m.instances.asked {
		return false
	}
	for _, f := range m.frames {
		if f == nil {
			continue
		}
		for i := range f.calls {
			if one := &f.calls[i]; one.asks() || one.status == Pausing {
				return false
			}
		}
	}
	return true
}

// endInconsistent ends the run as failed. What is at work is cancelled.
func endInconsistent(m *Machine, why string) {
	e := CallError{Code: codeInternal,
		Message: "internal error: " + why + "; this is a fault of obelus, please report it with the plan"}
	m.errors = append(m.errors, runError{e, m.tick, atLast, 0})
	m.inconsistency = ""
	outcome := m.outcome(RunFailed, Reason(e.Message))
	if m.planning() {
		m.emitRun(Cancel)
	}
	for _, f := range m.frames {
		if f != nil {
			reportUnsettled(f, &outcome.Counts, "the run has ended")
		}
	}
	m.finish(outcome)
}
