package terminal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/naming"
	"github.com/obelus-dev/obelus/compiler/source"
	"golang.org/x/text/unicode/norm"
)

// Display is a value as people read it: text as it is, anything else as JSON
// on several lines. Nothing in it acts on the terminal, and the lines of a text
// stand behind a bar, so that none of them passes for one of ours.
func Display(value any) string {
	text, isText := value.(string)
	if !isText {
		text = JSON(value, "  ")
	}
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i, line := range lines {
		lines[i] = diag.Escape(line)
		if isText && len(lines) > 1 {
			lines[i] = "│ " + lines[i]
		}
	}
	return strings.Join(lines, "\n")
}

// Brief is a value on one line; the caller cuts it to size.
func Brief(value any) string {
	if value == nil {
		return ""
	}
	if text, ok := value.(string); ok {
		return diag.Escape(text)
	}
	return diag.Escape(JSON(value, ""))
}

// JSON is a value as JSON, its levels indented by a text; "" is one line.
func JSON(value any, indent string) string {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", indent)
	if err := encoder.Encode(value); err != nil {
		return fmt.Sprint(value)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// visibly is a value as JSON in which invisible and confusable characters are escaped as JSON escapes them, so that two
// values that differ never look the same.
func visibly(value any, indent string) string {
	text := JSON(value, indent)
	confusable := naming.Deceptive(text)
	var b strings.Builder
	before := ' '
	for i, r := range text {
		switch {
		case r == '\n' || r < utf8.RuneSelf && r >= ' ' && r != 0x7f || !ambiguous(before, r) && !inside(confusable, text, i):
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

// ambiguous reports whether a character is invisible or is written like others: a space that isn't the usual one, a
// letter or mark that could be composed otherwise, our own mark of a continued line.
func ambiguous(before, r rune) bool {
	text := string(r)
	return text == goesOn || diag.Escape(text) != text || unicode.IsSpace(r) || norm.NFC.String(text) != text ||
		unicode.Is(unicode.M, r) && utf8.RuneCountInString(norm.NFC.String(string(before)+text)) == 1
}

// inside reports whether the character at i is in one of the words, which are parts of the text.
func inside(words []string, text string, i int) bool {
	return slices.ContainsFunc(words, func(word string) bool {
		first := max(0, i-len(word)+1)
		at := strings.Index(text[first:], word)
		return at >= 0 && first+at <= i
	})
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
			return append(lines[:shownLines-1], Cut(strings.TrimSuffix(lines[shownLines-1], goesOn)+" …", columns)), false
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
	if diag.Columns(text) <= columns {
		return []string{text}
	}
	var lines []string
	start, at, word := 0, 0, 0
	for i, w := range diag.Characters(text) {
		if at+w > columns-1 {
			end := i
			if word > start {
				end = word
			}
			lines = append(lines, text[start:end]+goesOn)
			start, at = end, diag.Columns(text[end:i])
		}
		if at += w; text[i] == ' ' {
			word = i + 1
		}
	}
	return append(lines, text[start:])
}

// ValueOf is the JSON value that a text is, or else the text itself. JSON that can't
// be kept as it is, such as an integer that would lose digits, is neither: to
// take it for text would make a number something else.
func ValueOf(text string, limits source.Limits) (value any, problem string) {
	node, problems := source.Parse(source.NewFile("value.json", []byte(text)), limits)
	switch {
	case node != nil && len(problems) == 0:
		return node.Value(), ""
	case len(problems) > 0 && json.Valid([]byte(text)):
		return nil, problems[0].Message
	}
	return text, ""
}
