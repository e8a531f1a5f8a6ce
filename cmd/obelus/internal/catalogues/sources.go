package catalogues

import (
	"context"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/catalogue"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/openapi"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/obelus-dev/obelus/compiler/workspace"
	"github.com/obelus-dev/obelus/runtime/activity"
	"github.com/obelus-dev/obelus/runtime/project"
)

// DefinesServers reports whether a file defines MCP servers: OpenAPI's servers are a list.
func DefinesServers(file string, text []byte) bool {
	root, _ := source.Parse(source.NewFile(file, text), source.Limits{})
	servers := root.Get("servers")
	return root.Get("openapi") == nil && servers.IsMapping()
}

// A listing is what an MCP server lists as its tools.
type listing struct {
	*plan.Server
	tools   []catalogue.Tool
	refused []activity.RefusedTool
}

// askServers asks the servers of a file for their tools, by their names. Unless the user named the file, only trusted
// servers with a record are asked: the file's author decides what starts, and which secrets it gets.
func askServers(ctx context.Context, file string, reading *project.Reader, named bool) (all []listing, err error) {
	d, err := reading.One(file)
	if err != nil {
		return nil, err
	}
	root, _ := source.Parse(source.NewFile(file, d.File.Text), source.Limits{})
	d.Options.Definitions = root.Get("calls") == nil // else it is a plan
	if named {
		d.Options.Catalogues = nil // which may be what is to be written anew, and say nothing of servers
	}
	p := d.Compile()
	found := slices.DeleteFunc(slices.Clone(p.Findings),
		func(f diag.Diagnostic) bool { return named && isReplaced(f, root) })
	if diag.HasErrors(found) {
		return nil, &Faulty{found}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Plan.Servers)) {
		server := *p.Plan.Servers[name]
		if !named && (server.Lock == nil || server.Node.File != p.Plan.File) {
			continue
		}
		if !named && !reading.Trust { // a workspace's trust doesn't cover all of its files
			return nil, diag.NewError(nil,
				"the MCP server %q of %q isn't asked: that starts a program or sends a request, "+
					"and nobody trusts it", name, file).
				Advise("look at its definition, then say --trust")
		}
		if !filepath.IsAbs(server.Dir) {
			server.Dir = filepath.Join(p.Root, filepath.FromSlash(server.Dir))
		}
		tools, refused, err := activity.Tools(ctx, &server, activity.Options{Hosts: p.HostRules()})
		if err != nil {
			return nil, diag.NewError(nil, "%v", err)
		}
		all = append(all, listing{p.Plan.Servers[name], tools, refused})
	}
	return all, nil
}

// isReplaced reports whether a finding is about what an import writes anew: tools and activities that
// are defined beside the servers, or what was recorded of them.
func isReplaced(f diag.Diagnostic, root *source.Node) bool {
	if f.Span.File == nil || root == nil {
		return false
	}
	replaced := []*source.Node{root.Get("tools"), root.Get("activities"), root.Get("schemas")}
	for _, server := range root.Get("servers").Fields {
		replaced = append(replaced, server.Value.Get("lock"))
	}
	return slices.ContainsFunc(replaced, func(n *source.Node) bool {
		return n != nil && f.Span.File.Name == n.File.Name && f.Span.Start >= n.Start && f.Span.End <= n.End
	})
}

// OfServers makes a catalogue of what the servers of a file list as their tools.
func (o *Import) OfServers(ctx context.Context, file string, reading *project.Reader, output string) (*Result, error) {
	if len(o.Tags) > 0 || o.Server != "" || len(o.Headers) > 0 {
		return nil, diag.NewError(nil, "--tag, --server and --header are for OpenAPI files; %q defines servers", file).
			Advise("write url and headers in the file")
	}
	all, err := askServers(ctx, file, reading, true)
	if err != nil {
		return nil, err
	}
	if output != "" && filepath.Dir(output) != filepath.Dir(file) {
		return nil, diag.NewError(nil,
			"the catalogue of %q has to be beside it: its servers are started from there", file).
			Advise("name a file in %q with -o", filepath.Dir(file))
	}
	return o.listed(all), nil
}

// mostNamed bounds the shown part of a tool's name, in bytes.
const mostNamed = 100

