package catalogues

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/cmd/obelus/internal/terminal"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/catalogue"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/openapi"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/compiler/wording"
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
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return "", false, project.CantRead(file, err)
		}
		root, _ := source.Parse(source.NewFile(file, content), source.Limits{})
		var all []*drift
		if from := root.Get("x-source"); from != nil {
			all, err = driftOfDocument(file, content, from)
		} else if DefinesServers(file, content) {
			all, err = driftOfServers(ctx, file, reading)
		}
		if err != nil {
			return "", false, err
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
	}
	if text == "" {
		return "", false, diag.NewError(nil, "no catalogue in %q records what it was imported from", name).
			Advise("import the tools again: obelus tools import FILE -o CATALOGUE")
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
	for _, server := range listed {
		d := &drift{name: file + ": " + server.Name}
		for _, t := range server.Lock.Tools {
			if why := activity.Changed(&t, t.Name, server.tools, server.refused); why != "" {
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
	var o Import
	recorded, _ := json.Marshal(from.Value())
	_ = json.Unmarshal(recorded, &o)
	api, err := o.read(d.name, now)
	if err != nil || workspace.SumOf(now) == from.Get("digest").AsText() {
		return []*drift{d}, err
	}
	d.changed = true
	again, err := catalogue.YAML("", api.Catalogue())
	if err != nil {
		return nil, diag.NewError(nil, "%v", err)
	}
	before, found := compiler.Compile(source.NewFile(name, text), compiler.Options{Definitions: true})
	after, alsoFound := compiler.Compile(source.NewFile(name, again), compiler.Options{Definitions: true})
	if found = append(found, alsoFound...); diag.HasErrors(found) {
		return nil, &Faulty{found}
	}
	operations := map[string]*openapi.Operation{}
	for _, o := range api.Operations {
		operations[o.String()] = o
	}
	for _, tool := range before.Tools {
		operation := tool.Node.Get("x-operation").AsText()
		switch now := operations[operation]; {
		case operation == "": // it wasn't imported
		case now != nil && now.Refused != nil:
			d.add(tool.Name, "it can't be imported any more: %s", now.Refused.Message)
		case now == nil || now.Name != tool.Name:
			d.add(tool.Name, "it isn't there any more")
		default:
			d.compare(tool, after.Tool(tool.Name))
			d.compareRequests(tool, before.Activities[tool.Name], after.Activities[tool.Name])
		}
	}
	return []*drift{d}, nil
}

// compare reports how a tool differs from its catalogue: each value of the catalogue's parameters must still be valid,
// no parameter may be required that wasn't, and each result must fit the catalogue's.
func (d *drift) compare(was, is *plan.Tool) {
	for _, name := range was.Parameters.Properties() {
		if !slices.Contains(is.Parameters.Properties(), name) {
			d.add(was.Name, "it has no parameter %q any more", name)
			continue
		}
		before, after := was.Parameters.Part(name).Schema, is.Parameters.Part(name).Schema
		d.fits(was.Name, fmt.Sprintf("parameter %q", name), before, after, "may not be %s any more")
	}
	for _, name := range is.Parameters.Required() {
		if !slices.Contains(was.Parameters.Required(), name) {
			d.add(was.Name, "its parameter %q is required now", name)
		}
	}
	d.fits(was.Name, "result", is.Output, was.Output, "may now be %s, which was ruled out")
}

// fits reports a value that the producer gives and the consumer refuses.
func (d *drift) fits(tool, what string, producer, consumer *schema.Schema, refused string) {
	switch verdict := schema.Contains(producer, consumer, schema.Budget{}); verdict.Relation {
	case schema.Fits:
	case schema.Unknown:
		d.add(tool, "its %s may not fit any more (%s)", what, cmp.Or(verdict.CutShort(), verdict.Keyword))
	default:
		refused = fmt.Sprintf(refused, wording.Cut(terminal.JSON(verdict.Witness, ""), 200))
		if why := consumer.Validate(verdict.Witness); why != nil {
			refused += ": " + why.Message
		}
		d.add(tool, "its %s %s", what, refused)
	}
}

// compareRequests reports how an operation is sent otherwise, which breaks plans. The place of a new
// parameter is reported with the parameters.
func (d *drift) compareRequests(tool *plan.Tool, was, is *plan.Activity) {
	old, now := requestParts(was), requestParts(is)
	for _, part := range slices.Sorted(maps.Keys(now)) {
		sends := func(parameter string) bool { return strings.Contains(now[part], "\"†"+parameter+"\"") }
		switch text, exists := old[part]; {
		case exists && text != now[part]:
			d.add(tool.Name, "its %s is %s, and was %s", part, now[part], text)
		case exists || part == "body":
		case !strings.Contains(now[part], "†"), slices.ContainsFunc(tool.Parameters.Properties(), sends):
			d.add(tool.Name, "its %s is required now: %s", part, now[part])
		}
	}
}

// requestParts are the parts of an HTTP request by their keys, such as headers.X-Key.
func requestParts(a *plan.Activity) map[string]string {
	parts := map[string]string{}
	if a == nil || a.Node.Get("http") == nil {
		return parts
	}
	parts["response"] = `"json"` // unless another is declared
	for _, f := range a.Node.Get("http").Fields {
		for _, inner := range f.Value.Fields {
			parts[f.Key.Text+"."+inner.Key.Text] = terminal.JSON(inner.Value.Value(), "")
		}
		if f.Value.Kind != source.Object && f.Value.Text != "none" {
			parts[f.Key.Text] = terminal.JSON(f.Value.Value(), "")
		}
	}
	return parts
}
