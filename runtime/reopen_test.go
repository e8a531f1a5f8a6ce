package runtime_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/testdata/amount"
)

// A run that failed, and is gone on with when what failed works again, comes to what a run
// without any failure comes to: nothing that was done is done again, in delegates, over
// instances and over items neither, under any schedule and with kills (S8.6).
func TestRetryFailed(t *testing.T) {
	plans, count := amount.Of(40, 300, 5000), map[string]int{}
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
		doc["input"] = map[string]any{"size": 3.0, "user": map[string]any{"name": "ann", "tags": []any{"x"}}, "many": []any{1.0, 2.0, 3.0}}
		doc["calls"] = append(doc["calls"].([]any), map[string]any{"_tool": "fetch", "_id": "all", "_each": "†input.many", "v": "†item", "shape": "text", "_outputPath": "all"})
		if ids := []string{"①", "②", "③"}[:r.IntN(4)]; len(ids) > 0 {
			instances := map[string]any{}
			for i, id := range ids {
				instances[id] = map[string]any{"input": map[string]any{"size": float64(i)}}
			}
			doc["instances"] = instances
		}
		v, why := m.compile(t, doc)
		if v == nil {
			t.Fatalf("plan %d: %s\n%s", n, why, inJSON(doc))
		}
		for seed := range uint64(3) {
			one := &rehearser{t: t, verified: v, act: perform, order: rand.New(rand.NewPCG(seed, uint64(n)))}
			want := whatCameOf(one.run())
			broken := seed + 2
			done := map[string]int{}
			r := &rehearser{t: t, verified: v, order: rand.New(rand.NewPCG(seed, uint64(n))), kills: int(seed), reopened: true}
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
				r.retryFailed()
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

// whatCameOf is how a run ended, without what it cost.
func whatCameOf(o *runtime.Outcome) string {
	ends := []string{}
	for _, one := range o.Instances {
		ends = append(ends, inJSON(one))
	}
	slices.Sort(ends)
	return fmt.Sprint(o.Status, inJSON(o.State), inJSON(o.Output), inJSON(o.Errors), inJSON(o.Counts), strings.Join(ends, "\n"))
}

// retryFailed goes on with a run that has ended, in a new machine.
func (r *rehearser) retryFailed() {
	r.out = nil
	maps.DeleteFunc(r.settled, func(_, status string) bool { return status != "done" })
	r.follow()
	r.coming, r.asked, r.pieces = nil, nil, nil
	r.step(runtime.Event{Kind: runtime.Resumed, Resumption: &runtime.Resumption{InFlight: "retry", RetryFailed: true}})
	r.goOn()
}
