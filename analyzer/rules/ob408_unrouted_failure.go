package rules

import (
	"slices"

	"github.com/obelus-dev/obelus/analyzer/flow"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/kinds"
	"github.com/obelus-dev/obelus/compiler/plan"
)

var _ = Register(Rule{
	Rule:  &diag.Rule{Code: "OB408", Name: "unrouted-failure", Default: diag.Warning, Optional: true},
	Needs: diag.Writes | diag.Reads | diag.Tools | diag.State,
	Run:   unroutedFailures,
})

// unroutedFailures reports calls whose tool may fail and whose failure nothing handles. It ignores expressions, plans
// that read †error, and calls that a model wrote, whose next request reports failures.
func unroutedFailures(p *Pass) {
	if !GivesOutput(p) || slices.ContainsFunc(p.Plan.Reads, func(r plan.Read) bool { return r.Ref.Kind == "error" }) {
		return
	}
	for _, call := range p.Plan.Calls {
		if !unrouted(p.Plan, call) || kinds.IsPure(p.Plan.Activities[call.Activity]) {
			continue
		}
		what := "the run fails with it"
		if route := call.FailureRoute(); route >= 0 {
			what += ", because the state schema doesn't allow its failure record at " +
				quote(compiler.Offered(p.Plan, call)[route])
		} else if len(call.Output) > 0 {
			what += ", and what reads " + quote(compiler.Offered(p.Plan, call)[0]) + " is skipped"
		}
		p.ReportCall(call, call.ToolNode.Span(), "nothing handles a failure of %q: %s", call.Name, what).
			Advise(
				"give it a failure route (\"… || †state.error\") that something reads, or let the plan's " +
					"\"output\" read \"†error\"")
	}
}

// unrouted reports whether nothing of the call's own takes up a failure of its tool: an explicit one that has no
// failure route, or one where the state schema has no room for the record.
func unrouted(p *plan.Plan, call *plan.Call) bool {
	if call.Latent() {
		return false
	}
	route := call.FailureRoute()
	return route < 0 || slices.ContainsFunc(call.Output[route], func(path plan.Path) bool {
		return p.Paths.Kind(path.ID) == "state" && !admitsFailure(p, p.Paths.Segments(path.ID)[1:])
	})
}

// admitsFailure reports whether the state schema has room for the record of a failure at a path.
func admitsFailure(p *plan.Plan, path []expression.Segment) bool {
	if p.StateSchema == nil {
		return true
	}
	at := p.StateSchema.At(path)
	return at.Possible && (at.Schema == nil || at.Schema.Accepts(flow.FailureSample))
}
