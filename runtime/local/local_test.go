package local_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/activity"
	"github.com/obelus-dev/obelus/runtime/local"
)

// run runs a plan in YAML on the virtual clock of a synctest bubble and gives
// the outcome and what happened, a line each: "1s start a", "3s done a".
func run(t *testing.T, ctx context.Context, compiled string, funcs map[string]activity.Func, o local.Options) (*runtime.Outcome, string) {
	t.Helper()
	var names []string
	for name := range funcs {
		names = append(names, name)
	}
	slices.Sort(names)
	p, found := compiler.Compile(source.NewFile("plan.yaml", []byte(compiled)), compiler.Options{Functions: names, Hints: map[string]plan.Hints{"look": {ReadOnly: new(true)}}})
	analysis := analyzer.Analyze(p, found, analyzer.Config{})
	v, found := analysis.Verified, analysis.Findings
	if v == nil {
		t.Fatalf("%s: %s", found[0].Rule.Code, found[0].Message)
	}
	set, err := activity.Open(nil, funcs, activity.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var story []string
	o.Activities = set
	o.Observe = func(at time.Duration, c runtime.Command) {
		switch c.Kind {
		case runtime.Start:
			story = append(story, fmt.Sprintf("%v start %s", at, c.Of.Name))
		case runtime.Settle:
			story = append(story, fmt.Sprintf("%v %s %s", at, c.Settlement.Status, c.Of.Name))
		}
	}
	outcome, err := local.Run(ctx, v, o)
	if err != nil {
		t.Fatal(err)
	}
	if err := set.Close(); err != nil {
		t.Fatal(err)
	}
	return outcome, strings.Join(story, "\n")
}

// after is an activity that takes a while and gives back its parameters.
func after(d time.Duration) activity.Func {
	return func(ctx context.Context, r activity.Request) (any, error) {
		select {
		case <-time.After(d):
			return any(r.Params), nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// LANGUAGE.md#tools-and-activities: a pause between tries is as long as whoever failed asks for, and at least as
// long as the plan's; one that nobody waits for fails the call, and that is said.
func TestAskedToWait(t *testing.T) {
	for asked, want := range map[time.Duration]string{
		0:               "0s start a\n2s start a\n6s start a\n6s failed a",
		time.Second:     "0s start a\n2s start a\n6s start a\n6s failed a",
		3 * time.Second: "0s start a\n3s start a\n7s start a\n7s failed a",
		time.Hour:       "0s start a\n1h0m0s start a\n2h0m0s start a\n2h0m0s failed a",
		2 * time.Hour:   "0s start a\n0s failed a",
	} {
		synctest.Test(t, func(t *testing.T) {
			busy := func(context.Context, activity.Request) (any, error) {
				return nil, &activity.Failure{Code: "http-429", Message: "busy", After: asked}
			}
			outcome, story := run(t, t.Context(), "calls: [{_id: a, _tool: busy, _retry: {attempts: 3, backoff: 2s}}]", map[string]activity.Func{"busy": busy}, local.Options{})
			if story != want {
				t.Errorf("asked to wait %v:\n%s\nwant\n%s", asked, story, want)
			}
			why := "busy"
			if asked > time.Hour {
				why += "; it isn't tried again, as it asks for a pause of 2h, and none is longer than 1h"
			}
			if len(outcome.Errors) != 1 || outcome.Errors[0].Message != why {
				t.Errorf("asked to wait %v: %+v", asked, outcome.Errors)
			}
		})
	}
}

// EXECUTION.md#stopping: when the run is interrupted nothing new starts, what runs is cancelled,
// and every call has settled.
func TestInterrupt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(3*time.Second, cancel)
		cancelled := false
		outcome, story := run(t, ctx, `
calls:
- {_id: a, _tool: quick, _outputPath: a}
- {_id: b, _tool: endless, x: †state.a, _outputPath: b}
- {_id: c, _tool: quick, x: †state.b}
`, map[string]activity.Func{
			"quick": after(time.Second),
			"endless": func(ctx context.Context, _ activity.Request) (any, error) {
				<-ctx.Done()
				cancelled = true
				return nil, ctx.Err()
			},
		}, local.Options{})
		if want := "0s start a\n1s done a\n1s start b\n3s cancelled b\n3s cancelled c"; story != want {
			t.Errorf("got\n%s\nwant\n%s", story, want)
		}
		if !cancelled || outcome.Status != "stopped" || outcome.Reason != "interrupted" || outcome.Counts.Cancelled != 2 {
			t.Errorf("%v %+v", cancelled, outcome)
		}
	})
}

// LANGUAGE.md#trust: where nobody can be asked, the run stops before the call that may do
// anything, and not before one whose function is said to only read.
func TestConfirmationStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		started := false
		outcome, _ := run(t, t.Context(), "tools: {look: {}, pay: {properties: {x: {}}}}\ncalls: [{_tool: look, _outputPath: a}, {_tool: pay, x: †state.a}]", map[string]activity.Func{
			"look": after(time.Second),
			"pay":  func(context.Context, activity.Request) (any, error) { started = true; return nil, nil },
		}, local.Options{Options: runtime.Options{Confirm: runtime.Confirm{Policy: runtime.Effects}}})
		if started || outcome.Status != "stopped" || outcome.Reason != "confirmation" {
			t.Errorf("started %v, %+v", started, outcome)
		}
	})
}

// An inquirer keeps in which order it is asked.
type inquirer struct{ order []string }

func (q *inquirer) Ask(_ context.Context, asked *runtime.Question) func() (runtime.Decision, error) {
	q.order = append(q.order, asked.Call)
	return func() (runtime.Decision, error) {
		return runtime.Decision{Verdict: runtime.Approve}, nil
	}
}

// EXECUTION.md#reviewers: questions are put to a person in plan order.
func TestAskedInPlanOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plan, want := "calls:\n", []string(nil)
		for i := range 50 {
			plan += fmt.Sprintf("- {_id: c%d, _tool: work, _outputPath: p%d}\n", i, i)
			want = append(want, fmt.Sprint("c", i))
		}
		asked := &inquirer{}
		o := local.Options{Confirmer: asked}
		o.Confirm = runtime.Confirm{Policy: runtime.Always}
		run(t, t.Context(), plan, map[string]activity.Func{"work": after(time.Second)}, o)
		if !slices.Equal(asked.order, want) {
			t.Errorf("asked about %v", asked.order)
		}
	})
}
