package main

import (
	"context"
	"strings"

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
	style, names := terminal.StyleFor(c.out), 0
	for _, one := range all {
		names = max(names, diag.Columns(one.Run))
	}
	paint := map[string]func(string) string{"done": style.Green, "failed": style.Red, "unreadable": style.Red,
		"stopped": style.Yellow, "killed": style.Yellow}
	for _, one := range all {
		if o.Format == "json" {
			c.out.JSON(one)
			continue
		}
		status := terminal.Pad(one.Status, 10)
		if color := paint[one.Status]; color != nil {
			status = color(status)
		}
		text := terminal.Used(one.Usage)
		if one.Calls != nil {
			text = terminal.Tally(*one.Calls, runtime.RunStatus(one.Status)) + text
		}
		if one.Calls != nil && one.Instances > 0 {
			text = wording.Count(one.Instances, "instance") + ": " + text
		}
		text = strings.TrimPrefix(text+"; "+one.Reason, "; ")
		c.out.Print("%s  %s  %s\n", terminal.Pad(diag.Escape(one.Run), names), status,
			diag.Escape(strings.TrimSuffix(text, "; ")))
	}
	return nil
}
