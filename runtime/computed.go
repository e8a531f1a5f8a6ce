package runtime

import (
	"fmt"

	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/plan"
)

// Computed is what the activities of a run that are expressions have taken so far, ended tries alone: how many these
// were, their steps, and the bytes of the values that they made. The world holds it against what they may take
// together, so that a run that is resumed has as much left as when it stopped.
type Computed struct{ Tries, Steps, Made int }

func (c *Computed) add(e Event) {
	if e.Kind == Ended && (e.Steps > 0 || e.Made > 0) {
		c.Tries++
		c.Steps += max(0, e.Steps)
		c.Made += max(0, e.Made)
	}
}

// Computed is what the activities that are expressions have taken so far.
func (t *tally) Computed() Computed { return t.computed }

// Bounded reports whether the expressions of the run have a budget together.
func (a *allowances) Bounded() bool { return !a.unbounded }

// What the expressions that are in calls and in the output may take together, and how much more for each evaluation.
const (
	resolvingSteps  = 10_000_000
	resolvingMemory = 32 << 20
	stepsOfLook     = 1000
	memoryOfLook    = 1 << 10
)

// Resolved is how many steps the expressions in calls and in the output have taken beyond what each of them is given.
func (a *allowances) Resolved() int { return resolvingSteps - a.resolving.Steps }

// compute evaluates an expression of a call or of the output, within what all of the run may take.
func (a *allowances) compute(t *plan.Template, look expression.Lookup) (any, expression.Presence, *Failure) {
	left := &a.resolving
	if a.unbounded {
		left = nil
	} else {
		left.Steps += stepsOfLook
		left.Memory += memoryOfLook
	}
	value, presence, err := t.Expr.EvalWithin(look, left)
	switch {
	case left != nil && left.Passed():
		return nil, presence,
			&Failure{Code: codeLimit,
				Message: fmt.Sprintf(
					"%s: the expressions in the run's calls may take %d million steps and make %d MiB of values "+
						"together, and more for each of many: do less in them, or do it in an activity", t.Node.Text,
					resolvingSteps/1_000_000, resolvingMemory>>20)}
	case err != nil:
		return nil, presence, &Failure{Code: "expression-type", Message: fmt.Sprintf("%s: %v", t.Node.Text, err)}
	}
	return value, presence, nil
}

const codeLimit = "limit"
