package main

import (
	"bytes"
	"maps"
	"slices"

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
	used := map[string]bool{}
	for _, p := range append(slices.Collect(maps.Values(before.Plan.AllDelegates())), before.Plan) {
		for _, call := range p.Calls {
			used[call.ToolName] = true
		}
	}
	tried := map[string]bool{}
	for _, s := range sources {
		for _, one := range s.all {
			if !one.Breaks || !used[one.Tool] || tried[one.Tool] {
				continue
			}
			tried[one.Tool] = true
			after := d
			after.Options, after.Opened = withDrift(d.Options, s, one.Tool, reading.Limits), map[string]string{}
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
func withDrift(o compiler.Options, s *drifting, tool string, limits source.Limits) compiler.Options {
	open := o.Open
	o.Open = func(name string) ([]byte, error) {
		text, err := open(name)
		return redefined(text, s, tool, limits), err
	}
	for _, list := range []*[]*source.File{&o.Catalogues, &o.Activities} {
		*list = slices.Clone(*list)
		for i, file := range *list {
			(*list)[i] = source.NewFile(file.Name, redefined(file.Text, s, tool, limits))
		}
	}
	return o
}

// redefined is a catalogue with a tool of a source as it is now; any other text is itself.
// What carries the tool out stays: it says where requests go, which isn't locked.
func redefined(text []byte, s *drifting, tool string, limits source.Limits) []byte {
	at := slices.IndexFunc(s.was.Operations, func(t lock.Tool) bool { return t.Name == tool })
	if !bytes.Contains(text, []byte("x-operation")) || at < 0 {
		return text
	}
	root, _ := source.Parse(source.NewFile("catalogue.yaml", text), limits)
	catalogue, _ := root.Value().(map[string]any)
	tools, _ := catalogue["tools"].(map[string]any)
	if was, _ := tools[tool].(map[string]any); was["x-operation"] != s.was.Operations[at].Operation {
		return text
	}
	now := s.api.Catalogue()
	renewed, there := now["tools"].(map[string]any)[tool]
	if tools[tool] = renewed; !there {
		delete(tools, tool)
		if activities, ok := catalogue["activities"].(map[string]any); ok {
			delete(activities, tool)
		}
	}
	schemas := map[string]any{}
	for _, of := range []map[string]any{catalogue, now} {
		named, _ := of["schemas"].(map[string]any)
		maps.Copy(schemas, named)
	}
	catalogue["schemas"] = schemas
	out, err := lock.YAML("", catalogue)
	if err != nil {
		return text
	}
	return out
}
