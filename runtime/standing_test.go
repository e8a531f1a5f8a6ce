package runtime_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/request"
)

// EXECUTION.md#the-carried-plan: a call that writes nothing is told to the next requests, with its parameters and
// what came of it: a model that makes again what it isn't told of makes each of 72 once in 25 ticks,
// and requests don't grow with it. Whether the plan is carried makes no difference,
// though each solution leaves the calls before it out.
func TestWhatWroteNothingIsTold(t *testing.T) {
	const orders = 72 // in 25 ticks
	tool := `{"type": "tool", "tool": {"refund": {"type": "object", "properties": {"order": {"type": "string"}}, "required": ["order"]}}}`
	for _, document := range []string{`[` + tool + `]`, `[` + tool + `, {"type": "plan", "plan": []}]`} {
		m := runtime.New(verify(t, document), runtime.Options{Planned: true})
		made, longest := map[string]int{}, 0
		pending := []runtime.Event{{Kind: runtime.RunBegan}}
		for len(pending) > 0 {
			commands := m.Step(pending[0])
			pending = pending[1:]
			for _, c := range commands {
				switch c.Kind {
				case runtime.Start:
					made[c.Params["order"].(string)]++
					pending = append(pending, runtime.Event{Kind: runtime.Ended, Try: runtime.Try{Tick: c.Tick, Call: c.Call, Attempt: c.Attempt}, Route: -1, Value: strings.Repeat("paid ", 1000)})
				case runtime.Plan:
					context := string(request.Append(nil, c.Request.Messages))
					longest = max(longest, len(context))
					solution := `{"calls": [], "output": "all"}`
					if next := told(t, context); next < orders {
						const call = `{"_tool": "refund", "order": "o%d"}`
						solution = fmt.Sprintf(`{"calls": [`+call+`, `+call+`, `+call+`], "output": null}`, next, next+1, next+2)
					}
					pending = append(pending, runtime.Event{Kind: runtime.Streamed, Try: runtime.Try{Tick: c.Tick}, Text: solution}, runtime.Event{Kind: runtime.Closed, Try: runtime.Try{Tick: c.Tick}})
				case runtime.Finish:
					if c.Outcome.Status != runtime.RunDone {
						t.Errorf("%s: %s %s", document, c.Outcome.Status, c.Outcome.Reason)
					}
				}
			}
		}
		if len(made) != orders {
			t.Errorf("%s: %d of %d refunds were made", document, len(made), orders)
		}
		for order, times := range made {
			if times != 1 {
				t.Errorf("%s: %s was refunded %d times", document, order, times)
			}
		}
		if longest > 45_000 {
			t.Errorf("%s: a request has %d bytes", document, longest)
		}
	}
}

// told counts the refunds of which a request tells.
func told(t *testing.T, context string) int {
	t.Helper()
	var messages []struct {
		Meta struct {
			Settled []struct {
				Call   map[string]string
				Status string
			}
			Earlier map[string]int
		}
	}
	if err := json.Unmarshal([]byte(context), &messages); err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, m := range messages {
		count += m.Meta.Earlier["refund"]
		for _, one := range m.Meta.Settled {
			if one.Status != "done" || one.Call["_tool"] != "refund" || one.Call["order"] != fmt.Sprint("o", count) {
				t.Fatalf("call %d: %+v", count, one)
			}
			count++
		}
	}
	return count
}
