package main

import (
	"context"
	"fmt"

	"github.com/obelus-dev/obelus/cmd/obelus/internal/terminal"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/session"
)

type runListing struct {
	Format string `flag:"--format text|json: how runs are written; json is one a line"`
}

func (o *runListing) run(_ context.Context, c *cli, _ []string) error {
	folder, all, err := c.allRuns()
	if err != nil {
		return err
	}
	if o.Format == "json" {
		for _, line := range all {
			if err := diag.JSONLine(c.out, line); err != nil {
				return err
			}
		}
		return nil
	}
	if len(all) == 0 {
		_, err := fmt.Fprintf(c.out, "there are no runs in %s\n", diag.Escape(folder))
		return err
	}
	return c.listRuns(all)
}

// allRuns are the runs of a folder of journals.
func (c *cli) allRuns() (folder string, all []session.Entry, err error) {
	if folder, err = c.runsFolder(); err == nil {
		if all, err = session.List(folder); err != nil {
			err = usageErr("%v", err)
		}
	}
	return folder, all, err
}

func (c *cli) listRuns(all []session.Entry) error {
	style := terminal.StyleFor(c.out)
	names := 0
	for _, line := range all {
		names = max(names, diag.Columns(line.Run))
	}
	for _, line := range all {
		word := terminal.Pad(line.Status, 10)
		switch line.Status {
		case "done":
			word = style.Green(word)
		case "failed", "unreadable":
			word = style.Red(word)
		case "stopped", "killed":
			word = style.Yellow(word)
		}
		what := ""
		if line.Calls != nil {
			what = terminal.Tally(*line.Calls, runtime.RunStatus(line.Status))
			if line.Instances > 0 {
				what = wording.Count(line.Instances, "instance") + ": " + what
			}
		}
		what += terminal.Used(line.Usage)
		if line.Reason != "" && what != "" {
			what += "; "
		}
		if _, err := fmt.Fprintf(c.out, "%s  %s  %s\n", terminal.Pad(diag.Escape(line.Run), names), word, diag.Escape(what+line.Reason)); err != nil {
			return err
		}
	}
	return nil
}
