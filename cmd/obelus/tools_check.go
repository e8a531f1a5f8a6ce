package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
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
	"github.com/obelus-dev/obelus/runtime/activity"
	"github.com/obelus-dev/obelus/runtime/project"
)

// faulty shows what is wrong with a file, and ends the command.
func (c *cli) faulty(found []diag.Diagnostic) error {
	return cmp.Or(c.show(found, "text"), error(ending(statusError)))
}

// A toolSource is what tools were imported from, and how they differ from it by now.
type toolSource struct {
	name string
	all  []difference
}

// A difference is one between a tool of a catalogue and the same tool of its source.
type difference struct {
	tool, message string
	breaks        bool // a valid plan may not be valid any more; else it is harmless
	isNew         bool // the catalogue doesn't have the tool
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
	var sources []toolSource
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return project.CantRead(file, err)
		}
		root, _ := source.Parse(source.NewFile(file, text), source.Limits{})
		from := root.Get("x-source")
		switch {
		case from != nil:
			one, err := againstFile(c, file, text, from)
			if err != nil {
				return err
			}
			sources = append(sources, one)
		case definesServers(file, text):
			several, err := againstServers(ctx, c, file, c.newReading())
			if err != nil {
				return err
			}
			sources = append(sources, several...)
		}
	}
	if len(sources) == 0 {
		return usageErr("no catalogue in %q records what it was imported from", name).Advise("import the tools again: obelus tools import FILE -o CATALOGUE")
	}
	text, breaks := differencesText(sources, terminal.StyleFor(c.out))
	if _, err = fmt.Fprint(c.out, text); err == nil && breaks {
		return ending(statusFound)
	}
	return err
}

// againstFile imports an OpenAPI file again and compares the tools with those of a catalogue.
func againstFile(c *cli, name string, text []byte, from *source.Node) (toolSource, error) {
	s := toolSource{name: filepath.Join(filepath.Dir(name), filepath.FromSlash(from.Get("file").AsText()))}
	now, err := os.ReadFile(s.name)
	if err != nil {
		return s, project.CantRead(s.name, err)
	}
	o := importing{Server: from.Get("server").AsText()}
	for key, list := range o.patterns() {
		if n := from.Get(key); n != nil {
			for _, item := range n.Items {
				*list = append(*list, item.AsText())
			}
		}
	}
	options, err := o.options(s.name)
	if err != nil {
		return s, err
	}
	api, found := openapi.Read(source.NewFile(s.name, now), options)
	if api == nil {
		return s, c.faulty(found)
	}
	if api.Digest(now) == from.Get("digest").AsText() {
		return s, nil
	}
	was, err := definitions(c, name, text)
	if err != nil {
		return s, err
	}
	is, err := compiled(c, api.Catalogue())
	if err != nil {
		return s, err
	}
	before, after := byOperation(was), byOperation(is)
	refused := map[string]string{}
	for _, o := range api.Operations {
		if o.Refused != nil {
			refused[o.String()] = "it can't be imported any more: " + o.Refused.Message
		}
	}
	for operation, tool := range before {
		if now := after[operation]; now != nil {
			s.all = append(s.all, compareTools(was, is, tool, now)...)
		} else {
			s.all = append(s.all, difference{tool: tool.Name, breaks: true, message: cmp.Or(refused[operation], "it isn't there any more")})
		}
	}
	for operation, tool := range after {
		if before[operation] == nil {
			s.all = append(s.all, difference{tool: tool.Name, isNew: true, message: "it is new"})
		}
	}
	return s, nil
}

