package runtime_test

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/obelus-dev/obelus/testdata/amount"
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

// leastOf is how many of 5,000 generated plans must show a feature.
var leastOf = map[feature]int{
	fallbackEarly: 1200, callSkipped: 1200, failureRouted: 1200, onceRejected: 1200, pathNested: 1200, pathRewritten: 1200,
	gateClosed: 100, conditionFalse: 100, afterHeld: 100, afterUndone: 30, alternativeNamed: 100, fannedOut: 100, failureUnrouted: 100, recordYields: 50,
	retried: 100, outputRejected: 100, structuralFailure: 50, writeRefused: 100, patched: 100, resultKept: 10, nullPassed: 100,
	forwardReferenced: 100, startedOutOfOrder: 100, outputLeafLeftOut: 100, waitedForOverlap: 100, memberReadFromList: 100, textMade: 500, textRefused: 20,
}

// Generated plans are mostly sound and use what the language has, most of all
// what the machine is to be compared on.
func TestGeneratedPlansCoverTheLanguage(t *testing.T) {
	t.Parallel()
	plans, sound, sizes := amount.Of(250, 1600, 5000), 0, map[int]int{}
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
	if sound*10 < plans*6 {
		t.Errorf("%d of %d plans are sound, expected at least 60 %%", sound, plans)
	}
	for _, f := range slices.Sorted(maps.Keys(leastOf)) {
		t.Logf("%5d  %s", count[f], f)
		if least := leastOf[f] * plans / 5000; count[f] < least {
			t.Errorf("%q occurs in %d sound plans of %d, expected at least %d", f, count[f], plans, least)
		}
	}
}
