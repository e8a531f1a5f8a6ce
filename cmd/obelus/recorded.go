package main

import (
	"slices"
	"time"

	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/session"
)

// A recordedRun is what happened in a run so far, from its journal.
type recordedRun struct {
	look     *session.Look
	commands []recordedCommand
}

type recordedCommand struct {
	at time.Duration
	runtime.Command
}

// recorded reads the journal of a run. Of the calls that a stop left unfinished it has only those of the last stop.
func recorded(path string, activities []string) (*recordedRun, error) {
	r := &recordedRun{}
	var err error
	r.look, err = session.LookAt(path, session.ResumeOptions{Activities: activities},
		func(at time.Duration, c runtime.Command) {
			if n := len(r.commands); n > 0 && r.commands[n-1].Kind == runtime.Finish {
				r.commands = slices.DeleteFunc(r.commands, func(c recordedCommand) bool {
					return c.Kind == runtime.Settle && c.Settlement.Left
				})
			}
			r.commands = append(r.commands, recordedCommand{at, c})
		})
	return r, err
}

func (r *recordedRun) show(to interface {
	session.Observer
	End(*runtime.Outcome) error
}) error {
	r.observe(to)
	return to.End(r.outcome())
}

// observe shows what happened.
func (r *recordedRun) observe(to session.Observer) {
	isStopped := r.outcome().Status == runtime.RunStopped
	for _, c := range r.commands {
		if c.Kind != runtime.Settle || !c.Settlement.Left || isStopped {
			to.Observe(c.at, c.Command)
		}
	}
}

// outcome is how the run ended, or where it is.
func (r *recordedRun) outcome() *runtime.Outcome {
	replay := r.look.Replay
	if replay.Over() && replay.Outcome != nil {
		return replay.Outcome
	}
	outcome := replay.Machine.Stands()
	if !replay.Machine.Stopped() && r.look.Status == string(runtime.RunGoesOn) {
		outcome.Status, outcome.Reason = runtime.RunGoesOn, ""
		for i := range outcome.Instances {
			if one := &outcome.Instances[i]; one.Status == runtime.RunStopped {
				one.Status = runtime.RunGoesOn
			}
		}
	}
	return outcome
}
