package compiler

import (
	"fmt"
	"maps"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/obelus-dev/obelus/compiler/catalogue"
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

func (c *compilation) server(d definition) *plan.Server {
	s := &plan.Server{Activity: plan.Activity{Name: d.name, Node: d.node, NameNode: d.key, Dir: c.folderOf(d), Origin: c.originOf(d.node.File)}}
	a, n, what := &s.Activity, d.node, "the server \""+d.name+"\""
	c.Fields(n, what, map[string]func(source.Field){
		"command":     func(f source.Field) { c.argv(a, f.Value, "command") },
		"env":         func(f source.Field) { c.envOf(a, f.Value) },
		"inherit":     func(f source.Field) { c.inherited(a, f.Value) },
		"cwd":         nil, // below: a lock file lay beside the file, wherever the program starts
		"url":         func(f source.Field) { c.serverURL(s, f.Value) },
		"headers":     func(f source.Field) { c.headers(s, f.Value, what) },
		"timeout":     func(f source.Field) { a.Timeout = c.Duration(f.Value, "\"timeout\"") },
		"lock":        nil,
		"description": nil,
	})
	if n.Kind != source.Object {
		return s
	}
	c.recorded(s)
	if cwd := n.Get("cwd"); cwd != nil {
		c.cwd(a, cwd)
	}
	for _, one := range c.delegation.trusted {
		if one.Is(s, c.wholly) {
			s.TrustedBy = one.TrustedBy
			break
		}
	}
	command, at := n.Get("command"), n.Get("url")
	switch {
	case command != nil && at != nil:
		c.Report(diag.WrongType, at.Span(), "%s has both a \"command\" and a \"url\"", what).Advise("leave one of them out")
	case command == nil && at == nil:
		c.Report(diag.WrongType, n.Span().Head(), "%s has neither a \"command\" nor a \"url\"", what).
			Advise("write {command: [program, argument, …]} or {url: \"https://…\"}")
	case command != nil:
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
	s.URL = c.Text(n, "\"url\"")
	takes(&s.Activity, n)
	part := plan.HttpAddress.FindStringSubmatch(s.URL)
	if at, err := url.Parse(s.Host()); s.URL != "" && (part == nil || err != nil || at.Hostname() == "" || at.Scheme != "https" && at.Scheme != "http" || part[6] != "") {
		c.Report(diag.WrongType, n.Span(), "%q is no address of a server", s.URL).Advise("write it like https://example.com/mcp; the host can't come from the environment")
		return
	}
	c.openPassword(n)
}

func (c *compilation) headers(s *plan.Server, n *source.Node, what string) {
	if n.Kind != source.Object {
		c.Expects(n, "\"headers\" of "+what, "a mapping from names of headers to texts")
		return
	}
	for _, f := range n.Fields {
		value := c.Text(f.Value, "the header \""+f.Key.Text+"\"")
		switch {
		case !headerName.MatchString(f.Key.Text):
			c.Report(diag.WrongType, f.Key.Span(), "%q can't be the name of a header", f.Key.Text).Advise("a name is made of letters, digits and -")
		case slices.Contains(ownHeaders, strings.ToLower(f.Key.Text)):
			c.Report(diag.WrongType, f.Key.Span(), "the header %q follows from the request itself", f.Key.Text).Advise("leave it out")
		case badHeader(value):
			c.Report(diag.WrongType, f.Value.Span(), "the header %q has a character that no header has", f.Key.Text).Advise("write it in one line")
		}
		s.Headers = append(s.Headers, plan.EnvSetting{Name: f.Key.Text, Value: f.Value.Text})
		takes(&s.Activity, f.Value)
	}
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

// mcpActivity reads which tool of which server an activity is.
func (c *compilation) mcpActivity(a *plan.Activity, n *source.Node, what string) {
	c.Fields(n, what+"'s \"mcp\"", map[string]func(source.Field){
		"server":  func(f source.Field) { c.Text(f.Value, "\"server\"") },
		"tool":    func(f source.Field) { a.Remote = c.Text(f.Value, "\"tool\"") },
		"timeout": func(f source.Field) { a.Timeout = c.Duration(f.Value, "\"timeout\"") },
	})
	for _, key := range []string{"server", "tool"} {
		if n.Kind == source.Object && n.Get(key) == nil {
			c.Report(diag.WrongType, n.Span(), "%s has no %q", what, key).Advise("write mcp: {server: NAME, tool: NAME}")
		}
	}
}

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

// says is what a server declares of one of its tools' effects, as it is recorded,
// which each start of the server is held to (OB610). Where no policy trusts the server, it
// only makes them worse.
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

// serverHere is a server's definition as it reads in the plan's own folder, with what is
// recorded of it.
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
