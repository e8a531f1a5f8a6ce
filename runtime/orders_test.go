package runtime

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
)

// policed is a machine of a plan under a policy, whatever check says of it; all of its
// tools are functions f, g and h.
func policed(t *testing.T, text, rules string, o Options, hints map[string]plan.Hints) *Machine {
	t.Helper()
	policy := source.NewFile("obelus.policy.yaml", []byte("rules:\n"+rules))
	p, found := compiler.Compile(source.NewFile("plan.yaml", []byte(text)), compiler.Options{
		Functions: []string{"f", "g", "h"}, Hints: hints, Limits: source.DefaultLimits(),
		Policies: []compiler.PolicyFile{{File: policy, Counts: true}},
	})
	for _, d := range found {
		if d.Span.File == policy {
			t.Fatal(d.Message)
		}
	}
	return newMachine(p, o, false, false)
}

const (
	fOnce     = "- {rule: once, order: {f: {at-most: 1}}, allows: [f], denies: [f, f]}\n"
	fAfterG   = "- {rule: g first, order: {f: {only-after: g}}, allows: [g, f], denies: [f]}\n"
	fNeverG   = "- {rule: not after g, order: {f: {never-after: g}}, allows: [f, g], denies: [g, f]}\n"
	fOncePerK = "- {rule: once for each, order: {f: {at-most: 1, per: k}}, allows: [{f: {k: 1}}, {f: {k: 2}}], denies: [{f: {k: 1}}, {f: {k: 1}}]}\n"
	kSmall    = "- {rule: small, bounds: {f: {k: {maximum: 9}}}, allows: {f: {k: 1}}, denies: {f: {k: 10}}}\n"
	onlyF     = "- {rule: f alone, only: [f], allows: f, denies: g}\n"
)

// told are what commands say in words.
func toldCommands(commands []Command) string {
	var all []string
	for _, c := range commands {
		switch c.Kind {
		case Start:
			all = append(all, fmt.Sprintf("%s starts", c.Of.Name))
		case Settle:
			words := fmt.Sprintf("%s is %s", c.Of.Name, c.Settlement.Status)
			if f := c.Settlement.Failure; f != nil {
				words += " (" + f.Code + ")"
			}
			all = append(all, words)
		case Ask:
			all = append(all, strings.TrimSpace(fmt.Sprintf("%s is asked about %s", c.Of.Name, c.Question.Problem)))
		}
	}
	return strings.Join(all, ", ")
}

