package diag

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"
	"github.com/obelus-dev/obelus/compiler/source"
)

// EditScalar is the edit that replaces the bytes [from, to) of a scalar's value by
// a text, written as the scalar's own style wants it: escaped between quotes,
// plain only where the whole stays one plain string in any context that it may
// be in. Where the style can't hold the text the whole scalar is replaced by
// one in double quotes. It is false where the value has no text of its own: in
// lists and mappings, and under an alias.
func EditScalar(n *source.Node, from, to int, text string) (Edit, bool) {
	if n == nil || n.File == nil || n.Alias || n.Kind >= source.Array || !utf8.ValidString(text) {
		return Edit{}, false
	}
	value := n.Text
	if n.Kind != source.String { // the text of a number, true or null is as it is written
		value = n.Span().Text()
	}
	from = max(0, min(from, len(value)))
	to = max(from, min(to, len(value)))
	intended := value[:from] + text + value[to:]
	full := Edit{n.Span(), quoted(intended)}
	if n.File.Format == source.JSON || n.Kind != source.String {
		if n.Style != source.DoubleQuoted {
			return full, true
		}
	}
	at := n.Within(from, to)
	if at == n.Span() && n.Style != source.Plain || from == to && at.Start != at.End {
		return full, true
	}
	switch n.Style {
	case source.DoubleQuoted:
		inner := quoted(text)
		return Edit{at, inner[1 : len(inner)-1]}, true
	case source.SingleQuoted:
		if !inked(text) {
			return full, true
		}
		return Edit{at, strings.ReplaceAll(text, "'", "''")}, true
	case source.Plain:
		if !staysPlain(intended, strings.ContainsAny(value, flowMarks)) || !inked(text) || n.Span().Text() != value {
			return full, true
		}
		return Edit{at, text}, true
	}
	// In a block scalar the first and last blanks of a line mean something.
	if !inked(text) || strings.TrimSpace(text) != text || text == "" || strings.HasPrefix(text, "#") {
		return Edit{}, false
	}
	return Edit{at, text}, true
}

// quoted writes a string between double quotes: JSON, which is YAML as well.
func quoted(s string) string {
	text, _ := Encode(s, "") // a string always encodes
	return string(EscapeJSON(text))
}

const flowMarks = ",[]{}"

// inked reports whether every character of a text can be in YAML as it is and
// on one line.
func inked(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r != ' ' && (unicode.IsSpace(r) || hidden(r)) })
}

// staysPlain reports whether a text without quotes is read as that string. Block
// says that it is known to stand outside brackets, where their marks and commas
// are letters like any other.
func staysPlain(text string, block bool) bool {
	if text == "" || strings.TrimSpace(text) != text || !block && strings.ContainsAny(text, flowMarks) {
		return false
	}
	if strings.ContainsAny(text[:1], "!&*|>'\"%@`#,[]{}?:-=<~") || strings.Contains(text, ": ") ||
		strings.Contains(text, " #") || strings.HasSuffix(text, ":") {
		return false
	}
	first, _ := utf8.DecodeRuneInString(text)
	if first == '.' || first == '+' || unicode.IsDigit(first) {
		return false // may be a number or a date
	}
	switch strings.ToLower(text) {
	case "null", "true", "false", "yes", "no", "on", "off", "y", "n":
		return false
	}
	return true
}

// bytesRead is how much text is read again, at least eight times the file's, to find
// out which fixes hold.
const bytesRead = 6 << 20

// Apply makes the safe fixes of findings in one file's text, and gives the places in the list of those that were made.
// A fix with an edit in another file isn't made, nor one that changes the value of anything else in the document, nor
// one whose result holds, if given, refuses. Of fixes that overlap, the first in the text wins.
func Apply(file *source.File, findings []Diagnostic, limits source.Limits,
	holds func([]byte) bool) (text []byte, made []int) {
	type candidate struct {
		finding int
		edits   []Edit
	}
	var candidates []candidate
	for i := range findings {
		for _, fix := range findings[i].Fixes {
			inside := func(e Edit) bool {
				return e.Span.File == file && 0 <= e.Span.Start && e.Span.Start <= e.Span.End &&
					e.Span.End <= len(file.Text)
			}
			if !fix.Safe || len(fix.Edits) == 0 ||
				slices.ContainsFunc(fix.Edits, func(e Edit) bool { return !inside(e) }) {
				continue
			}
			edits := slices.Clone(fix.Edits)
			slices.SortStableFunc(edits, byPlace)
			candidates = append(candidates, candidate{i, edits})
			break
		}
	}
	slices.SortStableFunc(candidates, func(a, b candidate) int { return byPlace(a.edits[0], b.edits[0]) })
	var chosen []candidate
	var taken []Edit
	for _, c := range candidates {
		if all, ok := merged(taken, c.edits); ok {
			chosen, taken = append(chosen, c), all
		}
	}
	if len(chosen) == 0 {
		return file.Text, nil
	}

	before := &source.File{Name: file.Name, Format: file.Format, Text: file.Text}
	root, problems := source.Parse(before, limits)
	taken = nil
	left := max(bytesRead, 8*len(file.Text))
	var try func([]candidate)
	try = func(some []candidate) {
		if left -= len(file.Text); left < 0 {
			return // what wasn't tried isn't made
		}
		all := taken
		for _, c := range some {
			all, _ = merged(all, c.edits) // they don't overlap
		}
		switch {
		case harmless(before, root, len(problems), all, limits) && (holds == nil || holds(edited(before.Text, all))):
			taken = all
			for _, c := range some {
				made = append(made, c.finding)
			}
		case len(some) > 1:
			try(some[:len(some)/2])
			try(some[len(some)/2:])
		}
	}
	try(chosen)
	return edited(file.Text, taken), made
}

