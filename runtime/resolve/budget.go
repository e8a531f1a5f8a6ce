package resolve

import (
	"fmt"
	"math"

	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/runtime/state"
)

// A Budget is what the patterns and expressions of a run may still take.
type Budget struct {
	Matching  schema.Allowance // what patterns may still cost
	MostCost  int              // of patterns, of a simulation; 0 for no bound
	resolving expression.Meter // what the expressions in calls and in the output may still take
	Unbounded bool             // the expressions and patterns of the run have no bound together
	Samples   state.Samples    // of a sample run; nil of any other
	Computed
}

// Computed is what the activities of a run that are expressions have taken so far: how many attempts have ended, their
// steps, and the bytes of their values. A resumed run has as much left as when it stopped.
type Computed struct{ Tries, Steps, Made int }

// What the expressions that are in calls and in the output may take together, and how much more for each evaluation.
const (
	resolvingSteps  = 10_000_000
	resolvingMemory = 32 << 20
	stepsOfLook     = 1000
	memoryOfLook    = 1 << 10
)

// CodeLimit is the code of a failure for want of what a budget has.
const CodeLimit = "limit"

// NewBudget is that of a run that is given some values.
func NewBudget(unbounded bool, given ...any) Budget {
	b := Budget{Unbounded: unbounded, Matching: schema.NewAllowance(),
		resolving: expression.Meter{Steps: resolvingSteps, Memory: resolvingMemory}}
	if unbounded {
		b.Matching.Left = math.MaxInt / 2
	}
	for _, value := range given {
		b.Matching.Refill(value)
	}
	return b
}

// Resolved is how many steps the expressions in calls and in the output have taken beyond what each of them is given.
func (b *Budget) Resolved() int { return resolvingSteps - b.resolving.Steps }

// IsExhausted reports whether the patterns of a simulation have cost more than they may: then nothing starts any more.
func (b *Budget) IsExhausted() bool { return b.MostCost > 0 && b.Matching.Used > b.MostCost }

// Validate holds a value against a schema, within what the patterns of the run's schemas may cost together.
func (b *Budget) Validate(s *schema.Schema, v any) *schema.Violation {
	if b.Samples != nil {
		return b.Samples.Refuses(s, v)
	}
	return s.ValidateWithin(v, &b.Matching)
}

// compute evaluates an expression of a call or of the output, within what all of the run may take.
func (b *Budget) compute(t *plan.Template, look expression.Lookup) (any, expression.Presence, *state.Failure) {
	left := &b.resolving
	if b.Unbounded {
		left = nil
	} else {
		left.Steps += stepsOfLook
		left.Memory += memoryOfLook
	}
	value, presence, err := t.Expr.Eval(look, left)
	switch {
	case left != nil && left.Passed():
		return nil, presence, &state.Failure{Code: CodeLimit, Message: fmt.Sprintf(
			"%s: the expressions in the run's calls may take %d million steps and make %d MiB of values together, and "+
				"more for each of many: do less in them, or do it in an activity", t.Node.Text,
			resolvingSteps/1_000_000, resolvingMemory>>20)}
	case err != nil:
		return nil, presence, &state.Failure{Code: "expression-type", Message: fmt.Sprintf("%s: %v", t.Node.Text, err)}
	}
	return value, presence, nil
}
