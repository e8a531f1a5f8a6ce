package rules

import (
	"github.com/obelus-dev/obelus/analyzer/internal/analysis"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
)

var _ = Register(Rule{Needs: diag.Tools, Call: unknownTool}.As("OB501", "unknown-tool", diag.Error))

// unknownTool reports calls of tools that nobody declares. A tool without a schema whose activity is registered is
// known by that; ConsultAdvisor exists wherever advisors do.
func unknownTool(p *Pass, call *plan.Call) {
	if !p.Plan.ToolsDeclared || !UsesUnknownTool(p, call) {
		return
	}
	near, ok := analysis.ToolSuggester(p).Nearest(call.ToolName)
	if call.ToolName == compiler.Consult && !ok {
		p.ReportCall(call, call.ToolNode.Span(), "no advisor answers on demand: each has an \"on\"").
			Advise("list an advisor without \"on\" under \"advisors\"")
		return
	}
	f := p.ReportCall(call, call.ToolNode.Span(), "there is no tool %q", compiler.Shown(call.ToolName, near))
	if ok {
		f.Advise("did you mean %q?", compiler.Shown(near, call.ToolName))
		f.Rename(call.ToolNode, 0, len(call.ToolName), near,
			compiler.Misspelt(p.Plan, call.ToolName, near, analysis.ToolSuggester(p), true))
		if tool := p.Plan.Tool(near); tool != nil {
			f.Note(tool.NameNode.Span(), "%q is declared here", near)
		}
	} else {
		f.Advise("declare it under \"tools\", or use one of the tools that are declared there")
	}
}

func UsesUnknownTool(p *Pass, call *plan.Call) bool {
	return call.Tool == nil && p.Plan.Activities[call.ToolName] == nil && !p.Flow.Defines(call.ToolName)
}
