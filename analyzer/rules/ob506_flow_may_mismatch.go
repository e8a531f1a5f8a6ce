package rules

import (
	"github.com/obelus-dev/obelus/analyzer/internal/analysis"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/schema"
)

var MayMismatchRule = &diag.Rule{Code: "OB506", Name: "flow-may-mismatch", Default: diag.Warning}

var FlowMayMismatch = Register(Rule{Rule: MayMismatchRule, Run: flowMayMismatches})

// flowMayMismatches reports flows with a value that doesn't fit, and those that couldn't be checked within the budget.
func flowMayMismatches(p *Pass) {
	for _, j := range analysis.Judgements(p) {
		switch j.Relation {
		case schema.MayNotFit:
			ReportMayMismatch(p, &j)
		case schema.Unknown:
			analysis.Undecided(p, &j)
		}
	}
}

// ReportMayMismatch reports a value that may come and isn't accepted.
func ReportMayMismatch(p *Pass, j *judgement) {
	analysis.Misfit(p, MayMismatchRule, j, j.To.Where()).
		Advise(
			"narrow the source's schema, widen the parameter's, or convert the value (int(…), filter(…), \"… || 0\")")
}