// LANGUAGE.md#policies-and-labels: what doesn't start, in the ways in which a call can come to start.
func TestWhatAPolicyRefuses(t *testing.T) {
	begun := Event{Kind: RunBegan}
	ended := func(call, attempt int) Event {
		return Event{Kind: Ended, Call: call, Attempt: attempt, Route: -1, Value: 1.0}
	}
	failed := func(call, attempt int) Event {
		return Event{Kind: Ended, Call: call, Attempt: attempt, Route: -1, Failure: &Failure{Code: "error", Message: "no"}}
	}
	resumed := func(how InFlight) Event { return Event{Kind: Resumed, Resumption: &Resumption{InFlight: how}} }
	decided := func(call int, d Decision) Event { return Event{Kind: Decided, Call: call, Decision: &d} }
	idempotent := true
	asked := Options{Confirm: Confirm{Policy: Always}}
	for _, c := range []struct {
		name, calls, rules string
		options            Options
		hints              map[string]plan.Hints
		events             []Event
		want               []string
	}{
		{"the second in the order of the list", "[{_tool: f}, {_tool: f}]", fOnce, Options{}, nil, []Event{begun},
			[]string{"f#1 starts, f#2 is failed (forbidden-order)"}},
		{"an item", "[{_tool: f, _each: [1, 2], _onItemFailure: collect}]", fOnce, Options{}, nil, []Event{begun},
			[]string{"f#1[0] starts, f#1[1] is failed (forbidden-order)"}},
		{"a further try; its failure goes where the plan wants it", "[{_tool: f, _retry: 3, _outputPath: a || b}, {_tool: g, x: †state.b}]", fOnce, Options{}, nil, []Event{begun, failed(0, 1)},
			[]string{"f#1 starts", "f#1 is failed (error), g#2 starts"}},
		{"no further try of what is idempotent", "[{_tool: f, _retry: 2}]", fOnce, Options{}, map[string]plan.Hints{"f": {Idempotent: &idempotent}},
			[]Event{begun, failed(0, 1), {Kind: Fired, Call: 0, Attempt: 1}}, []string{"f#1 starts", "", "f#1 starts"}},
		{"what a kill cut short", "[{_tool: f}]", fOnce, Options{}, nil, []Event{begun, resumed(InFlightRetry)},
			[]string{"f#1 starts", "f#1 is failed (interrupted)"}},
		{"what was tried isn't done", "[{_tool: g, _id: g}, {_tool: f, _after: {settled: [g]}}]", fAfterG, Options{}, nil, []Event{begun, failed(0, 1)},
			[]string{"g starts", "g is failed (error), f#2 is failed (forbidden-order)"}},
		{"what was done is", "[{_tool: g, _id: g}, {_tool: f, _after: {settled: [g]}}]", fAfterG, Options{}, nil, []Event{begun, ended(0, 1)},
			[]string{"g starts", "g is done, f#2 starts"}},
		{"what was tried has begun", "[{_tool: g, _id: g}, {_tool: f, _after: {settled: [g]}}]", fNeverG, Options{}, nil, []Event{begun, failed(0, 1)},
			[]string{"g starts", "g is failed (error), f#2 is failed (forbidden-order)"}},
		{"a state is no evidence that something was done", "[{_tool: g, _outputPath: a}, {_tool: f, x: †state.a}]", fAfterG, Options{State: map[string]any{"a": 1.0}, Continue: true}, nil, []Event{begun},
			[]string{"f#2 is failed (forbidden-order)"}},
		{"what a state says has begun", "[{_tool: g, _outputPath: a}, {_tool: f, x: †state.a}]", fNeverG, Options{State: map[string]any{"a": 1.0}, Continue: true}, nil, []Event{begun},
			[]string{"f#2 is failed (forbidden-order)"}},
		{"for each value by itself", "[{_tool: f, k: 1}, {_tool: f, k: 2}, {_tool: f, k: 1}]", fOncePerK, Options{}, nil, []Event{begun},
			[]string{"f#1 starts, f#2 starts, f#3 is failed (forbidden-order)"}},
		{"what another activity is called", "[{_tool: g, _activity: f}, {_tool: f}]", fOnce, Options{}, nil, []Event{begun},
			[]string{"g#1 starts, f#2 is failed (forbidden-order)"}},
		{"nobody is asked about what can't start", "[{_tool: f}]", fAfterG, asked, nil, []Event{begun}, []string{"f#1 is failed (forbidden-order)"}},
		{"what was approved is looked at once more", "[{_tool: f}, {_tool: f}]", fOnce, asked, nil,
			[]Event{begun, decided(0, Decision{Verdict: Approve}), decided(1, Decision{Verdict: Approve})},
			[]string{"f#1 is asked about, f#2 is asked about", "f#1 starts", "f#2 is failed (forbidden-order)"}},
		{"an answer that would break it", "[{_tool: f, k: 1}, {_tool: f, k: 2}, {_tool: h}]", fOncePerK, asked, nil,
			[]Event{begun, decided(0, Decision{Verdict: Approve}), decided(1, Decision{Verdict: Change, Params: map[string]any{"k": 1.0}}), decided(2, Decision{Verdict: Replace, Replacement: []byte(`{"_tool": "f", "k": 1}`)})},
			[]string{"f#1 is asked about, f#2 is asked about, h#3 is asked about", "f#1 starts", `f#2 is asked about the policy's rule "once for each" says that "f" may come at most once for one value of "k"`,
				`h#3 is asked about the policy's rule "once for each" says that "f" may come at most once for one value of "k"`}},
		{"what is put in the place of an item", "[{_tool: h, _outputPath: a}, {_tool: g, x: †state.a, _each: [1, 2]}, {_tool: f}]", fOnce, Options{Confirm: Confirm{Policy: Always}}, nil,
			[]Event{begun, {Kind: Decided, Call: 2, Decision: &Decision{Verdict: Approve}}, {Kind: Decided, Call: 0, Decision: &Decision{Verdict: Approve}}, ended(0, 1),
				{Kind: Decided, Frame: 1, Call: 1, Decision: &Decision{Verdict: Replace, Replacement: []byte(`{"_tool": "f"}`)}}},
			[]string{"h#1 is asked about, f#3 is asked about", "f#3 starts", "h#1 starts", "h#1 is done, g#2[0] is asked about, g#2[1] is asked about",
				`g#2[1] is asked about the policy's rule "once" says that "f" may come at most once`}},
		{"what is outside of its bounds", "[{_tool: f, k: †input.k}, {_tool: g, _activity: f, k: 10}]", kSmall, Options{Input: map[string]any{"k": 10.0}}, nil, []Event{begun},
			[]string{"f#1 is failed (outside-bounds), g#2 is failed (outside-bounds)"}},
		{"an answer that is", "[{_tool: f, k: 1}]", kSmall, asked, nil, []Event{begun, decided(0, Decision{Verdict: Change, Params: map[string]any{"k": 10.0}})},
			[]string{"f#1 is asked about", `f#1 is asked about the policy's rule "small" doesn't let "k" of "f" be this: expected 9 or less, got 10`}},
		{"what isn't listed", "[{_tool: f}, {_tool: g}, {_tool: f, _activity: g}]", onlyF, Options{}, nil, []Event{begun},
			[]string{"g#2 is failed (outside-bounds), f#3 is failed (outside-bounds), f#1 starts"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := policed(t, "calls: "+c.calls, c.rules, c.options, c.hints)
			var got []string
			for _, e := range c.events {
				got = append(got, toldCommands(m.Step(e)))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("it goes\n%s\nand not\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}
