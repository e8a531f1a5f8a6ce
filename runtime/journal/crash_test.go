package journal

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/testdata/amount"
)

// onPlatter is a journal on a disk, as it is after a loss of power.
func onPlatter(text []byte) *platter {
	return &platter{cache: slices.Clone(text), disk: slices.Clone(text)}
}

// EXECUTION.md#journals: cut off anywhere in its last write, a journal goes on behind the last whole record.
func TestTornAtEveryByte(t *testing.T) {
	path, bodies := written(t, 2, 3)
	whole := load(t, path)
	lines := bytes.SplitAfter(whole, []byte("\n"))
	for size := range whole {
		records := bytes.Count(whole[:size], []byte("\n"))
		kept := int64(len(bytes.Join(lines[:records], nil)))
		for _, zeros := range []int{0, 1, 700} {
			p := onPlatter(append(whole[:size:size], make([]byte, zeros)...))
			w, c, err := Continue(p, nil)
			if records == 0 {
				if err == nil || !strings.Contains(err.Error(), "had not begun") {
					t.Fatalf("%d bytes: %v", size, err)
				}
				continue
			}
			if err != nil {
				t.Fatalf("%d bytes and %d zeros: %v", size, zeros, err)
			}
			if torn := int64(size+zeros) - kept; torn == 0 {
				if c.Torn > 0 {
					t.Fatalf("%d bytes: %v", size, c.Torn)
				}
			} else if c.Torn != torn || c.Records != records || c.Size != kept {
				t.Fatalf("%d bytes: got %+v, want record %d at byte %d, %d bytes", size, c.Torn, records, kept, torn)
			}
			if got := bodiesOf(t, c); !slices.Equal(got, bodies[:records-1]) || !bytes.Equal(p.disk, whole[:kept]) {
				t.Fatalf("%d bytes: got %q", size, got)
			}
			extend(t, w, 2)
			if _, c, err := Continue(p, nil); err != nil || c.Torn > 0 || c.Records != records+2 {
				t.Fatalf("%d bytes, continued: %v", size, err)
			}
		}
	}
}

// EXECUTION.md#journals: whichever bit of a journal is flipped, it is refused.
func TestEveryFlippedBit(t *testing.T) {
	path, _ := written(t, 3, 1, 2)
	whole, anchor := load(t, path), &mooring{load(t, AnchorOf(path))}
	for at := range whole {
		for bit := range 8 {
			text := slices.Clone(whole)
			text[at] ^= 1 << bit
			_, _, err := Continue(onPlatter(text), anchor)
			var fault *Fault
			if !errors.As(err, &fault) || fault.Do == "" {
				t.Fatalf("byte %d bit %d: %v", at, bit, err)
			}
			line := 1 + bytes.Count(whole[:at], []byte("\n"))
			if fault.Line != line {
				t.Fatalf("byte %d bit %d: is in line %d: %v", at, bit, line, err)
			}
			_, c, err := Continue(onPlatter(text), nil)
			if err == nil && (c.Torn == 0 || c.Records != line-1 || line <= 5) {
				t.Fatalf("byte %d bit %d, without an anchor: %+v", at, bit, c)
			}
		}
	}
}

