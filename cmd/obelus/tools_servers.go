package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/lock"
	"github.com/obelus-dev/obelus/compiler/openapi"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/obelus-dev/obelus/runtime/activity"
)

// definesServers reports whether a file defines MCP servers: OpenAPI's servers are a list.
func definesServers(file string, text []byte, limits source.Limits) bool {
	root, _ := source.Parse(source.NewFile(file, text), limits)
	servers := root.Get("servers")
	return root.Get("openapi") == nil && servers != nil && servers.Kind == source.Object
}

// A listing is what the MCP servers that a file defines list as their tools.
type listing struct {
	names   []string // of the servers, sorted
	servers map[string]lock.Server
	refused map[string][]activity.RefusedTool // of what they list
	defined map[string]any                    // as the file defines them
}

// listed asks the servers of a file for their tools; only those that are wanted, if any are.
// Where nobody has named the file, they have to be trusted: what starts a server, or sends it
// a secret, is the word of whoever wrote the file.
func (c *cli) listed(ctx context.Context, file string, reading *reading, named bool, wanted func(server string) bool) (*listing, error) {
	d, err := reading.One(file)
	if err != nil {
		return nil, err
	}
	root, _ := source.Parse(source.NewFile(file, d.File.Text), reading.Limits)
	d.Options.Definitions = root.Get("calls") == nil // else it is a plan
	if named {
		d.Options.Catalogues = nil // which may be what is to be written anew, and say nothing of servers
	}
	p := d.Compile()
	found := slices.DeleteFunc(slices.Clone(p.Findings), func(f diag.Diagnostic) bool { return named && ofBefore(f, root) })
	if diag.HasErrors(found) {
		return nil, c.faulty(found, false)
	}
	all := &listing{servers: map[string]lock.Server{}, refused: map[string][]activity.RefusedTool{}, defined: map[string]any{}}
	for _, name := range slices.Sorted(maps.Keys(p.Plan.Servers)) {
		if !wanted(name) {
			continue
		}
		there := *p.Plan.Servers[name]
		if !named && !reading.Trust && there.TrustedBy == "" { // a workspace's trust isn't one in every file beside its lock
			return nil, troubled("the MCP server %q of %q isn't asked: that starts a program or sends a request, and nobody trusts it", name, file).Advise("look at its definition, then say --trust, or have a policy trust it (servers)")
		}
		all.defined[name] = there.Node.Value()
		if !filepath.IsAbs(there.Dir) {
			there.Dir = filepath.Join(p.Root, filepath.FromSlash(there.Dir))
		}
		s, refused, err := activity.Tools(ctx, &there, activity.Options{Hosts: p.HostRules()})
		if err != nil {
			return nil, troubled("%v", err)
		}
		all.names, all.servers[name], all.refused[name] = append(all.names, name), s, refused
	}
	return all, nil
}

// ofBefore reports whether a finding is of what an import makes anew, and not of the servers
// that it asks: of tools and activities that stand beside them, or of what was locked.
func ofBefore(f diag.Diagnostic, root *source.Node) bool {
	if f.Span.File == nil || root == nil {
		return false
	}
	if filepath.Base(f.Span.File.Name) == lock.Name {
		return true
	}
	return slices.ContainsFunc([]string{"tools", "activities", "schemas"}, func(key string) bool {
		n := root.Get(key)
		return n != nil && f.Span.File.Name == n.File.Name && f.Span.Start >= n.Start && f.Span.End <= n.End
	})
}

// importServers makes a catalogue of what the servers of a file list as their tools.
func (c *cli) importServers(ctx context.Context, file string, reading *reading, o importing) error {
	if len(o.Tags) > 0 || o.server != "" || len(o.headers) > 0 {
		return troubled("--tag, --server and --header are for OpenAPI files, and %q defines servers", file).Advise("write url and headers in the file")
	}
	all, err := c.listed(ctx, file, reading, true, func(string) bool { return true })
	if err != nil {
		return err
	}
	if o.output != "" && filepath.Dir(o.output) != filepath.Dir(file) {
		return troubled("the lock of %q stands beside it, and the catalogue does so, too", file).Advise("name a file in %q with -o", filepath.Dir(file))
	}
	l, err := c.lockBefore(filepath.Dir(file), o.limits, func(l *lock.Lock) (again []*source.Node) {
		for _, name := range all.names {
			if was := l.Server(name); was != nil {
				again = append(again, was.Node)
			}
		}
		return again
	})
	if err != nil {
		return err
	}
	only, names := like(o.Only), like(o.Names)
	tools, activities, taken, offered := map[string]any{}, map[string]any{}, map[string]int{}, 0
	var refused []string
	for _, server := range all.names {
		locked := all.servers[server]
		offered += len(locked.Tools) + len(all.refused[server])
		for _, r := range all.refused[server] {
			if only(server+" "+r.Tool) && names(r.Tool) {
				refused = append(refused, server+" "+wording.Cut(r.Tool, mostNamed)+": "+r.Why)
			}
		}
		locked.Tools = slices.DeleteFunc(locked.Tools, func(t lock.Tool) bool { return !only(server+" "+t.Name) || !names(t.Name) })
		locked.Tools = slices.DeleteFunc(locked.Tools, func(t lock.Tool) bool {
			why := unfit(t, o.limits)
			if why != "" {
				refused = append(refused, server+" "+wording.Cut(t.Name, mostNamed)+": "+why)
			}
			return why != ""
		})
		for _, t := range locked.Tools {
			name := openapi.Named(taken, t.Name)
			tools[name], activities[name] = offeredTool(server, t), map[string]any{"mcp": map[string]any{"server": server, "tool": t.Name}}
			if len(t.Annotations) > 0 {
				hints := map[string]any{}
				for hint, is := range t.Annotations {
					hints[hint] = is
				}
				activities[name].(map[string]any)["annotations"] = hints
			}
		}
		locked.Choice = o.Choice
		l.SetServer(locked)
	}
	if len(tools) > 0 {
		if err := c.writeCatalogue(file, o, map[string]any{"tools": tools, "activities": activities, "servers": all.defined}); err != nil {
			return err
		}
		if o.output != "" {
			if err := c.writeLock(filepath.Dir(file), l); err != nil {
				return err
			}
		}
	}
	if err := c.toldServers(file, o, offered, len(tools), all.names, refused); err != nil {
		return err
	}
	if len(tools) == 0 {
		return ending(statusFound)
	}
	return nil
}

