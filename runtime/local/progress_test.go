package local_test

import (
	"context"
	"math"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/activity"
	"github.com/obelus-dev/obelus/runtime/local"
)

// kinds is a journal that only knows which events it was given.
type kinds struct{ events int }

func (k *kinds) Append(*runtime.Event) error { k.events++; return nil }
func (k *kinds) Sync() error                 { return nil }

// EXECUTION.md#time-and-resources: observers are told how far a call is, however often it says so: some times a second,
// forward only, in a few words, while it is at work; and the journal isn't.
func TestProgressIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, found := compiler.Compile(source.NewFile("plan.yaml", []byte("calls: [{_tool: copy, _retry: 2}, {_tool: copy}]")), compiler.Options{Functions: []string{"copy"}})
		v := analyzer.Analyze(p, found, analyzer.Config{}).Verified
		var late atomic.Value
		words := strings.Repeat("\x1b[31m\xffé", 1000)
		copies := func(_ context.Context, r activity.Request) (any, error) {
			r.Progress(math.NaN(), 0, "")
			r.Progress(math.Inf(1), 0, "")
			r.Progress(-1, 0, "")
			for i := range 10_000 { // a thousand a second
				r.Progress(float64(i), 5000, words)
				r.Progress(float64(i)/2, 5000, "backwards")
				time.Sleep(time.Millisecond)
			}
			late.Store(r.Progress)
			if r.Call == "copy#1" && r.Attempt == 1 {
				return nil, &activity.Failure{Code: activity.CodeError, Message: "again"}
			}
			return "done", nil
		}
		set, err := activity.Open(nil, map[string]activity.Func{"copy": copies}, activity.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer set.Close()
		kept, told := &kinds{}, 0
		at, done := map[string]int{}, map[string]float64{}
		outcome, err := local.Run(t.Context(), v, local.Options{Activities: set, Journal: kept, Observe: func(_ time.Duration, c runtime.Command) {
			switch c.Kind {
			case runtime.Start:
				at[c.Of.Name], done[c.Of.Name] = c.Attempt, -1
				if over, ok := late.Load().(func(done, total float64, message string)); ok {
					over(1e6, 0, "after its end")
				}
			case runtime.Tried, runtime.Settle:
				delete(at, c.Of.Name)
			case runtime.Progressed:
				told++
				said := c.Progress
				if at[c.Of.Name] != c.Attempt || said.Done <= done[c.Of.Name] || said.Total != 0 && said.Total != 5000 || said.Total < said.Done && said.Total != 0 {
					t.Errorf("%s, try %d: %+v after %v", c.Of.Name, c.Attempt, said, done[c.Of.Name])
				}
				if len(said.Message) > 300 || !utf8.ValidString(said.Message) || said.Message == "backwards" {
					t.Errorf("%q", said.Message)
				}
				done[c.Of.Name] = said.Done
			}
		}})
		if err != nil || outcome.Status != runtime.RunDone {
			t.Fatal(outcome, err)
		}
		if told < 100 || told > 3*52 { // three tries, five times a second for ten seconds
			t.Errorf("told %d times", told)
		}
		if kept.events > 10 {
			t.Errorf("the journal has %d events", kept.events)
		}
	})
}
