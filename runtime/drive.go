package runtime

import (
	_ "embed"
	"fmt"
)

// Reference is how a plan runs, in the form of [compiler.Reference].
//
//go:embed EXECUTION.md
var Reference string

// A World carries out what a machine commands, and reports what happens because of it: with programs and people
// (package local), on a virtual clock (package simulate), out of a journal (package session), or in the history
// of a workflow engine. It decides nothing about the plan.
type World interface {
	// Next waits for the next event. The first begins or resumes the run. A world that keeps its events has
	// kept this one, or does so before anything that follows from it is carried out. A world whose run is
	// interrupted from outside gives a [Stopped] event.
	Next() (Event, error)
	// Do carries out the commands that follow from that event, in their order. Once a run is over, or has stopped, the
	// last is [Finish]: then all of them have been carried out when Do returns.
	Do(commands []Command) error
}

// Drive runs a machine in a world until the run is over or has stopped. It reads no clock, no file and no map's order:
// the same events bring a new machine to the same place. The error is the world's, or that the machine isn't consistent
// any more: the event that showed it may be in a journal, and a run that is resumed has the same result.
func Drive(m *Machine, w World) (outcome *Outcome, err error) {
	defer func() {
		switch bug := recover().(type) {
		case nil:
		case fault:
			err = fmt.Errorf("internal error: %s; this is a fault of obelus, please report it with the plan",
				string(bug))
		default:
			panic(bug)
		}
	}()
	for {
		e, err := w.Next()
		if err != nil {
			return nil, err
		}
		commands := m.Step(e)
		if err := w.Do(commands); err != nil {
			return nil, err
		}
		if n := len(commands); n > 0 && commands[n-1].Kind == Finish {
			return commands[n-1].Outcome, nil
		}
	}
}

// A fault is what a machine panics with that finds itself inconsistent.
type fault string
