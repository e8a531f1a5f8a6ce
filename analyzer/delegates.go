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
	judge func(*plan.Plan) delegateJudgement
	store store // what rules keep of them
}

// A delegateJudgement is what was found in a delegate, as [Judgement] has it.
type delegateJudgement struct {
	plan             *plan.Plan
	sound            bool
	errors, findings []diag.Diagnostic
}

// judgedDelegates begins the judgement of the plans below one, at most once each.
func judgedDelegates(c Config) (*delegates, map[*plan.Plan]Judgement) {
	known := map[*plan.Plan]Judgement{}
	below := Config{Rules: c.Rules, Machine: c.Machine, Replay: c.Replay, within: true, judged: known}
	below.delegates = &delegates{store: store{}, judge: func(p *plan.Plan) delegateJudgement {
		j := flow.Once(known, p, func() Judgement { return Analyze(p, p.Findings(), below) })
		return delegateJudgement{j.Plan, j.Verified != nil, j.Errors, j.Findings}
	}}
	return below.delegates, known
}

// withOrder is a plan with the order that findings about its delegates speak of.
func (d *delegates) withOrder(p *plan.Plan) *plan.Plan {
	if p.Form == plan.Replan {
		return p
	}
	var with map[string]*plan.Plan
	for path, one := range p.Delegates {
		if judged := d.judge(one).plan; judged != one {
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
