package rules

import (
	"github.com/obelus-dev/obelus/analyzer/internal/analysis"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/wording"
)

var _ = Register(Rule{
	Rule:  &diag.Rule{Code: "OB602", Name: "latent", Default: diag.Info},
	Scope: document,
	Run:   latentTools,
})

// latentTools says once which tools need a model, because no activity carries them out.
func latentTools(p *Pass) {
	if p.Plan.Form == plan.Solution && !p.Plan.ToolsDeclared {
		return
	}
	var first *plan.Call
	var names []string
	named := map[string]bool{}
	for _, call := range p.Plan.Calls {
		if !call.Latent() || call.Produced != nil || p.Plan.ToolsDeclared && call.Tool == nil {
			continue
		}
		if first == nil {
			first = call
		}
		if !named[call.ToolName] {
			named[call.ToolName] = true
			names = append(names, call.ToolName)
		}
	}
	switch len(names) {
	case 0:
	case 1:
		p.Report(first.ToolNode.Span(),
			"the tool %q has no activity: a run needs a model to produce its result", names[0]).
			Advise("define an activity of that name under \"activities\", or let a model answer it")
	default:
		p.Report(first.ToolNode.Span(), "%d tools have no activity: a run needs a model to produce the results of %s",
			len(names), wording.Names(names, analysis.MaxNamed)).
			Advise("define activities of those names under \"activities\", or let a model answer them")
	}
}
