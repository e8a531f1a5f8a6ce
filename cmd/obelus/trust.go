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
	"github.com/obelus-dev/obelus/runtime/project"
)

type trusting struct {
	Show   bool `flag:"--show: print what is trusted and what it declares; exit status 1 if something isn't"`
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
		changed, err := one.Changed(), error(nil)
		switch {
		case o.Revoke:
			changed, err = slices.Sorted(maps.Keys(one.Holds)), one.Revoke()
			one.Before = nil
		case !o.Show:
			changed, err = nil, one.Trust()
		}
		if err != nil {
			return usageErr("what is trusted can't be kept: %w", reason(err)).
				Advise("give --trust to the commands that are to trust it")
		}
		untrusted = untrusted || o.Show && len(changed) > 0
		showVouching(c, one, changed)
	}
	if untrusted {
		return ending(statusFound)
	}
	return nil
}

// showVouching prints what a file of a workspace is trusted with, and what has changed since.
func showVouching(c *cli, v *project.Vouching, changed []string) {
	word := "trusted"
	switch {
	case len(changed) > 0 && v.Before != nil:
		word = "not trusted as it is: changed " + diag.Escape(strings.Join(changed, ", "))
	case len(changed) > 0:
		word = "not trusted"
	}
	c.out.Print("%s: %s\n", diag.Escape(project.FromHere(v.File)), word)
	line := func(what string, names ...string) {
		if len(names) > 0 {
			c.out.Print("  %s %s\n", what, diag.Escape(strings.Join(names, ", ")))
		}
	}
	own := func(name string) bool { return name == filepath.Base(v.File) }
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(v.Holds)), own)
	line("with "+wording.Count(len(names), "file")+":", names...)
	if v.Root != nil {
		for _, f := range v.Root.Fields {
			line("its "+diag.Escape(f.Key.Text)+":", terminal.JSON(f.Value.Value(), ""))
		}
	}
	if v.Plan == nil {
		return
	}
	var declared []string
	declares := func(name string, definition *source.Node) {
		if hints := definition.Get("annotations"); hints != nil {
			declared = append(declared, name+" is declared "+terminal.JSON(hints.Value(), ""))
		}
	}
	for name, a := range v.Plan.Activities {
		declares("activity "+name, a.Node)
	}
	for _, t := range v.Plan.Tools {
		declares("tool "+t.Name, t.Node)
	}
	slices.Sort(declared)
	for _, one := range declared {
		c.out.Print("  %s\n", diag.Escape(one))
	}
}
