package state

import (
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
)

// Samples make up and judge the values of a sample run; a plan may describe only a part of them.
type Samples interface {
	// Read is the value of a read, by what it sees at a path.
	Read(p *plan.Plan, r *plan.Read, at func(pathtree.ID) (any, bool)) (value any, there bool)
	// Below is what is at a path in a value.
	Below(value any, path []expression.Segment) (any, bool)
	// Evaluate evaluates an expression of a plan by the values of its reads.
	Evaluate(p *plan.Plan, t *plan.Template, read expression.Lookup) (any, expression.Presence, *Failure)
	// Invalid says why a call can't start with some parameters, or nil.
	Invalid(call *plan.Call, params map[string]any) *Failure
	// Refuses says why a schema rejects a value whatever its unknown parts are, or nil.
	Refuses(s *schema.Schema, v any) *schema.Violation
	// Ends makes up how the activity of a call ends, and the alternative that its result takes, or -1.
	Ends(call *plan.Call, params map[string]any) (value any, route int, failure *Failure)
	// Unfit takes note of a value that a call can't write to a path.
	Unfit(call *plan.Call, path plan.Path, value any, why error, log *Log)
	// Settled takes note of how a call has ended; without a failure it is done or was skipped.
	Settled(call *plan.Call, done bool, failure *Failure, routed bool)
}
