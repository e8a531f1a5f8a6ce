package journal

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
)

// EXECUTION.md#journals: whole lines that were taken off the end are noticed, wherever a kill between the
// two files may have left the anchor.
func TestShortened(t *testing.T) {
	path, bodies := written(t, 1, 2, 2)
	whole, claims := load(t, path), load(t, AnchorOf(path))
	lines := bytes.SplitAfter(whole, []byte("\n"))
	for records := 1; records <= 6; records++ {
		text := slices.Concat(lines[:records]...)
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		contents, err := Read(path)
		var fault *Fault
		switch {
		case records == 6:
			if err != nil || contents.Records != 6 {
				t.Errorf("untouched: %v", err)
			}
		case !errors.As(err, &fault) || fault.Line != records+1 || !strings.Contains(fault.Why, "cut off"):
			t.Errorf("%d records: %v", records, err)
		}
		if _, _, again := Open(path); records < 6 && again == nil {
			t.Errorf("%d records: opened", records)
		}
		if !bytes.Equal(load(t, path), text) || !bytes.Equal(load(t, AnchorOf(path)), claims) {
			t.Fatalf("%d records: the files were changed", records)
		}
	}
	older := &mooring{}
	for records := range 7 {
		if records > 0 {
			older = &mooring{appendClaim(nil, records, hashOf(t, lines[records-1]))}
		}
		for size := range whole {
			_, c, err := Continue(onPlatter(whole[:size]), older)
			if there := bytes.Count(whole[:size], []byte("\n")); there < max(1, records) {
				if err == nil {
					t.Fatalf("%d bytes, %d records claimed: accepted", size, records)
				}
			} else if err != nil || !slices.Equal(bodiesOf(t, c), bodies[:there-1]) {
				t.Fatalf("%d bytes, %d records claimed: %v", size, records, err)
			}
		}
	}
}

func hashOf(t *testing.T, line []byte) []byte {
	t.Helper()
	r, ok := parse(bytes.TrimSuffix(line, []byte("\n")))
	if !ok {
		t.Fatalf("%s is no record", line)
	}
	return slices.Clone(r.hash)
}

// EXECUTION.md#journals: a journal whose records are others than the anchor counts is refused; one without
// an anchor, or with one that nobody can read, is as good as its chain.
func TestAnchors(t *testing.T) {
	path, bodies := written(t, 3)
	other, _ := written(t, 3)
	if err := os.WriteFile(AnchorOf(path), load(t, AnchorOf(other)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(path); err == nil || !strings.Contains(err.Error(), AnchorOf(path)) {
		t.Errorf("the anchor of another: %v", err)
	}
	for _, text := range []string{"", "\x00\x00", "{", `{"records":4}`, "plan\n"} {
		if err := os.WriteFile(AnchorOf(path), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if c, err := Read(path); err != nil || !slices.Equal(bodiesOf(t, c), bodies) {
			t.Errorf("anchor %q: %v", text, err)
		}
	}
	if err := os.Remove(AnchorOf(path)); err != nil {
		t.Fatal(err)
	}
	w, c, err := Open(path)
	if err != nil || c.Records != 4 {
		t.Fatal(err)
	}
	w.Close()
	if claims := string(load(t, AnchorOf(path))); !strings.HasPrefix(claims, `{"records":4,"hash":"`) {
		t.Errorf("resumed, it claims %q", claims)
	}
	elsewhere := path + ".elsewhere"
	if err := errors.Join(os.Remove(AnchorOf(path)), os.WriteFile(elsewhere, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if os.Symlink(elsewhere, AnchorOf(path)) != nil {
		return
	}
	if w, _, err = Open(path); err != nil {
		t.Fatal(err)
	}
	w.Close()
	if text := load(t, elsewhere); len(text) > 0 {
		t.Errorf("written through a link: %q", text)
	}
}
