package analysis

import (
	"maps"

	"github.com/obelus-dev/obelus/compiler/bind"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
)

// Delegates are the plans below a plan, each checked once, without the settings of a workspace.
type Delegates struct {
	Judge func(*plan.Plan) DelegateJudgement
	Store Store // what rules keep of them
}

// A DelegateJudgement is what was found in a delegate, as [Judgement] has it.
type DelegateJudgement struct {
	Plan             *plan.Plan
	Sound            bool
	Errors, Findings []diag.Diagnostic
}

// WithOrder is a plan with the order that findings about its delegates speak of.
func (d *Delegates) WithOrder(p *plan.Plan) *plan.Plan {
	if p.Form == plan.Replan {
		return p
	}
	var with map[string]*plan.Plan
	for path, one := range p.Delegates {
		if judged := d.Judge(one).Plan; judged != one {
			if with == nil {
				with = maps.Clone(p.Delegates)
			}
			with[path] = judged
		}
	}
	if with == nil {
		return p
	}
	return bind.WithDelegates(p, with)
}
