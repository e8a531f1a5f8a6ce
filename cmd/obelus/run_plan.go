package main

import (
	"cmp"
	"context"
	"path/filepath"
	"strings"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/session"
)

// plan writes the plan that a planner makes, as a document that is checked, approved and run like any other.
func (o *starting) plan(ctx context.Context, c *cli, name string) error {
	switch {
	case !o.PlanOnly:
		return usageErr("-o is the file of --plan-only").Advise("--format json shows the result of a run")
	case o.Planner == "none":
		return usageErr("--plan-only needs a --planner, which makes the plan")
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
	switch {
	case err != nil:
		return err
	case o.draft.Asked == nil:
		return c.noPlan(result)
	}
	text, file := o.draft.Record(filepath.Dir(o.Output), workspace), cmp.Or(o.Output, "plan.json")
	d, err := c.newReading().Parse(file, text)
	if err != nil {
		return err
	}
	made := d.Check()
	switch {
	case made.Verified == nil:
		made.File.Name = "<planned>" // which isn't written
		return c.faultyPlan(made, o.Format, statusFound)
	case result.Status != runtime.RunDone:
		return c.noPlan(result)
	case made.Plan.Solution == nil:
		c.err.Print("obelus: there is no plan: the answer is nested too deeply for a file\n")
		return ending(statusFound)
	}
	if err = c.writeAs(0o600, o.Output, text); err != nil { // with the input of the run
		err = cmp.Or(c.write("", o.draft.Record(".", workspace)), err) // a model has been paid for it
	}
	return err
}

// noPlan says why planning ended without a plan.
func (c *cli) noPlan(result *session.Result) error {
	for _, e := range result.Errors {
		c.err.Print("obelus: %s\n", diag.Escape(e.Message))
	}
	if len(result.Errors) > 0 {
		return ending(statusFound)
	}
	why := strings.ReplaceAll(cmp.Or(result.Why, string(result.Reason)), "resume the run", "plan again")
	c.err.Print("obelus: there is no plan: %s\n", diag.Escape(why))
	return ending(statusStopped)
}
