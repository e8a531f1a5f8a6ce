package main

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/lock"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/runtime/project"
)

// broken is what is wrong with a plan once its catalogues say what the sources have become,
// and wasn't before. The tools that its calls are of are put in one after the other: what is
// wrong with one would keep others from being judged.
func (c *cli) broken(name string, reading *reading, sources []*drifting) (found []diag.Diagnostic, err error) {
	d, err := reading.One(name)
	if err != nil {
		return nil, err
	}
	before := d.Check()
	known := map[string]bool{}
	for _, f := range before.Findings {
		known[project.Identity(&f)] = true
	}
	used := map[string]*compiler.Call{}
	for _, p := range append(slices.Collect(maps.Values(before.Plan.AllDelegates())), before.Plan) {
		for _, call := range p.Calls {
			if call.Tool != nil {
				if from := call.Tool.Node.Get("x-operation"); from != nil && used[from.Text] == nil {
					used[from.Text] = call
				}
			}
		}
	}
	tried := map[string]bool{}
	drifted, _ := analyzer.Named("OB610")
	for _, s := range sources {
		for _, one := range s.all {
			key := s.key(one.Tool)
			call := used[key]
			if !one.Breaks || call == nil {
				continue
			}
			if !one.Judged || s.held && s.now[key] != nil {
				f := diag.New(drifted.Rule, call.ToolNode.Span(), fmt.Sprintf("%q isn't what was locked: %s", call.ToolName, one.What))
				found = append(found, *f.About(call.Label()).Advise("look whether the plan still means what it meant, and import its tools anew"))
			}
			if tried[key] {
				continue
			}
			tried[key] = true
			after := d
			after.Options, after.Opened = withDrift(d.Options, s, key, reading.Limits), map[string]string{}
			for _, f := range after.Check().Findings {
				if id := project.Identity(&f); f.Severity >= diag.Warning && !known[id] {
					known[id], found = true, append(found, f)
				}
			}
		}
	}
	diag.Sort(found)
	return found, nil
}

// withDrift lets a compilation find a tool in its catalogues as it is now.
func withDrift(o compiler.Options, s *drifting, key string, limits source.Limits) compiler.Options {
	open := o.Open
	o.Open = func(name string) ([]byte, error) {
		text, err := open(name)
		return redefined(text, s, key, limits), err
	}
	for _, list := range []*[]*source.File{&o.Catalogues, &o.Activities} {
		*list = slices.Clone(*list)
		for i, file := range *list {
			(*list)[i] = source.NewFile(file.Name, redefined(file.Text, s, key, limits))
		}
	}
	return o
}

// redefined is a catalogue with a tool of a source as it is now; any other text is itself.
// What carries the tool out stays: it says where requests go, which isn't locked.
func redefined(text []byte, s *drifting, key string, limits source.Limits) []byte {
	if !bytes.Contains(text, []byte("x-operation")) {
		return text
	}
	root, _ := source.Parse(source.NewFile("catalogue.yaml", text), limits)
	catalogue, _ := root.Value().(map[string]any)
	tools, _ := catalogue["tools"].(map[string]any)
	for name, tool := range tools {
		was, _ := tool.(map[string]any)
		if was["x-operation"] != key {
			continue
		}
		if tools[name] = s.now[key]; s.now[key] == nil {
			delete(tools, name)
			if activities, ok := catalogue["activities"].(map[string]any); ok {
				delete(activities, name)
			}
		}
	}
	schemas, _ := catalogue["schemas"].(map[string]any)
	if schemas = maps.Clone(schemas); len(s.schemas) > 0 {
		if schemas == nil {
			schemas = map[string]any{}
		}
		maps.Copy(schemas, s.schemas)
		catalogue["schemas"] = schemas
	}
	out, err := lock.YAML("", catalogue)
	if err != nil {
		return text
	}
	return out
}
