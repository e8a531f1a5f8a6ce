package catalogues

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/cmd/obelus/internal/terminal"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/catalogue"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/compiler/workspace"
	"github.com/obelus-dev/obelus/runtime/activity"
	"github.com/obelus-dev/obelus/runtime/project"
)

// A drift is how the source of a catalogue differs from it.
type drift struct {
	name    string
	changed bool
	breaks  []string // why a valid plan may not be valid any more
}

func (d *drift) add(tool, format string, args ...any) {
	d.breaks = append(d.breaks, fmt.Sprintf("  %s: %s\n", diag.Escape(tool), diag.Escape(fmt.Sprintf(format, args...))))
}

// Check reports how the sources of catalogues differ from them, and whether that breaks plans.
func Check(ctx context.Context, name string, reading *project.Reader, style terminal.Style) (
	text string, breaks bool, err error,
) {
	files := []string{name}
	info, err := os.Stat(name)
	if err != nil {
		return "", false, project.CantRead(name, err).
			Advise("\"obelus tools import FILE -o CATALOGUE\" makes a catalogue")
	}
	if info.IsDir() {
		files, _ = filepath.Glob(filepath.Join(name, "*.y*ml"))
	}
	var all []*drift
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return "", false, project.CantRead(file, err)
		}
		root, _ := source.Parse(source.NewFile(file, text), source.Limits{})
		var some []*drift
		if from := root.Get("x-source"); from != nil {
			some, err = driftOfDocument(file, text, from)
		} else if DefinesServers(file, text) {
			some, err = driftOfServers(ctx, file, reading)
		}
		if err != nil {
			return "", false, err
		}
		all = append(all, some...)
	}
	if len(all) == 0 {
		return "", false, diag.NewError(nil, "no catalogue in %q records what it was imported from", name).
			Advise("import the tools again: obelus tools import FILE -o CATALOGUE")
	}
	for _, d := range all {
		state := "as it was"
		if d.changed {
			state = "changed, and breaks no plans"
		}
		if len(d.breaks) > 0 {
			breaks, state = true, style.Red("breaks plans:")
		}
		slices.Sort(d.breaks)
		text += diag.Escape(d.name) + ": " + state + "\n" + strings.Join(d.breaks, "")
	}
	return text, breaks, nil
}

// driftOfServers asks the servers of a file for their tools. Each that isn't what is recorded breaks plans: a run
// refuses it.
func driftOfServers(ctx context.Context, file string, reading *project.Reader) (all []*drift, err error) {
	listed, err := askServers(ctx, file, reading, false)
	if err != nil {
		return nil, err
	}
	for _, server := range listed.names {
		d := &drift{name: file + ": " + server}
		for _, t := range listed.plan.Servers[server].Lock.Tools {
			if why := activity.Changed(&t, t.Name, listed.tools[server], listed.refused[server]); why != "" {
				d.add(t.Name, "%s", why)
			}
		}
		all = append(all, d)
	}
	return all, nil
}

// driftOfDocument imports an OpenAPI document again and compares the tools with those of a catalogue.
func driftOfDocument(name string, text []byte, from *source.Node) ([]*drift, error) {
	d := &drift{name: filepath.Join(filepath.Dir(name), filepath.FromSlash(from.Get("file").AsText()))}
	now, err := os.ReadFile(d.name)
	if err != nil {
		return nil, project.CantRead(d.name, err)
	}
	o := Import{Server: from.Get("server").AsText()}
	for key, list := range o.patterns() {
		if n := from.Get(key); n != nil {
			for _, item := range n.Items {
				*list = append(*list, item.AsText())
			}
		}
	}
	api, err := o.read(d.name, now)
	if err != nil || workspace.SumOf(now) == from.Get("digest").AsText() {
		return []*drift{d}, err
	}
	d.changed = true
	was, err := definitions(name, text)
	if err != nil {
		return nil, err
	}
	is, err := compiled(api.Catalogue())
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
			d.add(tool.Name, "%s", cmp.Or(refused[operation], "it isn't there any more"))
		}
	}
	return []*drift{d}, nil
}

// definitions compiles a catalogue.
func definitions(name string, text []byte) (*plan.Plan, error) {
	p, found := compiler.Compile(source.NewFile(name, text), compiler.Options{Definitions: true})
	if diag.HasErrors(found) {
		return nil, &Faulty{found}
	}
	return p, nil
}

// compiled compiles a catalogue that was made just now.
func compiled(value map[string]any) (*plan.Plan, error) {
	text, err := catalogue.YAML("", value)
	if err != nil {
		return nil, diag.NewError(nil, "%v", err)
	}
	return definitions("catalogue.yaml", text)
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
