package runtime_test

import (
	"math/rand/v2"
	"testing"

	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/testdata/amount"
)

// EXECUTION.md#failures: what went wrong, and the reason of a run that failed, are told in plan
// order, whatever ended first; also over instances.
func TestFaultsInPlanOrder(t *testing.T) {
	t.Parallel()
	plans := amount.Of(30, 150, 3000)
	several := 0
	for n := range plans {
		doc := planNumber(t, n)
		for _, instances := range [][]any{nil, {map[string]any{"id": "b"}, map[string]any{"id": "a"}, map[string]any{"id": "c"}}} {
			if delete(doc, "instances"); instances != nil {
				doc["instances"] = instances
			}
			v, _ := compileGenerated(t, doc)
			if v == nil {
				continue
			}
			ended := func(schedule uint64) *runtime.Outcome {
				r := &simulator{
					t: t, verified: v, act: hapless(uint64(n)), order: rand.New(rand.NewPCG(schedule, uint64(n))), kills: int(schedule) % 2,
					decide: func(*runtime.Question) runtime.Decision { return runtime.Decision{Verdict: runtime.Approve} },
				}
				return r.run()
			}
			first := ended(1)
			if len(first.Errors) > 1 {
				several++
			}
			for schedule := uint64(2); schedule < 6; schedule++ {
				other := ended(schedule)
				if inJSON(other.Errors) != inJSON(first.Errors) || other.Reason != first.Reason {
					t.Fatalf("seed %d: schedules 1 and %d tell\n%s %s\n%s %s\n%s", n, schedule, first.Reason, inJSON(first.Errors), other.Reason, inJSON(other.Errors), inJSON(doc))
				}
			}
			places := map[string]int{"": len(v.Plan().Calls)}
			for i, call := range v.Plan().Calls {
				places[call.Name] = i
			}
			for i := 1; i < len(first.Errors); i++ {
				if places[first.Errors[i-1].Call] > places[first.Errors[i].Call] {
					t.Fatalf("seed %d: %s", n, inJSON(first.Errors))
				}
			}
		}
	}
	if several < plans/10 {
		t.Errorf("only in %d of %d plans several things went wrong", several, plans)
	}
}

// hapless lets two of five calls fail for good, by their names.
func hapless(seed uint64) behaviour {
	return func(call string, attempt int, params map[string]any) (any, string, *failure) {
		if drawn(seed, call)%5 < 2 {
			return nil, "", &failure{Code: "error", Message: "bad luck"}
		}
		return perform(call, attempt, params)
	}
}
