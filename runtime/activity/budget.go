package activity

import (
	"math"
	"sync"

	"github.com/obelus-dev/obelus/compiler/expression"
)

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
	mu    sync.Mutex
	left  expression.Meter
	turns turns
}

// NewBudget is the budget of a run in which so many tries of expressions have taken so much already.
func NewBudget(tries, steps, made int) *Budget {
	return &Budget{left: expression.Meter{Steps: budgetSteps + stepsOfTry*tries - steps,
		Memory: budgetMemory + memoryOfTry*tries - made}}
}

// take is what there is for the next evaluation; put takes back what it has left.
func (b *Budget) take() expression.Meter {
	if b == nil {
		return expression.Meter{Steps: math.MaxInt, Memory: math.MaxInt}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return expression.Meter{Steps: b.left.Steps + stepsOfTry, Memory: b.left.Memory + memoryOfTry}
}

func (b *Budget) put(left expression.Meter) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.left = left
}

// turns are those of calls that are carried out, or put to a server, one after the other.
type turns struct {
	mu   sync.Mutex
	last chan struct{}
}

// next is the turn of a call: before is closed when those before it have had theirs, and the call closes over.
func (t *turns) next() (before <-chan struct{}, over chan struct{}) {
	over = make(chan struct{})
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.last == nil {
		t.last = make(chan struct{})
		close(t.last)
	}
	before, t.last = t.last, over
	return before, over
}
