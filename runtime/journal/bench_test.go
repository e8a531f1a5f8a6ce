package journal

import (
	"fmt"
	"testing"
)

// call is the event of a call with 300 bytes.
var call = fmt.Appendf(nil, `{"kind":"ended","at":1234567890,"tick":1,"call":17,"attempt":1,"value":{"order":"A-1009","text":"%0199d"}}`, 0)

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
