package rules

import (
	"math"

	"github.com/obelus-dev/obelus/analyzer/facts"
	"github.com/obelus-dev/obelus/analyzer/internal/analysis"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
)

var _ = Register(Rule{Scope: document, Needs: diag.Tools | diag.Order, Run: overBudget}.
	As("OB704", "over-budget", diag.Warning))

// overBudget reports a budget that the worst case exceeds, by the costs of tools ("x-simulate"). It
// reports nothing if a cost is unknown.
func overBudget(p *Pass) {
	budget := p.Plan.Root.Get("limits").Get("cost")
	if p.Screens || budget == nil || p.Plan.Limits.Cost <= 0 {
		return
	}
	unlimited := *p.Plan
	unlimited.Limits = plan.Limits{}
	worst := facts.Of(&unlimited, facts.Options{}).Worst.Cost
	const precision = 1e9 // of sums of decimal fractions
	if worst.Most == nil || *worst.Most <= p.Plan.Limits.Cost*(1+1/precision) {
		return
	}
	p.Report(budget.Span(), "at worst the calls of the plan cost %s, and its budget is %s",
		analysis.Brief(math.Round(*worst.Most*precision)/precision), analysis.Brief(p.Plan.Limits.Cost)).
		Advise("raise the budget, or let there be fewer calls, tries and items (\"maxItems\")")
}
