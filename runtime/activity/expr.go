package activity

import (
	"context"
	"math"
	"sync"

	"github.com/obelus-dev/obelus/compiler/expression"
)

type code struct {
	base
	expr *expression.Expr
}

var _ = register("expr", kind{open: func(_ *Set, b base) (starter, error) { return &code{b, b.def.Expression}, nil }})

// Evaluate is what an activity that is an expression gives back for a request, wherever it is evaluated.
func Evaluate(name string, e *expression.Expr, r Request) (Result, error) {
	return (&code{base{&common{}, name, nil}, e}).run(r)
}

// run evaluates the expression, within its own limits and the budget of the request, which is
// why no context need be asked.
func (c *code) run(r Request) (Result, error) {
	b := r.Budget
	if b == nil {
		return c.evaluate(r, &expression.Meter{Steps: math.MaxInt, Memory: math.MaxInt})
	}
	before := expression.Meter{Steps: b.left.Steps + stepsOfTry, Memory: b.left.Memory + memoryOfTry}
	b.left = before
	result, err := c.evaluate(r, &b.left)
	if b.left.Passed() {
		result, err = c.fail(CodeLimit, "passes a limit: the expressions of the run may take %d million steps and "+
			"make %d MiB of values together, and more for each of many calls: do less in them, or do it in a program",
			budgetSteps/1_000_000, budgetMemory>>20)
	}
	result.Steps, result.Made = before.Steps-b.left.Steps, before.Memory-b.left.Memory
	return result, err
}

// evaluate gives the result, which is looked at too: what is only handed on isn't
// made, but everybody who is given it looks at it.
func (c *code) evaluate(r Request, left *expression.Meter) (Result, error) {
	value, err := c.expr.EvalCode(r.Params, left)
	if err != nil {
		return none, c.fault(CodeError, "activity %q: %v", c.name, err)
	}
	room := expression.Room{Values: maxValues, Text: maxOutput}
	fits := room.Takes(value, maxDepth)
	left.Steps -= stepsOfValue * (maxValues - room.Values + (maxOutput-room.Text)/bytesOfValue)
	if !fits {
		return c.fail(CodeBadOutput, "gave a result that is too large: at most %d MiB of text, %d values and %d levels",
			maxOutput>>20, maxValues, maxDepth)
	}
	return Take(value, r, c.name)
}

// start begins an evaluation. Those that share a budget take their turns, so that
// what is left for one doesn't depend on what others have had time for.
func (c *code) start(ctx context.Context, r Request, ended func(Result, error)) {
	before, over := r.Budget.turn()
	go func() {
		defer close(over)
		if <-before; ctx.Err() != nil {
			ended(none, c.interrupted(ctx))
			return
		}
		ended(c.run(r))
	}()
}

// What the expressions of a run may take together: about what one of them may take, which is less memory since a run
// keeps what they make, and a little more for every evaluation, so that a plan of many calls, or over many instances,
// has enough for ordinary ones.
const (
	budgetSteps  = 15_000_000
	budgetMemory = 40 << 20
	stepsOfTry   = 1000
	memoryOfTry  = 4 << 10
)

// The cost of checking a result, in the steps of an expression: for each of its
// values; this many bytes of text count as one value.
const (
	stepsOfValue = 1
	bytesOfValue = 64
)

// A Budget is what the expressions of one run may still take together, in counted steps and in the size of what they
// make. They are evaluated one after the other, in the order in which they are started, so that which of them passes
// the budget doesn't depend on timing. A nil Budget is without bound.
type Budget struct {
	left expression.Meter // of the one whose turn it is

	mu   sync.Mutex
	last chan struct{} // closed when the last that was started has had its turn
}

// NewBudget is the budget of a run in which so many tries of expressions have taken so much already.
func NewBudget(tries, steps, made int) *Budget {
	b := &Budget{last: make(chan struct{}), left: expression.Meter{Steps: budgetSteps + stepsOfTry*tries - steps,
		Memory: budgetMemory + memoryOfTry*tries - made}}
	close(b.last)
	return b
}

// turn is that of an expression: before is closed when those before it have had theirs, and it closes over.
func (b *Budget) turn() (before <-chan struct{}, over chan struct{}) {
	over = make(chan struct{})
	if b == nil {
		b = NewBudget(0, 0, 0)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	before, b.last = b.last, over
	return before, over
}
