package journal

import (
	"bytes"
	"encoding/hex"
	"errors"
	"slices"
	"testing"
)

// Whatever the file is, it is refused with a reason or goes on: then what is kept is
// what was there, opening it again finds the same, and records can be added.
func FuzzContinue(f *testing.F) {
	path, _ := written(f, 2, 3)
	whole := load(f, path)
	lines := bytes.SplitAfter(whole, []byte("\n"))
	f.Add(whole)
	f.Add(whole[:len(whole)-40])
	f.Add(append(whole[:len(whole):len(whole)], make([]byte, 100)...))
	f.Add(slices.Concat(lines[0], lines[2]))
	f.Add(slices.Concat(lines[0], lines[1], make([]byte, 2*sector-len(lines[0])-len(lines[1])), lines[4]))
	f.Add([]byte(`{"obelus-journal":2,"n":0`))
	f.Fuzz(func(t *testing.T, text []byte) {
		goesOnOrRefused(t, text)
		goesOnOrRefused(t, resealed(text))
	})
}

// resealed gives the lines of a text that look like records the hashes of a chain, so
// that what they say otherwise comes to matter.
func resealed(text []byte) []byte {
	var c chain
	var b []byte
	for line := range bytes.Lines(text) {
		if r, ok := parse(bytes.TrimSuffix(line, []byte("\n"))); ok {
			c.prev = hex.AppendEncode(c.prev[:0], c.link(r.covered))
			b = slices.Concat(b, r.covered, []byte(hashKey), c.prev, []byte(lineEnd), line[len(r.covered)+sealSize:])
		} else {
			b = append(b, line...)
		}
	}
	return b
}

func goesOnOrRefused(t *testing.T, text []byte) {
	p := onPlatter(text)
	w, c, err := Continue(p, nil)
	var fault *Fault
	switch {
	case err == nil:
	case !errors.As(err, &fault) || fault.Why == "" || fault.Do == "" || fault.Line < 1:
		t.Fatalf("refused without a reason: %v", err)
	case !bytes.Equal(p.cache, text):
		t.Fatal("refused, but changed")
	default:
		return
	}
	bodies := bodiesOf(t, c)
	if len(bodies) != c.Records-1 || !bytes.HasPrefix(text, p.disk) || int64(len(p.disk)) != c.Size || (c.Torn == 0) != (len(text) == len(p.disk)) {
		t.Fatalf("%d bodies, %d bytes, %+v", len(bodies), len(p.disk), c)
	}
	if err := errors.Join(w.Append([]byte(`{"more":1}`)), w.Sync()); err != nil {
		t.Fatal(err)
	}
	_, again, err := Continue(p, nil)
	if err != nil || again.Torn > 0 || !slices.Equal(bodiesOf(t, again), append(bodies, `{"more":1}`)) {
		t.Fatalf("gone on with, it is %+v, %v", again, err)
	}
}
