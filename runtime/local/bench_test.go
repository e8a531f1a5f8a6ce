//go:build linux

package local_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/activity"
	"github.com/obelus-dev/obelus/runtime/journal"
	"github.com/obelus-dev/obelus/runtime/local"
)

// Calls a second of whole runs, eight at a time, whose activities end at once:
// without a journal, with one, and of a bare loop that appends the bytes of that
// very journal and waits for the disk after the same records (S8.6). The three take
// turns, so that all have the same disk, and what counts is the median: others
// may use that disk, too.
func BenchmarkRun(b *testing.B) {
	for _, shape := range []struct {
		name  string
		calls int
		reads func(i int) int
	}{
		{"chain-1000", 1000, func(i int) int { return i - 1 }},
		{"fan-10000", 10_000, func(int) int { return 0 }},
	} {
		b.Run(shape.name, func(b *testing.B) {
			v := numbers(b, shape.calls, shape.reads)
			set, err := activity.Open(nil, map[string]activity.Func{"work": func(context.Context, activity.Request) (any, error) { return 1.0, nil }}, activity.Options{})
			if err != nil {
				b.Fatal(err)
			}
			defer set.Close()
			folder := b.TempDir()
			var took [3][]time.Duration
			records, waits, turn := 0, 0, 0
			for b.Loop() {
				turn++
				took[0] = append(took[0], timed(b, func() error { return whole(v, set, nil) }))

				path := filepath.Join(folder, fmt.Sprintf("%d.jsonl", turn))
				w, err := journal.Create(path, map[string]string{"title": shape.name})
				if err != nil {
					b.Fatal(err)
				}
				kept := &counted{Writer: w}
				took[1] = append(took[1], timed(b, func() error { return whole(v, set, kept) }))
				if err := w.Close(); err != nil {
					b.Fatal(err)
				}
				batches := kept.batches(b, path)
				bare, err := os.Create(path + ".bare")
				if err != nil {
					b.Fatal(err)
				}
				took[2] = append(took[2], timed(b, func() error { return appendAll(bare, batches) }))
				bare.Close()
				os.Remove(bare.Name())
				os.Remove(path)
				records, waits = records+shape.calls, waits+len(batches)
			}
			var rate [3]float64
			for i := range took {
				slices.Sort(took[i])
				rate[i] = float64(shape.calls) / took[i][len(took[i])/2].Seconds()
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(rate[0], "without/s")
			b.ReportMetric(rate[1], "journal/s")
			b.ReportMetric(rate[2], "bare/s")
			b.ReportMetric(100*rate[1]/rate[2], "%bare")
			b.ReportMetric(float64(records)/float64(waits), "records/sync")
		})
	}
}

// numbers makes a plan whose call i, but for the first, reads what another wrote.
func numbers(b *testing.B, n int, reads func(i int) int) *analyzer.Verified {
	var text strings.Builder
	text.WriteString("tools: {work: {additionalProperties: true}}\ncalls:\n- {_tool: work, _outputPath: r0}\n")
	for i := 1; i < n; i++ {
		fmt.Fprintf(&text, "- {_tool: work, x: †state.r%d, _outputPath: r%d}\n", reads(i), i)
	}
	p, found := compiler.Compile(source.NewFile("plan.yaml", []byte(text.String())), compiler.Options{Functions: []string{"work"}})
	v, found := analyzer.Analyze(p, found, analyzer.Config{})
	if v == nil {
		b.Fatal(found[0].Message)
	}
	return v
}

func timed(b *testing.B, work func() error) time.Duration {
	b.Helper()
	start := time.Now()
	if err := work(); err != nil {
		b.Fatal(err)
	}
	return time.Since(start)
}

func whole(v *analyzer.Verified, set *activity.Set, kept *counted) error {
	o := local.Options{Options: runtime.Options{Parallel: 8}, Activities: set}
	if kept != nil {
		o.Journal = kept
	}
	outcome, err := local.Run(context.Background(), v, o)
	if err == nil && outcome.Status != "done" {
		err = fmt.Errorf("the run is %s: %v", outcome.Status, outcome.Errors)
	}
	return err
}

// Counted is a journal that notes after how many records each wait for the disk
// came.
type counted struct {
	*journal.Writer
	pending int
	waits   []int
}

func (c *counted) Append(event []byte) error {
	c.pending++
	return c.Writer.Append(event)
}

func (c *counted) Sync() error {
	c.waits, c.pending = append(c.waits, c.pending), 0
	return c.Writer.Sync()
}

// batches are the bytes that each wait for the disk was for.
func (c *counted) batches(b *testing.B, path string) [][]byte {
	b.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	lines := slices.Collect(bytes.Lines(text))[1:] // the header was there before the run
	var batches [][]byte
	for _, n := range append(c.waits, c.pending) {
		if n > 0 {
			batches, lines = append(batches, bytes.Join(lines[:n], nil)), lines[n:]
		}
	}
	if len(lines) > 0 {
		b.Fatalf("%d records were never waited for", len(lines))
	}
	return batches
}

// appendAll is the least that keeping those bytes takes. It waits as the journal
// does: for the data, and the size of the file with it.
func appendAll(f *os.File, batches [][]byte) error {
	for _, batch := range batches {
		if _, err := f.Write(batch); err != nil {
			return err
		}
		if err := unix.Fdatasync(int(f.Fd())); err != nil {
			return err
		}
	}
	return nil
}
