package rules

import (
	"github.com/obelus-dev/obelus/analyzer/internal/analysis"
	"github.com/obelus-dev/obelus/compiler/plan"
)

var _ = Register(Rule{Rule: analysis.NotAnalysed, Run: notFullyAnalysed})

// notFullyAnalysed reports the questions about branches that have no answer
// because the budget ran out. It comes after the rules that ask them.
func notFullyAnalysed(p *Pass) {
	if p.Unread > 0 && p.Plan.CallsNode != nil {
		p.Report(p.Plan.CallsNode.Span().Head(),
			"what the calls write wasn't compared with the state that %d instances begin with", p.Unread).
			Advise("split it into plans of fewer instances")
	}
	switch {
	case p.Flow.Exhausted() && p.Plan.CallsNode != nil:
		p.Report(p.Plan.CallsNode.Span().Head(),
			"the plan's branches are not fully analysed: there are too many dependencies between them").
			Advise("findings about branches may be missing; let fewer calls write and read one path, or split the plan")
	case p.Flow.Exhausted():
	default:
		last := map[*plan.Call]int{} // one for each call is enough
		for i, u := range p.OpenQuestions {
			last[u.Call] = i
		}
		shown := 0
		for i, u := range p.OpenQuestions {
			if u.Call != nil && last[u.Call] != i {
				continue
			}
			if shown++; shown > analysis.MaxShown {
				p.ReportCall(u.Call, u.At, "%d more questions about branches are not fully analysed",
					len(p.OpenQuestions)-i).
					Advise("make fewer calls depend on the same decisions, or split the plan")
				break
			}
			p.ReportCall(u.Call, u.At, "%s is not fully analysed: too many decisions meet", u.What).
				Advise("make fewer calls depend on the same decisions, or split the plan")
		}
	}
}
