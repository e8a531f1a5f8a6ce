package runtime_test

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"testing"
)

// planNumber is the nth generated plan, as a reader of JSON would get it.
func planNumber(t testing.TB, n int) map[string]any {
	t.Helper()
	text, err := json.Marshal(generatePlan(rand.New(rand.NewPCG(uint64(n), 1))))
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

func schedule(n int) *rand.Rand { return rand.New(rand.NewPCG(uint64(n), 2)) }

// sameOutcome leaves out the trace: what a run was seen to do on the way may
// depend on the schedule, what it comes to may not.
func sameOutcome(a, b Outcome) bool {
	a.Trace, b.Trace = nil, nil
	return reflect.DeepEqual(a, b)
}

// A sound plan gives one settlement of every call, one state and one output,
// whatever the schedule (S6.3).
func TestModelIsConfluent(t *testing.T) {
	sound := 0
	plans := 1500
	for n := range plans {
		doc := planNumber(t, n)
		if len(faults(doc)) > 0 {
			continue
		}
		sound++
		first := interpret(doc, perform, schedule(0))
		for s := 1; s < 20; s++ {
			if other := interpret(doc, perform, schedule(s)); !sameOutcome(first, other) {
				text, _ := json.MarshalIndent(doc["calls"], "", " ")
				t.Fatalf("plan %d: %+v under schedule 0, %+v under schedule %d\n%s", n, first, other, s, text)
			}
		}
	}
	t.Logf("%d of %d plans are sound", sound, plans)
}

func TestGeneratedPlansCoverTheLanguage(t *testing.T) {
	plans, sound, sizes := 5000, 0, map[int]int{}
	count := map[feature]int{}
	for n := range plans {
		doc := planNumber(t, n)
		sizes[len(doc["calls"].([]any))]++
		if len(faults(doc)) > 0 {
			continue
		}
		sound++
		for _, f := range features(interpret(doc, perform, schedule(0))) {
			count[f]++
		}
	}
	t.Logf("%d of %d sound; sizes %v", sound, plans, sizes)
	for f, c := range count {
		t.Logf("%5d  %s", c, f)
	}
}
