package runtime_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/testdata/amount"
)

// A plan that is carried over several ticks, with calls repeated, changed, dropped
// and added, runs what the model runs, with the same parameters, and ends in its
// state: streamed in any pieces, under any schedule, with kills.
func TestCarriedPlans(t *testing.T) {
	t.Parallel()
	carriedPlans(t, amount.Of(15, 130, 6000), func(n int, r *rand.Rand) map[string]any { return carriedDocument(t, n, r) }, 5)
}

// carriedPlans holds the runs of carried plans against the model. Of how many plans
// one must be sound in every tick is what least says.
func carriedPlans(t *testing.T, plans int, document func(n int, r *rand.Rand) map[string]any, least int) {
	t.Helper()
	count := map[string]int{}
	for n := range plans {
		order := rand.New(rand.NewPCG(uint64(n), 5))
		doc := document(n, order)
		if v, _ := compileGenerated(t, doc); v == nil {
			continue
		}
		v, solution := asSolution(t, doc)
		solutions := []string{solution}
		drafts := []map[string]any{doc}
		for range 1 + order.IntN(2) {
			next := replan(order, drafts[len(drafts)-1])
			drafts = append(drafts, next)
			solutions = append(solutions, fmt.Sprintf(`{"calls":%s,"output":null}`, inJSON(next["calls"])))
		}
		solutions[0] = strings.TrimSuffix(solution, inJSON(doc["output"])+"}") + "null}"
		solutions = append(solutions, noMore)
		drafts = append(drafts, map[string]any{"calls": []any{}})
		simulate := func(seed uint64) *simulator {
			r := &simulator{t: t, verified: v, solutions: solutions, act: perform, order: rand.New(rand.NewPCG(seed, uint64(n))), kills: int(seed) % 2}
			r.options.Planned = true
			if seed == 0 {
				r.breaks = inOnePiece
			}
			r.run()
			return r
		}
		first := simulate(0)
		for seed := uint64(1); seed < 4; seed++ {
			if differs := difference(simulate(seed).ending(), first.ending()); differs != "" {
				t.Fatalf("plan %d, seed %d, of\n%s\nunder another schedule,\n%s", n, seed, strings.Join(solutions, "\n"), differs)
			}
		}
		count["agree with themselves"]++
		if !sound(first.out) {
			continue
		}
		count["sound"]++
		count["repeated"] += first.repeated
		before := &past{}
		started, settled := map[string]string{}, map[string]string{}
		var state any
		for tick := 1; tick <= first.out.Ticks; tick++ {
			draft := maps.Clone(doc)
			delete(draft, "output")
			draft["calls"] = drafts[tick-1]["calls"]
			m, out := interpretTick(draft, before, schedule(0))
			state = out.State
			for i, call := range m.plan.calls {
				key := fmt.Sprint(tick, ":", i)
				if m.carried.repeats[i] < 0 {
					settled[key] = m.status[i]
				}
				if m.attempt[i] > 0 {
					started[key] = call.name + " " + inJSON(wordless(m.params[i]))
				}
			}
		}
		got := map[string]any{"state": wordless(first.out.State)}
		want := map[string]any{"state": wordless(state)}
		for key := range first.begun {
			got["started "+key] = wordlessText(first.begun[key])
		}
		for key := range started {
			want["started "+key] = started[key]
		}
		for key := range first.settled {
			got["settled "+key] = first.settled[key]
		}
		for key := range settled {
			want["settled "+key] = settled[key]
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("plan %d of\n%s\n%s\nwith the model,\n%s", n, inJSON(doc["state"]), strings.Join(solutions, "\n"), difference(got, want))
		}
	}
	t.Logf("%d plans: %v", plans, count)
	if count["sound"]*least < plans {
		t.Errorf("only %d of %d plans are sound in every tick", count["sound"], plans)
	}
}

// Calls that differ in their parameters alone, and that write in no fixed order,
// are told apart by the order of the plan: which of them a repeated call stands for
// doesn't depend on which came to its end first.
func TestTwinsEndInAnyOrder(t *testing.T) {
	const one, two = `{"_tool":"fetch","n":1,"shape":"number","_outputPath":"list","_outputMethod":"push"}`, `{"_tool":"fetch","n":2,"shape":"number","_outputPath":"list","_outputMethod":"push"}`
	sameInAnyPieces(t, []string{
		`{"calls":[` + one + `,` + two + `]}`,
		`{"calls":[` + one + `,{"_tool":"fetch","x":"†state.list","shape":"number","_outputPath":"seen"},` + two + `]}`,
		noMore,
	})
}

