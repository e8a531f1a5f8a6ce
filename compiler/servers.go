package compiler

import (
	"maps"
	"slices"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
)

// servers reads the MCP servers that activities of the kind mcp name.
func (c *definitionReader) servers(n *source.Node, dir string) {
	for _, f := range c.Fields(n, "\"servers\"", "a mapping from names to servers") {
		s := &plan.Server{Activity: *c.activityOf(definition{f.Key.Text, f.Key, f.Value, dir})}
		c.activities().Server(s)
		c.plan.Servers[f.Key.Text] = s
	}
}

// serve gives the activities of the kind mcp the servers that they name, once all are
// known. A file of definitions may name those of another.
func (c *definitionReader) serve() {
	for _, name := range slices.Sorted(maps.Keys(c.plan.Activities)) {
		a := c.plan.Activities[name]
		at := a.Node.Get("mcp").Get("server")
		if a.Kind != "mcp" || at == nil || at.Kind != source.String {
			continue
		}
		s := c.plan.Servers[at.Text]
		if s != nil {
			a.Server, a.Argv, a.Env, a.Inherit, a.Dir, a.Variables = s, s.Argv, s.Env, s.Inherit, s.Dir, s.Variables
		} else if c.plan.Form != plan.Definitions {
			f := c.Report(diag.NoActivity, at.Span(), "the activity %q is of the server %q, which isn't defined",
				name, at.Text)
			c.closest(f, at, namesIn(c.plan.Servers), "define it under \"servers\"")
		}
	}
}
