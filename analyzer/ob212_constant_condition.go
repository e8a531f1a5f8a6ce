package analyzer

import (
	"github.com/obelus-dev/obelus/analyzer/internal/logic"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
)

var _ = register(Rule{
	Rule:  &diag.Rule{Code: "OB212", Name: "constant-condition", Default: diag.Warning},
	Scope: Idle,
	Run:   constantConditions,
})

// constantConditions finds conditions that don't decide anything.
func constantConditions(p *Pass) {
	var calls []*compiler.Call
	var goals []logic.Literal
	for _, call := range p.Plan.Calls {
		t := call.When
		switch {
		case t == nil:
		case !t.Live() || t.Expr != nil && len(t.Reads) == 0:
			p.Report(t.Node.Span(), "the condition of %q has no reference: it is the same in every run", call.Name).About(call.Label()).
				Advise("let it read something, or take it out")
		case t.Expr != nil:
			h := p.conditions().alone(call)
			calls, goals = append(calls, call), append(goals, h.yes, h.no)
		}
	}
	if len(calls) == 0 {
		return
	}
	answers := p.conditions().solve(goals, false)
	for i, call := range calls {
		never, always := answers[2*i].Impossible, answers[2*i+1].Impossible
		if never == always {
			continue
		}
		what := "is never true, so the call is always skipped"
		if always {
			what = "is always true"
		}
		p.Report(call.When.Node.Span(), "the condition of %q %s", call.Name, what).About(call.Label()).
			Advise("compare with what the value can be, or take the condition out")
	}
}

// alone is the truth of a condition whatever its references are.
func (e *branchConditions) alone(call *compiler.Call) truth {
	f := e.formula(call.When)
	f.alone = map[int]valued{}
	return f.holds(e.whens[call.Index])
}

// constantAlone reports whether OB212 speaks of a call's condition.
func (p *Pass) constantAlone(e *branchConditions, call *compiler.Call) bool {
	if !call.When.Live() || call.When.Expr != nil && len(call.When.Reads) == 0 {
		return true
	}
	if call.When.Expr == nil {
		return false
	}
	h := e.alone(call)
	answers := e.solve([]logic.Literal{h.yes, h.no}, false)
	return answers[0].Impossible != answers[1].Impossible
}