// EXECUTION.md#journals: a changed, missing, moved or repeated record is refused, and the error says
// which line and why.
func TestRefused(t *testing.T) {
	path, _ := written(t, 2, 3, 1)
	other, _ := written(t, 2, 3, 1)
	foreign := strings.SplitAfter(string(load(t, other)), "\n")
	zeros := func(from, to int) func(string) string {
		return func(text string) string { return text[:from] + strings.Repeat("\x00", to-from) + text[to:] }
	}
	lines := func(edit func([]string) []string) func(string) string {
		return func(text string) string { return strings.Join(edit(strings.SplitAfter(text, "\n")), "") }
	}
	line := func(n int, old, new string) func(string) string {
		return lines(func(l []string) []string { l[n-1] = strings.Replace(l[n-1], old, new, 1); return l })
	}
	for _, c := range []struct {
		name string
		edit func(string) string
		line int
		why  string
	}{
		{"missing", lines(func(l []string) []string { return slices.Delete(l, 3, 4) }), 4, "record 4 stands where record 3 belongs: records are missing"},
		{"moved", lines(func(l []string) []string { l[3], l[4] = l[4], l[3]; return l }), 4, "record 4 stands where record 3 belongs"},
		{"repeated", lines(func(l []string) []string { return slices.Insert(l, 4, l[3]) }), 5, "record 3 stands where record 4 belongs"},
		{"repeated at the end", lines(func(l []string) []string { return slices.Insert(l, 7, l[6]) }), 8, "record 6 stands where"},
		{"begun again", lines(func(l []string) []string { return append(l, l...) }), 8, "record 0 stands where"},
		{"no header", lines(func(l []string) []string { return l[1:] }), 1, "isn't the journal of a run"},
		{"changed", line(4, `"call":3`, `"call":9`), 4, "record 3 was changed"},
		{"changed at the end", line(7, `"call":6`, `"call":9`), 7, "record 6 was changed"},
		{"from another journal", lines(func(l []string) []string { l[4] = foreign[4]; return l }), 5, "or comes from another journal"},
		{"all from another journal", lines(func(l []string) []string { return append(l[:4], foreign[4:]...) }), 5, "or comes from another journal"},
		{"a blank line", lines(func(l []string) []string { return slices.Insert(l, 2, "\n") }), 3, "isn't a record: record 2 should stand here"},
		{"a blank line at the end", func(s string) string { return s + "\n" }, 8, "isn't a record"},
		{"line breaks of another system", func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }, 1, "isn't a record"},
		{"half a record within", line(4, `"hash"`, "\n"), 4, "and it was on disk before record 6 was written"},
		{"half a record in the last write", line(7, `"hash"`, "\n"), 7, "isn't a record"},
		{"zeros in an early write", zeros(512, 1024), 3, "and it was on disk before record 6"},
		{"the first block", zeros(0, 512), 1, "isn't the journal of a run"},
		{"a number with a zero before", line(4, `"n":3`, `"n":03`), 4, "isn't a record"},
		{"a blank between fields", line(4, `,"synced"`, `, "synced"`), 4, "isn't a record"},
		{"a second header", line(4, `{"n"`, `{"obelus-journal":1,"n"`), 4, "isn't a record"},
		{"later version", line(1, `l":1`, `l":2`), 1, "of another version"},
		{"much later version", func(string) string { return `{"obelus-journal":12,"what":"ever"}` + "\n" }, 1, "of another version"},
		{"later version, torn", func(string) string { return `{"obelus-journal":12,"what":"ev` }, 1, "of another version"},
		{"not a journal", func(string) string { return "name: plan\n" }, 1, "isn't the journal of a run"},
		{"not a journal, one line", func(string) string { return "plan" }, 1, "isn't the journal of a run"},
		{"JSON", func(string) string { return "{}\n" }, 1, "isn't the journal of a run"},
		{"empty", func(string) string { return "" }, 1, "had not begun"},
		{"only zeros", func(string) string { return strings.Repeat("\x00", 5000) }, 1, "had not begun"},
	} {
		text := c.edit(string(load(t, path)))
		p := onPlatter([]byte(text))
		_, _, err := Continue(p, nil)
		var fault *Fault
		if !errors.As(err, &fault) || fault.Line != c.line || !strings.Contains(err.Error(), c.why) || fault.Do == "" {
			t.Errorf("%s: got %v, want line %d, %q", c.name, err, c.line, c.why)
		}
		if string(p.cache) != text {
			t.Errorf("%s: the file was changed", c.name)
		}
	}
}

// A chain whose hashes are right, but which no writer has written.
func TestForged(t *testing.T) {
	forge := func(opening, body string) []byte {
		var c chain
		c.next = 0
		text := c.write(nil, []byte(`,"synced":0,"time":"2026-11-21T09:30:12.000Z","body":`), []byte(`{}`))
		return c.write(text, []byte(opening), []byte(body))
	}
	const opening = `,"synced":1,"time":"2026-11-21T09:30:12.000Z","body":`
	if _, _, err := Continue(onPlatter(forge(opening, `{"a":1}`)), nil); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ opening, body, why string }{
		{opening, `{"a":}`, "is no JSON object"},
		{opening, `[1]`, "is no JSON object"},
		{opening, `{"a":1}{}`, "is no JSON object"},
		{opening, `{"a":` + strings.Repeat("[", 1<<20) + strings.Repeat("]", 1<<20) + `}`, "nested too deeply"},
		{strings.Replace(opening, "1", "7", 1), `{}`, `says "synced":7`},
		{strings.Replace(opening, "1", "-1", 1), `{}`, `isn't a record`},
		{strings.Replace(opening, "11", "13", 1), `{}`, `isn't a record`},
		{strings.Replace(opening, `"time"`, `"when"`, 1), `{}`, `isn't a record`},
	} {
		if _, _, err := Continue(onPlatter(forge(c.opening, c.body)), nil); err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s %.20s: got %v, want %q", c.opening, c.body, err, c.why)
		}
	}
}

