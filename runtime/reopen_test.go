package runtime_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/testdata/amount"
)

// A run that failed, and is gone on with when what failed works again, comes to what a run
// without any failure comes to: nothing that was done is done again, in delegates, over
// instances and over items neither, under any schedule and with kills.
func TestRetryFailed(t *testing.T) {
	t.Parallel()
	plans, count := amount.Of(8, 100, 5000), map[string]int{}
	for n := range plans {
		r := rand.New(rand.NewPCG(uint64(n), 22))
		steps := straight(r)
		for _, s := range steps {
			for param, from := range s.reads {
				s.reads[param] = read{from.of, ""} // what failed is waited for
			}
		}
		m := &mason{r, map[string][]byte{}}
		doc := m.plan(steps, []string{"size", "user"}, 2)
		withList(doc)
		withInstances(r, doc)
		v, why := m.compile(t, doc)
		if v == nil {
			t.Fatalf("plan %d: %s\n%s", n, why, inJSON(doc))
		}
		for seed := range uint64(3) {
			one := &simulator{t: t, verified: v, act: perform, order: rand.New(rand.NewPCG(seed, uint64(n)))}
			want := whatCameOf(one.run())
			broken := seed + 2
			done := map[string]int{}
			r := &simulator{t: t, verified: v, order: rand.New(rand.NewPCG(seed, uint64(n))), kills: int(seed), reopened: true}
			r.act = func(call string, attempt int, params map[string]any) (any, string, *failure) {
				if broken > 0 && drawn(broken*1000+uint64(n), call+inJSON(params))%4 == 0 {
					return nil, "", &failure{Code: "error", Message: "down"}
				}
				value, path, failed := perform(call, attempt, params)
				if failed == nil {
					done[call+inJSON(params)]++
				}
				return value, path, failed
			}
			r.run()
			rounds := 0
			for ; r.out.Status == "failed" && rounds < 6; rounds++ {
				if broken--; rounds > 3 {
					broken = 0
				}
				r.retryFailed(nil)
			}
			if differs := difference(map[string]any{"": whatCameOf(r.out)}, map[string]any{"": want}); differs != "" {
				t.Fatalf("plan %d, seed %d, of\n%s\n%s\n%s", n, seed, inJSON(doc), m.files, differs)
			}
			for call, times := range done {
				if times > 1 && r.lost == 0 {
					t.Fatalf("plan %d, seed %d, of\n%s\n%s\n%s is done %d times", n, seed, inJSON(doc), m.files, call, times)
				}
			}
			count["rounds"] += rounds
			count[string(r.out.Status)]++
		}
	}
	t.Logf("%d plans: %v", plans, count)
	if count["rounds"] < plans {
		t.Error("too little fails")
	}
}

