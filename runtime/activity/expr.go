package activity

import (
	"context"
	"fmt"

	"github.com/obelus-dev/obelus/compiler/expression"
)

// A code is an activity that is an expression over the call's parameters.
type code struct {
	name string
	expr *expression.Expr
}

// Evaluate is what an activity that is an expression gives back for a request,
// wherever it is evaluated.
func Evaluate(name string, e *expression.Expr, r Request) (Result, error) {
	return (&code{name, e}).Run(context.Background(), r)
}

// Run evaluates the expression. It is bounded by the limits of expressions
// (S18), which is why the context needn't be asked again.
func (c *code) Run(_ context.Context, r Request) (Result, error) {
	value, err := c.expr.EvalCode(r.Params)
	if err != nil {
		return Result{Route: -1}, &Failure{Code: CodeError, Message: fmt.Sprintf("activity %q: %v", c.name, err)}
	}
	if err := Bounded(value); err != nil {
		return Result{Route: -1}, &Failure{Code: CodeBadOutput, Message: fmt.Sprintf("activity %q: %v", c.name, err)}
	}
	return route(value, r, c.name, "")
}
