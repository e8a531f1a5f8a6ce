package runtime_test

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"reflect"
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

// sameOutcome leaves out the trace: what a run was seen to do on the way may
// depend on the schedule, what it comes to may not.
func sameOutcome(a, b Outcome) bool {
	a.Trace, b.Trace = nil, nil
	return reflect.DeepEqual(a, b)
}

// A sound plan gives one settlement of every call, one state and one output,
// whatever the schedule.
func TestModelIsConfluent(t *testing.T) {
	t.Parallel()
	sound := 0
	plans := amount.Of(20, 260, 5000)
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

// Without the rule of EXECUTION.md#order-of-calls on overlapping paths, or with reads that see every write, some
// plan has two outcomes: the comparison above can fail.
func TestModelWithoutItsRulesIsNotConfluent(t *testing.T) {
	t.Parallel()
	wrongs := map[string]model{"hasty": {hasty: true}, "nosy": {nosy: true}}
	for name, wrong := range wrongs {
		diverging := 0
		for n := 0; n < 1500 && diverging < amount.Of(2, 5, 5); n++ {
			doc := planNumber(t, n)
			if len(faults(doc)) > 0 {
				continue
			}
			var first Outcome
			for s := range 20 {
				m := wrong
				m.plan, m.act = readPlan(doc), perform
				outcome := m.run(schedule(s))
				if s == 0 {
					first = outcome
				} else if !sameOutcome(first, outcome) {
					diverging++
					break
				}
			}
		}
		t.Logf("%s: %d plans diverge, then it is enough", name, diverging)
		if diverging == 0 {
			t.Errorf("a %s model gives one outcome for every plan", name)
		}
	}
}

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
