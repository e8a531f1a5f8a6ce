package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/naming"
	"golang.org/x/text/unicode/norm"
	"golang.org/x/text/width"
)

// visibly is a value as JSON that shows all that it is: what can't be seen, or
// would look like something else, is spelled out as JSON spells it. Two values that
// differ never look the same but for letters that are drawn alike; see lookTwice.
func visibly(value any, indent string) string {
	var b strings.Builder
	before := ' '
	for _, r := range asJSON(value, indent) {
		switch {
		case r == '\n' || r < 0x7f && r >= ' ' || !ambiguous(before, r):
			b.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		before = r
	}
	return b.String()
}

// ambiguous reports whether a character can't be seen, or not be told from another
// spelling of the same: a space that isn't the usual one, a letter that could be
// composed otherwise, our own mark of a line that goes on.
func ambiguous(before, r rune) bool {
	text := string(r)
	return text == goesOn || diag.Escape(text) != text || unicode.IsSpace(r) || norm.NFC.String(text) != text ||
		unicode.Is(unicode.M, r) && utf8.RuneCountInString(norm.NFC.String(string(before)+text)) == 1
}

// goesOn ends a line of a value that goes on in the next. No value shows it.
const goesOn = "↩"

// inLines is a value in lines of so many columns, and whether they hold all of it:
// in full, or as much as is shown at first. A text of several lines is shown as its
// lines, each in quotes, so that blanks at their ends are seen.
func inLines(value any, columns int, full bool) (lines []string, whole bool) {
	line := visibly(value, "")
	if lines = wrapValue(line, columns); !full {
		if len(lines) > shownLines {
			return append(lines[:shownLines-1], shorten(strings.TrimSuffix(lines[shownLines-1], goesOn)+" …", columns)), false
		}
		return lines, true
	}
	text, isText := value.(string)
	var parts []string
	switch {
	case isText && strings.Contains(strings.TrimSuffix(text, "\n"), "\n"):
		for part := range strings.SplitAfterSeq(text, "\n") {
			if part != "" {
				parts = append(parts, visibly(part, ""))
			}
		}
	case isText || len(lines) == 1:
		return lines, true
	default:
		parts = strings.Split(visibly(value, "  "), "\n")
	}
	lines = nil
	for _, part := range parts {
		lines = append(lines, wrapValue(part, columns)...)
	}
	return lines, true
}

// wrapValue breaks text into lines of so many columns, between words where it can. It
// drops nothing: a line that goes on ends with a mark, after its blanks.
func wrapValue(text string, columns int) []string {
	columns = max(8, columns)
	if cells(text) <= columns {
		return []string{text}
	}
	var lines []string
	start, at, word := 0, 0, 0
	for i, r := range text {
		w := cellsOf(r)
		if at+w > columns-1 {
			end := i
			if word > start {
				end = word
			}
			lines = append(lines, text[start:end]+goesOn)
			start, at = end, cells(text[end:i])
		}
		if at += w; r == ' ' {
			word = i + 1
		}
	}
	return append(lines, text[start:])
}

// lookTwice tells of words in a value whose letters aren't what they seem.
func (d *dialogue) lookTwice(p *page, indent int, value any) {
	const most = 5
	found := deceptive(value, nil)
	for i, word := range found {
		if i == most {
			p.text(indent, d.console.style.yellow, "look twice: "+count(len(found)-most, "more word")+" of that kind")
			return
		}
		p.text(indent, d.console.style.yellow, "look twice: "+visibly(word, "")+" is "+inASCII(word))
	}
}

// deceptive collects the words of a value's texts and keys that look like others.
func deceptive(value any, found []string) []string {
	add := func(text string) {
		for _, word := range naming.Deceptive(text) {
			if !slices.Contains(found, word) {
				found = append(found, word)
			}
		}
	}
	switch v := value.(type) {
	case string:
		add(v)
	case []string:
		for _, item := range v {
			add(item)
		}
	case []any:
		for _, item := range v {
			found = deceptive(item, found)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			add(key)
			found = deceptive(v[key], found)
		}
	}
	return found
}

// inASCII spells every character of a word that isn't ASCII.
func inASCII(word string) string {
	var b strings.Builder
	for _, r := range word {
		if r < utf8.RuneSelf {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, "<U+%04X>", r)
		}
	}
	return diag.Escape(b.String())
}

// fold breaks escaped text into lines of so many columns: between words, and
// inside of those that are too long.
func fold(text string, columns int) []string {
	columns = max(8, columns)
	var lines []string
	line, at, blank := 0, 0, -1 // where the line began, its columns so far, its last blank
	for i, r := range text {
		w := cellsOf(r)
		if at+w > columns {
			end, next := i, i
			switch {
			case r == ' ':
				next = i + 1
			case blank > line:
				end, next = blank, blank+1
			}
			lines = append(lines, text[line:end])
			line, blank = next, -1
			at = cells(text[line:max(line, i)])
			if r == ' ' && next > i {
				continue
			}
		}
		if r == ' ' {
			blank = i
		}
		at += w
	}
	return append(lines, text[min(line, len(text)):])
}

// shorten cuts escaped text to so many columns.
func shorten(text string, columns int) string {
	if cells(text) <= columns {
		return text
	}
	at := 0
	for i, r := range text {
		if at += cellsOf(r); at > columns-1 {
			return text[:i] + "…"
		}
	}
	return text
}

// cells is how many columns a terminal needs at most for escaped text.
func cells(text string) int {
	total := 0
	for _, r := range text {
		total += cellsOf(r)
	}
	return total
}

func cellsOf(r rune) int {
	if r < 0x1100 {
		return 1
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}
