package analyzer

import (
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
)

var _ = register(Rule{Rule: diag.BadScope, Run: badScopes})

// badScopes reports scopes that name nothing: nothing is there, and no call writes it.
func badScopes(p *Pass) {
	for _, call := range p.fresh() {
		for _, s := range call.Scopes {
			r := &p.Plan.Reads[s.Read]
			if p.flow.MayBeThere(r) {
				continue
			}
			kind := p.Plan.Paths.Kind(r.Path)
			if p.Plan.Form == plan.Solution && kind != "input" {
				continue // the state that it is given isn't known
			}
			f := p.Report(r.Span(), "the scope %q names nothing: %s", r.Ref.String(), whyNever[kind]).About(call.Label()).Advise("%s", whereFrom[kind])
			noteMissing(p, r, nil)
			if call.ScopesNode == nil {
				f.Note(headOf(s.Node.Span()), "the tool fixes the scope here")
				continue // the call can't fix the reference
			}
			explainNever(p, f, r, call)
		}
	}
}
