package obelus_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/obelus-dev/obelus"
)

const greeting = `
plan: greeting
input: {name: Ada}
inputSchema: {type: object, properties: {name: {type: string}}, required: [name]}
calls:
- {_id: greet, _tool: greet, name: †input.name, _outputPath: greeting}
- {_id: shout, _tool: shout, text: †state.greeting, _outputPath: shouted}
output: †state.shouted
tools:
  greet: {properties: {name: {type: string}, _output: {type: string, examples: ["Hello, you"]}}, required: [name]}
  shout: {properties: {text: {type: string}, _output: {type: string}}, required: [text]}
activities:
  shout: {expr: "upper(text) + '!'"}
`

// The activities of these plans that are Go functions.
var functions = map[string]obelus.Function{
	"greet": func(_ context.Context, r obelus.Request) (any, error) {
		return fmt.Sprintf("Hello, %s", r.Params["name"]), nil
	},
}

func ExampleLoad() {
	plan, err := obelus.Load("examples/weather.yaml", obelus.LoadOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(plan.Check(), len(plan.Findings()))
	_, err = obelus.Load("examples/wheather.yaml", obelus.LoadOptions{})
	fmt.Println(err)
	// Output:
	// <nil> 0
	// can't read "examples/wheather.yaml": there is no such file
}

func ExamplePlan_Check() {
	misspelt := strings.Replace(greeting, "†state.greeting", "†state.greting", 1)
	plan, err := obelus.Parse("greeting.yaml", []byte(misspelt), obelus.LoadOptions{Functions: functions})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = plan.Check()
	fmt.Println(errors.Is(err, obelus.ErrUnsound))
	fmt.Println(err)
	fmt.Println(obelus.Advice(err))
	// Output:
	// true
	// greeting.yaml:7:36: "†state.greting" never has a value: no call writes it, and the initial state doesn't contain it [OB203]
	// did you mean "†state.greeting"?
}

func ExamplePlan_Draw() {
	plan, err := obelus.Parse("greeting.yaml", []byte(greeting), obelus.LoadOptions{Functions: functions})
	var drawing strings.Builder
	if err == nil {
		err = plan.Draw(&drawing, obelus.Mermaid)
	}
	if err != nil {
		fmt.Println(err)
	}
	for line := range strings.Lines(drawing.String()) {
		if strings.Contains(line, "-->") { // the rest is boxes and colours
			fmt.Print(strings.TrimSpace(line), "\n")
		}
	}
	// Output:
	// n2 --> n0
	// n0 --> n1
	// n1 --> n3
}

func ExamplePlan_Simulate() {
	plan, err := obelus.Parse("greeting.yaml", []byte(greeting), obelus.LoadOptions{Functions: functions})
	if err != nil {
		fmt.Println(err)
		return
	}
	good, err := plan.Simulate(obelus.SimulateOptions{Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	bad, err := plan.Simulate(obelus.SimulateOptions{Seed: 1, Fail: []string{"greet"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(good.Outcome.Status, good.Outcome.Output)
	fmt.Println(bad.Outcome.Status, bad.Outcome.Counts.Skipped)
	// Output:
	// done HELLO, YOU!
	// failed 1
}

func ExamplePlan_Run() {
	plan, err := obelus.Parse("greeting.yaml", []byte(greeting), obelus.LoadOptions{Functions: functions})
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := plan.Run(context.Background(), obelus.RunOptions{Input: map[string]any{"name": "Grace"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Status, result.Output)
	_, err = plan.Run(context.Background(), obelus.RunOptions{Input: map[string]any{"name": 7.0}})
	fmt.Println(err)
	// Output:
	// done HELLO, GRACE!
	// the input doesn't fit its schema at name: expected a string, got 7
}

func ExampleResume() {
	journals, err := os.MkdirTemp("", "journals")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(journals)
	plan, err := obelus.Parse("greeting.yaml", []byte(greeting), obelus.LoadOptions{Functions: functions})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	result, err := plan.Run(ctx, obelus.RunOptions{Journals: journals, Ask: obelus.AskAlways}) // and nobody to ask
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Status, result.Reason, result.Asked[0].Call)

	for result.Status == obelus.Stopped { // somebody is found, perhaps days later
		var answers []obelus.Answer
		for _, q := range result.Asked {
			answers = append(answers, obelus.AnswerTo(q, obelus.Decision{Verdict: "approve", By: "ann"}))
		}
		result, err = obelus.Resume(ctx, result.Journal, obelus.ResumeOptions{Functions: functions, Ask: obelus.AskAlways, Answers: answers})
		if err != nil {
			fmt.Println(err)
			return
		}
	}
	fmt.Println(result.Status, result.Output)

	result, err = obelus.Resume(ctx, result.Journal, obelus.ResumeOptions{Functions: functions})
	fmt.Println(errors.Is(err, obelus.ErrEnded), result.Output)

	runs, err := obelus.Runs(journals)
	fmt.Println(len(runs), runs[0].Plan, runs[0].Status, err)
	// Output:
	// stopped confirmation greet
	// done HELLO, ADA!
	// true HELLO, ADA!
	// 1 greeting done <nil>
}
