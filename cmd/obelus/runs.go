package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/obelus-dev/obelus/cmd/obelus/internal/terminal"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/session"
	"github.com/obelus-dev/obelus/runtime/trace"
)

type runListing struct {
	Format string `flag:"--format text|json: how runs are written; json is one a line"`
}

func (o *runListing) run(_ context.Context, c *cli, _ []string) error {
	folder, all, err := c.allRuns()
	if err != nil {
		return err
	}
	if len(all) == 0 && o.Format == "text" {
		_, err = fmt.Fprintf(c.out, "there are no runs in %s\n", diag.Escape(folder))
	}
	style, names := terminal.StyleFor(c.out), 0
	for _, one := range all {
		names = max(names, diag.Columns(one.Run))
	}
	paint := map[string]func(string) string{"done": style.Green, "failed": style.Red, "unreadable": style.Red,
		"stopped": style.Yellow, "killed": style.Yellow}
	for _, one := range all {
		if o.Format == "json" {
			err = diag.JSONLine(c.out, one)
		} else {
			status := terminal.Pad(one.Status, 10)
			if color := paint[one.Status]; color != nil {
				status = color(status)
			}
			_, err = fmt.Fprintf(c.out, "%s  %s  %s\n", terminal.Pad(diag.Escape(one.Run), names), status,
				diag.Escape(describeRun(one)))
		}
		if err != nil {
			return err
		}
	}
	return err
}

// describeRun is how far a run came, what models used, and why it ended.
func describeRun(one session.Entry) string {
	text := ""
	if one.Calls != nil {
		text = terminal.Tally(*one.Calls, runtime.RunStatus(one.Status))
		if one.Instances > 0 {
			text = wording.Count(one.Instances, "instance") + ": " + text
		}
	}
	if text += terminal.Used(one.Usage); one.Reason != "" && text != "" {
		text += "; "
	}
	return text + one.Reason
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

type exporting struct {
	OTLP string `flag:"--otlp FILE: where to write, - for standard output"`
}

func (o *exporting) run(_ context.Context, c *cli, args []string) error {
	if o.OTLP == "" {
		return usageErr("nothing says where the spans are to go").Advise("name a file with --otlp, or - for standard output")
	}
	path, err := c.findRun(args[0])
	if err != nil {
		return err
	}
	recording, err := session.Traced(path, session.ResumeOptions{Activities: c.Activities},
		trace.Attribute{Key: "service.name", Value: "obelus"},
		trace.Attribute{Key: "service.version", Value: version()})
	if err != nil {
		return err
	}
	text, err := recording.OTLP()
	if err != nil {
		return err
	}
	return c.write(o.OTLP, text)
}

type pruning struct {
	Older   string `flag:"--older-than TIME: remove runs whose journal is older: 12h, or days such as 30d"`
	Keep    int    `least:"0" flag:"--keep N: keep this many of the newest, and remove those before them [any number]"`
	Stopped bool   `flag:"--stopped: also runs that were stopped or killed"`
	DryRun  bool   `flag:"--dry-run: only print what would be removed"`
}

func (o *pruning) run(_ context.Context, c *cli, _ []string) error {
	hasKeep := c.changed("keep")
	if o.Older == "" && !hasKeep {
		return usageErr("prune needs to know which runs to remove").Advise("add --older-than 30d, or --keep 100")
	}
	age, ok := periodOf(o.Older)
	if o.Older != "" && !ok {
		return usageErr("--older-than can't be %q: expected a time such as 12h, or days such as 30d", o.Older)
	}
	_, all, err := c.allRuns()
	if err != nil {
		return err
	}
	var ended []session.Entry
	for _, one := range all {
		isStopped := one.Status == "stopped" || one.Status == "killed"
		if one.Status == "done" || one.Status == "failed" || o.Stopped && isStopped {
			ended = append(ended, one)
		}
	}
	if hasKeep {
		ended = ended[:max(0, len(ended)-o.Keep)]
	}
	if o.Older != "" {
		ended = slices.DeleteFunc(ended, func(one session.Entry) bool { return time.Since(one.Last) < age })
	}
	for _, one := range ended {
		if !o.DryRun {
			if err := session.Remove(one.File); err != nil {
				return err
			}
		}
		fmt.Fprintf(c.out, "%s  %s\n", diag.Escape(one.Run), one.Status)
	}
	word := "removed"
	if o.DryRun {
		word = "would be removed"
	}
	_, err = fmt.Fprintf(c.out, "%s %s\n", wording.Count(len(ended), "run"), word)
	return err
}
