package activity

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/plan"
)

// EXECUTION.md#limits: the expressions of a run have a budget together. Which of them passes it
// depends on the order in which they are started alone, and a run that is resumed has
// as much left as it had.
func TestExpressionsShareABudget(t *testing.T) {
	for text, passes := range map[string]bool{
		"a + 1": false, "(1..50000) | map(# * 2) | len()": true, `repeat("x", 3000000)`: true, "[a, a]": false, `{"a": 1}`: false,
	} {
		e, problem := expression.ParseCode(text)
		if problem != nil {
			t.Fatal(problem)
		}
		set, err := Open(map[string]*plan.Activity{"x": {Name: "x", Kind: "expr", Expression: e}}, nil, Options{})
		if err != nil {
			t.Fatal(err)
		}
		const calls = 300
		tell := func(budget *Budget, n int) (failed []bool, taken [3]int) {
			failed = make([]bool, n)
			var all sync.WaitGroup
			all.Add(n)
			var mu sync.Mutex
			for i := range n {
				set.Start(context.Background(), "x", Request{Params: map[string]any{"a": 1.0}, Budget: budget}, func(r Result, err error) {
					defer all.Done()
					mu.Lock()
					defer mu.Unlock()
					var failure *Failure
					if failed[i] = err != nil; failed[i] && (!errors.As(err, &failure) || failure.Code != CodeLimit) {
						t.Errorf("%s: %v", text, err)
					}
					taken[0]++
					taken[1] += r.Steps
					taken[2] += r.Made
				})
			}
			all.Wait()
			return failed, taken
		}
		whole, _ := tell(NewBudget(0, 0, 0), calls)
		first, taken := tell(NewBudget(0, 0, 0), calls/20)
		rest, _ := tell(NewBudget(taken[0], taken[1], taken[2]), calls-calls/20)
		if whole[0] || whole[calls-1] != passes || fmt.Sprint(whole) != fmt.Sprint(append(first, rest...)) {
			t.Errorf("%s: %v\n%v, resumed %v", text, whole, first, rest)
		}
		set.Close()
	}
}
