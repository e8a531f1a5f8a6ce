package rules

import (
	"maps"
	"slices"

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
		if tool := latentWithin(p.Plan.Delegates[call.Plan()]); tool != "" && !named[call.Plan()] {
			named[call.Plan()] = true
			p.Report(call.ToolNode.Span(), "the plan %q calls the tool %q, which has no activity: a run needs a model "+
				"to produce its result", call.Plan(), tool).
				Advise("define an activity of that name in that plan, or let a model answer it")
		}
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

// latentWithin is a tool that needs a model in a delegate or in those below it, or "".
func latentWithin(delegate *plan.Plan) string {
	if delegate == nil {
		return ""
	}
	below := delegate.AllDelegates()
	all := []*plan.Plan{delegate}
	for _, path := range slices.Sorted(maps.Keys(below)) {
		all = append(all, below[path])
	}
	for _, one := range all {
		for _, call := range one.Calls {
			if call.Latent() && call.Produced == nil {
				return call.ToolName
			}
		}
	}
	return ""
}
