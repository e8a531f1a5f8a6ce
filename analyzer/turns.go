package analyzer

import (
	"github.com/obelus-dev/obelus/analyzer/internal/branch"
	"github.com/obelus-dev/obelus/analyzer/internal/logic"
	"github.com/obelus-dev/obelus/compiler"
)

// A Turn is a value on which conditions of a plan turn.
type Turn = branch.Turn

// Turns are the values on which conditions of a plan, or of one of its delegates, turn,
// and for each what it may be: so chosen that conditions hold with some and don't hold
// with others, as far as the plan's schemas allow both.
func Turns(p *compiler.Plan) []Turn { return branch.Turns(p, branchFacts{newPass(p, nil)}) }

// Proofs answers what can't be, of a plan or of one of its delegates.
type Proofs struct{ of *branch.Conditions }

// ProofsOf are those of a plan.
func ProofsOf(p *compiler.Plan) Proofs { return Proofs{newPass(p, nil).conditions()} }

// Excluded reports whether it is proven that the conditions of calls never come out so
// together: whatever they are about is taken to be any value that the schemas allow.
func (p Proofs) Excluded(calls []*compiler.Call, hold []bool) bool {
	all := logic.True
	for i, call := range calls {
		yes, no := p.of.ConditionAlone(call)
		if !hold[i] {
			yes = no
		}
		all = p.of.And(all, yes)
	}
	return p.of.SolveOne(all, false).Impossible
}

// Dead reports whether it is proven that a call is never started.
func (p Proofs) Dead(call *compiler.Call) bool {
	return p.of.SolveOne(p.of.Runs(call), false).Impossible
}
