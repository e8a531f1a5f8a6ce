package runtime_test

import (
	goruntime "runtime"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/runtime"
)

// EXECUTION.md#the-carried-plan: a solution that lists calls again which are done costs in proportion to
// what it lists and what that wrote, however much else has been written: four times as many calls take four times as
// much. What is allocated is counted.
func TestRepeatedCostIsLinear(t *testing.T) {
	v := longPlan(t)
	for _, one := range longSolutions {
		if one.name == "list" {
			continue // what they all write into has to be made anew for each
		}
		cost := func(n int) float64 {
			solution := strings.Replace(longSolution(n, one.call), `"output":true`, `"output":null`, 1)
			m := runtime.New(v, runtime.Options{Planned: true})
			var before, after goruntime.MemStats
			var coming []runtime.Event
			repeated := 0
			step := func(e runtime.Event) {
				for _, c := range m.Step(e) {
					switch c.Kind {
					case runtime.Start:
						coming = append(coming, runtime.Event{Kind: runtime.Ended, Try: runtime.Try{Tick: c.Tick, Call: c.Call, Attempt: c.Attempt}, Route: -1, Value: 1.0})
					case runtime.Repeat:
						repeated++
					}
				}
			}
			step(runtime.Event{Kind: runtime.RunBegan})
			for tick := 1; tick <= 2; tick++ {
				goruntime.ReadMemStats(&before)
				for at := 0; at < len(solution); at += 100 {
					step(runtime.Event{Kind: runtime.Streamed, Try: runtime.Try{Tick: tick}, Text: solution[at:min(at+100, len(solution))]})
				}
				goruntime.ReadMemStats(&after)
				for step(runtime.Event{Kind: runtime.Closed, Try: runtime.Try{Tick: tick}}); len(coming) > 0; {
					e := coming[0]
					coming = coming[1:]
					step(e)
				}
			}
			if repeated != n {
				t.Fatalf("%s: of %d calls %d are repeated", one.name, n, repeated)
			}
			return float64(after.TotalAlloc - before.TotalAlloc)
		}
		cost(50)
		few, many := cost(250), cost(1000)
		if t.Logf("%s: 250 calls take %.0f bytes; 1,000 take %.0f", one.name, few, many); many > 6*few {
			t.Errorf("%s: four times as many calls take %.1f times as much", one.name, many/few)
		}
	}
}
