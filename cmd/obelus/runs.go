package main

import (
	"context"
	"strings"

	"github.com/obelus-dev/obelus/cmd/obelus/internal/pages"
	"github.com/obelus-dev/obelus/cmd/obelus/internal/terminal"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/runtime/session"
)

type runListing struct {
	Format string `flag:"--format text|json: how runs are written; json is one a line"`
}

func (o *runListing) run(_ context.Context, c *cli, _ []string) error {
	folder, err := c.runsFolder()
	if err != nil {
		return err
	}
	all, err := session.List(folder)
	if err != nil {
		return usageErr("%v", err)
	}
	if len(all) == 0 && o.Format == "text" {
		c.out.Print("there are no runs in %s\n", diag.Escape(folder))
	}
	for _, one := range all {
		if o.Format == "json" {
			c.out.JSON(one)
			continue
		}
		text := string(one.Reason)
		if one.Calls != nil {
			text = terminal.Tally(*one.Calls) + terminal.Used(one.Usage)
			text = strings.TrimSuffix(text+"; "+string(one.Reason), "; ")
		}
		c.out.Print("%s  %s  %s\n", diag.Escape(one.Run), one.Status, diag.Escape(text))
	}
	return nil
}

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
	if end := look.Outcome(); o.State {
		states := map[string]any{}
		for _, one := range end.Instances {
			states[one.ID] = one.State
		}
		if end.Instances == nil {
			states, _ = end.State.(map[string]any)
		}
		if o.Format == "json" {
			c.out.JSON(states)
		} else {
			c.out.Print("%s\n", terminal.Display(states))
		}
		return nil
	}
	var show pages.Observer = session.NewEvents(c.out, path)
	if o.Format == "text" {
		c.out.Print("%s  %s\n\n", diag.Escape(look.ID), look.Status)
		show = terminal.NewRecorded(c.out, terminal.Run{Plan: look.Program.Plan, Journal: path,
			Joining: len(look.Joined)})
	}
	look.Show(show)
	return show.End(look.Outcome())
}
