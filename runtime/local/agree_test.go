package local_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/activity"
	"github.com/obelus-dev/obelus/runtime/local"
	"github.com/obelus-dev/obelus/runtime/simulate"
)

// LANGUAGE.md#tools-and-activities: of plans whose activities are expressions, and whose latent
// tools are answered as their mocks say, a run and a simulation tell the same: how
// every call settled, with the same words, and in which state. Results that name an
// alternative, one that isn't offered, and expressions that fail are among them.
func TestRunAndSimulationAgree(t *testing.T) {
	plans := 300
	if testing.Short() {
		plans = 120
	}
	compared, failed, routed := 0, 0, 0
	for seed := range uint64(plans) {
		text, answers := mixedPlan(rand.New(rand.NewPCG(seed, 9)))
		plan, found := compiler.Compile(source.NewFile("plan.json", text), compiler.Options{Name: "plan.json"})
		judged := analyzer.Analyze(plan, found, analyzer.Config{})
		verified := judged.Verified
		if verified == nil {
			t.Fatalf("seed %d: %s\n%s", seed, judged.Findings[0].Message, text)
		}
		tell := func(told map[string]string) func(time.Duration, runtime.Command) {
			return func(_ time.Duration, c runtime.Command) {
				if c.Kind == runtime.Settle {
					s := *c.Settlement
					told[c.Of.Name] = fmt.Sprint(s.Status, asText(s.Output), asText(s.Failure), s.Routed, s.Reason, s.Attempts)
					if s.Failure != nil {
						failed++
					}
					if s.Routed {
						routed++
					}
				}
			}
		}
		set, err := activity.Open(plan.Activities, nil, activity.Options{Environ: []string{}})
		if err != nil {
			t.Fatal(err)
		}
		ran, played := map[string]string{}, map[string]string{}
		outcome, err := local.Run(context.Background(), verified, local.Options{Activities: set, Planner: oracle(answers), Observe: tell(ran)})
		set.Close()
		if err != nil {
			t.Fatal(err)
		}
		scenario := simulate.Run(verified.Simulation(), simulate.Options{Seed: seed, Observe: tell(played)})
		if len(ran) != len(plan.Calls) {
			t.Fatalf("seed %d: %d of %d calls settled", seed, len(ran), len(plan.Calls))
		}
		for name := range ran {
			if compared++; ran[name] != played[name] {
				t.Fatalf("seed %d: %s\n%s in a run\n%s in a simulation\n%s", seed, name, ran[name], played[name], text)
			}
		}
		other := scenario.Outcome
		if asText(outcome.State) != asText(other.State) || asText(outcome.Errors) != asText(other.Errors) || outcome.Status != other.Status || outcome.Reason != other.Reason {
			t.Fatalf("seed %d: %s %s %s %s\n%s %s %s %s\n%s", seed, outcome.Status, outcome.Reason, asText(outcome.State), asText(outcome.Errors),
				other.Status, other.Reason, asText(other.State), asText(other.Errors), text)
		}
	}
	t.Logf("%d calls compared, %d failures, %d of them routed", compared, failed, routed)
	if failed < compared/20 || routed == 0 {
		t.Error("too little failed")
	}
}

func asText(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// An oracle answers latent calls by their tools.
type oracle map[string]string

func (o oracle) Answer(_ context.Context, r *runtime.Request, emit func(string)) (runtime.Usage, error) {
	emit(o[r.Call.Tool])
	return runtime.Usage{}, nil
}

// mixedPlan is a plan of expressions and latent calls, and what a model answers for
// each latent tool.
func mixedPlan(random *rand.Rand) (text []byte, answers map[string]string) {
	pick := func(from ...string) string { return from[random.IntN(len(from))] }
	tools, activities, calls := map[string]any{}, map[string]any{}, []any{}
	answers = map[string]string{}
	for i := range 2 + random.IntN(6) {
		name := fmt.Sprintf("t%d", i)
		result := pick("7", `"text"`, "null", `{"b": 1}`, "[1, 2]", `{"_outputPath": "a", "_output": 1}`, `{"_outputPath": "†state.b", "_output": {"c": 2}}`,
			`{"_outputPath": "nowhere", "_output": 1}`, `{"_outputPath": 3, "_output": 1}`, `{"_outputPath": "a", "_output": 1, "more": 2}`)
		tools[name] = map[string]any{"type": "object", "properties": map[string]any{"x": true}}
		if random.IntN(2) == 0 {
			var mock any
			_ = json.Unmarshal([]byte(result), &mock)
			tools[name].(map[string]any)["_mock"], answers[name] = mock, result
		} else {
			activities[name] = map[string]any{"expr": pick(result, result, "x", "x.y.z", `fromJSON(type(x) + "{")`, `fromJSON(type(x)[0:0] + "9007199254740993")`, `{"_outputPath": "a", "_output": x}`, "1 % (len(type(x)) - len(type(x)))", "len(x)")}
		}
		call := map[string]any{"_tool": name}
		if random.IntN(5) > 0 {
			path := fmt.Sprintf("o%d", i)
			call["_outputPath"] = pick(path, path+" || "+path+"f", fmt.Sprintf("a || b || e%d", i), fmt.Sprintf("o%d && p%d || q%d", i, i, i))
			if strings.HasPrefix(call["_outputPath"].(string), "a ") {
				call["_outputMethod"] = "assign"
			}
		}
		if random.IntN(2) == 0 && i > 0 {
			call["x"] = pick(fmt.Sprintf("†state.o%d || 5", random.IntN(i)), "text", "†input.n")
		}
		calls = append(calls, call)
	}
	text, _ = json.Marshal(map[string]any{"calls": calls, "tools": tools, "activities": activities, "input": map[string]any{"n": 1}, "writes": "once"})
	return text, answers
}