// againstServers asks the servers of a file for their tools and compares them with what is
// recorded.
func againstServers(ctx context.Context, c *cli, file string, reading *project.Reader) (all []toolSource, err error) {
	listed, err := askServers(ctx, c, file, reading, false)
	if err != nil {
		return nil, err
	}
	value, _, _ := listed.catalogue(importing{})
	is, err := compiled(c, value)
	if err != nil {
		return nil, err
	}
	before, after := byOperation(listed.plan), byOperation(is)
	for _, server := range listed.names {
		s, record := toolSource{name: file + ": " + server}, listed.plan.Servers[server].Lock
		for _, t := range record.Tools {
			why := activity.Changed(&t, t.Name, listed.tools[server], listed.refused[server])
			if why == "" {
				continue
			}
			s.all = append(s.all, difference{tool: t.Name, breaks: true, message: why})
			if was, now := before[path.Join(server, t.Name)], after[path.Join(server, t.Name)]; was != nil && now != nil {
				s.all = append(s.all, compareTools(listed.plan, is, was, now)...)
			}
		}
		only, names := like(record.Only), like(record.Names)
		for _, t := range listed.tools[server] {
			if record.Tool(t.Name) == nil && only(server+" "+t.Name) && names(t.Name) {
				s.all = append(s.all, difference{tool: t.Name, isNew: true, message: "it is new"})
			}
		}
		all = append(all, s)
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

// compareTools reports how a tool differs from its catalogue: each value of the catalogue's
// parameters must still be valid, and each result must fit the catalogue's.
func compareTools(before, after *plan.Plan, was, is *plan.Tool) (all []difference) {
	add := func(breaks bool, format string, args ...any) {
		all = append(all, difference{tool: was.Name, breaks: breaks, message: fmt.Sprintf(format, args...)})
	}
	compareRequests(before, after, was, is, add)
	if !reflect.DeepEqual(withReferences(before, was.Parameters), withReferences(after, is.Parameters)) {
		passed := was.Parameters
		if !was.Open { // plans pass the parameters that it names (OB503)
			passed = schema.AllOf(passed, onlyNamed(was))
		}
		all = append(all, fits(was.Name, passed, is.Parameters, "its parameters have changed", "its parameters may not be %s any more"))
	}
	if !reflect.DeepEqual(withReferences(before, was.Output), withReferences(after, is.Output)) {
		all = append(all, fits(was.Name, is.Output, was.Output, "its result has changed", "its result may now be %s, which was ruled out"))
	}
	old, now := before.Activities[was.Name], after.Activities[is.Name]
	for i, name := range catalogue.Hints {
		worst := name == "destructiveHint" || name == "openWorldHint" // what isn't said is the worst
		said := func(a *plan.Activity) bool {
			if a != nil {
				if hint := []*bool{a.Hints.ReadOnly, a.Hints.Destructive, a.Hints.Idempotent, a.Hints.OpenWorld}[i]; hint != nil {
					return *hint
				}
			}
			return worst
		}
		if before, after := said(old), said(now); before != after {
			add(after == worst, "its %s is %t, and was %t", name, after, before)
		}
	}
	if was.Description != is.Description {
		add(false, "it describes itself otherwise")
	}
	return all
}

// onlyNamed accepts the parameters that a tool names.
func onlyNamed(t *plan.Tool) *schema.Schema {
	properties := map[string]any{}
	if raw, ok := t.Parameters.Raw().(map[string]any); ok {
		named, _ := raw["properties"].(map[string]any)
		for name := range named {
			properties[name] = true
		}
	}
	return schema.New(map[string]any{"properties": properties, "additionalProperties": false}, schema.Options{})
}

// withReferences is a schema together with those that it refers to.
func withReferences(p *plan.Plan, s *schema.Schema) any {
	named := map[string]any{}
	for name, n := range p.NamedSchemas {
		named[name] = n.Value()
	}
	all := map[string]any{}
	catalogue.Reach(s.Raw(), named, map[string]bool{}, func(name string) { all[name] = named[name] })
	return []any{s.Raw(), all}
}

// fits reports whether a change of a schema breaks plans, with a value that the producer
// gives and the consumer refuses.
func fits(tool string, producer, consumer *schema.Schema, changed, refused string) difference {
	verdict := schema.Contains(producer, consumer, schema.Budget{})
	switch verdict.Relation {
	case schema.Fits:
		return difference{tool: tool, message: changed + ", and whatever was sound is"}
	case schema.Unknown:
		return difference{tool: tool, breaks: true, message: fmt.Sprintf("%s, and it can't be shown that whatever was sound is (%s)", changed, cmp.Or(verdict.Reason, verdict.Keyword))}
	}
	text, _ := json.Marshal(verdict.Witness)
	what := fmt.Sprintf(refused, wording.Cut(string(text), 200))
	if why := consumer.Validate(verdict.Witness); why != nil {
		what += ": " + why.Message
	}
	return difference{tool: tool, breaks: true, message: what}
}

// compareRequests reports how an operation is sent otherwise, which breaks plans. The place of a
// new parameter is reported with the parameters.
func compareRequests(before, after *plan.Plan, was, is *plan.Tool, add func(breaks bool, format string, args ...any)) {
	old, now := requestParts(before.Activities[was.Name]), requestParts(after.Activities[is.Name])
	parameters, _ := onlyNamed(was).Raw().(map[string]any)["properties"].(map[string]any)
	for _, part := range slices.Sorted(maps.Keys(now)) {
		if text, there := old[part]; there {
			if text != now[part] {
				add(true, "%s is %s, and was %s", part, now[part], text)
			}
		} else if name := requestParameter.FindStringSubmatch(now[part]); part != itsBody && (name == nil || parameters[name[1]] != nil) {
			add(true, "%s is wanted now: %s", part, now[part])
		}
	}
}

var requestParameter = regexp.MustCompile(`^[^†]*†([A-Za-z_][A-Za-z0-9_]*)`)

const itsBody = "its body"

// requestParts are what a request is made of, by what messages call it; none of what isn't sent
// over HTTP.
func requestParts(a *plan.Activity) map[string]string {
	parts := map[string]string{}
	if a == nil || a.Node.Get("http") == nil {
		return parts
	}
	parts["its response"] = `"json"`
	words := map[string]string{"query": "the field %q of its query", "headers": "the header %q", "body": "the field %q of its body"}
	for _, f := range a.Node.Get("http").Fields {
		for _, inner := range f.Value.Fields {
			parts[fmt.Sprintf(words[f.Key.Text], inner.Key.Text)] = jsonOf(inner.Value)
		}
		if f.Value.Kind != source.Object && f.Value.Text != "none" {
			parts["its "+f.Key.Text] = jsonOf(f.Value)
		}
	}
	return parts
}

func jsonOf(n *source.Node) string {
	text, _ := json.Marshal(n.Value())
	return string(text)
}

// differencesText is a report, and whether a difference breaks plans.
func differencesText(sources []toolSource, style terminal.Style) (text string, breaks bool) {
	var out strings.Builder
	for _, s := range sources {
		slices.SortStableFunc(s.all, func(a, b difference) int {
			return cmp.Or(cmp.Compare(a.tool, b.tool), cmp.Compare(a.message, b.message))
		})
		if len(s.all) == 0 {
			fmt.Fprintf(&out, "%s: as it was\n", diag.Escape(s.name))
			continue
		}
		fmt.Fprintf(&out, "%s: %s\n", diag.Escape(s.name), wording.Count(len(s.all), "difference"))
		for _, kind := range []struct {
			title       string
			breaks, new bool
		}{{style.Red("breaks plans:"), true, false}, {style.Green("harmless:"), false, false}, {style.Green("new:"), false, true}} {
			title := kind.title + "\n"
			for _, one := range s.all {
				breaks = breaks || one.breaks
				if one.breaks == kind.breaks && one.isNew == kind.new {
					fmt.Fprintf(&out, "%s  %s: %s\n", title, diag.Escape(one.tool), diag.Escape(one.message))
					title = ""
				}
			}
		}
	}
	return out.String(), breaks
}
