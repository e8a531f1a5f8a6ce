package main

import (
	"cmp"
	"context"
	"path/filepath"
	"strings"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/project"
)

// plan writes the plan that a planner makes, as a document that is checked, approved and run like any other.
func (o *starting) plan(ctx context.Context, c *cli, name string) error {
	if !o.PlanOnly || o.Planner == "none" {
		return usageErr("--plan-only needs a --planner, which makes the plan, and -o is its file")
	}
	s, err := o.start(c, name, c.newReading())
	if err != nil {
		return err
	}
	if s.Program.Plan.Solution != nil {
		return cmp.Or(s.Close(), error(usageErr("%q has a solution already", name).
			Advise("run it, or remove \"solution\" from it to plan again")))
	}
	ctx, _, released := interruptible(ctx)
	defer released()
	result, err := s.Run(ctx)
	if err != nil {
		return err
	}
	workspace, err := filepath.Abs(s.Program.Workspace())
	if err != nil {
		return err
	}
	var made *project.Program
	var text []byte
	if o.draft.Asked != nil {
		text = o.draft.Record(filepath.Dir(o.Output), workspace)
		d, err := c.newReading().Parse(cmp.Or(o.Output, "plan.json"), text)
		if err != nil {
			return err
		}
		made = d.Check()
	}
	switch {
	case made != nil && made.Verified == nil:
		made.File.Name = "<planned>" // which isn't written
		return c.faultyPlan(made, o.Format, statusFound)
	case made == nil || result.Status != runtime.RunDone || made.Plan.Solution == nil:
		why := cmp.Or(result.Why, string(result.Reason), "the answer is nested too deeply for a file")
		for _, e := range result.Errors {
			why = e.Message
		}
		why = strings.ReplaceAll(why, "resume the run", "plan again")
		c.err.Print("obelus: there is no plan: %s\n", diag.Escape(why))
		if result.Status == runtime.RunStopped {
			return ending(statusStopped)
		}
		return ending(statusFound)
	}
	if err = c.writeAs(0o600, o.Output, text); err != nil { // with the input of the run
		err = cmp.Or(c.write("", o.draft.Record(".", workspace)), err) // a model has been paid for it
	}
	return err
}
