package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/obelus-dev/obelus/cmd/obelus/internal/catalogues"
	"github.com/obelus-dev/obelus/cmd/obelus/internal/terminal"
	"github.com/obelus-dev/obelus/compiler/catalogue"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/compiler/workspace"
	"github.com/obelus-dev/obelus/runtime/project"
)

type toolsFlags struct {
	Check bool `flag:"--check: report how services differ from their catalogues"`
}

func (o *toolsFlags) run(_ context.Context, c *cli, args []string) error {
	if o.Check {
		text, breaks, err := catalogues.Check(append(args, ".")[0])
		c.out.Print("%s", text)
		return cmp.Or(err, endFound(breaks))
	}
	return c.cmd.Help()
}

type importing struct {
	catalogues.Import
	outputFlag
}

func (o *importing) run(ctx context.Context, c *cli, args []string) error {
	name := args[0]
	if name == "-" || strings.Contains(name, "://") {
		return usageErr("%q isn't a file, and only files are read", name).
			Advise("fetch it first: curl -o openapi.json https://…")
	}
	if o.Output == "-" {
		o.Output = ""
	}
	result, err := o.Read(ctx, name, c.newReading(), o.Output)
	if err != nil {
		return err
	}
	if len(result.Tools) > 0 {
		if err := o.write(c, name, result.Catalogue); err != nil {
			return err
		}
	}
	to := c.out
	if o.Output == "" {
		to = c.err
	}
	to.Print("%s", result.Report(name, o.Output, terminal.StyleFor(to)))
	return endFound(len(result.Tools) == 0)
}

// importedHead begins the catalogues that are written here.
const importedHead = "# Written by obelus tools import"

// write writes the catalogue of a file, and adds it to those of the nearest obelus.yaml.
func (o *importing) write(c *cli, name string, value any) error {
	text, err := catalogue.YAML(fmt.Sprintf("%s from %s.\n", importedHead, diag.Escape(filepath.Base(name))), value)
	if err != nil {
		return usageErr("no catalogue can be made of %q: %v", name, err)
	}
	before, err := os.ReadFile(o.Output)
	if err == nil && o.Output != "" && !bytes.HasPrefix(before, []byte(importedHead)) {
		return usageErr("%q is there already, and wasn't written by obelus tools", o.Output).
			Advise("name another file with -o")
	}
	if err := c.write(o.Output, text); err != nil || o.Output == "" {
		return err
	}
	place, err := workspace.Locate(filepath.Dir(o.Output), "")
	if err != nil || place.Settings == "" {
		return err
	}
	settings := project.FromHere(place.Settings)
	listed, err := project.PathFrom(filepath.Dir(settings), o.Output)
	text, unread := os.ReadFile(settings)
	if err = cmp.Or(err, unread); err == nil {
		text, err = catalogue.AddTo(source.NewFile(settings, text), "tools", filepath.ToSlash(listed))
	}
	if err == nil && text != nil {
		err = os.WriteFile(settings, text, 0o644)
		c.note("\"%s\" is added to the tools of \"%s\"", diag.Escape(o.Output), diag.Escape(settings))
	}
	if err != nil {
		return usageErr("%q can't list the catalogue: %w", settings, workspace.Reason(err)).
			Advise("add %s to \"tools\"", listed)
	}
	return nil
}