func byPlace(a, b Edit) int {
	return cmp.Or(cmp.Compare(a.Span.Start, b.Span.Start), cmp.Compare(a.Span.End, b.Span.End))
}

// merged adds edits to a list in the order of the text; false when two of them
// overlap. The list itself stays as it is.
func merged(list, more []Edit) ([]Edit, bool) {
	if last := len(list) - 1; len(more) == 1 &&
		(last < 0 || more[0].Span.Start >= list[last].Span.End && more[0].Span.Start > list[last].Span.Start) {
		return append(list, more[0]), true
	}
	all := append(slices.Clone(list), more...)
	slices.SortStableFunc(all, byPlace)
	for i := 1; i < len(all); i++ {
		if all[i].Span.Start < all[i-1].Span.End || all[i].Span.Start == all[i-1].Span.Start {
			return nil, false
		}
	}
	return all, true
}

// edited carries out edits that are in order and don't overlap.
func edited(text []byte, edits []Edit) []byte {
	if len(edits) == 0 {
		return text
	}
	var out []byte
	at := 0
	for _, e := range edits {
		out = append(append(out, text[at:e.Span.Start]...), e.Text...)
		at = e.Span.End
	}
	return append(out, text[at:]...)
}

// harmless reports whether a text still reads after some edits, with no new
// problem, and says the same wherever it wasn't edited.
func harmless(before *source.File, root *source.Node, problems int, edits []Edit, limits source.Limits) bool {
	after := &source.File{Name: before.Name, Format: before.Format, Text: edited(before.Text, edits)}
	now, left := source.Parse(after, limits)
	switch {
	case now == nil:
		return false
	case root == nil || len(left) < problems:
		return true // what couldn't be read is read now: there is nothing to compare with
	}
	return len(left) == problems && same(root, now, edits)
}

// same compares two trees except for the scalars that edits touch.
func same(a, b *source.Node, edits []Edit) bool {
	if a.Alias || b.Alias {
		return a.Alias == b.Alias
	}
	if a.Kind < source.Array {
		return b.Kind < source.Array && (a.Kind == b.Kind && a.Text == b.Text || touched(a, edits))
	}
	if a.Kind != b.Kind || len(a.Items) != len(b.Items) || len(a.Fields) != len(b.Fields) {
		return false
	}
	for i := range a.Items {
		if !same(a.Items[i], b.Items[i], edits) {
			return false
		}
	}
	for i := range a.Fields {
		if !same(a.Fields[i].Key, b.Fields[i].Key, edits) || !same(a.Fields[i].Value, b.Fields[i].Value, edits) {
			return false
		}
	}
	return true
}

func touched(n *source.Node, edits []Edit) bool {
	first, _ := slices.BinarySearchFunc(edits, n.Start,
		func(e Edit, start int) int { return cmp.Compare(e.Span.End, start) })
	return first < len(edits) && edits[first].Span.Start <= n.End
}

// Diff writes what changes between two texts of one file as a unified diff, the
// form that patch and git apply read. Nothing is written when they are equal.
// For people, that is with a style that colours, hidden characters are spelt
// out; otherwise lines are as they are. The error is that of w.
func Diff(w io.Writer, name string, before, after []byte, o TextOptions) error {
	p := newPrinter(w, o)
	name = Escape(name)
	header := 2 // "---" and "+++" are no lines of the texts
	for line := range strings.Lines(udiff.Unified(name, name, string(before), string(after))) {
		line = strings.TrimSuffix(line, "\n")
		if bool(p.Style) || o.Terminal {
			line = Escape(strings.TrimSuffix(line, "\r"))
		}
		switch {
		case header > 0:
			header--
			line = p.Bold(line)
		case line[0] == '@':
			line = p.Cyan(line)
		case line[0] == '-':
			line = p.Red(line)
		case line[0] == '+':
			line = p.Green(line)
		}
		fmt.Fprintln(p.out, line)
	}
	return p.out.Flush()
}
