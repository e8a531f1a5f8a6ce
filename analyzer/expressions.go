package analyzer

import (
	"github.com/obelus-dev/obelus/compiler/plan"
)

// An expressionOf is one expression of the plan; the call is nil for those of the plan's output.
type expressionOf struct {
	call     *plan.Call
	template *plan.Template
}

// Listed are the expressions of a plan: all, and those that do more than pass on what one reference gives.
type listed struct{ all, calculated []expressionOf }

// Expressions goes over every expression of the plan, in the order of the text, or of one that arrives over those of
// the calls that are judged. The call is nil for those of the plan's output.
func (p *Pass) Expressions(f func(call *plan.Call, t *plan.Template)) {
	for _, x := range findExpressions(p).all {
		f(x.call, x.template)
	}
}

// calculations goes over those expressions that do more than pass on what one
// reference gives: conditions, fallbacks and the like. In most plans they are few.
func calculations(p *Pass, f func(call *plan.Call, t *plan.Template)) {
	for _, x := range findExpressions(p).calculated {
		f(x.call, x.template)
	}
}

// findExpressions lists the plan's expressions, once for all rules.
func findExpressions(p *Pass) *listed {
	l := kept[listed](p.store)
	if l.all != nil {
		return l
	}
	l.all = make([]expressionOf, 0, len(p.Plan.Reads)-p.fromRead)
	for _, call := range p.fresh() {
		for t := range call.Expressions() {
			l.all = append(l.all, expressionOf{call, t})
			if !t.Expr.Plain() || t == call.When || call.Each != nil && t == call.Each.List {
				l.calculated = append(l.calculated, expressionOf{call, t})
			}
		}
	}
	for t := range p.Plan.Output.Expressions() {
		l.all = append(l.all, expressionOf{nil, t})
		if !t.Expr.Plain() {
			l.calculated = append(l.calculated, expressionOf{nil, t})
		}
	}
	return l
}
