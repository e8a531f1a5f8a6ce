package runtime_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/runtime"
)

// benchShape makes a plan whose call i reads what some earlier calls wrote.
func benchShape(b *testing.B, n int, reads func(i int) []int, schema bool) *analyzer.Verified {
	tool := map[string]any{"type": "object", "additionalProperties": true}
	if schema {
		number := map[string]any{"type": "number"}
		tool = map[string]any{"type": "object", "properties": map[string]any{"p0": number, "p1": number, "_output": number}}
	}
	calls := make([]any, n)
	for i := range n {
		call := map[string]any{"_tool": "work", "_outputPath": fmt.Sprintf("†state.r%d", i)}
		for k, from := range reads(i) {
			call[fmt.Sprintf("p%d", k)] = fmt.Sprintf("†state.r%d", from)
		}
		calls[i] = call
	}
	text, err := json.Marshal(map[string]any{"tools": map[string]any{"work": tool}, "calls": calls})
	if err != nil {
		b.Fatal(err)
	}
	return verified(b, "bench.json", text, "work")
}

// BenchmarkMachine drives whole runs through Step, every activity ending at
// once with a number: parameters resolved, results logged, calls settled. The
// schema subbenchmarks also validate parameters and results.
func BenchmarkMachine(b *testing.B) {
	shapes := []struct {
		name  string
		n     int
		reads func(i int) []int
	}{
		{"chain-1000", 1000, func(i int) []int {
			if i == 0 {
				return nil
			}
			return []int{i - 1}
		}},
		{"fan-10000", 10_000, func(i int) []int {
			if i == 0 {
				return nil
			}
			return []int{0}
		}},
		{"layers-100x100", 10_000, func(i int) []int {
			if i < 100 {
				return nil
			}
			return []int{i - 100, i - 100 - i%100 + (i+1)%100}
		}},
	}
	for _, shape := range shapes {
		for _, schema := range []bool{false, true} {
			name := shape.name
			if schema {
				name += "/schema"
			}
			b.Run(name, func(b *testing.B) {
				v := benchShape(b, shape.n, shape.reads, schema)
				b.ReportAllocs()
				for b.Loop() {
					runNoOp(b, v)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(shape.n), "ns/call")
			})
		}
	}
}

// runNoOp runs a plan whose activities end at once, in the order in which they
// started. Of each it keeps no more than it must: what is measured is the machine.
func runNoOp(b *testing.B, v *analyzer.Verified) {
	m := runtime.New(v, runtime.Options{})
	var started []struct{ call, attempt int }
	take := func(commands []runtime.Command) {
		for _, c := range commands {
			if c.Kind == runtime.Start {
				started = append(started, struct{ call, attempt int }{c.Call, c.Attempt})
			}
		}
	}
	take(m.Step(runtime.Event{Kind: runtime.RunBegan}))
	for at := 0; at < len(started); at++ {
		take(m.Step(runtime.Event{Kind: runtime.Ended, Try: runtime.Try{Call: started[at].call, Attempt: started[at].attempt}, Value: 1.0, Route: -1}))
	}
	if !m.Over() {
		b.Fatal("the run didn't end")
	}
}
