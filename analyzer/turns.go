package analyzer

import (
	"github.com/obelus-dev/obelus/analyzer/internal/branch"
	"github.com/obelus-dev/obelus/compiler/plan"
)

// A Turn is a value on which conditions of a plan turn.
type Turn = branch.Turn

// Turns are the values that conditions of a plan, or of one of its delegates, are about, with samples
// for which conditions hold and don't hold, if the schemas allow both.
func Turns(p *plan.Plan) []Turn { return branch.Turns(p, branchFacts{newPass(p, nil)}) }
