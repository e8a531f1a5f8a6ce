package diag

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// Escape makes text from outside fit for a line that people read: what could
// act on a terminal, start a line of its own, reorder its neighbours or not be
// seen at all is spelled out. Line feed, carriage return and tab become \n, \r
// and \t, a byte that isn't UTF-8 becomes \xff, and any other such character
// its number, as in <U+202E>. Letters of every script and emoji stay.
func Escape(s string) string {
	var b strings.Builder
	before := ' '
	for i, r := range s {
		size := utf8.RuneLen(r)
		if r == utf8.RuneError {
			_, size = utf8.DecodeRuneInString(s[i:])
		}
		b.WriteString(shown(r, before, s[i:i+size]))
		before = r
	}
	return b.String()
}

// shown is how one character is printed. text is the character as it came; it
// tells a byte that isn't UTF-8 from a replacement character that was written.
func shown(r, before rune, text string) string {
	switch {
	case r == '\n':
		return `\n`
	case r == '\r':
		return `\r`
	case r == '\t':
		return `\t`
	case r == utf8.RuneError && len(text) == 1:
		return fmt.Sprintf(`\x%02x`, text[0])
	case hidden(r) && !styles(r, before):
		return fmt.Sprintf("<U+%04X>", r)
	}
	return text
}

// hidden reports whether a character acts on what shows it or leaves no ink:
// controls, bidirectional and other formatting, unassigned and private
// characters, blanks other than the space and the ideographic one, fillers,
// variation selectors.
func hidden(r rune) bool {
	switch {
	case r >= ' ' && r <= '~', r == ideographicSpace:
		return false
	case r == brailleBlank:
		return true
	}
	return !unicode.IsPrint(r) || unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

const (
	ideographicSpace = '\u3000'
	brailleBlank     = '\u2800'
	textStyle        = '\ufe0e'
	emojiStyle       = '\ufe0f'
)

// styles reports whether a character only chooses how the symbol before it is
// drawn, as in the red heart.
func styles(r, before rune) bool {
	return (r == textStyle || r == emojiStyle) && unicode.IsSymbol(before)
}

// Columns is how wide a terminal draws escaped text, at most: two columns for wide characters (East Asian, most emoji),
// one for any other, also for a mark that is drawn over the character before it. Everything that is laid out for people
// is measured by it.
func Columns(s string) int {
	total := 0
	for _, r := range s {
		total++
		if kind := width.LookupRune(r).Kind(); kind == width.EastAsianWide || kind == width.EastAsianFullwidth {
			total++
		}
	}
	return total
}

// Wrap breaks escaped text into lines of at most so many columns, between words if possible. It drops nothing but
// blanks: a line that continues ends with a mark, and keeps its blanks if there is one.
func Wrap(text string, columns int, mark string) (lines []string) {
	if columns = max(8, columns); Columns(text) <= columns {
		return []string{text}
	}
	start, at, word := 0, 0, 0
	for i, r := range text {
		wide := Columns(string(r))
		for at > 0 && at+wide > columns-Columns(mark) {
			end := i
			if word > start {
				end = word
			}
			line := text[start:end] + mark
			if mark == "" {
				line = strings.TrimRight(line, " ")
			}
			lines = append(lines, line)
			start, at = end, Columns(text[end:i])
		}
		if at += wide; text[i] == ' ' {
			word = i + 1
		}
	}
	return append(lines, text[start:])
}
