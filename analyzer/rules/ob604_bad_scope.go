package rules

import (
	"github.com/obelus-dev/obelus/analyzer/internal/analysis"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
)

var _ = Register(Rule{Rule: diag.BadScope, Run: badScopes})

// badScopes reports scopes that name nothing: nothing is there, and no call writes it.
func badScopes(p *Pass) {
	for _, call := range p.Plan.Calls {
		for _, s := range call.Scopes {
			r := &p.Plan.Reads[s.Read]
			if p.Flow.MayBeThere(r) {
				continue
			}
			kind := p.Plan.Paths.Kind(r.Path)
			if p.Plan.Form == plan.Solution && kind != "input" {
				continue // the state that it is given isn't known
			}
			f := p.ReportCall(call, r.Span(), "the scope %q names nothing: %s", r.Ref.String(),
				analysis.WhyNever[kind]).Advise("%s", analysis.WhereFrom[kind])
			if call.ScopesNode == nil {
				f.Note(s.Node.Span().Head(), "the tool fixes the scope here")
				continue // the call can't fix the reference
			}
			analysis.ExplainNever(p, f, r, call)
		}
	}
}
