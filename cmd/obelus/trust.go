package main

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/cmd/obelus/internal/terminal"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/obelus-dev/obelus/compiler/workspace"
	"github.com/obelus-dev/obelus/runtime/project"
)

type trusting struct {
	Show   bool `flag:"--show: print what is trusted; exit status 1 if something isn't"`
	Revoke bool `flag:"--revoke: no longer trust it"`
}

func (o *trusting) run(_ context.Context, c *cli, args []string) error {
	folder := append(args, ".")[0]
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return usageErr("there is no folder %q", folder)
	}
	all, err := c.newReading().Vouching(folder)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return usageErr("there is no obelus.yaml and no obelus.policy.yaml in the workspace of %q", folder)
	}
	untrusted := false
	for _, one := range all {
		word, err := "trusted", error(nil)
		switch {
		case o.Revoke:
			word, err = "not trusted", one.Revoke()
		case !o.Show:
			err = one.Trust()
		case !one.IsTrusted():
			word = "not trusted as it is"
		}
		if err != nil {
			return usageErr("what is trusted can't be kept: %w", workspace.Reason(err)).
				Advise("give --trust to the commands that are to trust it")
		}
		untrusted = untrusted || o.Show && word != "trusted"
		c.out.Print("%s: %s\n", diag.Escape(project.FromHere(one.File)), word)
		delete(one.Holds, filepath.Base(one.File))
		if names := slices.Sorted(maps.Keys(one.Holds)); len(names) > 0 {
			c.out.Print("  with %s: %s\n", wording.Count(len(names), "file"), diag.Escape(strings.Join(names, ", ")))
		}
		if root, _ := source.Parse(one.Text, source.DefaultLimits()); root != nil {
			for _, f := range root.Fields {
				c.out.Print("  its %s: %s\n", diag.Escape(f.Key.Text), diag.Escape(terminal.JSON(f.Value.Value(), "")))
			}
		}
	}
	return endFound(untrusted)
}
