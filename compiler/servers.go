package compiler

import (
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/obelus-dev/obelus/compiler/canonical"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/policy"
	"github.com/obelus-dev/obelus/compiler/source"
)

// servers reads the MCP servers that activities of the kind mcp name.
func (c *definitionReader) servers(n *source.Node, dir string) {
	for _, f := range c.Fields(n, "\"servers\"", "a mapping from names to servers") {
		c.plan.Servers[f.Key.Text] = c.server(definition{f.Key.Text, f.Key, f.Value, dir})
	}
}

func (c *definitionReader) server(d definition) *plan.Server {
	s := &plan.Server{Activity: *c.activityOf(d)}
	c.activities().Server(s)
	for _, one := range c.delegation.trusted {
		if one.Is(s, c.wholly) {
			s.TrustedBy = one.TrustedBy
			break
		}
	}
	return s
}

// serversOf reads the servers that are trusted by a policy that lies in a folder; "" is the
// one that its file's name says.
func serversOf(p *policy.Policy, o Options, folder string) ([]*plan.Server, []diag.Diagnostic) {
	if o.Open = nil; folder != "" {
		o.Policies = nil
	}
	c := newCompilation(o, newDelegation("", nil), &plan.Plan{Text: plan.Text{File: p.File}}, nil)
	var all []*plan.Server
	for _, n := range p.Servers {
		all = append(all, c.definitions().server(definition{key: n, node: n, dir: folder}))
	}
	return all, c.Found
}

// PolicyPrograms are the digests of the files that the servers are started with whose word
// counts by a policy, as [Programs] has those of a plan, by path from the policy's
// folder; and the names of the programs that are looked for in PATH.
func PolicyPrograms(p *policy.Policy, o Options) (programs map[string]string, sought []string, err error) {
	plan := &plan.Plan{Declarations: plan.Declarations{Activities: map[string]*plan.Activity{}}}
	plan.Workspaces = o.Files
	servers, _ := serversOf(p, o, ".")
	for i, s := range servers {
		if plan.Activities[strconv.Itoa(i)] = &s.Activity; len(s.Argv) > 0 {
			if name := s.Argv[0].Texts[0]; name == filepath.Base(name) {
				sought = append(sought, name)
			}
		}
	}
	covered, err := canonical.FindFiles(plan)
	return canonical.Together(covered), sought, err
}

// wholly is the folder in which a server starts, from the root of all files.
func (c *definitionReader) wholly(s *plan.Server) string {
	dir := s.Dir
	if path.IsAbs(dir) || filepath.IsAbs(dir) {
		return filepath.Clean(dir)
	}
	if s.Origin == plan.Document {
		dir = path.Join(c.plan.Workspace, dir)
	}
	if c.options.Show != nil {
		if full, err := filepath.Abs(c.options.Show(dir)); err == nil {
			return full
		}
	}
	return filepath.Clean(dir)
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
