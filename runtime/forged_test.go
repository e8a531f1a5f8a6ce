package runtime_test

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/testdata/amount"
)

// EXECUTION.md#journals: a journal whose events were changed, whoever made its hashes right again, is
// refused or followed: never with a panic, and what a run then goes on with are calls
// of its plan with parameters that their tools admit.
func TestForgedJournals(t *testing.T) {
	t.Parallel()
	plans, forgeries := amount.Of(15, 30, 1000), amount.Of(20, 20, 100)
	refused, followed := 0, 0
	for n := range plans {
		doc := planNumber(t, n)
		if v, _ := compileGenerated(t, doc); v == nil {
			continue
		}
		v, solution := asSolution(t, doc)
		r := &simulator{
			t: t, verified: v, solutions: []string{solution, noMore}, act: unlucky(uint64(n)), decide: moody(uint64(n)), order: rand.New(rand.NewPCG(1, uint64(n))), kills: n % 3,
		}
		r.options = runtime.Options{Planned: true}
		if n%2 == 0 {
			r.options.Confirm.Policy = runtime.Always
		}
		if n%4 == 1 {
			r.options.Confirm = runtime.Confirm{Policy: runtime.Always, Timeout: time.Minute}
		}
		r.run()
		text, err := json.Marshal(r.events)
		if err != nil {
			t.Fatal(err)
		}
		for seed := range uint64(forgeries) {
			random := rand.New(rand.NewPCG(seed, uint64(n)))
			var raw []any
			if err := json.Unmarshal(text, &raw); err != nil {
				t.Fatal(err)
			}
			for range 1 + random.IntN(2) {
				raw = forge(random, raw)
			}
			if random.IntN(3) == 0 {
				raw = raw[:random.IntN(len(raw)+1)]
			}
			forged, _ := json.Marshal(raw)
			if followsForged(t, v, r.options, forged) {
				followed++
			} else {
				refused++
			}
		}
	}
	t.Logf("%d forged journals were refused, %d were followed", refused, followed)
	if refused == 0 || followed == 0 {
		t.Error("the forgeries are all alike")
	}
}

// forge changes one thing in a list of events.
func forge(random *rand.Rand, events []any) []any {
	if len(events) == 0 {
		return events
	}
	at := random.IntN(len(events))
	switch random.IntN(6) {
	case 0:
		return slices.Delete(slices.Clone(events), at, at+1)
	case 1:
		return slices.Insert(slices.Clone(events), random.IntN(len(events)+1), events[at])
	case 2:
		other := random.IntN(len(events))
		events[at], events[other] = events[other], events[at]
		return events
	}
	event, ok := events[at].(map[string]any)
	if !ok {
		return events
	}
	key := drawnFrom(random, "kind", "at", "tick", "frame", "call", "attempt", "value", "route", "failure", "text", "usage", "decision", "resumption", "instances", "last", "gently")
	if random.IntN(8) == 0 {
		delete(event, key)
		return events
	}
	number := drawnFrom(random, -1.0, 0.0, 1.0, 2.0, 7.0, 1e6, -1e9, 1e15)
	event[key] = drawnFrom[any](random, number, number, number, drawnFrom(random, "begun", "ended", "fired", "stopped", "streamed", "closed", "decided", "resumed", "joined"),
		`{"calls":[{"_tool":"fetch"}],"output":1}`, nil, true, map[string]any{"verdict": drawnFrom(random, "approve", "change", "replace", "reject", "retry", "fail", "x")},
		map[string]any{"inFlight": drawnFrom(random, "ask", "retry", "fail", "x")}, map[string]any{"inputTokens": number, "cost": number}, []any{map[string]any{"id": "a"}},
		map[string]any{"code": "error", "message": "forged"})
	return events
}

func drawnFrom[T any](random *rand.Rand, from ...T) T { return from[random.IntN(len(from))] }

// followsForged follows a journal and goes on from it, if it can be followed.
func followsForged(t *testing.T, v *analyzer.Verified, o runtime.Options, journal []byte) bool {
	var events []runtime.Event
	if json.Unmarshal(journal, &events) != nil {
		return false
	}
	defer func() {
		if p := recover(); p != nil {
			t.Fatalf("%v, following %s", p, journal)
		}
	}()
	m := runtime.New(v, o)
	for _, e := range events {
		if _, err := followed(m, e); err != nil {
			return false
		}
	}
	if m.Over() && !m.Stopped() {
		return true
	}
	coming := []runtime.Event{{Kind: runtime.Resumed, Resumption: &runtime.Resumption{InFlight: "retry", Confirm: &runtime.Confirm{}}}}
	var now time.Duration
	for _, e := range events {
		now = max(now, e.At)
	}
	for steps := 0; !m.Over() || steps == 0; steps++ {
		if len(coming) == 0 || steps > 5000 {
			t.Fatalf("a run goes on for ever, or nowhere, from %s", journal)
		}
		e := coming[0]
		coming = coming[1:]
		e.At = now
		commands, err := followed(m, e)
		if err != nil {
			t.Fatalf("%v, going on from %s", err, journal)
		}
		for _, c := range commands {
			about := runtime.Event{Try: c.Try}
			switch c.Kind {
			case runtime.Start:
				if tool := c.Of.Tool; tool == nil || tool.Parameters != nil && tool.Parameters.Validate(c.Params) != nil {
					t.Fatalf("%s starts unchecked with %s, going on from %s", c.Of.Name, inJSON(c.Params), journal)
				}
				about.Kind, about.Route, about.Value = runtime.Ended, -1, map[string]any{}
			case runtime.SetTimer:
				if c.Call != runtime.Run && m.Status(c.Try) == runtime.Running {
					continue
				}
				about.Kind = runtime.Fired
			case runtime.Plan:
				about.Kind, about.Call, about.Attempt, about.Frame = runtime.Streamed, 0, 0, 0
				about.Text = noMore
				if c.Request.Received != "" {
					about.Text = ""
				}
				coming = append(coming, about)
				about = runtime.Event{Kind: runtime.Closed, Try: runtime.Try{Tick: c.Tick}}
			case runtime.Ask:
				about.Kind, about.Decision = runtime.Decided, &runtime.Decision{Verdict: runtime.Reject}
				if c.Question.InFlight {
					about.Decision.Verdict = runtime.Fail
				}
			case runtime.Join:
				about = runtime.Event{Kind: runtime.Joined, Last: true}
			default:
				continue
			}
			coming = append(coming, about)
		}
	}
	return true
}
