package runtime_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/testdata/amount"
)

// Items that are done aren't run again by a carried plan, whatever became of their call and
// whichever call lists them: the nth of the same parameters stands for the nth, in any
// pieces, with kills, and going on from the record of any tick.
func TestItemsAreDoneOnce(t *testing.T) {
	t.Parallel()
	plans, count := amount.Of(15, 100, 5000), map[string]int{}
	for n := range plans {
		r := rand.New(rand.NewPCG(uint64(n), 31))
		path := []string{"", `, "_outputPath": "paid"`}[r.IntN(2)]
		collect := []string{"", `, "_onItemFailure": "collect"`}[r.IntN(2)]
		most := map[string]int{} // how often the list of a tick has a name
		var solutions []string
		for range 2 + r.IntN(3) {
			var calls []string
			listed := map[string]int{}
			for range 1 + r.IntN(3) {
				var list []string
				for range r.IntN(4) {
					name := string(rune('a' + r.IntN(5)))
					listed[name]++
					list = append(list, `"`+name+`"`)
				}
				calls = append(calls, fmt.Sprintf(`{"_tool": "pay", "_each": [%s], "to": "†item"%s%s}`, strings.Join(list, ", "), path, collect))
				if path != "" {
					break // two would be in conflict
				}
			}
			for name, times := range listed {
				most[name] = max(most[name], times)
			}
			solutions = append(solutions, fmt.Sprintf(`{"calls": [%s], "output": null}`, strings.Join(calls, ", ")))
		}
		solutions = append(solutions, `{"calls": [], "output": true}`)
		doc := map[string]any{"plan": "p", "calls": []any{}, "limits": map[string]any{"ticks": 20.0}, "tools": map[string]any{"pay": map[string]any{"properties": map[string]any{"to": map[string]any{"type": "string"}}, "annotations": map[string]any{"idempotentHint": true}}}}
		v, why := compileGenerated(t, doc)
		if v == nil {
			t.Fatal(why)
		}
		failing, at := r.IntN(3), 0
		// play goes on where so much is done already, and gives what was done and what a record
		// holds as each tick began.
		play := func(where string, v *analyzer.Verified, before map[string]int, kills int) (done map[int]map[string]int, records map[int]string) {
			so, running := maps.Clone(before), map[string]string{}
			done, records = map[int]map[string]int{}, map[int]string{}
			rr := &simulator{t: t, verified: v, solutions: solutions, order: rand.New(rand.NewPCG(uint64(n), uint64(kills))), kills: kills}
			rr.options.Planned = true
			rr.act = func(_ string, _ int, params map[string]any) (any, string, *failure) {
				if at++; at%3 < failing {
					return nil, "", &failure{Code: "error", Message: "no"}
				}
				return params["to"], "", nil
			}
			rr.watch = func(c runtime.Command) {
				key := fmt.Sprint(c.Tick, ":", c.Frame, ":", c.Call)
				switch c.Kind {
				case runtime.Start:
					running[key] = fmt.Sprint(c.Params["to"])
				case runtime.Settle:
					if name := running[key]; name != "" && c.Settlement.Status == runtime.Done {
						so[name]++
					}
				case runtime.Plan:
					if done[c.Tick] == nil { // it isn't asked to go on
						done[c.Tick], records[c.Tick] = maps.Clone(so), recordText(c.Request.Record(time.Duration.String))
					}
				}
			}
			rr.run()
			count["done before"] += rr.repeated
			for name, times := range so {
				if times > most[name] {
					t.Fatalf("plan %d%s: %q was paid %d times, and listed %d times at most:\n%s", n, where, name, times, most[name], strings.Join(solutions, "\n"))
				}
			}
			return done, records
		}
		done, records := play("", v, map[string]int{}, n%2)
		for _, tick := range slices.Sorted(maps.Keys(records)) {
			v, why := ofRecord(records[tick], false)
			if v == nil {
				t.Fatal(why)
			}
			play(fmt.Sprintf(", from the record of tick %d\n%s\n", tick, records[tick]), v, done[tick], 0)
			count["records"]++
		}
	}
	t.Log(count)
	if count["done before"] < plans {
		t.Error("too little happens")
	}
}