// listed is the catalogue of the listed tools that the flags choose.
func (o *Import) listed(all []listing) *Result {
	owners, taken := map[string]int{}, map[string]int{} // how many servers have a tool of a name
	for _, server := range all {
		for _, t := range server.tools {
			owners[t.Name]++
		}
	}
	tools, activities, servers := map[string]any{}, map[string]any{}, map[string]any{}
	result := &Result{
		Catalogue: map[string]any{"tools": tools, "activities": activities, "servers": servers}, kind: "tool",
	}
	only, names := like(o.Only), like(o.Names)
	for _, listed := range all {
		server := listed.Name
		recorded := map[string]any{}
		unless := func(tool, why string) (isImported bool) {
			isWanted := only(server+" "+tool) && names(tool)
			switch {
			case !isWanted:
				result.unwanted++
			case why != "":
				text := server + " " + wording.Cut(tool, mostNamed) + ": " + why
				result.refused = append(result.refused, remark{text: text})
			}
			return isWanted && why == ""
		}
		for _, r := range listed.refused {
			unless(r.Tool, r.Why)
		}
		for _, t := range listed.tools {
			var ofInput, ofOutput []string
			t.Input, ofInput = openapi.WithoutPatterns(t.Input)
			t.Output, ofOutput = openapi.WithoutPatterns(t.Output)
			if !unless(t.Name, Unfit(t)) {
				continue
			}
			for _, fault := range slices.Concat(ofInput, ofOutput) {
				text := server + " " + wording.Cut(t.Name, mostNamed) + ": a pattern is left out: " + fault
				result.changed = append(result.changed, remark{text: text})
			}
			name := t.Name
			if owners[name] > 1 { // a number would depend on which other servers there are
				name = server + "_" + name
			}
			name = openapi.Named(taken, name)
			definition := map[string]any{"mcp": map[string]any{"server": server, "tool": t.Name}}
			record := map[string]any{"digest": t.Digest}
			if len(t.Hints) > 0 {
				hints := map[string]any{}
				for hint, is := range t.Hints {
					hints[hint] = is
				}
				definition["annotations"], record["annotations"] = hints, hints
			}
			tools[name], activities[name], recorded[t.Name] = offeredTool(server, t), definition, record
		}
		defined, _ := listed.Node.Value().(map[string]any)
		lock := map[string]any{"tools": recorded}
		o.record(lock) // only and names: others are refused
		defined["lock"], servers[server] = lock, defined
	}
	return result
}

// offeredTool is a tool of a server as a catalogue has it.
func offeredTool(server string, t catalogue.Tool) map[string]any {
	tool := map[string]any{"inputSchema": t.Input, "x-operation": path.Join(server, t.Name)}
	if t.Input == nil {
		tool["inputSchema"] = map[string]any{"type": "object"}
	}
	if t.Output != nil {
		tool["outputSchema"] = t.Output
	}
	if t.Description != "" {
		tool["description"] = wording.Cut(t.Description, openapi.MaxDescription)
	}
	return tool
}

// Unfit is why a tool of a server can't be one of a catalogue: only the workspace decides what carries
// a tool out, and an invalid schema would make the whole catalogue invalid.
func Unfit(t catalogue.Tool) string {
	input, _ := t.Input.(map[string]any)
	properties, _ := input["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if strings.HasPrefix(name, "_") {
			return fmt.Sprintf("a plan can't pass its parameter %q: such names aren't parameters there", name)
		}
	}
	text, err := catalogue.YAML("", map[string]any{"tools": map[string]any{t.Name: offeredTool("server", t)}})
	if err != nil {
		return err.Error()
	}
	_, found := compiler.Compile(source.NewFile("tool.yaml", text), compiler.Options{Definitions: true})
	for _, f := range found {
		if f.Severity == diag.Error {
			return f.Message
		}
	}
	return ""
}

// read reads an OpenAPI document.
func (o *Import) read(name string, text []byte) (*openapi.API, error) {
	options := openapi.Options{Server: o.Server, Headers: map[string]any{}}
	for _, header := range o.Headers {
		name, value, ok := strings.Cut(header, ":")
		if !ok || name == "" {
			return nil, diag.NewError(nil, "--header can't be %q: expected NAME: VALUE", header).
				Advise("write it like --header \"Authorization: Bearer {$TOKEN}\"")
		}
		options.Headers[strings.TrimSpace(name)] = strings.TrimSpace(value)
	}
	only, tags, names := like(o.Only), like(o.Tags), like(o.Names)
	options.Wanted = func(op *openapi.Operation) bool {
		return only(op.String()) && names(op.Name) && (len(o.Tags) == 0 || slices.ContainsFunc(op.Tags, tags))
	}
	api, found := openapi.Read(source.NewFile(name, text), options)
	if api == nil {
		return nil, &Faulty{found}
	}
	return api, nil
}

// OfDocument makes a catalogue of an OpenAPI document.
func (o *Import) OfDocument(name string, text []byte, output string) (*Result, error) {
	api, err := o.read(name, text)
	if err != nil {
		return nil, err
	}
	result := &Result{
		Catalogue: api.Catalogue(), kind: "operation", unwanted: api.Unwanted, variables: api.Variables,
	}
	about := func(n openapi.Note, of string) remark {
		return remark{diag.Escape(n.At.Where()) + ": " + of + n.Message, n.Help}
	}
	for _, op := range api.Operations {
		if op.Refused != nil {
			result.refused = append(result.refused, about(*op.Refused, op.String()+": "))
		}
	}
	for _, n := range api.Notes {
		result.changed = append(result.changed, about(n, ""))
	}
	if output == "" {
		return result, nil
	}
	relative, err := project.PathFrom(filepath.Dir(output), name)
	record := map[string]any{"file": filepath.ToSlash(relative), "digest": workspace.SumOf(text)}
	o.record(record)
	result.Catalogue["x-source"] = record
	return result, err
}