// Blocks of the last write may be missing anywhere, and what comes after them whole: that is a
// crash. The same zeros in a write before, or in records that the anchor counts, are not.
func TestLostBlocks(t *testing.T) {
	path, bodies := written(t, 20, 40)
	whole, anchor := load(t, path), &mooring{load(t, AnchorOf(path))}
	began := len(bytes.Join(bytes.SplitAfter(whole, []byte("\n"))[:21], nil)) // the last write
	lose := func(from, to int) (*Contents, error) {
		text := slices.Clone(whole)
		clear(text[from:to])
		_, c, err := Continue(onPlatter(text), nil)
		return c, err
	}
	lost := 0
	for from := 0; from < len(whole); from += sector {
		for to := from + sector; to <= len(whole); to += sector {
			switch {
			case to > began && from+sector > began:
				lost++
				text := slices.Clone(whole)
				clear(text[from:to])
				if _, _, err := Continue(onPlatter(text), anchor); err == nil {
					t.Fatalf("bytes %d to %d, which the anchor counts: not refused", from, to)
				}
				first := max(from, began)
				c, err := lose(first, to)
				if err != nil || c.Torn == 0 {
					t.Fatalf("bytes %d to %d of the last write: %v", first, to, err)
				}
				kept := bytes.Count(whole[:first], []byte("\n"))
				if got := bodiesOf(t, c); !slices.Equal(got, bodies[:kept-1]) {
					t.Fatalf("bytes %d to %d of the last write: got %d records, want %d", first, to, len(got), kept)
				}
			case to < len(whole)-1000: // something whole follows, which knows better
				if _, err := lose(from, to); err == nil {
					t.Fatalf("bytes %d to %d, with some of the write before: not refused", from, to)
				}
			}
		}
	}
	if lost < 100 {
		t.Fatalf("only %d losses", lost)
	}
}

// EXECUTION.md#journals: and what a loss of power does: whatever fails and whenever, what was
// reported as on disk is there when the run goes on, in its order, and the journal is never
// taken for one that somebody has changed.
func TestCrashes(t *testing.T) {
	seeds := amount.Of(250, 1000, 50_000)
	crashes := map[string]int{}
	for seed := range uint64(seeds) {
		if err := live(rand.New(rand.NewPCG(seed, 8)), crashes); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
	t.Log(crashes)
	for _, kind := range []string{"power", "killed", "sync failed", "write failed", "torn", "on resuming"} {
		if crashes[kind] < seeds/20 {
			t.Errorf("%s: only %d times", kind, crashes[kind])
		}
	}
}

// live goes through several lives of one journal.
func live(random *rand.Rand, crashes map[string]int) error {
	p, anchor := &platter{}, &mooring{}
	var c *Contents
	w, err := Begin(p, anchor, header{"refund"})
	if err != nil {
		return err
	}
	var bodies []string // appended
	safe := 0           // how many of them were reported as on disk
	for range 2 + random.IntN(5) {
		p.fail = disaster(random, 1+random.IntN(8), crashes)
		err = nil
		for rounds := 0; err == nil; rounds++ {
			if rounds > 100 {
				return errors.New("something failed, and nobody was told")
			}
			for range 1 + random.IntN(1+random.IntN(12)) {
				body := fmt.Sprintf(`{"n":%d,"x":"%s"}`, len(bodies), strings.Repeat("y", random.IntN(1+random.IntN(2000))))
				bodies = append(bodies, body)
				if err := w.Append([]byte(body)); err != nil {
					return err
				}
			}
			if err = w.Sync(); err == nil {
				safe = len(bodies)
			}
		}
		if w.Append([]byte(`{}`)) == nil || w.Sync() == nil || w.Close() == nil {
			return errors.New("after an error the writer goes on")
		}
		if w, c, err = revive(random, p, anchor, crashes); err != nil {
			return err
		}
		var got []string
		for body, err := range c.Bodies() {
			if err != nil {
				return err
			}
			got = append(got, string(body))
		}
		if len(got) < safe || !slices.Equal(got, bodies[:min(len(got), len(bodies))]) {
			return fmt.Errorf("%d records of %d are there, and %d were on disk", len(got), len(bodies), safe)
		}
		if c.Torn > 0 {
			crashes["torn"]++
		}
		bodies, safe = bodies[:len(got)], len(got)
	}
	return nil
}

// revive continues the journal, perhaps after a loss of power, and again if that
// ends in a disaster of its own.
func revive(random *rand.Rand, p *platter, anchor *mooring, crashes map[string]int) (*Writer, *Contents, error) {
	for {
		if random.IntN(2) == 0 {
			p.cut(random)
			anchor.cut(random)
			crashes["power"]++
		}
		p.fail = nil
		if random.IntN(3) == 0 {
			p.fail = disaster(random, random.IntN(3), crashes)
		}
		w, c, err := Continue(p, anchor)
		var fault *Fault
		if err == nil || p.fail == nil || errors.As(err, &fault) {
			return w, c, err
		}
		crashes["on resuming"]++
	}
}

// disaster lets an operation of the disk fail after so many that succeed. When the process
// was killed by it, nothing more is done; else the disk may work again.
func disaster(random *rand.Rand, after int, crashes map[string]int) func(string, int) (int, error) {
	kind, works := "", random.IntN(2) == 0
	return func(operation string, bytes int) (int, error) {
		if after--; after >= 0 {
			return bytes, nil
		}
		if kind == "" {
			kind = operation + " failed"
			if random.IntN(2) == 0 {
				kind = "killed"
			}
			crashes[kind]++
			bytes = random.IntN(bytes + 1)
		} else if kind != "killed" && works {
			return bytes, nil
		} else {
			bytes = 0
		}
		if kind == "killed" {
			return bytes, errCrash
		}
		return bytes, errors.New(kind)
	}
}
