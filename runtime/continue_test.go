package runtime_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/runtime"
)

// played is what a run of f and g said and came to. Both give the name of their
// call; "failing" names calls, with their instance where there is one, that fail.
func played(v *analyzer.Verified, o runtime.Options, failing ...string) (said []string, outcome *runtime.Outcome) {
	m := runtime.New(v, o)
	events := []runtime.Event{{Kind: runtime.RunBegan}}
	for len(events) > 0 && outcome == nil {
		e := events[0]
		events = events[1:]
		for _, c := range m.Step(e) {
			name := ""
			if c.Of != nil {
				name = strings.TrimPrefix(c.Instance+" "+c.Of.Name, " ")
			}
			switch c.Kind {
			case runtime.Start:
				e := runtime.Event{Kind: runtime.Ended, Try: c.Try, Route: -1, Value: c.Of.Name}
				if slices.Contains(failing, name) {
					e.Value, e.Failure = nil, &runtime.Failure{Code: "error", Message: "it was told to"}
				}
				events = append(events, e)
				said = append(said, name+" started")
			case runtime.Settle:
				said = append(said, name+" "+c.Settlement.Status.String())
			case runtime.Repeat:
				said = append(said, name+" done before "+text(c.Settlement.Output))
			case runtime.Leave:
				said = append(said, c.Left.ID+" "+string(c.Left.Status))
			case runtime.Finish:
				outcome = c.Outcome
			}
		}
	}
	return said, outcome
}

// LANGUAGE.md#instances: what a state shows to be done isn't run again: one alternative is enough,
// the failure route too, all paths of a fan-out are needed, and null is nothing.
// Nothing of it is counted, and what reads it goes on.
func TestContinue(t *testing.T) {
	v := verify(t, `
calls:
- {_tool: f, _id: kept, _outputPath: a}
- {_tool: f, _id: half, _outputPath: b && c}
- {_tool: f, _id: null-is-nothing, _outputPath: d}
- {_tool: f, _id: other-way, _outputPath: e || f}
- {_tool: f, _id: had-failed, _outputPath: g || †state.problem.first}
- {_tool: f, _id: effect}
- {_tool: g, _id: reader, x: "†state.a", y: "†state.f", _outputPath: h}
output: {h: †state.h, a: †state.a}
`)
	before := map[string]any{"a": "old", "b": 1.0, "d": nil, "f": false, "problem": map[string]any{"first": map[string]any{"code": "error"}}}
	said, outcome := played(v, runtime.Options{State: before, Continue: true})
	want := []string{
		`kept done before "old"`, `other-way done before false`, `had-failed done before {"code":"error"}`,
		"half started", "null-is-nothing started", "effect started", "reader started",
		"half done", "null-is-nothing done", "effect done", "reader done",
	}
	if !reflect.DeepEqual(said, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(said, "\n"), strings.Join(want, "\n"))
	}
	if outcome.Status != "done" || outcome.Counts.Done != 4 || text(outcome.Output) != `{"a":"old","h":"reader"}` {
		t.Errorf("the outcome is %+v", outcome)
	}
	if said, _ := played(v, runtime.Options{State: before}); len(said) != 14 {
		t.Errorf("without it everything is run: %v", said)
	}
}