// mostNamed is how much is told of a tool's name, in bytes.
const mostNamed = 100

// offeredTool is a tool of a server as a catalogue has it.
func offeredTool(server string, t lock.Tool) map[string]any {
	tool := map[string]any{"inputSchema": t.Input, "x-operation": path.Join(server, t.Name)}
	if t.Input == nil {
		tool["inputSchema"] = map[string]any{"type": "object"}
	}
	if t.Output != nil {
		tool["outputSchema"] = t.Output
	}
	if t.Says != "" {
		tool["description"] = wording.Cut(t.Says, openapi.MaxDescription)
	}
	return tool
}

// unfit is why a tool of a server can't be one of a catalogue: nobody's word but the
// workspace's says what carries a tool out, and a schema that is none would spoil it all.
func unfit(t lock.Tool, limits source.Limits) string {
	own, _ := t.Input.(map[string]any)
	properties, _ := own["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if strings.HasPrefix(name, "_") {
			return fmt.Sprintf("a plan can't pass its parameter %q: such names aren't parameters there", name)
		}
	}
	text, err := lock.YAML("", map[string]any{"tools": map[string]any{t.Name: offeredTool("server", t)}})
	if err != nil {
		return err.Error()
	}
	_, found := compiler.Compile(source.NewFile("tool.yaml", text), compiler.Options{Definitions: true, Limits: limits})
	for _, f := range found {
		if f.Severity == diag.Error {
			return f.Message
		}
	}
	return ""
}

func (c *cli) toldServers(file string, o importing, offered, imported int, servers, refused []string) error {
	to := c.out
	if o.output == "" {
		to = c.err
	}
	if o.json {
		return diag.JSONLine(to, serverSummary{"summary", file, o.output, servers, offered, imported, append([]string{}, refused...)})
	}
	_, err := fmt.Fprintf(to, "%s of %s imported, of %d that %s\n", wording.Count(imported, "tool"), diag.Escape(file), offered, wording.Counted(len(servers), "server lists", "servers list"))
	if len(refused) > 0 && err == nil {
		_, err = io.WriteString(to, "not imported:\n")
		for _, one := range refused {
			if err == nil {
				_, err = fmt.Fprintf(to, "  %s\n", diag.Escape(one))
			}
		}
	}
	return err
}

type serverSummary struct {
	Kind     string   `json:"kind"`
	File     string   `json:"file"`
	Output   string   `json:"output"`
	Servers  []string `json:"servers"`
	Tools    int      `json:"tools"`
	Imported int      `json:"imported"`
	Refused  []string `json:"refused"` // "SERVER TOOL: why"
}

// serversDrift says how the servers of a lock file, which files beside it define, differ
// from it.
func (c *cli) serversDrift(ctx context.Context, folder string, l *lock.Lock, reading *reading) (sources []*drifting, err error) {
	found := map[string]bool{}
	files, _ := filepath.Glob(filepath.Join(folder, "*.y*ml"))
	for _, file := range files {
		text, err := os.ReadFile(file)
		if len(l.Servers) == 0 || err != nil || filepath.Base(file) == lock.Name || !definesServers(file, text, reading.Limits) {
			continue
		}
		all, err := c.listed(ctx, file, reading, false, func(server string) bool { return l.Server(server) != nil && !found[server] })
		if err != nil {
			return nil, err
		}
		for _, server := range all.names {
			found[server] = true
			was := l.Server(server)
			only, names := like(was.Choice.Only), like(was.Choice.Names)
			is := slices.DeleteFunc(all.servers[server].Tools, func(t lock.Tool) bool {
				return was.Tool(t.Name) == nil && !(only(server+" "+t.Name) && names(t.Name))
			})
			now := map[string]any{}
			for _, t := range is {
				now[path.Join(server, t.Name)] = offeredTool(server, t)
			}
			sources = append(sources, &drifting{name: file + ": " + server, held: true, key: func(tool string) string { return path.Join(server, tool) }, now: now, all: activity.WhyRefused(lock.Compare(was.Tools, is), all.refused[server])})
		}
	}
	for _, s := range l.Servers {
		if !found[s.Name] {
			return nil, troubled("no file in %q defines the server %q, which is locked", folder, s.Name).Advise("define it under servers, or import anew")
		}
	}
	return sources, nil
}
