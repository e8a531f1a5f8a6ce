package session

import (
	"context"
	"errors"
	"fmt"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/effects"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/activity"
)

// unasked reports whether a server may be started or reached before a person has approved a call to
// it: nobody is asked, the plan is approved, the definition isn't the plan's own, or a policy trusts
// it. Starting it may do anything, and its environment and headers may hold secrets.
func (s *Session) unasked(of *plan.Server) bool {
	confirm := s.Options.Options.Confirm
	switch {
	case s.resume.Confirm != nil:
		confirm = *s.resume.Confirm
	case s.Replay != nil:
		confirm = s.Replay.Machine.Confirm()
	}
	return confirm.Policy == runtime.Never || s.manifest.Approval != nil || effects.Vouches(of.Origin) ||
		of.TrustedBy != ""
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
		return diag.NewError(ErrUnrunnable, "the plan can't be run: %v", err).From(err)
	}
	return nil
}
