package analyzer

import (
	"github.com/obelus-dev/obelus/analyzer/rules"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
)

// Maturity is how much a plan says of itself and is prepared for. Each degree includes those before it.
type Maturity uint8

// The degrees of maturity.
const (
	// Unjudged: the plan has errors, or has no calls.
	Unjudged Maturity = iota
	// Freeform: nothing says what the state holds.
	Freeform
	// Open: a state schema names some paths and allows others.
	Open
	// Closed: the state schema names every path there is.
	Closed
	// Happy: besides, no alternative that can be taken goes unhandled; what is missing are routes for tools that fail.
	Happy
	// Complete: every failure of an explicit tool has its route as well.
	Complete
)

func (m Maturity) String() string {
	return [...]string{"", "freeform", "open", "closed", "happy", "complete"}[m]
}

// assess says how mature a plan is. The findings are those that the rules made, before any of them was suppressed.
func assess(p *plan.Plan, found []diag.Diagnostic) Maturity {
	switch {
	case p.Root == nil || len(p.Calls) == 0 || diag.HasErrors(found):
		return Unjudged
	case p.StateSchema == nil:
		return Freeform
	case p.StateSchema.At([]schema.Step{schema.Key(noName)}).Possible:
		return Open
	}
	for i := range found {
		if found[i].Rule == rules.UnhandledBranch.Rule {
			return Closed
		}
	}
	for _, call := range p.Calls {
		if rules.Unrouted(p, call) {
			return Happy
		}
	}
	return Complete
}

// noName is a key that no schema names: where it is possible, any other is.
const noName = "\u0000"