// What people have said stands when what failed runs again, in delegates, instances and
// items too: what they rejected isn't run, nor a list of which they rejected an item; what
// they changed, or put in a call's place, is what runs, and what the question shows where
// they are asked anew. Where they are asked as before, the run comes to what it comes to
// without any failure.
func TestRetryFailedAsDecided(t *testing.T) {
	t.Parallel()
	plans, count := amount.Of(5, 66, 5000), map[string]int{}
	for n := range plans {
		v, doc, m := decidedPlan(t, n)
		for seed := range uint64(4) {
			p := &people{seed: uint64(n), rejected: map[string]bool{}, given: map[string]string{}, count: count}
			one := &simulator{t: t, verified: v, act: perform, decide: p.decide, order: rand.New(rand.NewPCG(seed, uint64(n))), reopened: true}
			one.options.Confirm.Policy = runtime.Always
			want := one.run()

			p = &people{seed: uint64(n), rejected: map[string]bool{}, given: map[string]string{}, count: count}
			broken, asks := seed+2, seed%2 == 0
			r := &simulator{t: t, verified: v, decide: p.decide, order: rand.New(rand.NewPCG(seed, uint64(n))), kills: int(seed) / 2, reopened: true}
			r.options.Confirm.Policy = runtime.Always
			r.act = func(call string, attempt int, params map[string]any) (any, string, *failure) {
				if broken > 0 && drawn(broken*1000+uint64(n), call+inJSON(params))%4 == 0 {
					return nil, "", &failure{Code: "error", Message: "down"}
				}
				return perform(call, attempt, params)
			}
			fail := func(why string) {
				t.Fatalf("plan %d, seed %d, of\n%s\n%s\n%s", n, seed, inJSON(doc), m.files, why)
			}
			r.watch = func(c runtime.Command) {
				if c.Kind != runtime.Start {
					return
				}
				if why := p.amiss(c); why != "" {
					fail(why)
				}
			}
			r.run()
			for rounds := 0; rounds < 8 && r.out.Status == "failed"; rounds++ {
				if broken--; rounds > 3 {
					broken = 0
				}
				r.follow() // with a machine that keeps what failed
				if r.machine.Failed() == 0 {
					break
				}
				count["rounds"]++
				p.later = true
				if asks {
					r.retryFailed(nil)
				} else {
					r.retryFailed(&runtime.Confirm{})
				}
				if p.wrong != "" {
					fail(p.wrong)
				}
			}
			if !asks {
				continue
			}
			if got, want := settledAs(r.out), settledAs(want); got != want {
				fail(got + "\nwithout failures\n" + want)
			}
		}
	}
	t.Logf("%d plans: %v", plans, count)
	if count["rounds"] < plans || count["reject"] < plans || count["change"] < plans || count["replace"] < plans {
		t.Error("too little happens")
	}
}

// decidedPlan makes a plan with delegates, a list, and at times instances.
func decidedPlan(t *testing.T, n int) (*analyzer.Verified, map[string]any, *mason) {
	r := rand.New(rand.NewPCG(uint64(n), 23))
	steps := straight(r)
	for _, s := range steps {
		for param, from := range s.reads {
			s.reads[param] = read{from.of, ""}
		}
	}
	m := &mason{r, map[string][]byte{}}
	doc := m.plan(steps, []string{"size", "user"}, 3)
	var parts map[string]any
	for _, one := range doc["calls"].([]any) {
		if call := one.(map[string]any); call["_retry"] == nil {
			if parts = maps.Clone(call); r.IntN(3) == 0 {
				call["_retry"] = map[string]any{"attempts": 2.0}
			}
		}
	}
	withList(doc)
	if parts != nil {
		parts["_id"], parts["_outputPath"], parts["_each"], parts["v"] = "parts", "parts", "†input.many", "†item"
		doc["calls"] = append(doc["calls"].([]any), parts)
	}
	withInstances(r, doc)
	v, why := m.compile(t, doc)
	if v == nil {
		t.Fatalf("plan %d: %s\n%s", n, why, inJSON(doc))
	}
	return v, doc, m
}

// withList gives a plan its input, a call that runs for a list of it, and one that does so with what another gives.
func withList(doc map[string]any) {
	doc["input"] = map[string]any{"size": 3.0, "user": map[string]any{"name": "ann", "tags": []any{"x"}}, "many": []any{1.0, 2.0, 3.0}}
	doc["calls"] = append(doc["calls"].([]any), map[string]any{"_tool": "fetch", "_id": "all", "_each": "†input.many", "v": "†item", "shape": "text", "_outputPath": "all"},
		map[string]any{"_tool": "fetch", "_id": "base", "shape": "text", "_outputPath": "base"},
		map[string]any{"_tool": "fetch", "_id": "more", "_each": "†input.many", "v": "†{item}†{state.base}", "shape": "text", "_outputPath": "more"})
}

// withInstances gives a plan up to three instances.
func withInstances(r *rand.Rand, doc map[string]any) {
	if ids := []string{"①", "②", "③"}[:r.IntN(4)]; len(ids) > 0 {
		instances := map[string]any{}
		for i, id := range ids {
			instances[id] = map[string]any{"input": map[string]any{"size": float64(i)}}
		}
		doc["instances"] = instances
	}
}

