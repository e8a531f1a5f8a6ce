package journal

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// call is the event of a call with 300 bytes.
var call = fmt.Appendf(nil, `{"kind":"ended","at":1234567890,"tick":1,"call":17,"attempt":1,"value":{"order":"A-1009","text":"%0199d"}}`, 0)

// Calls a second with so many to each wait for the disk, beside a bare loop that
// writes the same bytes and waits as often. The two take turns, so that both have
// the same disk, and what counts is the median batch: others may use that disk, too.
// bare writes a batch at once, bare1 each record on its own.
func BenchmarkCalls(b *testing.B) {
	for _, batch := range []int{1, 8, 64, 512} {
		b.Run(fmt.Sprintf("batch=%d", batch), func(b *testing.B) {
			folder := b.TempDir()
			w, err := Create(filepath.Join(folder, "run.jsonl"), header{"refund"})
			if err != nil {
				b.Fatal(err)
			}
			defer w.Close()
			line := int(-w.end)
			if err := errors.Join(w.Append(call), w.Sync()); err != nil {
				b.Fatal(err)
			}
			line += int(w.end)
			batchBytes := bytes.Repeat([]byte{'x'}, line*batch)
			bare := func(name string, piece int) func() {
				f, err := os.Create(filepath.Join(folder, name))
				if err != nil {
					b.Fatal(err)
				}
				b.Cleanup(func() { f.Close() })
				return func() {
					for at := 0; at < len(batchBytes); at += piece {
						if _, err := f.Write(batchBytes[at : at+piece]); err != nil {
							b.Fatal(err)
						}
					}
					if err := datasync(f); err != nil {
						b.Fatal(err)
					}
				}
			}
			contestants := []func(){
				func() {
					for range batch {
						if err := w.Append(call); err != nil {
							b.Fatal(err)
						}
					}
					if err := w.Sync(); err != nil {
						b.Fatal(err)
					}
				},
				bare("bare", len(batchBytes)),
				bare("bare1", line),
			}
			took := make([][]time.Duration, len(contestants))
			turn := 0
			for b.Loop() {
				for range contestants {
					i := turn % len(contestants)
					start := time.Now()
					contestants[i]()
					took[i] = append(took[i], time.Since(start))
					turn++
				}
				turn++ // and another one begins
			}
			var rates [3]float64
			for i := range took {
				slices.Sort(took[i])
				rates[i] = float64(batch) / took[i][len(took[i])/2].Seconds()
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(rates[0], "journal/s")
			b.ReportMetric(rates[1], "bare/s")
			b.ReportMetric(rates[2], "bare1/s")
			b.ReportMetric(100*rates[0]/rates[1], "%bare")
			b.ReportMetric(100*rates[0]/rates[2], "%bare1")
		})
	}
}

// What the journal does besides waiting for the disk.
func BenchmarkAppend(b *testing.B) {
	w, err := Begin(&platter{}, nil, header{"refund"})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.SetBytes(int64(len(call)))
	for b.Loop() {
		if len(w.pending) > 200_000 {
			w.pending = w.pending[:0]
		}
		if err := w.Append(call); err != nil {
			b.Fatal(err)
		}
	}
}

// Records a second that a resumed run reads.
func BenchmarkRead(b *testing.B) {
	path := filepath.Join(b.TempDir(), "run.jsonl")
	w, err := Create(path, header{"refund"})
	if err != nil {
		b.Fatal(err)
	}
	const records = 10_000
	for range records {
		w.Append(call)
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Read(path); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)*records/b.Elapsed().Seconds(), "records/s")
}
