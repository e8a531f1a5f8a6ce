package diag

import (
	"fmt"
	"iter"
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
	if plain(s) {
		return s
	}
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

// plain is the common case: printable ASCII.
func plain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
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

// Columns is how wide a terminal draws escaped text, at most. Everything that is laid
// out for people is measured by it.
func Columns(s string) int {
	total := 0
	for _, width := range Characters(s) {
		total += width
	}
	return total
}

// maxMarks is how many marks are taken to be drawn over one character. Beyond it
// every further one counts as a character, so that no text is wider than it counts.
const maxMarks = 8

// Characters goes over what the eye takes for the characters of escaped text: at which
// byte each begins, and how many columns it takes together with the marks on it. A
// line may be broken before each of them.
func Characters(s string) iter.Seq2[int, int] {
	return func(yield func(at, width int) bool) {
		start, total, marks := 0, 0, 0
		before := ' '
		for i, r := range s {
			width := runeColumns(r, before)
			if i > 0 && marks < maxMarks && before != ' ' && (r == emojiStyle || runeColumns(r, before) == 0) {
				marks++
			} else {
				if i > 0 && !yield(start, total) {
					return
				}
				start, total, marks = i, 0, 0
				width = max(1, width)
			}
			total += width
			before = r
		}
		if s != "" {
			yield(start, total)
		}
	}
}

// runeColumns is how many columns a character adds to the one before it: two
// for wide ones (East Asian, most emoji), none for combining marks.
func runeColumns(r, before rune) int {
	switch {
	case r >= ' ' && r <= '~':
		return 1
	case r == emojiStyle:
		return 2 - min(2, runeColumns(before, ' '))
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case r >= 0x1160 && r <= 0x11ff: // Hangul vowels and finals join the consonant before them
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}
