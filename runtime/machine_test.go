package runtime_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/testdata/amount"
)

// drive runs a plan through Step. The order decides which of the activities at
// work (or pauses between tries) ends next, and nothing else.
func drive(t testing.TB, v *analyzer.Verified, act behaviour, order *rand.Rand) Outcome {
	t.Helper()
	p := v.Plan()
	m := runtime.New(v, runtime.Options{})
	out := Outcome{Status: map[string]string{}, Errors: map[string]string{}, Routed: map[string]string{}}
	var coming []runtime.Event
	take := func(commands []runtime.Command) {
		for _, c := range commands {
			switch c.Kind {
			case runtime.Start:
				coming = append(coming, performed(p, c, act))
			case runtime.SetTimer:
				coming = append(coming, runtime.Event{Kind: runtime.Fired, Try: runtime.Try{Call: c.Call, Attempt: c.Attempt}})
			case runtime.Settle:
				note(t, &out, p.Calls[c.Call].Name, c.Settlement)
			case runtime.Finish:
				out.Run, out.State, out.Output = string(c.Outcome.Status), wordless(c.Outcome.State), wordless(c.Outcome.Output)
			}
		}
	}
	take(m.Step(runtime.Event{Kind: runtime.RunBegan}))
	for !m.Over() {
		if len(coming) == 0 {
			t.Fatal("nothing is at work, and the run isn't over")
		}
		next := order.IntN(len(coming))
		e := coming[next]
		coming = slices.Delete(coming, next, next+1)
		take(m.Step(e))
	}
	return out
}

func performed(p *plan.Plan, c runtime.Command, act behaviour) runtime.Event {
	call := p.Calls[c.Call]
	value, path, failed := act(call.Name, c.Attempt, c.Params)
	e := runtime.Event{Kind: runtime.Ended, Try: runtime.Try{Call: c.Call, Attempt: c.Attempt}, Value: value, Route: -1}
	if failed != nil {
		e.Failure = &runtime.Failure{Code: failed.Code, Message: failed.Message, Details: failed.Details}
		return e
	}
	if path != "" {
		e.Route = slices.Index(compiler.Offered(p, call), path)
	}
	return e
}

func note(t testing.TB, out *Outcome, call string, s *runtime.Settlement) {
	if out.Status[call] != "" {
		t.Errorf("%s settled twice", call)
	}
	out.Status[call] = s.Status.String()
	if s.Failure == nil {
		return
	}
	code := s.Failure.Code
	if code == "bad-parameter" || code == "expression-type" {
		code = structuralFault
	}
	if s.Routed {
		out.Routed[call] = code
	} else {
		out.Errors[call] = code
	}
}

// compile gives the verified plan of a generated document, or nil and the
// first error.
func compileGenerated(t testing.TB, doc map[string]any) (*analyzer.Verified, string) {
	t.Helper()
	return compileWith(t, doc, compiler.Options{})
}

func compileWith(t testing.TB, doc map[string]any, o compiler.Options) (*analyzer.Verified, string) {
	t.Helper()
	text, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	if o.Functions == nil {
		o.Functions = functionNames(doc)
	}
	p, found := compiler.Compile(source.NewFile("plan.json", text), o)
	analysis := analyzer.Analyze(p, found, analyzer.Config{})
	v, found := analysis.Verified, analysis.Findings
	if v != nil {
		return v, ""
	}
	for _, f := range found {
		if f.Severity.String() == "error" {
			return nil, f.Rule.Code + ": " + f.Message
		}
	}
	return nil, ""
}

func functionNames(doc map[string]any) []string {
	names := map[string]bool{}
	for _, c := range doc["calls"].([]any) {
		names[c.(map[string]any)["_tool"].(string)] = true
	}
	return slices.Sorted(maps.Keys(names))
}

// The machine settles every call as the naive interpreter does, and ends in the
// same state, whatever the schedule.
func TestMachineAgreesWithTheModel(t *testing.T) {
	t.Parallel()
	plans := amount.Of(50, 1300, 20_000)
	run, refused := 0, map[string]int{}
	count := map[feature]int{}
	for n := range plans {
		doc := planNumber(t, n)
		v, why := compileGenerated(t, doc)
		if v == nil {
			refused[why[:5]]++
			if len(faults(doc)) == 0 {
				t.Logf("plan %d is sound to the model, and refused: %s", n, why)
			}
			continue
		}
		run++
		want := interpret(doc, perform, schedule(0))
		for _, f := range features(want) {
			count[f]++
		}
		want.Trace, want.State, want.Output = nil, wordless(want.State), wordless(want.Output)
		for s := range 5 {
			if got := drive(t, v, perform, schedule(s)); !reflect.DeepEqual(got, want) {
				text, _ := json.MarshalIndent(doc, "", " ")
				t.Fatalf("plan %d, schedule %d\n%s\nmachine %s\nmodel   %s", n, s, text, show(got), show(want))
			}
		}
	}
	t.Logf("%d of %d plans run; refused: %v", run, plans, refused)
	if run*10 < plans*6 {
		t.Errorf("%d of %d plans run, expected at least 60 %%", run, plans)
	}
	for _, f := range []feature{fallbackEarly, callSkipped, failureRouted, onceRejected, pathNested, pathRewritten} {
		t.Logf("%5d  %s", count[f], f)
		if count[f] < 1000*plans/4000 {
			t.Errorf("%q occurs in %d plans that run, expected at least 1,000 of 4,000", f, count[f])
		}
	}
}

func show(o Outcome) string {
	text, err := json.Marshal(o)
	if err != nil {
		return fmt.Sprint(o)
	}
	return string(text)
}
