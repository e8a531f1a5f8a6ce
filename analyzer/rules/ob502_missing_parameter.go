package rules

import (
	"github.com/obelus-dev/obelus/analyzer/internal/analysis"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
)

var _ = Register(Rule{Call: missingParameters}.As("OB502", "missing-parameter", diag.Error))

// missingParameters reports calls that leave out what their tool requires.
func missingParameters(p *Pass, call *plan.Call) {
	if call.Partial {
		return
	}
	missing := map[string]bool{}
	for _, known := range analysis.Takers(p, call) {
		for _, name := range known.Required {
			if !missing[name] && !analysis.Passes(call, name) {
				missing[name] = true
				p.ReportCall(call, call.ToolNode.Span(), "%s needs the parameter %q, which %q doesn't pass",
					known.Taker, name, call.Name).
					Advise("pass %q: a value, or a reference such as †state.%s", name, name).
					Note(analysis.ParameterNode(known.Tool, name).Span(), "%q is declared here", name)
			}
		}
	}
}
