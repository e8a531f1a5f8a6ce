package runtime_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/obelus-dev/obelus/runtime"
)

// A long solution that comes in a few bytes at a time runs to its end (S8.4,
// S11.1). How long that takes is told, not judged.
func TestLongSolutions(t *testing.T) {
	sizes := []int{100, 300, 1000}[:amount(1, 2, 3)]
	for _, n := range sizes {
		for _, one := range []struct {
			name string
			call func(i int) string
		}{
			{"chain", func(i int) string {
				return fmt.Sprintf(`{"_tool":"fetch","shape":"number","from":"†state.v%d || 1","_outputPath":"v%d"}`, i-1, i)
			}},
			{"list", func(i int) string {
				return fmt.Sprintf(`{"_tool":"fetch","shape":"number","n":%d,"_outputPath":"list","_outputMethod":"push"}`, i)
			}},
			{"apart", func(i int) string {
				return fmt.Sprintf(`{"_tool":"fetch","shape":"number","n":%d,"from":"†input.size","_outputPath":"v%d"}`, i, i)
			}},
		} {
			t.Run(fmt.Sprint(one.name, " of ", n), func(t *testing.T) { streamLong(t, n, one.call) })
		}
	}
}

func streamLong(t *testing.T, n int, call func(i int) string) {
	v, why := compileGenerated(t, map[string]any{"plan": "long", "tools": toolDefinitions(), "input": map[string]any{"size": 1.0}, "state": map[string]any{"v": 1.0}, "calls": []any{}})
	if v == nil {
		t.Fatal(why)
	}
	var text strings.Builder
	text.WriteString(`{"calls":[`)
	for i := range n {
		if i > 0 {
			text.WriteByte(',')
		}
		text.WriteString(call(i + 1))
	}
	text.WriteString(`],"output":true}`)
	order := rand.New(rand.NewPCG(1, uint64(n)))
	solution := strings.ReplaceAll(text.String(), "†", "\\u2020") // so that any piece is whole characters
	m := runtime.New(v, runtime.Options{Planned: true})
	var coming []runtime.Event
	var out *runtime.Outcome
	begun, largest := time.Now(), time.Duration(0)
	step := func(e runtime.Event) {
		at := time.Now()
		for _, c := range m.Step(e) {
			switch c.Kind {
			case runtime.Start:
				coming = append(coming, runtime.Event{Kind: runtime.Ended, Tick: c.Tick, Call: c.Call, Attempt: c.Attempt, Value: 1.0, Route: -1})
			case runtime.Finish:
				out = c.Outcome
			}
		}
		largest = max(largest, time.Since(at))
	}
	step(runtime.Event{Kind: runtime.Begun})
	for len(solution) > 0 {
		size := min(len(solution), 1+order.IntN(16))
		step(runtime.Event{Kind: runtime.Streamed, Tick: 1, Text: solution[:size]})
		solution = solution[size:]
		for len(coming) > 3 {
			e := coming[0]
			coming = coming[1:]
			step(e)
		}
	}
	streamed := time.Since(begun)
	step(runtime.Event{Kind: runtime.Closed, Tick: 1})
	for len(coming) > 0 {
		e := coming[0]
		coming = coming[1:]
		step(e)
	}
	if out == nil || out.Counts.Done != n {
		t.Fatalf("%+v", out)
	}
	t.Logf("%v, of which %v streaming; the longest step took %v", time.Since(begun).Round(time.Millisecond), streamed.Round(time.Millisecond), largest.Round(time.Millisecond))
}