// LANGUAGE.md#instances: a batch of which some calls failed is finished and not repeated: what it
// then comes to is what an undisturbed one comes to, and no done call runs twice.
func TestFailedBatchIsContinued(t *testing.T) {
	calls := `
calls:
- {_tool: f, _outputPath: a}
- {_tool: f, x: †state.a, _outputPath: b}
- {_tool: g, x: †state.a, _outputPath: c}
- {_tool: g, _when: †state.b == "f#2", x: †state.c, _outputPath: d}
output: [†state.b, †state.d]
`
	ids := []string{"①", "②", "③"}
	plan := "instances: {①: {}, ②: {}, ③: {}}" + calls
	_, undisturbed := played(verify(t, plan), runtime.Options{})
	for seed := range uint64(50) {
		chance := rand.New(rand.NewPCG(seed, 0))
		var failing []string
		for _, id := range ids {
			for _, call := range []string{"f#1", "f#2", "g#3", "g#4"} {
				if chance.IntN(3) == 0 {
					failing = append(failing, id+" "+call)
				}
			}
		}
		first, broken := played(verify(t, plan), runtime.Options{}, failing...)
		states := map[string]any{}
		for _, end := range broken.Instances {
			states[end.ID] = map[string]any{"state": end.State}
		}
		second, whole := played(verify(t, fmt.Sprintf("instances: %s%s", text(states), calls)), runtime.Options{Continue: true})
		slices.SortFunc(whole.Instances, func(a, b runtime.InstanceEnd) int { return strings.Compare(a.ID, b.ID) })
		slices.SortFunc(undisturbed.Instances, func(a, b runtime.InstanceEnd) int { return strings.Compare(a.ID, b.ID) })
		if text(whole.Instances) != text(undisturbed.Instances) || whole.Status != "done" {
			t.Fatalf("seed %d: it ends in %s, undisturbed in %s", seed, text(whole.Instances), text(undisturbed.Instances))
		}
		for _, line := range first {
			if name, done := strings.CutSuffix(line, " done"); done && slices.Contains(second, name+" started") {
				t.Fatalf("seed %d: %s was done, and was run again", seed, name)
			}
		}
		if whole.Counts.Done+broken.Counts.Done != undisturbed.Counts.Done {
			t.Fatalf("seed %d: %d and %d done, undisturbed %d", seed, broken.Counts.Done, whole.Counts.Done, undisturbed.Counts.Done)
		}
	}
}

// LANGUAGE.md#instances: an instance whose values don't fit the schemas fails alone, before
// any of its calls starts; every call of it settles once.
func TestBadInstance(t *testing.T) {
	v := verify(t, `
inputSchema: {type: object, properties: {n: {type: number}}, required: [n]}
stateSchema: {type: object, properties: {text: {type: string}, out: {}}, additionalProperties: false}
calls:
- {_tool: f, n: †input.n, _outputPath: out}
output: †state.out
`)
	m := runtime.New(v, runtime.Options{Joining: true, Input: map[string]any{"n": 1.0}})
	m.Step(runtime.Event{Kind: runtime.RunBegan})
	var said []string
	for _, e := range []runtime.Event{
		{Kind: runtime.Joined, Last: true, Instances: []runtime.Instance{
			{ID: "good", State: map[string]any{"text": "fits"}},
			{ID: "input", Input: map[string]any{"n": "one"}},
			{ID: "state", State: map[string]any{"text": 1.0}},
			{ID: "place", State: map[string]any{"txt": "x"}},
		}},
		{Kind: runtime.Ended, Try: runtime.Try{Attempt: 1}, Route: -1, Value: 5.0},
	} {
		for _, c := range m.Step(e) {
			switch c.Kind {
			case runtime.Start:
				said = append(said, c.Instance+" started")
			case runtime.Settle:
				said = append(said, c.Instance+" "+c.Settlement.Status.String())
			case runtime.Leave:
				said = append(said, fmt.Sprint(c.Left.ID, " ", c.Left.Status, " ", text(c.Left.Output), " ", text(c.Left.Errors)))
			case runtime.Finish:
				said = append(said, fmt.Sprint(c.Outcome.Status, " ", len(c.Outcome.Instances), " ", c.Outcome.Counts))
			}
		}
	}
	want := `input skipped
input failed null [{"call":"","code":"bad-instance","message":"the input of the instance doesn't fit its schema at n: expected a number, got \"one\"","instance":"input"}]
state skipped
state failed null [{"call":"","code":"bad-instance","message":"the state of the instance doesn't fit its schema at text: expected a string, got 1","instance":"state"}]
place skipped
place failed null [{"call":"","code":"bad-instance","message":"the state of the instance doesn't fit its schema at txt: there is no place for it","instance":"place"}]
good started
good done
good done 5 []
failed 4 {1 0 3 0 0}`
	if got := strings.Join(said, "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
