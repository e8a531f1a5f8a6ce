package analyzer

import (
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
)

var notAnalysed = register(Rule{
	Rule: &diag.Rule{Code: "OB902", Name: "not-fully-analysed", Default: diag.Info},
	Run:  notFullyAnalysed,
})

// cutShort says that a judgement was cut short.
func cutShort(p *Pass, at source.Span, format string, args ...any) *diag.Diagnostic {
	return p.found.Report(notAnalysed.Rule, at, format, args...).Advise("use simpler schemas, or fewer alternatives in them")
}

// notFullyAnalysed reports the questions about branches that have no answer
// because the budget ran out. It comes after the rules that ask them.
func notFullyAnalysed(p *Pass) {
	if p.unread > 0 && p.Plan.CallsNode != nil {
		p.Report(headOf(p.Plan.CallsNode.Span()), "what the calls write wasn't compared with the state that %d instances begin with", p.unread).
			Advise("split it into plans of fewer instances")
	}
	switch {
	case p.flow.Exhausted() && p.Plan.CallsNode != nil:
		p.Report(headOf(p.Plan.CallsNode.Span()), "the plan's branches are not fully analysed: there are too many dependencies between them").
			Advise("findings about branches may be missing; let fewer calls write and read one path, or split the plan")
	case p.flow.Exhausted():
	default:
		last := map[*plan.Call]int{} // one for each call is enough
		for i, u := range p.openQuestions {
			last[u.call] = i
		}
		shown := 0
		for i, u := range p.openQuestions {
			if u.call != nil && last[u.call] != i {
				continue
			}
			if shown++; shown > maxShown {
				p.Report(u.at, "%d more questions about branches are not fully analysed", len(p.openQuestions)-i).About(u.call.Label()).
					Advise("make fewer calls depend on the same decisions, or split the plan")
				break
			}
			p.Report(u.at, "%s is not fully analysed: too many decisions meet", u.what).About(u.call.Label()).
				Advise("make fewer calls depend on the same decisions, or split the plan")
		}
	}
}

// An openQuestion is a question about branches without an answer.
type openQuestion struct {
	at   source.Span
	call *plan.Call
	what string
}

// unanswered notes something that the budget didn't last for.
func unanswered(p *Pass, at source.Span, call *plan.Call, what string) {
	p.openQuestions = append(p.openQuestions, openQuestion{at, call, what})
}
