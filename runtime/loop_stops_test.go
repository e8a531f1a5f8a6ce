package runtime_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/testdata/amount"
)

// A run, of several ticks or without a planner, that is stopped (gently or not), killed and resumed at
// random ends as it does undisturbed: in the same state, with every call settled
// in the same way and once, and with the planner told the same. That a replay of the events says the same, byte for byte, the
// simulator sees to at every kill.
func TestStoppedAndResumed(t *testing.T) {
	t.Parallel()
	plans := amount.Of(12, 83, 5000)
	run, kills, stops := 0, 0, 0
	for n := range plans {
		doc := planNumber(t, n)
		v, _ := compileGenerated(t, doc)
		if v == nil {
			continue
		}
		run++
		planned := n%5 != 0
		if planned {
			v, _ = asSolution(t, doc)
		}
		simulate := func(seed uint64, kills, stops int) *simulator {
			r := &simulator{
				t: t, verified: v, solutions: inTwoTicks(doc), act: unlucky(uint64(n)), decide: moody(uint64(n)),
				order: rand.New(rand.NewPCG(seed, uint64(n))), kills: kills, stops: stops,
			}
			r.options = runtime.Options{Planned: planned, Confirm: runtime.Confirm{Policy: []runtime.Policy{runtime.Never, runtime.Always}[n%2]}}
			r.run()
			return r
		}
		want := simulate(0, 0, 0)
		for seed := uint64(1); seed < 6; seed++ {
			r := simulate(seed, int(seed)%3, int(seed)*2%5)
			kills += int(seed)%3 - r.kills
			stops += int(seed)*2%5 - r.stops
			if differs := difference(r.ending(), want.ending()); differs != "" {
				t.Fatalf("plan %d, seed %d, of %s: disturbed,\n%s", n, seed, strings.Join(r.solutions, "\n"), differs)
			}
			if got := settlements(r.settled); got != r.out.Counts {
				t.Fatalf("plan %d, seed %d: the run counts %+v, and %+v have settled", n, seed, r.out.Counts, got)
			}
		}
	}
	t.Logf("%d of %d plans, 5 schedules each, with %d kills and %d stops", run, plans, kills, stops)
}

// A call whose try fails while a run comes to a gentle stop (for a limit, or for
// want of a person) has the tries that "_retry" gives it when the run is resumed.
func TestGentleStopLeavesRetries(t *testing.T) {
	v, why := compileGenerated(t, map[string]any{
		"plan": "generated", "tools": toolDefinitions(),
		"calls": []any{map[string]any{"_tool": "fetch", "fails": 1.0, "shape": "text", "_retry": map[string]any{"attempts": 2.0}, "_outputPath": "a"}},
	})
	if v == nil {
		t.Fatal(why)
	}
	m := runtime.New(v, runtime.Options{})
	m.Step(runtime.Event{Kind: runtime.RunBegan})
	m.Step(runtime.Event{Kind: runtime.Stopped, Gently: true, Text: "limits.calls"})
	m.Step(runtime.Event{Kind: runtime.Ended, Try: runtime.Try{Attempt: 1}, Failure: &runtime.Failure{Code: "error", Message: "broken"}})
	if !m.Stopped() {
		t.Fatal("the run doesn't stop when nothing is at work")
	}
	m.Step(runtime.Event{Kind: runtime.Resumed})
	if status := m.Status(runtime.Try{}); status != runtime.Pausing {
		t.Errorf("the call is %s, and not about to be tried again", status)
	}
}

// ending is what a run came to: under any timing the same, to the byte.
func (r *simulator) ending() map[string]any {
	e := map[string]any{
		"status": r.out.Status, "state": r.out.State, "output": r.out.Output, "ticks": r.out.Ticks, "counts": r.out.Counts,
	}
	for what, values := range map[string]map[string]string{"settled ": r.settled, "started ": r.begun} {
		for call, value := range values {
			e[what+call] = value
		}
	}
	errors := []string{}
	for _, one := range r.out.Errors {
		errors = append(errors, inJSON(one))
	}
	e["errors"] = errors
	for i, request := range r.asks {
		e[fmt.Sprint("request ", i+1)] = request
	}
	return e
}

// difference tells in what two endings differ; "" is in nothing.
func difference(got, want map[string]any) string {
	both := maps.Clone(got)
	maps.Copy(both, want)
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(both)) {
		one, other := inJSON(got[key]), inJSON(want[key])
		if one == other {
			continue
		}
		at := 0
		for at < min(len(one), len(other)) && one[at] == other[at] {
			at++
		}
		from := max(0, at-200)
		fmt.Fprintf(&b, "%s\n\tis     …%s\n\tand not …%s\n", key, one[from:min(len(one), at+400)], other[from:min(len(other), at+400)])
	}
	return b.String()
}

// inTwoTicks has a planner write a first half of a plan, then the whole of it,
// and then that this is all.
func inTwoTicks(doc map[string]any) []string {
	calls := doc["calls"].([]any)
	half := func(calls []any) string {
		text, err := json.Marshal(map[string]any{"calls": calls, "output": nil})
		if err != nil {
			panic(err)
		}
		return string(text)
	}
	return []string{half(calls[:(len(calls)+1)/2]), half(calls), noMore}
}

func settlements(settled map[string]string) runtime.Counts {
	counts := map[string]int{}
	for status := range maps.Values(settled) {
		counts[status]++
	}
	return runtime.Counts{Done: counts["done"], Failed: counts["failed"], Skipped: counts["skipped"], Rejected: counts["rejected"]}
}

// What came to its end while a run was being stopped is in the journal, and isn't run
// again when the run goes on.
func TestEndedAfterStop(t *testing.T) {
	v := verify(t, `
calls:
- {_tool: f, _outputPath: a}
- {_tool: g, _outputPath: b}
`)
	m := runtime.New(v, runtime.Options{})
	m.Step(runtime.Event{Kind: runtime.RunBegan})
	m.Step(runtime.Event{Kind: runtime.Stopped, Text: "limits.time"})
	m.Step(runtime.Event{Kind: runtime.Ended, Try: runtime.Try{Call: 0, Attempt: 1}, Route: -1, Value: 1.0})
	if !m.Stopped() {
		t.Fatal("the run goes on by itself")
	}
	m.Step(runtime.Event{Kind: runtime.Resumed, Resumption: &runtime.Resumption{InFlight: "retry"}})
	if first, second := m.Status(runtime.Try{}), m.Status(runtime.Try{Call: 1}); first != runtime.Done || second != runtime.Running {
		t.Errorf("the calls are %s and %s", first, second)
	}
}
