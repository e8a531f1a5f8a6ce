package runtime_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/resolve"
	"github.com/obelus-dev/obelus/testdata/amount"
)

// EXECUTION.md#input-and-state: an input is asked for before a run only where the run, without a failure,
// would skip a call for want of it, whatever its results are; and where nothing of a plan
// is conditional, it is asked for wherever a call would be skipped for want of it.
func TestLackingInputs(t *testing.T) {
	t.Parallel()
	for seed := range uint64(amount.Of(150, 1000, 30000)) {
		chance := rand.New(rand.NewPCG(seed, 5))
		document, plain := plansOfInputs(chance)
		input := map[string]any{}
		for _, key := range []string{"a", "b", "c"} {
			if chance.IntN(2) == 0 {
				input[key] = chance.IntN(2) == 0
			}
		}
		v := verified(t, "plan.json", document, "act")
		lacking := resolve.Lacking(v.Plan(), input, map[string]any{"there": 1.0, "list": []any{}})
		without := skippedIn(v, input, chance)
		for name, why := range without {
			if plain && strings.HasPrefix(why, "†input.") && len(lacking) == 0 {
				t.Fatalf("seed %d: %q is skipped (%s), and nothing was asked for\n%s", seed, name, why, document)
			}
		}
		for _, r := range lacking {
			if input[r.Ref.Path[0].Key] = chance.IntN(2) == 0; r.Ref.Path[0].Key == "list" {
				input["list"] = []any{}
			}
		}
		with := skippedIn(v, input, chance)
		for _, r := range lacking {
			name := v.Plan().Calls[r.Call].Name
			if without[name] == "" || with[name] != "" {
				t.Fatalf("seed %d: %s is asked for, but %q is skipped without it for %q, and with it for %q\n%s", seed, r.Node.Text, name, without[name], with[name], document)
			}
		}
	}
}

// skippedIn runs a plan whose activities succeed, and gives the calls that were skipped,
// with the reasons.
func skippedIn(v *analyzer.Verified, input map[string]any, chance *rand.Rand) map[string]string {
	skipped := map[string]string{}
	m := runtime.New(v, runtime.Options{Input: input})
	for coming := []runtime.Event{{Kind: runtime.RunBegan}}; len(coming) > 0; coming = coming[1:] {
		for _, c := range m.Step(coming[0]) {
			switch c.Kind {
			case runtime.Start:
				e := runtime.Event{Kind: runtime.Ended, Frame: c.Frame, Call: c.Call, Attempt: c.Attempt, Value: true, Route: -1}
				if n := len(c.Of.Output); n > 0 {
					e.Route = chance.IntN(n)
				}
				coming = append(coming, e)
			case runtime.Settle:
				if c.Settlement.Status == runtime.Skipped {
					skipped[c.Of.Name] = c.Settlement.Reason
				}
			}
		}
	}
	return skipped
}

// plansOfInputs makes a plan whose calls read inputs, and whether nothing in it is
// conditional.
func plansOfInputs(chance *rand.Rand) (document []byte, plain bool) {
	plain = true
	var calls []any
	paths := []string{"state.there"}
	for i := range 2 + chance.IntN(5) {
		id := fmt.Sprintf("c%d", i)
		call := map[string]any{"_tool": "act", "_id": id}
		for _, name := range []string{"x", "y"} {
			source := "input." + string(rune('a'+chance.IntN(3)))
			if chance.IntN(2) == 0 {
				source = paths[chance.IntN(len(paths))]
			}
			switch call[name] = "†" + source; chance.IntN(5) {
			case 0:
				call[name] = "†" + source + " || 1"
			case 1:
				delete(call, name)
			}
		}
		switch chance.IntN(6) {
		case 0:
			call["_when"], plain = "†(†input.a == true)", false
		case 1:
			if i > 0 {
				call["_after"], plain = fmt.Sprintf("c%d", chance.IntN(i)), false
			}
		}
		if chance.IntN(6) == 0 {
			call["_each"], plain = []string{"†input.list", "†state.list"}[chance.IntN(2)], false
			call["z"] = []any{"†item.never", map[string]any{"w": "†(†item.n == †input.never)"}}[chance.IntN(2)]
			if call["_when"] == nil && chance.IntN(3) == 0 {
				call["_when"] = "†(†item.n == †input.never)"
			}
		}
		switch chance.IntN(4) {
		case 0:
			call["_outputPath"], plain = fmt.Sprintf("†state.p%d || †state.q%d", i, i), false
			paths = append(paths, fmt.Sprintf("state.p%d", i), fmt.Sprintf("state.q%d", i))
		case 1, 2:
			call["_outputPath"] = fmt.Sprintf("†state.p%d", i)
			paths = append(paths, fmt.Sprintf("state.p%d", i))
		}
		calls = append(calls, call)
	}
	document, _ = json.Marshal(map[string]any{
		"state": map[string]any{"there": 1, "list": []any{}}, "calls": calls,
		"tools": map[string]any{"act": map[string]any{"additionalProperties": true}},
	})
	return document, plain
}
