package compiler

import (
	"fmt"
	"maps"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/obelus-dev/obelus/compiler/catalogue"
	"github.com/obelus-dev/obelus/compiler/decode"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/naming"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/policy"
	"github.com/obelus-dev/obelus/compiler/source"
)

// servers reads the MCP servers that activities of the kind mcp name.
func (c *compilation) servers(n *source.Node, dir string) {
	if n.Kind != source.Object {
		c.Expects(n, "\"servers\"", "a mapping from names to servers")
		return
	}
	for _, f := range n.Fields {
		c.plan.Servers[f.Key.Text] = c.server(definition{f.Key.Text, f.Key, f.Value, dir})
	}
}

type serverKeys struct {
	programKeys
	Command     *source.Node     `key:"command" schema:"argv"`
	URL         *source.Node     `key:"url"`
	Headers     []decode.Setting `key:"headers" pattern:""`
	Lock        *source.Node     `key:"lock"`
	Description *source.Node     `key:"description"`
}

func (c *compilation) server(d definition) *plan.Server {
	s := &plan.Server{Activity: *c.activityOf(d)}
	a, n, what := &s.Activity, d.node, "the server \""+d.name+"\""
	var keys serverKeys
	if !c.Mapping(n, what, &keys, nil) {
		return s
	}
	c.recorded(s) // an earlier lock file lay beside the file, wherever the program starts
	c.argv(a, keys.Command, "command")
	program(a, n, keys.programKeys)
	c.serverURL(s, keys.URL)
	s.Headers = keys.Headers
	c.headerNames(n.Get("headers"))
	noteVariables(a, n.Get("headers"))
	for _, one := range c.delegation.trusted {
		if one.Is(s, c.wholly) {
			s.TrustedBy = one.TrustedBy
			break
		}
	}
	switch {
	case keys.Command != nil && keys.URL != nil:
		c.Report(diag.WrongType, keys.URL.Span(), "%s has both a \"command\" and a \"url\"", what).Advise("leave one of them out")
	case keys.Command == nil && keys.URL == nil:
		c.Report(diag.WrongType, n.Span().Head(), "%s has neither a \"command\" nor a \"url\"", what).
			Advise("write {command: [program, argument, …]} or {url: \"https://…\"}")
	case keys.Command != nil:
		c.onlyWith(n, what, "url", "headers")
	default:
		c.onlyWith(n, what, "command", "env", "inherit", "cwd")
	}
	for _, p := range a.Parameters {
		c.Report(diag.WrongType, p.Node.Span(), "%s is started once for all calls, and has no parameter %q", what, p.Name).
			Advise("leave {%s} out; a text in braces is written {{%s}}", p.Name, p.Name)
	}
	return s
}

// serversOf reads the servers that are trusted by a policy that lies in a folder; "" is the
// one that its file's name says.
func serversOf(p *policy.Policy, o Options, folder string) ([]*plan.Server, []diag.Diagnostic) {
	if o.Open = nil; folder != "" {
		o.Policies = nil
	}
	c := &compilation{options: o, delegation: &delegation{}, plan: &plan.Plan{File: p.File}}
	var all []*plan.Server
	for _, n := range p.Servers {
		all = append(all, c.server(definition{key: n, node: n, dir: folder}))
	}
	return all, c.Found
}

// PolicyPrograms are the digests of the files that the servers are started with whose word
// counts by a policy, as [Programs] has those of a plan, by path from the policy's
// folder; and the names of the programs that are looked for in PATH.
func PolicyPrograms(p *policy.Policy, o Options) (programs map[string]string, sought []string, err error) {
	plan := &plan.Plan{Activities: map[string]*plan.Activity{}, Workspaces: o.Files}
	servers, _ := serversOf(p, o, ".")
	for i, s := range servers {
		if plan.Activities[strconv.Itoa(i)] = &s.Activity; len(s.Argv) > 0 {
			if name := s.Argv[0].Texts[0]; name == filepath.Base(name) {
				sought = append(sought, name)
			}
		}
	}
	covered, err := findFiles(plan)
	return together(covered), sought, err
}

