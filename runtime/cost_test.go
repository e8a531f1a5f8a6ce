package runtime_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	stdruntime "runtime"
	"testing"

	"github.com/obelus-dev/obelus/runtime"
)

// A meeting is a plan of any size whose calls all have to do with one place.
type meeting struct {
	once, fail bool // one value for each path; whatever can hand on its failure fails
	call       func(i int) map[string]any
}

var meetings = map[string]meeting{
	"pushes onto a list": {call: func(int) map[string]any {
		return map[string]any{"_outputPath": "†state.a.list", "_outputMethod": "push"}
	}},
	"items of a list": {call: func(i int) map[string]any {
		return map[string]any{"_outputPath": fmt.Sprintf("†state.list[%d]", i)}
	}},
	"keys of objects that are merged and assigned to": {call: func(i int) map[string]any {
		call := map[string]any{"_outputPath": []string{"†state.a.m", "†state.a", fmt.Sprintf("†state.a.m.k%d", i), fmt.Sprintf("†state.a.k%d.x", i), "†state.a.list"}[i%5]}
		call["_outputMethod"] = []string{"merge", "assign", "set", "set", "push"}[i%5]
		if i > 0 {
			call["_after"] = []any{fmt.Sprint("c", i-1)}
		}
		return call
	}},
	"failure records on one path": {fail: true, call: func(i int) map[string]any {
		return map[string]any{"_outputPath": fmt.Sprintf("†state.p%d || †state.errors.last", i)}
	}},
	"offers of one value": {once: true, call: func(i int) map[string]any {
		return map[string]any{"_outputPath": fmt.Sprintf("†state.a || †state.b%d", i)}
	}},
	"readers of what many offer": {once: true, call: func(i int) map[string]any {
		if i%7 == 6 {
			return map[string]any{"x": "†state.a"}
		}
		return map[string]any{"_outputPath": fmt.Sprintf("†state.a.b%d", i)}
	}},
}

// What a write costs hangs on what it touches, and not on all that was written
// before it. It is shown by what is allocated: for four times the
// calls little more than four times as much, in whichever order they end.
func TestWritesCostWhatTheyTouch(t *testing.T) {
	for name, of := range meetings {
		t.Run(name, func(t *testing.T) {
			few, many := meetingCost(t, of, 100), meetingCost(t, of, 400)
			t.Logf("100 calls: %d kB, 400: %d kB", few>>10, many>>10)
			if many > 6*few {
				t.Errorf("100 calls allocate %d kB, and 400 of them %d", few>>10, many>>10)
			}
		})
	}
}

// meetingCost is what a run of so many calls allocates, in bytes.
func meetingCost(t *testing.T, of meeting, n int) uint64 {
	doc := map[string]any{"tools": map[string]any{"work": map[string]any{"type": "object", "additionalProperties": true}}}
	if of.once {
		doc["writes"] = "once"
	}
	var calls []any
	for i := range n {
		call := of.call(i)
		call["_tool"], call["_id"] = "work", fmt.Sprint("c", i)
		calls = append(calls, call)
	}
	doc["calls"] = calls
	text, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	v := verified(t, "meeting.json", text, "work")
	var before, after stdruntime.MemStats
	stdruntime.ReadMemStats(&before)
	r := rand.New(rand.NewPCG(uint64(n), 5))
	m := runtime.New(v, runtime.Options{})
	var started []runtime.Command
	take := func(commands []runtime.Command) {
		for _, c := range commands {
			if c.Kind == runtime.Start {
				started = append(started, c)
			}
		}
	}
	take(m.Step(runtime.Event{Kind: runtime.RunBegan}))
	for len(started) > 0 {
		at, last := r.IntN(len(started)), len(started)-1
		c := started[at]
		started[at], started = started[last], started[:last]
		e := runtime.Event{Kind: runtime.Ended, Try: runtime.Try{Call: c.Call, Attempt: c.Attempt}, Value: any(1.0), Route: -1}
		if of.fail && c.Of.FailureRoute() >= 0 {
			e.Value, e.Failure = nil, &runtime.Failure{Code: "declined"}
		}
		if method := c.Of.Method.String(); method == "merge" || method == "assign" {
			e.Value = map[string]any{fmt.Sprint("m", c.Call): map[string]any{"x": 1.0}}
		}
		take(m.Step(e))
	}
	stdruntime.ReadMemStats(&after)
	if !m.Over() {
		t.Fatal("the run didn't end")
	}
	return after.TotalAlloc - before.TotalAlloc
}
