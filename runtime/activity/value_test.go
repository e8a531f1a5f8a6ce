package activity

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/obelus-dev/obelus/compiler/redact"
)

// LANGUAGE.md#programs: whatever text a program writes, reading it ends in a value that JSON
// can write and that reads as itself, or in an error.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{`{"a":[1,-2.5e3,null,true,"†é\ud83d\ude00"]}`, "", "[", `{"a":1,"a":2}`, "1e400", "\xff", "[[[[]]]]", `"\u0000"`, "1 2"} {
		f.Add([]byte(seed))
	}
	hide := &redact.Set{}
	hide.Environment([]string{"A_TOKEN=hidden12", "B_PASSWORD=31415926"})
	f.Fuzz(func(t *testing.T, text []byte) {
		value, err := (&common{}).decode(append([]byte(nil), text...), maxDepth)
		if err != nil {
			return
		}
		again, err := encode(value)
		if err != nil {
			t.Fatalf("%q became %#v, which isn't JSON: %v", text, value, err)
		}
		back, err := (&common{}).decode(again, maxDepth)
		if err != nil || !reflect.DeepEqual(back, value) {
			t.Fatalf("%q: %#v came back as %#v, %v", text, value, back, err)
		}
		var theirs any
		if err := json.Unmarshal(text, &theirs); err != nil || !reflect.DeepEqual(theirs, value) {
			t.Fatalf("%q: read as %#v, by the standard library as %#v, %v", text, value, theirs, err)
		}
		veiled, err := (&common{hide: hide}).decode(append([]byte(nil), text...), maxDepth)
		if err != nil {
			return // two keys became one
		}
		if shown, _ := encode(veiled); strings.Contains(string(shown), "hidden12") || strings.Contains(string(shown), "31415926") {
			t.Fatalf("%q shows a secret: %s", text, shown)
		}
	})
}

// LANGUAGE.md#programs: whatever a program writes to stderr, its quotation is one line of
// bounded length without control characters.
func FuzzQuotation(f *testing.F) {
	f.Add([]byte("plain"), []byte(" text\r\n"))
	f.Add([]byte("\x1b[2J\xff\xfe\u202e"), []byte(strings.Repeat("é", 2000)))
	hide := &redact.Set{}
	hide.Keep("secret", "hunter2hunter2")
	f.Fuzz(func(t *testing.T, first, second []byte) {
		kept := tail{keep: quotedStderr + 200}
		kept.Write(first)
		kept.Write(second)
		line := saying(kept.text(hide))
		if len(line) > 6*(quotedStderr+100) {
			t.Fatalf("%d bytes", len(line))
		}
		if strings.Contains(line, "hunter2hunter2") {
			t.Fatal("a secret shows")
		}
		for _, r := range line {
			if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == '\u2028' || r == '\u202e' {
				t.Fatalf("%U in %q", r, line)
			}
		}
	})
}

// LANGUAGE.md#activities: which alternative a path means never depends on how it is written, and
// no text brings the comparison down.
func FuzzSamePaths(f *testing.F) {
	for _, seed := range []string{"a", "†state.a", "a && b", "(a.b[0] && †data.c)", `†state["x y"]`, "a ||", "†", "\xff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		value := map[string]any{"_outputPath": text, "_output": 1.0}
		one, err := Take(value, Request{Paths: []string{"†state.a && †state.b", "†state.a"}}, "x")
		other, bad := Take(value, Request{Paths: []string{"†state.a", "†state.b && †state.a"}}, "x")
		if (err == nil) != (bad == nil) || err == nil && one.Route == other.Route {
			t.Fatalf("%q means two alternatives", text)
		}
	})
}

// EXECUTION.md: a hostile result takes no longer to read than another of its size, whatever its keys are.
func TestLongKeysTakeNoTime(t *testing.T) {
	text := `{"` + strings.Repeat("k", 4<<20) + `":[` + strings.Repeat(`"a",`, 1000) + `"a"]}`
	start := time.Now()
	if _, err := (&common{hide: &redact.Set{}}).decode([]byte(text), maxDepth); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
}
