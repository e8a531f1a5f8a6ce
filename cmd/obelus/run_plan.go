package main

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/project"
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
	ctx, _, released := interruptible(ctx)
	defer released()
	result, err := s.Run(ctx)
	if err = cmp.Or(err, s.Close()); err != nil {
		return err
	}
	workspace, err := filepath.Abs(s.Program().Workspace())
	if err != nil || o.draft.Asked == nil {
		return err
	}
	var made *project.Program
	text, file := o.draft.Record(filepath.Dir(o.Output), workspace), cmp.Or(o.Output, "plan.json")
	err = c.newReading().Split(file, text, func(d project.Document) error {
		made = d.Check()
		return nil
	})
	switch {
	case err != nil:
		return err
	case made.Verified == nil:
		return c.faultyPlan(made, o.Format, statusFound)
	case result.Status == runtime.RunDone:
		return c.write(o.Output, text)
	}
	for _, e := range result.Errors {
		fmt.Fprintf(c.err, "obelus: %s\n", diag.Escape(e.Message))
	}
	if len(result.Errors) > 0 {
		return ending(statusFound)
	}
	fmt.Fprintf(c.err, "obelus: there is no plan: %s\n", diag.Escape(cmp.Or(result.Why, string(result.Reason))))
	return ending(statusStopped)
}
