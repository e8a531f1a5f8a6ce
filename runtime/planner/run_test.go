package planner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/activity"
	"github.com/obelus-dev/obelus/runtime/local"
	"github.com/obelus-dev/obelus/runtime/request"
)

const journey = `
description: Book a room, and tell the guest.
input: {guest: Jane, hotel: Ritz}
stateSchema:
  type: object
  properties: {booking: {type: string}, letter: {type: string}, trouble: {type: object}}
tools:
  book: {type: object, properties: {hotel: {type: string}, _output: {type: string}}, required: [hotel]}
  write: {type: object, properties: {about: {type: string}, to: {type: string}, _output: {type: string}}, required: [about]}
calls: []
outputSchema: {type: string}
`

// The ticks: no JSON; a call that fails; a model that breaks off; a model's own
// result, wrong at first; the output.
var journeyAnswers = []said{
	{text: "Sure, here you are: {", usage: request.Usage{InputTokens: 100, OutputTokens: 5, Cost: 0.01}},
	{text: `{"calls":[{"_tool":"book","hotel":"†input.hotel","_outputPath":"†state.booking"}], "output":null}`, usage: request.Usage{InputTokens: 200, OutputTokens: 50, Cost: 0.02}},
	{text: `{"calls":[{"_tool":"book","hotel":"Astoria","_outputPath":"†state.booking"},`, err: cutHere(), usage: request.Usage{InputTokens: 210}},
	{text: `{"calls":[{"_tool":"write","about":"†state.booking","to":"†input.guest","_outputPath":"†state.letter || †state.trouble"}],"output":null}`},
	{text: `{"no":"text"}`, usage: request.Usage{OutputTokens: 7}},
	{text: `{"calls":[{"_tool":"write","about":"†state.trouble.code","_outputPath":"†state.letter"}],"output":"†state.letter"}`},
	{text: ` "Dear Jane" `},
}

// run plays the journey with a planner, in virtual time.
func run(t *testing.T, p Planner) *runtime.Outcome {
	t.Helper()
	book := func(_ context.Context, r activity.Request) (any, error) {
		if r.Params["hotel"] == "Ritz" {
			return nil, errors.New("no room")
		}
		return fmt.Sprint("a room at ", r.Params["hotel"]), nil
	}
	plan, found := compiler.Compile(source.NewFile("journey.yaml", []byte(journey)), compiler.Options{Functions: []string{"book"}})
	analysis := analyzer.Analyze(plan, found, analyzer.Config{})
	v, found := analysis.Verified, analysis.Findings
	if v == nil {
		t.Fatal(found)
	}
	set, err := activity.Open(nil, map[string]activity.Func{"book": book}, activity.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	o := local.Options{Activities: set, Planner: p}
	o.Planned, o.Confirm = true, runtime.Confirm{Policy: runtime.Policy("never")}
	outcome, err := local.Run(t.Context(), v, o)
	if err != nil {
		t.Fatal(err)
	}
	return outcome
}

// PLANNERS.md#recording: a run that went through everything, played again from its own
// recording, comes to the same end and makes the same recording; and each of its
// ticks is a document.
func TestRecordedRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		folder, again := t.TempDir(), t.TempDir()
		recorder, err := NewRecorder(&scripted{answers: journeyAnswers}, folder)
		if err != nil {
			t.Fatal(err)
		}
		first := run(t, recorder)
		if err := recorder.Close(); err != nil {
			t.Fatal(err)
		}
		if first.Status != "done" || first.Output != "Dear Jane" || first.Usage.InputTokens != 510 || first.Ticks != 5 {
			t.Fatalf("%+v", first)
		}

		if text := fileText(t, folder, SolutionsFile); !strings.Contains(text, `"usage": {"inputTokens":100,"outputTokens":5,"cost":0.01}`) {
			t.Errorf("the usage is written otherwise:\n%s", text)
		}

		replaying, err := Open("replay:"+filepath.Join(folder, SolutionsFile), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if recorder, err = NewRecorder(replaying, again); err != nil {
			t.Fatal(err)
		}
		second := run(t, recorder)
		if err := recorder.Close(); err != nil {
			t.Fatal(err)
		}
		// Only the words of where an answer broke off differ.
		first.Errors, second.Errors = nil, nil
		if !reflect.DeepEqual(first, second) {
			t.Errorf("replayed it ends as %+v, not as %+v", second, first)
		}
		if a, b := fileText(t, folder, SolutionsFile), fileText(t, again, SolutionsFile); a != b {
			t.Errorf("recorded again it is\n%s\nnot\n%s", b, a)
		}
		for tick := 1; tick <= first.Ticks; tick++ {
			name := fmt.Sprintf("tick-%d.json", tick)
			p, found := compiler.Compile(source.NewFile(name, []byte(fileText(t, folder, name))), compiler.Options{Name: name})
			analysis := analyzer.Analyze(p, found, analyzer.Config{})
			v, found := analysis.Verified, analysis.Findings
			if v == nil || p.Form != plan.ProcessRecord {
				t.Errorf("%s: %v\n%s", name, found, fileText(t, folder, name))
			}
		}
	})
}

func fileText(t *testing.T, folder, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
