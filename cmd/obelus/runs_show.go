package main

import (
	"context"
	"time"

	"github.com/obelus-dev/obelus/cmd/obelus/internal/terminal"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/session"
)

type showing struct {
	State  bool   `flag:"--state: print the state, as JSON, of each instance by its id if there are any"`
	Format string `flag:"--format text|json: how the run is written; json is its events, one a line"`
}

func (o *showing) run(_ context.Context, c *cli, args []string) error {
	path, err := c.findRun(args[0])
	if err != nil {
		return err
	}
	look, err := session.LookAt(path, session.ResumeOptions{Activities: c.Activities})
	if err != nil {
		return err
	}
	if o.State {
		showState(c, look.Machine.Stands(), o.Format)
		return nil
	}
	if o.Format == "json" {
		events := session.NewEvents(c.out, path)
		look.Show(events)
		return events.End(look.Outcome())
	}
	m := look.Manifest
	c.out.Print("%s  %s\n  begun %s", diag.Escape(look.ID), look.Status,
		m.Started.Local().Format(time.DateTime))
	if who := m.Planner + m.Model; who != "" {
		c.out.Print(", with %s", diag.Escape(who))
	}
	if m.Approval != nil {
		c.out.Print(", approved by %s", diag.Escape(wording.And(m.Approval.Signers)))
	}
	c.out.Print("\n\n")
	show := terminal.NewRecorded(c.out, terminal.Run{Plan: look.Program.Plan, Planned: m.Options.Planned,
		Journal: path})
	look.Show(show)
	return show.End(look.Outcome())
}

func showState(c *cli, o *runtime.Outcome, format string) {
	state := o.State
	if o.Instances != nil {
		states := map[string]any{}
		for _, one := range o.Instances {
			states[one.ID] = one.State
		}
		state = states
	}
	if format == "json" {
		c.out.JSON(state)
	} else {
		c.out.Print("%s\n", terminal.Display(state))
	}
}
