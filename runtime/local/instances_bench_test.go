package local_test

import (
	"context"
	"fmt"
	goruntime "runtime"
	"testing"
	"time"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/activity"
	"github.com/obelus-dev/obelus/runtime/local"
)

// madeUp are instances that are made as they are asked for.
type madeUp struct {
	n, of int
	whole func() // the last has been handed out
}

func (m *madeUp) Next(most int) (next []runtime.Instance, last bool, err error) {
	for ; len(next) < most && m.n < m.of; m.n++ {
		next = append(next, runtime.Instance{ID: fmt.Sprint("n", m.n), Input: map[string]any{"n": float64(m.n)}})
	}
	if m.n == m.of {
		m.whole()
	}
	return next, m.n == m.of, nil
}

// heap is what is live.
func heap() float64 {
	goruntime.GC()
	var m goruntime.MemStats
	goruntime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// LANGUAGE.md#instances: 100,000 instances of a plan of five calls in one run. The memory is what
// is live at most (seen ten times on the way, and at the end) beyond the results,
// which hold the states: those are weighed by themselves when the run is over.
func BenchmarkInstances(b *testing.B) {
	const many = 100_000
	text := "calls:\n- {_tool: work, x: †input.n, _outputPath: a}\n- {_tool: work, x: †state.a, _outputPath: b}\n- {_tool: work, x: †state.a, _outputPath: c}\n" +
		"- {_tool: work, x: †state.b, y: †state.c, _outputPath: d}\n- {_tool: work, x: †state.d, _outputPath: e}\noutput: †state.e\n"
	p, found := compiler.Compile(source.NewFile("plan.yaml", []byte(text)), compiler.Options{Functions: []string{"work"}, Instances: true})
	analysis := analyzer.Analyze(p, found, analyzer.Config{})
	v, found := analysis.Verified, analysis.Findings
	if v == nil {
		b.Fatal(found)
	}
	set, err := activity.Open(nil, map[string]activity.Func{"work": func(_ context.Context, r activity.Request) (any, error) { return r.Params["x"], nil }}, activity.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer set.Close()
	for _, weighed := range []bool{false, true} {
		name := "speed"
		if weighed {
			name = "memory"
		}
		b.Run(name, func(b *testing.B) {
			var first, read, took time.Duration
			var peak, states float64
			for b.Loop() {
				before, ended := heap(), 0
				start := time.Now()
				first, peak = 0, 0
				from := &madeUp{of: many, whole: func() { read = time.Since(start) }}
				outcome, err := local.Run(context.Background(), v, local.Options{
					Options: runtime.Options{Joining: true, Parallel: 8}, Activities: set, Instances: from,
					Observe: func(_ time.Duration, c runtime.Command) {
						if c.Kind != runtime.Leave {
							return
						}
						if ended++; ended == 1 {
							first = time.Since(start)
						}
						if weighed && ended%(many/10) == 0 {
							peak = max(peak, heap()-before)
						}
					},
				})
				if err != nil || outcome.Status != "done" || len(outcome.Instances) != many {
					b.Fatal(err, outcome.Status)
				}
				took = time.Since(start)
				states = heap() - before
				goruntime.KeepAlive(outcome)
			}
			b.ReportMetric(0, "ns/op")
			if weighed {
				b.ReportMetric(peak/many, "B/instance")
				b.ReportMetric(states/many, "B/result")
				b.ReportMetric((peak-states)/many, "B/beyond")
				return
			}
			b.ReportMetric(5*many/took.Seconds(), "calls/s")
			b.ReportMetric(first.Seconds()*1000, "ms/first")
			b.ReportMetric(read.Seconds()*1000, "ms/read")
		})
	}
}