// A call that is listed again isn't judged by what it, or another that is listed
// again, has written.
func TestRepeatedIsNotJudgedByWhatItDid(t *testing.T) {
	const calls = `{"calls":[{"_tool":"fetch","shape":"list","_outputPath":"mix","_outputMethod":"merge"}]}`
	sameInAnyPieces(t, []string{calls, calls, noMore})
}

// sameInAnyPieces tests that solutions come to the same in any pieces and under any
// schedule, and that their calls have no errors.
func sameInAnyPieces(t *testing.T, solutions []string) {
	t.Helper()
	v, why := compileGenerated(t, map[string]any{"plan": "carried", "tools": toolDefinitions(), "calls": []any{}})
	if v == nil {
		t.Fatal(why)
	}
	var first map[string]any
	for seed := range uint64(40) {
		r := &simulator{t: t, verified: v, solutions: solutions, act: perform, order: rand.New(rand.NewPCG(seed, 0))}
		r.options.Planned = true
		r.run()
		for _, e := range r.out.Errors {
			t.Fatalf("seed %d: %v", seed, e)
		}
		if seed == 0 {
			first = r.ending()
		}
		if differs := difference(r.ending(), first); differs != "" {
			t.Fatalf("under schedule %d\n%s", seed, differs)
		}
	}
}

// sound reports whether nothing went wrong in a run but what tools do.
func sound(o *runtime.Outcome) bool {
	ofTools := []string{"error", "timeout", "declined", "busy", "bad-output", "bad-parameter", "expression-type"}
	return !slices.ContainsFunc(o.Errors, func(e runtime.CallError) bool { return !slices.Contains(ofTools, e.Code) })
}

// wordlessText takes the words of failures out of the parameters of a started call.
func wordlessText(started string) string {
	name, text, _ := strings.Cut(started, " ")
	var params any
	if err := json.Unmarshal([]byte(text), &params); err != nil {
		panic(err)
	}
	return name + " " + inJSON(wordless(params))
}

// carriedDocument is a generated plan of which one tool may be volatile.
func carriedDocument(t *testing.T, n int, r *rand.Rand) map[string]any {
	doc := planNumber(t, n)
	if r.IntN(3) == 0 {
		doc["tools"].(map[string]any)["deliver"].(map[string]any)["x-volatile"] = true
	}
	return doc
}

// replan repeats some calls of a plan, changes some, drops some, doubles some and
// adds some, in an order of its own.
func replan(r *rand.Rand, doc map[string]any) map[string]any {
	chance := func(percent int) bool { return r.IntN(100) < percent }
	var calls []any
	for _, one := range doc["calls"].([]any) {
		call := maps.Clone(one.(map[string]any))
		switch {
		case chance(12):
			continue
		case chance(12):
			call["seed"] = float64(r.IntN(1000))
		}
		calls = append(calls, call)
		if chance(10) {
			twin := maps.Clone(call)
			delete(twin, "_id")
			if chance(40) {
				twin["seed"] = float64(r.IntN(1000))
			}
			calls = append(calls, twin)
		}
	}
	for range r.IntN(4) {
		call := map[string]any{"_tool": toolNames[r.IntN(5)], "seed": float64(r.IntN(1000)), "shape": "object"}
		if len(calls) > 0 {
			path, _ := calls[r.IntN(len(calls))].(map[string]any)["_outputPath"].(string)
			words := strings.Fields(path)
			if len(words) > 0 && !strings.ContainsAny(words[0], "(") {
				call["from"] = "†state." + strings.TrimPrefix(words[0], "†state.") + []string{"", " || 1"}[r.IntN(2)]
			}
		}
		call["_outputPath"] = fmt.Sprint("added", r.IntN(5))
		calls = slices.Insert(calls, r.IntN(len(calls)+1), any(call))
	}
	for range r.IntN(3) {
		if len(calls) > 1 {
			i, j := r.IntN(len(calls)), r.IntN(len(calls))
			calls[i], calls[j] = calls[j], calls[i]
		}
	}
	if chance(15) {
		r.Shuffle(len(calls), func(i, j int) { calls[i], calls[j] = calls[j], calls[i] })
	}
	ids := map[any]bool{}
	for _, one := range calls {
		ids[one.(map[string]any)["_id"]] = true
	}
	for _, one := range calls {
		call := one.(map[string]any)
		if slices.ContainsFunc(namedIn(call["_after"]), func(id any) bool { return !ids[id] }) {
			delete(call, "_after")
		}
	}
	if calls == nil {
		calls = []any{}
	}
	next := maps.Clone(doc)
	next["calls"] = calls
	return next
}

// namedIn are the calls that an _after names.
func namedIn(after any) (ids []any) {
	switch after := after.(type) {
	case string:
		return []any{after}
	case map[string]any:
		return namedIn(after["settled"])
	case []any:
		for _, item := range after {
			ids = append(ids, namedIn(item)...)
		}
	}
	return ids
}
