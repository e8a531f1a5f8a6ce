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
	"github.com/obelus-dev/obelus/runtime/trace"
)

// unasked reports whether a server may be started or reached before a person has approved a call to
// it: nobody is asked, the plan is approved, the definition isn't the plan's own, or a policy trusts
// it. Starting it may do anything, and its environment and headers may hold secrets.
func (s *Session) unasked(of *plan.Server) bool {
	return s.confirm().Policy == runtime.Never || s.manifest.Approval != nil || effects.Vouches(of.Origin) ||
		of.TrustedBy != ""
}

// confirm is whom the run asks from now on.
func (s *Session) confirm() runtime.Confirm {
	switch {
	case s.resume.Confirm != nil:
		return *s.resume.Confirm
	case s.Replay != nil:
		return s.Replay.Machine.Confirm()
	}
	return s.Options.Options.Confirm
}

// hold compares the MCP servers that the run may need with what is recorded of their tools,
// before the first call: a tool that has changed ends the run. Those that a person has
// to let begin are compared when they do.
func (s *Session) hold(ctx context.Context) (err error) {
	defer func() {
		if err == nil {
			return
		}
		s.tracer.Break(err)
		s.results.close()
		if s.Replay == nil && s.keeper != nil {
			s.keeper.writer.Close()
			remove(s.keeper.file) // the run hasn't begun
		}
	}()
	err = s.set.Hold(ctx, s.unasked, func(of *plan.Server) {
		s.wait(
			fmt.Sprintf("nothing is recorded of the MCP server %q: nobody knows whether its tools are what they were",
				of.Name))
	})
	if f := (*activity.Failure)(nil); errors.As(err, &f) && f.Code == activity.CodeDrifted {
		return unrunnable(err).
			Advise("check that the plan still means what it meant, then import the server's tools again")
	} else if err != nil {
		return diag.NewError(ErrUnrunnable, "the plan can't be run: %w", err)
	}
	return nil
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

// traced is what spans report about the run as a whole, which starts or is resumed.
func (s *Session) traced() trace.Run {
	r := trace.Run{ID: s.ID(), Plan: s.manifest.Title, Began: time.Now()}
	if s.Replay != nil {
		r.Began, r.Resumed = r.Began.Add(-s.Replay.At), true
		if s.Options.Telemetry != nil {
			r.Used = s.Replay.Machine.Stands().Usage
		}
	}
	return r
}
