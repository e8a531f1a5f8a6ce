package rules

import (
	"github.com/obelus-dev/obelus/analyzer/internal/analysis"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
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
				reportMissingParameter(p, call, known, name)
			}
		}
	}
}

func reportMissingParameter(p *Pass, call *plan.Call, known *parameters, name string) {
	f := p.ReportCall(call, call.ToolNode.Span(), "%s needs the parameter %q, which %q doesn't pass", known.Taker,
		name, call.Name).
		Advise("pass %q: a value, or a reference such as †state.%s", name, name).
		Note(analysis.ParameterNode(known.Tool, name).Span(), "%q is declared here", name)
	if key, ok := misspelt(call, known, name); ok {
		f.Advise("%q may be meant for it", key.Text).
			Note(key.Span(), "the %s has no parameter %q", known.Which, key.Text)
	}
}

// misspelt is a parameter that the tool doesn't have and whose name is nearest to one that is missing.
func misspelt(call *plan.Call, known *parameters, missing string) (*source.Node, bool) {
	for _, f := range call.Params.Fields {
		if !known.Unknown(f.Key) {
			continue
		}
		if near, ok := known.Names().Nearest(f.Key); ok && near == missing {
			return f.Node, true
		}
	}
	return nil, false
}
