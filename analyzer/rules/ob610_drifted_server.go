package rules

import (
	"slices"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/naming"
)

var _ = Register(Rule{Scope: document, Run: driftedServers}.As("OB610", "drifted-server", diag.Error))

// driftedServers reports activities that are tools which their MCP server didn't have when
// its tools were imported, each once. What the server has by now a run finds out.
func driftedServers(p *Pass) {
	reported := map[string]bool{}
	for _, call := range p.Plan.Calls {
		a := p.Plan.Activities[call.Activity]
		if a == nil || a.Server == nil || a.Server.Lock == nil || a.Remote == "" || reported[call.Activity] {
			continue
		}
		reported[call.Activity] = true
		var names []string
		for _, t := range a.Server.Lock.Tools {
			names = append(names, t.Name)
		}
		if slices.Contains(names, a.Remote) {
			continue
		}
		at := a.Node.Get("mcp").Get("tool")
		f := p.ReportCall(call, at.Span(), "the MCP server %q has no tool %q, as its catalogue records",
			compiler.Shown(a.Server.Name), compiler.Shown(a.Remote)).
			Note(call.ToolNode.Span(), "%q needs it", call.Name)
		if near, ok := naming.NewSuggester(names).Nearest(a.Remote); ok {
			f.Advise("did you mean %q?", near).Rename(at, 0, len(a.Remote), near, false)
		} else {
			f.Advise("name one that it has, or import its tools again")
		}
	}
}
