package main

import (
	"context"
	"slices"
	"time"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/obelus-dev/obelus/runtime/session"
)

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
		c.out.Print("%s  %s\n", diag.Escape(one.Run), one.Status)
	}
	word := "removed"
	if o.DryRun {
		word = "would be removed"
	}
	c.out.Print("%s %s\n", wording.Count(len(ended), "run"), word)
	return nil
}
