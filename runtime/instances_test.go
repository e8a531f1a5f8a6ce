package runtime_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/testdata/amount"
)

func verify(t testing.TB, text string) *analyzer.Verified {
	t.Helper()
	p, found := compiler.Compile(source.NewFile("plan.yaml", []byte(text)), compiler.Options{Functions: []string{"f", "g"}})
	analysis := analyzer.Analyze(p, found, analyzer.Config{})
	v, found := analysis.Verified, analysis.Findings
	if v == nil {
		t.Fatal(found)
	}
	return v
}

// LANGUAGE.md#instances: shared values and own ones, a call for one instance, and
// one that fails alone.
func TestInstances(t *testing.T) {
	v := verify(t, `
plan: greetings
input: {greeting: hello}
instances:
  ①: {state: {name: Ann}}
  ②: {state: {name: Bob}, input: {greeting: hi}}
  ③: {state: {name: Cid}}
calls:
- {_tool: f, name: †state.name, greeting: †input.greeting, _outputPath: text}
- {_tool: g, _instance: ②, text: †state.text, _outputPath: shouted}
output: {text: †state.text, shouted: "†state.shouted || null"}
`)
	m := runtime.New(v, runtime.Options{})
	var said []string
	var events []runtime.Event
	var outcome *runtime.Outcome
	take := func(commands []runtime.Command) {
		for _, c := range commands {
			switch c.Kind {
			case runtime.Start:
				said = append(said, fmt.Sprint(c.Instance, " ", c.Of.Name, " ", text(c.Params)))
				e := runtime.Event{Kind: runtime.Ended, Frame: c.Frame, Call: c.Call, Attempt: c.Attempt, Route: -1, Value: fmt.Sprint(c.Params["greeting"], " ", c.Params["name"])}
				if c.Of.ToolName == "g" {
					e.Value = strings.ToUpper(c.Params["text"].(string))
				} else if c.Params["name"] == "Cid" {
					e.Value, e.Failure = nil, &runtime.Failure{Code: "error", Message: "nobody there"}
				}
				events = append(events, e)
			case runtime.Leave:
				said = append(said, fmt.Sprint(c.Instance, " ", c.Left.Status, " ", text(c.Left.Output)))
			case runtime.Finish:
				outcome = c.Outcome
			}
		}
	}
	take(m.Step(runtime.Event{Kind: runtime.RunBegan}))
	for len(events) > 0 {
		e := events[0]
		events = events[1:]
		take(m.Step(e))
	}
	want := `① f#1 {"greeting":"hello","name":"Ann"}
② f#1 {"greeting":"hi","name":"Bob"}
③ f#1 {"greeting":"hello","name":"Cid"}
① done {"shouted":null,"text":"hello Ann"}
② g#2 {"text":"hi Bob"}
③ failed {"shouted":null}
② done {"shouted":"HI BOB","text":"hi Bob"}`
	if got := strings.Join(said, "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if outcome == nil || outcome.Status != "failed" || len(outcome.Instances) != 3 || outcome.State != nil {
		t.Fatalf("the outcome is %+v", outcome)
	}
	if e := outcome.Errors; len(e) != 1 || e[0].Instance != "③" {
		t.Errorf("the errors are %v", e)
	}
}

func text(v any) string {
	out, _ := json.Marshal(v)
	return string(out)
}

// LANGUAGE.md#instances: where a plan has too many calls for single instances to be judged for
// each of them, a cycle in one of those fails there, and the run ends.
func TestCycleInOneInstanceOfTooMany(t *testing.T) {
	t.Parallel()
	if amount.Of(0, 1, 1) == 0 {
		t.Skip("judges as many calls as may be; run it with -thorough")
	}
	var b strings.Builder
	b.WriteString("plan: many\ncalls:\n")
	for i := range 1000 {
		fmt.Fprintf(&b, "- {_tool: f, n: %d, _outputPath: out%d}\n", i, i)
	}
	for i := range 300 {
		fmt.Fprintf(&b, "- {_tool: f, _instance: i%d, n: †state.out%d, _outputPath: own}\n", i, i)
	}
	b.WriteString("- {_tool: f, _instance: i299, n: †state.right, _outputPath: left}\n- {_tool: f, _instance: i299, n: †state.left, _outputPath: right}\n")
	b.WriteString("instances:\n")
	for i := range 300 {
		fmt.Fprintf(&b, "  i%d: {}\n", i)
	}
	m := runtime.New(verify(t, b.String()), runtime.Options{})
	events := []runtime.Event{{Kind: runtime.RunBegan}}
	var outcome *runtime.Outcome
	for len(events) > 0 && outcome == nil {
		e := events[0]
		events = events[1:]
		for _, c := range m.Step(e) {
			switch c.Kind {
			case runtime.Start:
				events = append(events, runtime.Event{Kind: runtime.Ended, Frame: c.Frame, Call: c.Call, Attempt: c.Attempt, Route: -1, Value: 1.0})
			case runtime.Finish:
				outcome = c.Outcome
			}
		}
	}
	if outcome == nil {
		t.Fatal("the run never ends")
	}
	if e := outcome.Errors; len(e) != 1 || e[0].Code != "bad-instance" || e[0].Instance != "i299" {
		t.Errorf("the errors are %v", e)
	}
}
