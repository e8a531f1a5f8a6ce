package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/effects"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/activity"
)

// unasked reports whether a server may be started or reached before a person has approved a call to
// it: nobody is asked, the plan is approved, or the definition isn't the plan's own. Starting it may do anything, and
// its environment and headers may hold secrets.
func (s *Session) unasked(of *plan.Server) bool {
	return s.confirm().Policy == runtime.Never || s.manifest.Approval != nil || effects.Vouches(of.Origin)
}

// confirm is whom the run asks from now on.
func (s *Session) confirm() runtime.Confirm {
	if s.Replay == nil {
		return s.Options.Confirm
	}
	return *cmp.Or(s.resume.Confirm, new(s.Replay.Machine.Confirm()))
}

// hold compares the MCP servers that the run may need with what is recorded of their tools,
// before the first call: a tool that has changed ends the run. Those that a person has
// to let begin are compared when they do.
func (s *Session) hold(ctx context.Context) error {
	err := s.set.Hold(ctx, s.unasked, func(of *plan.Server) {
		s.wait(fmt.Sprintf("nothing is recorded of the MCP server %q: nobody knows whether its tools are "+
			"what they were", of.Name))
	})
	if err == nil {
		return nil
	}
	if s.Replay == nil && s.keeper != nil {
		s.keeper.writer.Close()
		remove(s.keeper.file) // the run hasn't begun
	}
	if f := (*activity.Failure)(nil); errors.As(err, &f) && f.Code == activity.CodeDrifted {
		return unrunnable(err).
			Advise("check that the plan still means what it meant, then import the server's tools again")
	}
	return diag.NewError(ErrUnrunnable, "the plan can't be run: %w", err)
}

// thereToRun refuses a run that can't go on where it stood because the folder of an
// activity, or a program in it, is missing: once it is back, the run can be resumed.
func (s *Session) thereToRun() error {
	all := s.Program.Activities()
	used := activity.InUse(s.Program.Plan, s.Options.Planned)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if used != nil && !used(name) {
			continue
		}
		if what := cmp.Or(activity.Missing(all[name])); what != "" {
			return diag.NewError(ErrNotThere, "the run can't go on: %s of activity \"%s\" isn't there", what, name).
				Advise("put it back, then run \"obelus resume %s\"", s.ID())
		}
	}
	return nil
}

// Telemetry traces runs. One that is given to several runs at a time is called from several goroutines.
type Telemetry interface {
	// Begin begins to trace a run, as a part of what ctx may hold.
	Begin(ctx context.Context, r Started) Trace
}

// A Trace learns what happens in a run, from one goroutine.
type Trace interface {
	Observe(at time.Duration, c runtime.Command)
	// Break ends the trace of a run that couldn't continue, for a reason that no command has.
	Break(why error)
}

// Started is a run that has been started or resumed.
type Started struct {
	ID, Plan string
	At       time.Time // when it began; pauses between a kill and its resumption are left out of all times
	Resumed  bool      // what happened before isn't reported again
}

// broken ends the trace of a run that can't go on.
func (s *Session) broken(err error) error {
	if s.trace != nil {
		s.trace.Break(err)
	}
	return err
}
