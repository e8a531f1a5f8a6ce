package rules

import (
	"github.com/obelus-dev/obelus/analyzer/internal/analysis"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/wording"
)

var _ = Register(Rule{Scope: document, Needs: diag.Tools, Run: latentTools}.As("OB602", "latent", diag.Info))

// latentTools says once which tools need a model, because no activity carries them out.
func latentTools(p *Pass) {
	if p.Plan.Form == plan.Solution && !p.Plan.ToolsDeclared {
		return
	}
	var first *plan.Call
	var names []string
	named := map[string]bool{}
	for _, call := range p.Plan.Calls {
		if path := call.Delegate; path != "" && !named[path] {
			named[path] = true
			if latent := firstWithin(p.Plan.Delegates[path], map[*plan.Plan]bool{}, isLatent); latent.call != nil {
				p.Report(call.ToolNode.Span(),
					"the plan %q calls the tool %q, which has no activity: a run needs a model to produce its result",
					path, latent.call.ToolName).
					Advise("define an activity of that name in that plan, or let a model answer it")
			}
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

func isLatent(_ *plan.Plan, call *plan.Call) bool {
	return call.Delegate != "" || call.Latent() && call.Produced == nil
}

// A callWithin is a call of a plan that is run as a call; its name is behind those of the calls that it is below.
type callWithin struct {
	call *plan.Call
	name string
}

// firstWithin is the first call that runs no plan and passes a test, of a delegate or of those that its calls run which
// pass it.
func firstWithin(d *plan.Plan, seen map[*plan.Plan]bool, test func(*plan.Plan, *plan.Call) bool) (first callWithin) {
	if d == nil || seen[d] {
		return first
	}
	seen[d] = true
	for _, call := range d.Calls {
		if !test(d, call) {
			continue
		} else if call.Delegate == "" {
			return callWithin{call, call.Name}
		} else if first = firstWithin(d.Delegates[call.Delegate], seen, test); first.call != nil {
			return callWithin{first.call, call.Name + "/" + first.name}
		}
	}
	return first
}
