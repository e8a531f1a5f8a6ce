package analyzer

import (
	"github.com/obelus-dev/obelus/analyzer/internal/branch"
	"github.com/obelus-dev/obelus/compiler"
)

// A Turn is a value on which conditions of a plan turn.
type Turn = branch.Turn

// Turns are the values on which conditions of a plan, or of one of its delegates, turn,
// and for each what it may be: so chosen that conditions hold with some and don't hold
// with others, as far as the plan's schemas allow both.
func Turns(p *compiler.Plan) []Turn { return branch.Turns(p, branchFacts{newPass(p, nil)}) }
