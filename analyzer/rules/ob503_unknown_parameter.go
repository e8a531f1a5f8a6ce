package rules

import (
	"github.com/obelus-dev/obelus/analyzer/internal/analysis"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
)

var _ = Register(Rule{Call: unknownParameters}.As("OB503", "unknown-parameter", diag.Error))

// unknownParameters reports parameters that the tool doesn't name, unless it
// says itself that it takes others (additionalProperties).
func unknownParameters(p *Pass, call *plan.Call) {
	unknown := map[*source.Node]bool{}
	for _, known := range analysis.Takers(p, call) {
		for _, f := range call.Params.Fields {
			if !unknown[f.Node] && known.Unknown(f.Key) {
				unknown[f.Node] = true
				unknownParameter(p, call, known, f)
			}
		}
	}
}

func unknownParameter(p *Pass, call *plan.Call, known *parameters, f plan.TemplateField) {
	found := p.ReportCall(call, f.Node.Span(), "%s has no parameter %q", known.Taker, f.Key)
	if near, ok := known.Names.Nearest(f.Key); ok && !analysis.Passes(call, near) {
		found.Advise("did you mean %q?", near).
			Rename(f.Node, 0, len(f.Key), near, compiler.Misspelt(p.Plan, f.Key, near, known.Names.Suggester, true))
	} else if meta, ok := compiler.MetaForeign(f.Key); ok {
		found.Advise("did you mean %q? a call's own keys begin with _", meta)
	} else if len(known.Names.All) > 0 {
		found.Advise("its parameters are %s", known.Names.List())
	} else {
		found.Advise("it has no parameters: declare them as \"properties\", or additionalProperties: true")
	}
	found.Note(known.Tool.NameNode.Span(), "%q is declared here", call.ToolName)
}
