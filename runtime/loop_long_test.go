package runtime_test

import (
	"fmt"
	"math/rand/v2"
	goruntime "runtime"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/testdata/amount"
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

// streamIn streams a solution in pieces of 16 bytes into a new run, and lets what starts
// come to its end, if it is to. It gives how many calls were done.
func streamIn(t testing.TB, v *analyzer.Verified, solution string, ending bool) (done int) {
	m := runtime.New(v, runtime.Options{Planned: true})
	var coming []runtime.Event
	step := func(e runtime.Event) {
		for _, c := range m.Step(e) {
			switch {
			case c.Kind == runtime.Start && ending:
				coming = append(coming, runtime.Event{Kind: runtime.Ended, Try: runtime.Try{Tick: c.Tick, Call: c.Call, Attempt: c.Attempt}, Value: 1.0, Route: -1})
			case c.Kind == runtime.Finish:
				done = c.Outcome.Counts.Done
			}
		}
	}
	end := func(left int) {
		for len(coming) > left {
			e := coming[0]
			coming = coming[1:]
			step(e)
		}
	}
	step(runtime.Event{Kind: runtime.RunBegan})
	for rest := solution; rest != ""; {
		size := min(len(rest), 16)
		step(runtime.Event{Kind: runtime.Streamed, Try: runtime.Try{Tick: 1}, Text: rest[:size]})
		rest = rest[size:]
		end(3)
	}
	if ending {
		step(runtime.Event{Kind: runtime.Closed, Try: runtime.Try{Tick: 1}})
		end(0)
	}
	return done
}

func longPlan(t testing.TB) *analyzer.Verified {
	v, why := compileGenerated(t, map[string]any{"plan": "long", "tools": toolDefinitions(), "input": map[string]any{"size": 1.0}, "state": map[string]any{"v0": 1.0, "v": 1.0}, "calls": []any{}})
	if v == nil {
		t.Fatal(why)
	}
	return v
}

// A long solution that comes in a few bytes at a time runs to its end.
func TestLongSolutions(t *testing.T) {
	t.Parallel()
	v := longPlan(t)
	for _, n := range []int{100, 300, 1000}[:amount.Of(1, 2, 3)] {
		for _, one := range longSolutions {
			if done := streamIn(t, v, longSolution(n, one.call), true); done != n {
				t.Errorf("of %d calls, %s, %d are done", n, one.name, done)
			}
		}
	}
}

// EXECUTION.md#the-planning-loop: an answer four times as long takes four times as much, however small its pieces
// are: nothing of it is compiled or judged again. Whoever did that would make as many
// copies, so that what is allocated is counted.
func TestStreamedCostIsLinear(t *testing.T) {
	v := longPlan(t)
	for _, one := range longSolutions {
		cost := func(n int) (bytes, objects float64) {
			solution := longSolution(n, one.call)
			var before, after goruntime.MemStats
			goruntime.ReadMemStats(&before)
			streamIn(t, v, solution, false)
			goruntime.ReadMemStats(&after)
			return float64(after.TotalAlloc - before.TotalAlloc), float64(after.Mallocs - before.Mallocs)
		}
		cost(50)
		bytes, objects := cost(250)
		moreBytes, moreObjects := cost(1000)
		if t.Logf("%s: 250 calls take %.0f bytes, %.0f objects; 1,000 take %.0f, %.0f", one.name, bytes, objects, moreBytes, moreObjects); moreBytes > 6*bytes || moreObjects > 6*objects {
			t.Errorf("%s: four times as many calls take %.1f times as many bytes, and %.1f times as many objects", one.name, moreBytes/bytes, moreObjects/objects)
		}
	}
}

// A solution in which too much is wrong to be read on keeps the calls that could be read
// before, in pieces as in one.
func TestSolutionsWithTooManyFaults(t *testing.T) {
	const faulty = 1100
	var text strings.Builder
	text.WriteString(`{"calls":[{"_tool":"fetch","_outputPath":"a"}`)
	for i := range faulty {
		fmt.Fprintf(&text, `,{"_tool":"fetch","n":1,"n":%d}`, i)
	}
	text.WriteString(`],"output":true}`)
	var first map[string]any
	for _, breaks := range []func(string) []string{inOnePiece, callwise} {
		r := &simulator{t: t, verified: longPlan(t), solutions: []string{text.String(), noMore, noMore}, breaks: breaks, act: perform, order: rand.New(rand.NewPCG(1, 1))}
		r.options.Planned = true
		if out := r.run(); out.Counts.Done != 1 || out.Counts.Failed == 0 {
			t.Errorf("%+v", out.Counts)
		}
		if first == nil {
			first = r.ending()
		}
		if differs := difference(r.ending(), first); differs != "" {
			t.Errorf("in pieces,\n%s", differs)
		}
	}
}
