//go:build linux

package local_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/activity"
	"github.com/obelus-dev/obelus/runtime/journal"
	"github.com/obelus-dev/obelus/runtime/local"
	"github.com/obelus-dev/obelus/runtime/session"
	"golang.org/x/sys/unix"
)

// Calls a second of runs, eight at a time, whose activities end at once: without a
// journal, with one, and of a bare loop that appends the bytes of that very journal
// and waits for the disk after the same records. Others may use the disk and
// the processors, too. So the run pauses every now and then for the loop to do the
// same, both having the same machine, and what counts is the median of what it takes
// from the end of one wait to the end of the next.
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
			path := filepath.Join(b.TempDir(), "run.jsonl")
			var without []float64
			var both race
			for b.Loop() {
				start := time.Now()
				if err := whole(v, set, nil); err != nil {
					b.Fatal(err)
				}
				without = append(without, float64(shape.calls)/time.Since(start).Seconds())
				if err := both.begin(path, func(kept *paced) error { return whole(v, set, kept) }); err != nil {
					b.Fatal(err)
				}
			}
			perWait := float64(both.records) / float64(len(both.run))
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(median(without), "without/s")
			b.ReportMetric(perWait/median(both.run), "journal/s")
			b.ReportMetric(perWait/median(both.bare), "bare/s")
			b.ReportMetric(100*median(both.bare)/median(both.run), "%bare")
			b.ReportMetric(perWait, "records/sync")
		})
	}
}

func median(of []float64) float64 {
	slices.Sort(of)
	return of[len(of)/2]
}

// A race is between a run and the bare loop: how many seconds each has taken for each
// wait.
type race struct {
	run, bare []float64
	records   int
}

// begin lets a run with a journal and the bare loop take turns.
func (r *race) begin(path string, run func(kept *paced) error) error {
	w, err := journal.Create(path, map[string]string{"title": "race"})
	if err != nil {
		return err
	}
	defer os.Remove(path)
	defer w.Close()
	text, err := os.Open(path)
	if err != nil {
		return err
	}
	defer text.Close()
	if _, err := text.Seek(0, io.SeekEnd); err != nil { // the header was there before the run
		return err
	}
	bare, err := os.Create(path + ".bare")
	if err != nil {
		return err
	}
	defer os.Remove(bare.Name())
	defer bare.Close()
	return run(&paced{Writer: w, race: r, text: text, file: bare, last: time.Now()})
}

// A paced journal makes the run pause after so many waits for the disk.
type paced struct {
	*journal.Writer
	*race
	text, file *os.File
	last       time.Time // the end of the last wait
	waits      []float64 // of this turn
}

func (p *paced) Append(e *runtime.Event) error {
	body, err := json.Marshal(session.Record{Event: e})
	if err != nil {
		return err
	}
	return p.Writer.Append(body)
}

func (p *paced) Sync() error {
	const turn = 25
	if err := p.Writer.Sync(); err != nil {
		return err
	}
	now := time.Now()
	p.waits = append(p.waits, now.Sub(p.last).Seconds())
	p.last = now
	if len(p.waits) < turn {
		return nil
	}
	text, err := io.ReadAll(p.text)
	if err != nil {
		return err
	}
	for i, batch := range writes(text) {
		start := time.Now()
		if err := appendAndWait(p.file, batch); err != nil {
			return err
		}
		if i > 0 { // what had ended in a pause came for nothing
			p.bare = append(p.bare, time.Since(start).Seconds())
			p.run = append(p.run, p.waits[i])
			p.records += bytes.Count(batch, []byte("\n"))
		}
	}
	p.waits, p.last = p.waits[:0], time.Now()
	return nil
}

// writes are the records of a journal that went to disk together.
func writes(text []byte) [][]byte {
	var batches [][]byte
	var last []byte
	for line := range bytes.Lines(text) {
		_, rest, _ := bytes.Cut(line, []byte(`"synced":`))
		synced, _, _ := bytes.Cut(rest, []byte(","))
		if !bytes.Equal(synced, last) {
			batches = append(batches, nil)
		}
		at := len(batches) - 1
		batches[at], last = append(batches[at], line...), synced
	}
	return batches
}

// numbers makes a plan whose call i, but for the first, reads what another wrote.
func numbers(b *testing.B, n int, reads func(i int) int) *analyzer.Verified {
	var text strings.Builder
	text.WriteString("tools: {work: {additionalProperties: true}}\ncalls:\n- {_tool: work, _outputPath: r0}\n")
	for i := 1; i < n; i++ {
		fmt.Fprintf(&text, "- {_tool: work, x: †state.r%d, _outputPath: r%d}\n", reads(i), i)
	}
	p, found := compiler.Compile(source.NewFile("plan.yaml", []byte(text.String())), compiler.Options{Functions: []string{"work"}})
	analysis := analyzer.Analyze(p, found, analyzer.Config{})
	v, found := analysis.Verified, analysis.Findings
	if v == nil {
		b.Fatal(found[0].Message)
	}
	return v
}

func whole(v *analyzer.Verified, set *activity.Set, kept *paced) error {
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

// appendAndWait is the least that keeping some bytes takes. It waits as the journal
// does: for the data, and the size of the file with it.
func appendAndWait(f *os.File, batch []byte) error {
	if _, err := f.Write(batch); err != nil {
		return err
	}
	return unix.Fdatasync(int(f.Fd()))
}
