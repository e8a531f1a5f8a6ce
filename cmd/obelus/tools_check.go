package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/cmd/obelus/internal/terminal"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/catalogue"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/obelus-dev/obelus/runtime/activity"
	"github.com/obelus-dev/obelus/runtime/project"
)

// A drift is how the tools of a source differ from a catalogue of it: lines of text by kind.
type drift struct {
	name  string
	lines map[driftKind][]string
}

type driftKind string

const (
	driftBreaks   driftKind = "breaks plans:" // a valid plan may not be valid any more
	driftHarmless driftKind = "harmless:"
	driftNew      driftKind = "new:" // the catalogue doesn't have the tool
)

func (d *drift) add(kind driftKind, tool, format string, args ...any) {
	line := fmt.Sprintf("  %s: %s\n", diag.Escape(tool), diag.Escape(fmt.Sprintf(format, args...)))
	d.lines[kind] = append(d.lines[kind], line)
}

// checkTools reports how the sources of catalogues differ from them.
func checkTools(ctx context.Context, c *cli, name string) error {
	files := []string{name}
	info, err := os.Stat(name)
	if err != nil {
		return project.CantRead(name, err).Advise("\"obelus tools import FILE -o CATALOGUE\" makes a catalogue")
	}
	if info.IsDir() {
		files, _ = filepath.Glob(filepath.Join(name, "*.y*ml"))
	}
	var all []*drift
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return project.CantRead(file, err)
		}
		root, _ := source.Parse(source.NewFile(file, text), source.Limits{})
		var some []*drift
		if from := root.Get("x-source"); from != nil {
			some, err = driftOfDocument(c, file, text, from)
		} else if definesServers(file, text) {
			some, err = driftOfServers(ctx, c, file)
		}
		if err != nil {
			return err
		}
		all = append(all, some...)
	}
	if len(all) == 0 {
		return usageErr("no catalogue in %q records what it was imported from", name).
			Advise("import the tools again: obelus tools import FILE -o CATALOGUE")
	}
	return showDrift(c, all)
}

// showDrift prints what has changed. The exit status is 1 if it breaks plans.
func showDrift(c *cli, all []*drift) error {
	style, text, status := terminal.StyleFor(c.out), "", error(nil)
	for _, d := range all {
		count := len(d.lines[driftBreaks]) + len(d.lines[driftHarmless]) + len(d.lines[driftNew])
		state := "as it was"
		if count > 0 {
			state = wording.Count(count, "difference")
		}
		text += diag.Escape(d.name) + ": " + state + "\n"
		for _, kind := range []driftKind{driftBreaks, driftHarmless, driftNew} {
			slices.Sort(d.lines[kind])
			title := style.Green(string(kind)) + "\n"
			if kind == driftBreaks {
				title = style.Red(string(kind)) + "\n"
			}
			if len(d.lines[kind]) > 0 {
				text += title + strings.Join(d.lines[kind], "")
			}
		}
		if len(d.lines[driftBreaks]) > 0 {
			status = ending(statusFound)
		}
	}
	_, err := fmt.Fprint(c.out, text)
	return cmp.Or(err, status)
}

// driftOfDocument imports an OpenAPI document again and compares the tools with those of a catalogue.
func driftOfDocument(c *cli, name string, text []byte, from *source.Node) ([]*drift, error) {
	d := &drift{filepath.Join(filepath.Dir(name), filepath.FromSlash(from.Get("file").AsText())), map[driftKind][]string{}}
	now, err := os.ReadFile(d.name)
	if err != nil {
		return nil, project.CantRead(d.name, err)
	}
	o := importing{Server: from.Get("server").AsText()}
	for key, list := range o.patterns() {
		if n := from.Get(key); n != nil {
			for _, item := range n.Items {
				*list = append(*list, item.AsText())
			}
		}
	}
	api, err := o.read(c, d.name, now)
	if err != nil || api.Digest(now) == from.Get("digest").AsText() {
		return []*drift{d}, err
	}
	was, err := definitions(c, name, text)
	if err != nil {
		return nil, err
	}
	is, err := compiled(c, api.Catalogue())
	if err != nil {
		return nil, err
	}
	refused := map[string]string{}
	for _, op := range api.Operations {
		if op.Refused != nil {
			refused[op.String()] = "it can't be imported any more: " + op.Refused.Message
		}
	}
	before, after := byOperation(was), byOperation(is)
	for operation, tool := range before {
		if now := after[operation]; now != nil && now.Name == tool.Name {
			d.compare(was, is, tool, now)
		} else {
			d.add(driftBreaks, tool.Name, "%s", cmp.Or(refused[operation], "it isn't there any more"))
		}
	}
	for operation, tool := range after {
		if before[operation] == nil {
			d.add(driftNew, tool.Name, "it is new")
		}
	}
	return []*drift{d}, nil
}

// driftOfServers asks the servers of a file for their tools and compares them with what is recorded.
func driftOfServers(ctx context.Context, c *cli, file string) (all []*drift, err error) {
	listed, err := askServers(ctx, c, file, c.newReading(), false)
	if err != nil {
		return nil, err
	}
	now := listed.imported(func(server string) *importing {
		record := listed.plan.Servers[server].Lock
		return &importing{Only: record.Only, Names: record.Names}
	})
	is, err := compiled(c, now.catalogue)
	if err != nil {
		return nil, err
	}
	before, after := byOperation(listed.plan), byOperation(is)
	for _, server := range listed.names {
		d, record := &drift{file + ": " + server, map[driftKind][]string{}}, listed.plan.Servers[server].Lock
		for _, t := range record.Tools {
			why := activity.Changed(&t, t.Name, listed.tools[server], listed.refused[server])
			if why == "" {
				continue
			}
			d.add(driftBreaks, t.Name, "%s", why)
			operation := path.Join(server, t.Name)
			if was, now := before[operation], after[operation]; was != nil && now != nil {
				d.compare(listed.plan, is, was, now)
			}
		}
		for operation := range after {
			if tool, ok := strings.CutPrefix(operation, server+"/"); ok && record.Tool(tool) == nil {
				d.add(driftNew, tool, "it is new")
			}
		}
		all = append(all, d)
	}
	return all, nil
}

// definitions compiles a catalogue.
func definitions(c *cli, name string, text []byte) (*plan.Plan, error) {
	p, found := compiler.Compile(source.NewFile(name, text), compiler.Options{Definitions: true})
	if diag.HasErrors(found) {
		return nil, c.faulty(found)
	}
	return p, nil
}

// compiled compiles a catalogue that was made just now.
func compiled(c *cli, value map[string]any) (*plan.Plan, error) {
	text, err := catalogue.YAML("", value)
	if err != nil {
		return nil, usageErr("%v", err)
	}
	return definitions(c, "catalogue.yaml", text)
}

// byOperation are the tools that were imported, by their operations in the source.
func byOperation(p *plan.Plan) map[string]*plan.Tool {
	all := map[string]*plan.Tool{}
	for _, t := range p.Tools {
		if operation := t.Node.Get("x-operation").AsText(); operation != "" {
			all[operation] = t
		}
	}
	return all
}
