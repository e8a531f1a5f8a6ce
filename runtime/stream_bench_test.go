package runtime_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/runtime"
)

// longSolutions are the calls of solutions that may be of any length.
var longSolutions = []struct {
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
}

func longSolution(n int, call func(i int) string) string {
	var text strings.Builder
	text.WriteString(`{"calls":[`)
	for i := range n {
		if i > 0 {
			text.WriteByte(',')
		}
		text.WriteString(call(i + 1))
	}
	text.WriteString(`],"output":true}`)
	return strings.ReplaceAll(text.String(), "†", "\\u2020") // so that any piece is whole characters
}

// What a solution costs that comes in a few bytes at a time (S11.4).
func BenchmarkStreamed(b *testing.B) {
	v, why := compileGenerated(b, map[string]any{"plan": "long", "tools": toolDefinitions(), "input": map[string]any{"size": 1.0}, "state": map[string]any{"v0": 1.0, "v": 1.0}, "calls": []any{}})
	if v == nil {
		b.Fatal(why)
	}
	for _, one := range longSolutions {
		for _, n := range []int{1000, 3000, 10_000} {
			solution := longSolution(n, one.call)
			b.Run(fmt.Sprint(one.name, "/", n), func(b *testing.B) {
				for b.Loop() {
					m := runtime.New(v, runtime.Options{Planned: true})
					var coming []runtime.Event
					done := 0
					step := func(e runtime.Event) {
						for _, c := range m.Step(e) {
							switch c.Kind {
							case runtime.Start:
								coming = append(coming, runtime.Event{Kind: runtime.Ended, Tick: c.Tick, Call: c.Call, Attempt: c.Attempt, Value: 1.0, Route: -1})
							case runtime.Finish:
								done = c.Outcome.Counts.Done
							}
						}
					}
					step(runtime.Event{Kind: runtime.Begun})
					for rest := solution; rest != ""; {
						size := min(len(rest), 16)
						step(runtime.Event{Kind: runtime.Streamed, Tick: 1, Text: rest[:size]})
						rest = rest[size:]
						for len(coming) > 3 {
							e := coming[0]
							coming = coming[1:]
							step(e)
						}
					}
					step(runtime.Event{Kind: runtime.Closed, Tick: 1})
					for len(coming) > 0 {
						e := coming[0]
						coming = coming[1:]
						step(e)
					}
					if done != n {
						b.Fatal("only so many are done:", done)
					}
				}
			})
		}
	}
}
