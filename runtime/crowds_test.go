package runtime_test

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/testdata/amount"
)

// advised is a plan with advisors of all sorts, and solutions in which they vote
// at random, stay silent or say what can't be taken.
func advised(r *rand.Rand) (doc map[string]any, solutions []string) {
	pick := func(from ...string) string { return from[r.IntN(len(from))] }
	instances := map[string]any{}
	for _, id := range []string{"①", "②", "③"}[:r.IntN(4)] {
		instances[id] = map[string]any{"state": map[string]any{"n": float64(r.IntN(9))}}
	}
	var advisors []any
	for i := range 1 + r.IntN(3) {
		advisor := map[string]any{
			"id": fmt.Sprint("advisor", i), "role": "advises", "on": pick("request", "request", "start", "finish"), "isInstanced": len(instances) > 0 && r.IntN(2) == 0,
		}
		if r.IntN(2) == 0 { // who says why, too
			advisor["schema"] = map[string]any{
				"type": "object", "required": []any{"risk"}, "additionalProperties": r.IntN(2) == 0,
				"properties": map[string]any{"risk": map[string]any{"type": "integer", "minimum": 0.0, "maximum": 9.0}, "why": map[string]any{"enum": []any{"new", "old", nil}}},
			}
		}
		advisors = append(advisors, advisor)
	}
	tools := toolDefinitions()
	doc = map[string]any{
		"plan": "advised", "tools": tools, "advisors": advisors, "calls": []any{},
		"advice": map[string]any{"aggregate": pick("mean", "sum", "min"), "threshold": 50.0, "enforce": pick("off", "warn", "ask")},
	}
	if len(instances) > 0 {
		doc["instances"] = instances
	}
	for tick := range 4 {
		var opinions []any
		for _, one := range advisors {
			advisor := one.(map[string]any)
			of := []string{""}
			if advisor["isInstanced"] == true {
				of = slices.Sorted(maps.Keys(instances))
			}
			for _, id := range of {
				if tick < 3 && r.IntN(8) == 0 {
					continue
				}
				opinion := map[string]any{"id": advisor["id"], "calls": fmt.Sprintf(`{"fetch":%v,"draft":%v}`, float64(r.IntN(1000))/7, r.IntN(100))}
				if id != "" {
					opinion["_instance"] = id
				}
				if advisor["schema"] != nil {
					if opinion["risk"] = float64(r.IntN(10)); r.IntN(2) == 0 {
						opinion["why"] = []any{"new", "old", nil}[r.IntN(3)]
					}
					if tick < 3 && r.IntN(12) == 0 {
						opinion["risk"] = "high"
					}
				}
				if tick < 3 && r.IntN(12) == 0 {
					opinion["calls"] = "{"
				}
				opinions = append(opinions, opinion)
			}
		}
		var calls []any
		for i := range 1 + r.IntN(3) {
			calls = append(calls, map[string]any{"_tool": pick("fetch", "draft", "refine"), "seed": float64(10*tick + i), "shape": "number", "weight": "†advice.fetch || 0", "_outputPath": fmt.Sprintf("v%d_%d", tick, i)})
		}
		output := "1"
		if tick < 3 {
			output = pick("null", "null", "1")
		}
		solutions = append(solutions, fmt.Sprintf(`{"advisors":%s,"calls":%s,"output":%s}`, inJSON(opinions), inJSON(calls), output))
	}
	return doc, solutions
}

// What advisors say counts the same under any schedule, and after any kill or stop:
// the same calls start, with the same weights, the same people are asked, and the
// planner is told the same. A replay says what was
// said, byte for byte.
func TestAdvisedRuns(t *testing.T) {
	t.Parallel()
	plans, count := amount.Of(30, 150, 5000), map[string]int{}
	for n := range plans {
		doc, solutions := advised(rand.New(rand.NewPCG(uint64(n), 16)))
		v, why := compileGenerated(t, doc)
		if v == nil {
			t.Fatalf("plan %d: %s\n%s", n, why, inJSON(doc))
		}
		var want map[string]any
		for seed := range uint64(4) {
			var asked []string
			r := &simulator{
				t: t, verified: v, solutions: solutions, act: unlucky(uint64(n)), order: rand.New(rand.NewPCG(seed, uint64(n))), kills: int(seed), stops: int(seed) / 2,
				decide: func(q *runtime.Question) runtime.Decision {
					asked = append(asked, fmt.Sprint(q.Instance, " ", q.Call, " ", inJSON(q.Params), " ", q.Uncertainty, " ", inJSON(q.Advice)))
					return moody(uint64(n))(q)
				},
			}
			if seed == 0 {
				r.breaks = inOnePiece
			}
			r.options.Planned = true
			r.run()
			slices.Sort(asked)
			got := r.ending()
			got["asked"] = slices.Compact(asked)
			got["instances"] = r.lives()
			if seed == 0 {
				want = got
				count["ticks"] += r.out.Ticks
				count["asked"] += len(asked)
				count["faults"] += bytes.Count([]byte(inJSON(r.out.Errors)), []byte("bad-advisor"))
			}
			if differs := difference(got, want); differs != "" {
				t.Fatalf("plan %d, seed %d, of\n%s\n%s\n%s", n, seed, inJSON(doc), strings.Join(solutions, "\n"), differs)
			}
		}
	}
	t.Logf("%d plans: %v", plans, count)
	if count["asked"] < plans/4 || count["faults"] < plans/4 {
		t.Error("too little happens")
	}
}

// Instances that were on their way when a run was stopped aren't lost: the journal
// has them, and whoever brings them doesn't bring them again.
func TestJoinedAfterStop(t *testing.T) {
	v, why := compileWith(t, map[string]any{"plan": "joined", "tools": toolDefinitions(), "calls": []any{}}, compiler.Options{Instances: true})
	if v == nil {
		t.Fatal(why)
	}
	m := runtime.New(v, runtime.Options{Joining: true})
	m.Step(runtime.Event{Kind: runtime.RunBegan})
	m.Step(runtime.Event{Kind: runtime.Stopped, Text: "interrupted"})
	m.Step(runtime.Event{Kind: runtime.Joined, Instances: []runtime.Instance{{ID: "①"}, {ID: "②"}}, Last: true})
	if !m.Stopped() {
		t.Fatal("the run goes on by itself")
	}
	commands := m.Step(runtime.Event{Kind: runtime.Resumed})
	end := commands[len(commands)-1].Outcome
	if end == nil || end.Status != "done" || len(end.Instances) != 2 {
		t.Errorf("the run ends with %+v", end)
	}
}
