package analyzer

import (
	"maps"

	"github.com/obelus-dev/obelus/analyzer/flow"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
)

// delegates are the plans below a plan, each checked once, without the settings of a workspace.
type delegates struct {
	judge  func(*plan.Plan) Judgement
	orders map[orderPlace]share         // see [Pass.delegateShare]
	bounds map[*plan.Plan][]*parameters // see [Pass.boundsWithin]
	needs  map[*plan.Plan][]*plan.Read  // see neededState
}

func newDelegates(c Config, judge func(*plan.Plan, []diag.Diagnostic, Config) Judgement) *delegates {
	d, judged := &delegates{orders: map[orderPlace]share{}, bounds: map[*plan.Plan][]*parameters{}, needs: map[*plan.Plan][]*plan.Read{}}, map[*plan.Plan]Judgement{}
	c.delegates, c.within = d, true
	d.judge = func(p *plan.Plan) Judgement {
		return flow.Once(judged, p, func() Judgement { return judge(p, p.Findings(), c) })
	}
	return d
}

// ordered is a plan with the order that findings about its delegates speak of.
func (d *delegates) ordered(p *plan.Plan) *plan.Plan {
	if p.Form == plan.Replan {
		return p
	}
	var with map[string]*plan.Plan
	for path, one := range p.Delegates {
		if judged := d.judge(one).Plan; judged != one {
			if with == nil {
				with = maps.Clone(p.Delegates)
			}
			with[path] = judged
		}
	}
	if with == nil {
		return p
	}
	return compiler.WithDelegates(p, with)
}

// of are the delegates of a plan that was found sound.
func (d *delegates) of(p *plan.Plan) map[string]*Verified {
	if p.Form == plan.Replan || len(p.Delegates) == 0 {
		return nil
	}
	verified := make(map[string]*Verified, len(p.Delegates))
	for path, one := range p.Delegates {
		verified[path] = d.judge(one).Verified
	}
	return verified
}
