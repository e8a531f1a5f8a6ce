package reference

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/obelus-dev/obelus/testdata/cputime"
)

func routes(alternatives [][]Reference) string {
	var out []string
	for _, a := range alternatives {
		var paths []string
		for _, r := range a {
			paths = append(paths, r.String())
		}
		out = append(out, strings.Join(paths, " && "))
	}
	return strings.Join(out, " || ")
}

// LANGUAGE.md#output-paths-and-state
func TestOutputPaths(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"sentiment", "†state.sentiment"},
		{"†state.sentiment", "†state.sentiment"},
		{"  a.b[0] ", "†state.a.b[0]"},
		{"a['x y']", `†state.a["x y"]`},
		{"†data.user.summary", "†data.user.summary"},
		{"†state", "†state"},
		{"†state.a && †state.b", "†state.a && †state.b"},
		{"a&&b", "†state.a && †state.b"},
		{"†state.receipt || †state.error", "†state.receipt || †state.error"},
		{"a || b && c", "†state.a || †state.b && †state.c"},
		{"a && b || c", "†state.a && †state.b || †state.c"},
		{"a && a && b", "†state.a && †state.a && †state.b"},
		{"a\n || b", "†state.a || †state.b"},
	} {
		got, err := ParseOutput(c.text)
		if err != nil {
			t.Errorf("%s: %s", c.text, err.Message)
			continue
		}
		if routes(got) != c.want {
			t.Errorf("%s = %s, want %s", c.text, routes(got), c.want)
		}
		for _, a := range got {
			for _, r := range a {
				if piece := c.text[r.Start:r.End]; strings.TrimPrefix(r.String(), "†state.") != strings.TrimPrefix(strings.ReplaceAll(piece, "'", "\""), "†state.") || !r.Required {
					t.Errorf("%s: %s is said to stand at %q", c.text, r, piece)
				}
			}
		}
	}
}

// LANGUAGE.md#output-paths-and-state: faults in a path that is written, at their places.
func TestOutputFaults(t *testing.T) {
	for _, c := range []faultCase{
		{"⟦⟧", "missing", ""},
		{"  ⟦⟧", "missing", ""},
		{"†state⟦.⟧", "no key follows", ""},
		{"a ||⟦⟧", "missing", ""},
		{"a && ⟦|⟧| b", "no path can begin", ""},
		{"⟦|⟧| b", "no path can begin", ""},
		{"a ⟦or⟧ b", "unexpected", "||"},
		{"a ⟦,⟧ b", "unexpected", "&&"},
		{"a ⟦|⟧ b", "unexpected", "||"},
		{"⟦(⟧a || b) && c", "no path can begin", "no parentheses"},
		{"a⟦[⟧†state.i]", "computed index", ""},
		{"⟦a?.b⟧", "no meaning", ""},
		{"⟦①⟧😀 ", "no path can begin", ""},
		{"†state.a ⟦??⟧ b", "unexpected", ""},
		{"a.b ⟦+⟧ 1", "unexpected", ""},
		{"⟦\"⟧a\"", "no path can begin", ""},
		{"a || ⟦†①⟧", "no kind can begin", ""},
	} {
		text, _ := faulty(c.marked)
		_, err := ParseOutput(text)
		checkFault(t, c.marked, err, c.message, c.help)
	}
}

// LANGUAGE.md#output-paths-and-state: the number of paths is bounded.
func TestOutputIsBounded(t *testing.T) {
	for _, text := range []string{
		strings.Repeat("(", 1_000_000) + "a",
		strings.Repeat("a || ", 200_000) + "a",
		strings.Repeat("a && ", 1500) + "b" + strings.Repeat(" && x1", 2),
	} {
		got, err := ParseOutput(text)
		paths := 0
		for _, a := range got {
			paths += len(a)
		}
		if paths > maxOutputPaths || err != nil && (err.End > len(text) || err.Start > err.End) {
			t.Errorf("%.40s: %d paths, %v", text, paths, err)
		}
	}
}

// LANGUAGE.md#output-paths-and-state: whatever the text, an output path is read soon, and what is read means
// the same when it is written out.
func FuzzOutput(f *testing.F) {
	for _, s := range []string{"†state.a || b && (c || d)", "†state.a && b['x y']", "a||b", "†state.a[0][\"x\"].0", "(((", "††", "①😀", "a.b?.c ?? d", "0\v"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		start := cputime.Used()
		got, err := ParseOutput(text)
		if err != nil {
			placed(t, text, err)
			return
		}
		for _, a := range got {
			if len(a) == 0 {
				t.Fatalf("%q has an empty alternative", text)
			}
			for _, r := range a {
				if r.Start < 0 || r.End > len(text) || r.Start >= r.End {
					t.Fatalf("%q: the place of %s is %d-%d", text, r, r.Start, r.End)
				}
			}
		}
		if utf8.ValidString(text) {
			if again, err := ParseOutput(routes(got)); err != nil || routes(again) != routes(got) {
				t.Fatalf("%q: %s isn't read as itself: %v", text, routes(got), err)
			}
		}
		prompt(t, text, start)
	})
}

// placed checks that an error's place is in the text, on characters' borders.
func placed(t *testing.T, text string, err *Error) {
	t.Helper()
	if err.Start < 0 || err.End < err.Start || err.End > len(text) || err.Message == "" {
		t.Fatalf("%q: the place %d-%d is outside (%s)", text, err.Start, err.End, err.Message)
	}
	if utf8.ValidString(text) && (!utf8.ValidString(text[:err.Start]) || !utf8.ValidString(text[err.Start:err.End])) {
		t.Fatalf("%q: the place %d-%d cuts a character (%s)", text, err.Start, err.End, err.Message)
	}
}

func prompt(t *testing.T, text string, since time.Duration) {
	t.Helper()
	if took := cputime.Used() - since; took > 5*time.Second { // EXECUTION.md#limits's second, and as much again for being watched and in company
		t.Fatalf("%.200q takes %v", text, took)
	}
}

// A faulty text has its fault between ⟦ and ⟧, which aren't part of it.
func faulty(marked string) (text, fault string) {
	start, end := strings.Index(marked, "⟦"), strings.Index(marked, "⟧")
	fault = marked[start+len("⟦") : end]
	return strings.NewReplacer("⟦", "", "⟧", "").Replace(marked), fault
}

type faultCase struct {
	marked  string
	message string // a piece of it
	help    string // likewise
}

func checkFault(t *testing.T, marked string, err *Error, message, help string) {
	t.Helper()
	text, _ := faulty(marked)
	if err == nil {
		t.Errorf("%s is accepted", text)
		return
	}
	start := strings.Index(marked, "⟦")
	end := strings.Index(marked, "⟧") - len("⟦")
	if err.Start != start || err.End != end {
		t.Errorf("%s: the fault is said to be at %q (%d-%d), want %q (%d-%d): %s", text, text[err.Start:err.End], err.Start, err.End, text[start:end], start, end, err.Message)
	}
	if !strings.Contains(err.Message, message) {
		t.Errorf("%s: %q doesn't say %q", text, err.Message, message)
	}
	if !strings.Contains(err.Help, help) {
		t.Errorf("%s: the help %q doesn't say %q", text, err.Help, help)
	}
	if first, _ := utf8.DecodeRuneInString(err.Message); first >= 'A' && first <= 'Z' || strings.HasSuffix(err.Message, ".") {
		t.Errorf("%s: %q isn't in our form", text, err.Message)
	}
}
