package rules

import (
	"github.com/obelus-dev/obelus/analyzer/internal/analysis"
)

var _ = Register(Rule{Rule: analysis.NotAnalysed, Run: notFullyAnalysed})

// notFullyAnalysed reports the first question about branches that has no answer because
// the budget ran out. It comes after the rules that ask them.
func notFullyAnalysed(p *Pass) {
	switch {
	case p.Flow.Exhausted() && p.Plan.CallsNode != nil:
		p.Report(p.Plan.CallsNode.Span().Head(),
			"the plan's branches are not fully analysed: there are too many dependencies between them").
			Advise("findings about branches may be missing; let fewer calls write and read one path, or split the plan")
	case p.OpenQuestion != nil && !p.Flow.Exhausted():
		u := p.OpenQuestion
		p.ReportCall(u.Call, u.At, "%s is not fully analysed: too many decisions meet", u.What).
			Advise("make fewer calls depend on the same decisions, or split the plan")
	}
}
