package catalogues

import (
	"cmp"
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
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/obelus-dev/obelus/runtime/activity"
	"github.com/obelus-dev/obelus/runtime/project"
)

// readServers makes a catalogue of what the MCP servers of a file list as their tools.
func (o *Import) readServers(
	ctx context.Context, file string, reading *project.Reader, output string, r *Result,
) (map[string]any, error) {
	if len(o.Tags) > 0 || o.Server != "" || len(o.Headers) > 0 {
		return nil, diag.NewError(nil, "--tag, --server and --header are for OpenAPI files; %q defines servers", file).
			Advise("write url and headers in the file")
	}
	if output != "" && filepath.Dir(output) != filepath.Dir(file) {
		return nil, diag.NewError(nil,
			"the catalogue of %q has to be beside it: its servers are started from there", file).
			Advise("name a file in %q with -o", filepath.Dir(file))
	}
	d, err := reading.One(file)
	if err != nil {
		return nil, err
	}
	d.Options.Definitions = parsed(file, d.File.Text).Get("calls") == nil // else it is a plan
	d.Options.Catalogues = nil                                            // which may be what is to be written anew
	p := d.Compile()
	if diag.HasErrors(p.Findings) {
		return nil, &Faulty{p.Findings}
	}
	listed := map[string]map[string]activity.ListedTool{} // by server
	owners := map[string]int{}                            // how many servers have a tool of a name
	for _, name := range slices.Sorted(maps.Keys(p.Plan.Servers)) {
		server := *p.Plan.Servers[name]
		if !filepath.IsAbs(server.Dir) {
			server.Dir = filepath.Join(p.Root, filepath.FromSlash(server.Dir))
		}
		tools, err := activity.Tools(ctx, &server, activity.Options{Hosts: p.HostRules()})
		if err != nil {
			return nil, diag.NewError(nil, "%v", err)
		}
		for _, t := range tools {
			if t.Refused == "" {
				owners[t.Name]++
			}
		}
		listed[name] = tools
	}
	tools, activities, servers, taken := map[string]any{}, map[string]any{}, map[string]any{}, map[string]int{}
	for _, server := range slices.Sorted(maps.Keys(listed)) {
		recorded := map[string]record{}
		for _, name := range slices.Sorted(maps.Keys(listed[server])) {
			t := listed[server][name]
			if o.refuse(r, server, name, cmp.Or(t.Refused, Unfit(t.Tool))) {
				continue
			}
			if owners[name] > 1 { // a number would depend on which other servers there are
				name = server + "_" + name
			}
			name = openapi.Named(taken, name)
			tools[name], recorded[t.Name] = offered(server, t.Tool), record{t.Digest, t.Hints}
			definition := map[string]any{"mcp": map[string]any{"server": server, "tool": t.Name}}
			if activities[name] = definition; len(t.Hints) > 0 {
				definition["annotations"] = t.Hints
			}
		}
		defined, _ := p.Plan.Servers[server].Node.Value().(map[string]any)
		defined["lock"], servers[server] = o.record(map[string]any{"tools": recorded}), defined
	}
	return map[string]any{"tools": tools, "activities": activities, "servers": servers}, nil
}

// A record is what a catalogue records of a server's tool.
type record struct {
	Digest string          `json:"digest"`
	Hints  map[string]bool `json:"annotations,omitempty"`
}

// refuse reports whether a tool isn't imported: no flag asks for it, or there is a reason against it.
func (o *Import) refuse(r *Result, server, tool, why string) bool {
	const most = 100 // bytes of a name
	if !like(o.Only)(server + " " + tool) {
		return true
	}
	if why != "" {
		r.refused = append(r.refused, server+" "+wording.Cut(tool, most)+": "+why)
	}
	return why != ""
}

// offered is a tool of a server as a catalogue has it.
func offered(server string, t catalogue.Tool) map[string]any {
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
	text, err := catalogue.YAML("", map[string]any{"tools": map[string]any{t.Name: offered("server", t)}})
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
