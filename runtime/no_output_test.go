package runtime_test

import (
	"fmt"
	"testing"

	"github.com/obelus-dev/obelus/runtime"
)

// What is told of an output that comes to nothing costs in proportion to the calls on the
// way to it, however many of them share a path (S11.8): compare the times for one call.
func BenchmarkNoOutput(b *testing.B) {
	for _, n := range []int{500, 2000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var calls []any
			for range n {
				calls = append(calls, map[string]any{"_tool": "fetch", "x": "†input.x", "_outputPath": "a", "_outputMethod": "push"})
			}
			for range n {
				calls = append(calls, map[string]any{"_tool": "fetch", "x": "†state.a", "_outputPath": "b", "_outputMethod": "push"})
			}
			v, why := compileGenerated(b, map[string]any{"plan": "shared", "tools": toolDefinitions(), "calls": calls, "output": "†state.b"})
			if v == nil {
				b.Fatal(why)
			}
			for b.Loop() {
				m := runtime.New(v, runtime.Options{})
				commands := m.Step(runtime.Event{Kind: runtime.Begun})
				if end := commands[len(commands)-1].Outcome; end == nil || len(end.Errors) != 1 {
					b.Fatalf("ends with %+v", end)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*2*n), "ns/call")
		})
	}
}