// wholly is the folder in which a server starts, from the root of all files.
func (c *compilation) wholly(s *plan.Server) string {
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

// onlyWith reports keys of a server that belong to one that has another key.
func (c *compilation) onlyWith(n *source.Node, what, other string, keys ...string) {
	for _, f := range n.Fields {
		if slices.Contains(keys, f.Key.Text) {
			c.Report(diag.WrongType, f.Key.Span(), "%s has %q, which belongs to a %q", what, f.Key.Text, other).Advise("leave it out")
		}
	}
}

func (c *compilation) serverURL(s *plan.Server, n *source.Node) {
	if n == nil {
		return
	}
	s.URL = c.Text(n, "\"url\"")
	noteVariables(&s.Activity, n)
	part := plan.HttpAddress.FindStringSubmatch(s.URL)
	at, err := url.Parse(s.Host())
	if s.URL != "" && (part == nil || err != nil || at.Hostname() == "" || at.Scheme != "https" && at.Scheme != "http" || part[6] != "") {
		c.Report(diag.WrongType, n.Span(), "%q is no address of a server", s.URL).
			Advise("write it like https://example.com/mcp; the host can't come from the environment")
		return
	}
	c.openPassword(n)
}

// recorded reads what a server's definition records of its tools. A lock file of an earlier
// release beside it is refused: without it nothing would be recorded.
func (c *compilation) recorded(s *plan.Server) {
	if n := s.Node.Get("lock"); n != nil {
		s.Lock = catalogue.ReadRecord(s.Name, n, &c.Reader)
		return
	}
	if c.options.Open == nil || c.plan.Root.Get(compiledKey) != nil {
		return
	}
	name := path.Join(s.Dir, "obelus.lock.yaml")
	if s.Origin == plan.Document {
		name = path.Join(c.plan.Workspace, name)
	}
	if file, err := c.open(name); err == nil {
		c.Report(diag.WrongType, s.NameNode.Span(), "%s isn't read any more, and nothing else records the tools of the server %q", file.Name, s.Name).
			Advise("%s, and delete %s", catalogue.ImportAgain, file.Name)
	}
}

type mcpKeys struct {
	Server  string        `key:"server" need:"write mcp: {server: NAME, tool: NAME}"`
	Tool    string        `key:"tool" need:"write mcp: {server: NAME, tool: NAME}"`
	Timeout time.Duration `key:"timeout"`
}

var _ = register(Kind{
	Name: "mcp", Keys: mcpKeys{}, About: "A tool of an MCP server.",
	read: func(c *compilation, a *plan.Activity, n *source.Node, what string) {
		var keys mcpKeys
		c.Mapping(n, what, &keys, nil)
		a.Remote, a.Timeout = keys.Tool, keys.Timeout
	},
})

// serve gives the activities of the kind mcp the servers that they name, once all are
// known. A file of definitions may name those of another.
func (c *compilation) serve() {
	for _, name := range slices.Sorted(maps.Keys(c.plan.Activities)) {
		a := c.plan.Activities[name]
		at := a.Node.Get("mcp").Get("server")
		if a.Kind != "mcp" || at == nil || at.Kind != source.String {
			continue
		}
		s := c.plan.Servers[at.Text]
		if s == nil && c.plan.Form != plan.Definitions {
			f := c.Report(diag.NoActivity, at.Span(), "the activity %q is of the server %q, which isn't defined", name, at.Text)
			names := naming.NewSuggester(slices.Sorted(maps.Keys(c.plan.Servers)))
			if near, ok := names.Nearest(at.Text); ok {
				c.typo(f, at, near, names)
			} else {
				f.Advise("define it under \"servers\"")
			}
		}
		if s != nil {
			a.Server, a.Argv, a.Env, a.Inherit, a.Dir, a.Variables = s, s.Argv, s.Env, s.Inherit, s.Dir, s.Variables
		}
	}
}

// SourceOf is where what carries a call out was defined: of a tool of an MCP server, the server
// as well, unless a policy trusts that by what it is. The least of it counts.
func SourceOf(a *plan.Activity) plan.Origin {
	if s := a.Server; s != nil && s.TrustedBy == "" {
		return min(a.Origin, s.Origin)
	}
	return a.Origin
}

// says is what a server declares of one of its tools' effects, as it is recorded, which each start of the server is
// held to (OB610). Where no policy trusts the server, it only makes them worse.
func says(s *plan.Server, tool string) (said claim, any bool) {
	recorded := s.Lock.Tool(tool)
	if recorded == nil {
		return said, false
	}
	of := func(name string) *bool {
		if is, ok := recorded.Hints[name]; ok {
			return &is
		}
		return nil
	}
	hints := plan.Hints{ReadOnly: of("readOnlyHint"), Destructive: of("destructiveHint"), Idempotent: of("idempotentHint"), OpenWorld: of("openWorldHint")}
	by := fmt.Sprintf("the MCP server %q", s.Name)
	if s.TrustedBy != "" {
		return claim{hints, by + ", which " + s.TrustedBy + " trusts", plan.Workspace}, true
	}
	if yes(hints.ReadOnly) {
		hints.Destructive = nil // MCP: it means nothing beside readOnlyHint
	}
	return claim{worse(hints), by, plan.Document}, true
}

// DefinedIn is where what an activity starts was defined: its server, or it itself.
func DefinedIn(a *plan.Activity) plan.Origin {
	if a.Server != nil {
		return a.Server.Origin
	}
	return a.Origin
}

// serverHere is a server's definition as it reads in the plan's own folder, with what is recorded of it.
func serverHere(p *plan.Plan, s *plan.Server) any {
	value := s.Node.Value()
	definition, ok := value.(map[string]any)
	if !ok {
		return value
	}
	if s.Node.File != p.File && s.URL == "" && from(p, s.Dir) != "." {
		definition["cwd"] = from(p, s.Dir)
	}
	if s.Lock != nil {
		definition["lock"] = s.Lock.Node.Value()
	}
	return definition
}