// people answer by where a call is, and remember what they said.
type people struct {
	seed     uint64
	rejected map[string]bool
	given    map[string]string // the parameters
	count    map[string]int
	later    bool // what failed runs again
	wrong    string
}

func (p *people) decide(q *runtime.Question) runtime.Decision {
	place := q.Instance + " " + q.Path()
	if given := p.given[place]; p.later && given != "" && given != inJSON(q.Params) {
		p.wrong = fmt.Sprintf("%s is asked about with %s, after it was given %s", place, inJSON(q.Params), given)
	}
	if p.later && p.rejected[place] {
		p.wrong = place + " is asked about again, after it was rejected"
	}
	changed := q.Params["changed"] != nil
	switch pick := drawn(p.seed, "person "+place) % 10; {
	case pick == 0:
		p.rejected[place] = true
		p.count["reject"]++
		return runtime.Decision{Verdict: runtime.Reject}
	case pick == 1 && q.Problem == "" && !changed:
		params := maps.Clone(q.Params)
		if params == nil {
			params = map[string]any{}
		}
		params["changed"] = "by hand"
		p.given[place] = inJSON(params)
		p.count["change"]++
		return runtime.Decision{Verdict: runtime.Change, Params: params}
	case pick == 2 && q.Problem == "" && q.Replaces == "":
		p.count["replace"]++
		return runtime.Decision{Verdict: runtime.Replace, Replacement: json.RawMessage(`{"_tool":"fetch","shape":"object"}`)}
	}
	if q.Replaces != "" {
		p.given[place] = inJSON(q.Params)
	}
	return runtime.Decision{Verdict: runtime.Approve}
}

// amiss says how what starts isn't what people decided.
func (p *people) amiss(c runtime.Command) string {
	place := c.Instance + " " + runtime.Path(c.Under, c.Of.Name)
	switch given := p.given[place]; {
	case p.rejected[place] && p.later:
		return place + " is run, after it was rejected"
	case given != "" && given != inJSON(c.Params):
		return fmt.Sprintf("%s is run with %s, after it was given %s", place, inJSON(c.Params), given)
	}
	return ""
}

// settledAs is what a run came to, but for how far lists went that failed, and for which of
// their items: that hangs on what else failed.
func settledAs(o *runtime.Outcome) string {
	failed := func(all []runtime.CallError) (calls []string) {
		for _, e := range all {
			calls = append(calls, e.Call)
		}
		return calls
	}
	ends := []string{}
	for _, one := range o.Instances {
		ends = append(ends, fmt.Sprint(one.ID, one.Status, inJSON(one.State), inJSON(one.Output), failed(one.Errors)))
	}
	slices.Sort(ends)
	return fmt.Sprint(o.Status, inJSON(o.State), inJSON(o.Output), failed(o.Errors), strings.Join(ends, "\n"))
}

// whatCameOf is how a run ended, without what it cost.
func whatCameOf(o *runtime.Outcome) string {
	ends := []string{}
	for _, one := range o.Instances {
		ends = append(ends, inJSON(one))
	}
	slices.Sort(ends)
	return fmt.Sprint(o.Status, inJSON(o.State), inJSON(o.Output), inJSON(o.Errors), inJSON(o.Counts), strings.Join(ends, "\n"))
}

// retryFailed goes on with a run that has ended, in a new machine, in which people are asked
// as before if nothing is said.
func (r *simulator) retryFailed(confirm *runtime.Confirm) {
	r.out = nil
	maps.DeleteFunc(r.settled, func(_, status string) bool { return status != "done" })
	r.follow()
	r.coming, r.asked, r.pieces = nil, nil, nil
	r.step(runtime.Event{Kind: runtime.Resumed, Resumption: &runtime.Resumption{InFlight: "retry", RetryFailed: true, Confirm: confirm}})
	r.goOn()
}
