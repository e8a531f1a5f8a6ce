package compiler

import (
	"maps"
	"slices"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/kinds"
	"github.com/obelus-dev/obelus/compiler/naming"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
)

func (c *definitionReader) activities() *kinds.Reader {
	return &kinds.Reader{Reader: &c.Reader, Delegate: c.delegatePath}
}

// collectActivities reads an "activities" mapping.
func (c *definitionReader) collectActivities(n *source.Node, dir string) {
	for _, f := range c.Fields(n, "\"activities\"", "a mapping from names to activities") {
		if a := c.activityOf(definition{f.Key.Text, f.Key, f.Value, dir}); c.activities().Activity(a) {
			c.plan.Activities[a.Name] = a
		}
	}
}

// activityOf is an activity, or the program of a server, known only where it is defined.
func (c *definitionReader) activityOf(d definition) *plan.Activity {
	return &plan.Activity{Name: d.name, Node: d.node, NameNode: d.key, Dir: c.folderOf(d),
		Origin: c.originOf(d.node.File)}
}

// namesIn are the names in a mapping, for what may have meant one of them.
func namesIn[V any](all map[string]V) *naming.Suggester {
	return naming.NewSuggester(slices.Sorted(maps.Keys(all)))
}

func (c *compilation) noActivity(n *source.Node, name string) {
	f := c.Report(diag.NoActivity, n.Span(), "no activity %q is registered", name)
	c.closest(f, n, namesIn(c.plan.Activities), "define it under \"activities\", or add a file of activities")
}

// originOf is where a definition in a file comes from.
func (c *compilation) originOf(file *source.File) plan.Origin {
	switch {
	case slices.Contains(c.options.Catalogues, file):
		if c.options.Trusted {
			return plan.Workspace
		}
		return plan.Untrusted
	case slices.Contains(c.options.Activities, file):
		return plan.CommandLine
	}
	return plan.Document
}
