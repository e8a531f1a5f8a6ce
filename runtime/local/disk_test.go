package local_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/activity"
	"github.com/obelus-dev/obelus/runtime/local"
)

// A slowDisk is a journal that takes its time, and fails after so many waits.
type slowDisk struct {
	mu      sync.Mutex
	pending []int        // calls whose end was appended
	onDisk  map[int]bool // calls whose end is on disk
	waiting bool
	left    int
	stops   int // records that the run was to stop
}

func (d *slowDisk) Append(e *runtime.Event) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch e.Kind {
	case runtime.Ended:
		d.pending = append(d.pending, e.Call)
	case runtime.Stopped:
		d.stops++
	}
	return nil
}

func (d *slowDisk) Sync() error {
	d.mu.Lock()
	batch := d.pending
	d.pending, d.waiting = nil, true
	d.left--
	failed := d.left < 0
	d.mu.Unlock()
	time.Sleep(5 * time.Millisecond)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.waiting = false
	if failed {
		return errors.New("no space left")
	}
	for _, call := range batch {
		d.onDisk[call] = true
	}
	return nil
}

// EXECUTION.md#journals: a call settles, and what reads it starts, only when its end is on disk. When the
// disk fails nothing more is done.
func TestNothingBeforeTheDisk(t *testing.T) {
	const calls = 60
	failures := 0
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 86))
		var text strings.Builder
		text.WriteString("tools: {work: {additionalProperties: true}}\ncalls:\n")
		reads := make([]int, calls)
		for i := range calls {
			reads[i] = i - 1 - r.IntN(12)
			if reads[i] < 0 {
				fmt.Fprintf(&text, "- {_tool: work, _outputPath: r%d}\n", i)
			} else {
				fmt.Fprintf(&text, "- {_tool: work, x: †state.r%d, _outputPath: r%d}\n", reads[i], i)
			}
		}
		p, found := compiler.Compile(source.NewFile("plan.yaml", []byte(text.String())), compiler.Options{Functions: []string{"work"}})
		analysis := analyzer.Analyze(p, found, analyzer.Config{})
		v, found := analysis.Verified, analysis.Findings
		if v == nil {
			t.Fatal(found[0].Message)
		}
		synctest.Test(t, func(t *testing.T) {
			set, err := activity.Open(nil, map[string]activity.Func{"work": func(_ context.Context, q activity.Request) (any, error) {
				time.Sleep(time.Duration(len(q.Call)*7%5) * time.Millisecond)
				return 1.0, nil
			}}, activity.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer set.Close()
			disk := &slowDisk{onDisk: map[int]bool{}, left: 1000}
			if seed%4 == 0 {
				disk.left = r.IntN(12)
			}
			broken := false
			outcome, err := local.Run(context.Background(), v, local.Options{
				Options: runtime.Options{Parallel: 1 + r.IntN(8)}, Activities: set, Journal: disk,
				Observe: func(_ time.Duration, c runtime.Command) {
					disk.mu.Lock()
					defer disk.mu.Unlock()
					switch broken = broken || disk.left < 0 && !disk.waiting; {
					case broken:
						t.Errorf("seed %d: something was done after the disk had failed", seed)
					case c.Kind == runtime.Settle && !disk.onDisk[c.Call]:
						t.Errorf("seed %d: call %d settled before its end was on disk", seed, c.Call)
					case c.Kind == runtime.Start && reads[c.Call] >= 0 && !disk.onDisk[reads[c.Call]]:
						t.Errorf("seed %d: call %d started before what it reads was on disk", seed, c.Call)
					}
				},
			})
			switch failed := disk.left < 0; {
			case failed && (err == nil || !strings.Contains(err.Error(), "no space left")):
				t.Errorf("seed %d: the disk failed, and the run gave %v", seed, err)
			case failed:
				failures++
			case err != nil || outcome.Status != "done" || len(disk.onDisk) != calls:
				t.Errorf("seed %d: %v, %d ends on disk", seed, err, len(disk.onDisk))
			}
		})
	}
	if failures == 0 {
		t.Error("the disk never failed")
	}
}

// EXECUTION.md#stopping: an interrupt that comes while the disk is waited for is recorded once, and what
// runs is cancelled when that is on disk.
func TestInterruptWhileTheDiskWorks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(12*time.Millisecond, cancel) // the end of a is on its way
		disk := &slowDisk{onDisk: map[int]bool{}, left: 1000}
		outcome, story := run(t, ctx, `
calls:
- {_id: a, _tool: quick, _outputPath: a}
- {_id: b, _tool: endless}
- {_id: c, _tool: quick, x: †state.a}
`, map[string]activity.Func{"quick": after(5 * time.Millisecond), "endless": after(time.Hour)}, local.Options{Journal: disk})
		want := "5ms start a\n5ms start b\n15ms done a\n15ms start c\n20ms cancelled b\n20ms cancelled c"
		if outcome.Reason != "interrupted" || disk.stops != 1 || story != want {
			t.Errorf("%+v, told to stop %d times\n%s", outcome, disk.stops, story)
		}
	})
}
