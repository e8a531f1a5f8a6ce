package activity

import (
	"context"

	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/plan"
)

type code struct {
	name string
	expr *expression.Expr
}

var _ = register("expr", kind{open: func(_ *Set, name string, def *plan.Activity) (starter, error) {
	return &code{name, def.Expression}, nil
}})

// Evaluate is what an activity that is an expression gives back for a request, wherever it is evaluated.
func Evaluate(name string, e *expression.Expr, r Request) (Result, error) {
	return (&code{name, e}).run(r)
}

// run evaluates the expression, within its own limits and the budget of the request, which is
// why no context need be asked.
func (c *code) run(r Request) (Result, error) {
	left := r.Budget.take()
	before := left
	result, err := c.evaluate(r, &left)
	if left.Passed() {
		result, err = fail(CodeLimit,
			"activity %q: the expressions of the run may take %d million steps and make %d MiB of values together, "+
				"and more for each of many calls: do less in them, or do it in a program", c.name,
			budgetSteps/1_000_000,
			budgetMemory>>20)
	}
	if r.Budget != nil {
		result.Steps, result.Made = before.Steps-left.Steps, before.Memory-left.Memory
		r.Budget.put(left)
	}
	return result, err
}

// evaluate gives the result, which is looked at too: what is only handed on isn't
// made, but everybody who is given it looks at it.
func (c *code) evaluate(r Request, left *expression.Meter) (Result, error) {
	value, err := c.expr.EvalCode(r.Params, left)
	if err != nil {
		return fail(CodeError, "activity %q: %v", c.name, err)
	}
	room := expression.Room{Values: maxValues, Text: maxOutput}
	fits := room.Takes(value, maxDepth)
	left.Steps -= stepsOfValue * (maxValues - room.Values + (maxOutput-room.Text)/bytesOfValue)
	if !fits {
		return fail(CodeBadOutput, "activity %q: the result is too large: it may have %d MiB of text, %d values and "+
			"%d levels", c.name, maxOutput>>20, maxValues, maxDepth)
	}
	return Take(value, r, c.name)
}

// start begins an evaluation. Those that share a budget take their turns, so that
// what is left for one doesn't depend on what others have had time for.
func (c *code) start(ctx context.Context, r Request, ended func(Result, error)) {
	all := &turns{}
	if r.Budget != nil {
		all = &r.Budget.turns
	}
	before, over := all.next()
	go func() {
		defer close(over)
		<-before
		if ctx.Err() != nil {
			ended(none, interrupted(ctx, c.name))
			return
		}
		ended(c.run(r))
	}()
}
