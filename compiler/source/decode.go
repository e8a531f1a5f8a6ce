package source

import (
	"regexp"
	"sort"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// The text of a scalar is turned into its value while it is read. What was read so far is in out; with mapping on,
// pieces say which bytes of the text each part came from, see [Node.Within].

// A piece is a part of the value that begins at text and ends where the next
// piece begins. It is a copy of the text from start on, or else represents all of
// text[start:end].
type piece struct {
	text, start, end int
	copied           bool
}

// begin begins the value of a scalar.
func (b *builder) begin() { b.out, b.pieces = b.out[:0], nil }

// decoded is the value of a scalar, of which text[run:end] comes last, and before it what was read from a place on. One
// that is as its text shares that.
func (b *builder) decoded(from, run, end int) string {
	if run == from && !b.mapping {
		return b.text[from:end]
	}
	b.copy(run, end)
	return string(b.out)
}

func (b *builder) copy(start, end int) {
	if start == end {
		return
	}
	if b.mapping {
		b.pieces = append(b.pieces, piece{len(b.out), start, end, true})
	}
	b.out = append(b.out, b.text[start:end]...)
}

func (b *builder) put(value string, start, end int) {
	if b.mapping {
		b.pieces = append(b.pieces, piece{len(b.out), start, end, false})
	}
	b.out = append(b.out, value...)
}

// newlines represents n line breaks somewhere in text[start:end].
func (b *builder) newlines(n, start, end int) {
	if n > 0 {
		b.put(strings.Repeat("\n", n), start, end)
	}
}

// joinLines represents line breaks between two lines: one is a space, each further one a line break.
func (b *builder) joinLines(breaks, start, end int) {
	if breaks == 1 {
		b.put(" ", start, end)
	} else {
		b.newlines(breaks-1, start, end)
	}
}

// place is where [from, to) of the value is in the text.
func (b *builder) place(from, to int) (start, end int) {
	at := func(offset int) piece {
		return b.pieces[sort.Search(len(b.pieces)-1, func(i int) bool { return b.pieces[i+1].text > offset })]
	}
	behind := func(offset int) int { // where the text of what is before it ends
		last := at(offset - 1)
		if last.copied {
			return last.start + offset - last.text
		}
		return last.end
	}
	switch first := at(from); {
	case from == len(b.out):
		start = behind(from)
	case first.copied:
		start = first.start + from - first.text
	default:
		start = first.start
	}
	if to == from {
		return start, start
	}
	return start, behind(to)
}

func blank(c byte) bool { return c == ' ' || c == '\t' }

func isBreak(c byte) bool { return c == '\n' || c == '\r' }

// afterBreak is the start of the line that follows the line break at i.
func afterBreak(s string, i int) int {
	if s[i] == '\r' && i+1 < len(s) && s[i+1] == '\n' {
		return i + 2
	}
	return i + 1
}

// trimmed is the end of a run of text before a line break, without its
// trailing blanks.
func (b *builder) trimmed(from, to int) int {
	for to > from && blank(b.text[to-1]) {
		to--
	}
	return to
}

// The escapes of one character: JSON's, and those that YAML adds.
const (
	jsonEscapes = `"\/bfnrt`
	jsonEscaped = "\"\\/\b\f\n\r\t"
	yamlEscapes = "ave \t"
	yamlEscaped = "\a\v\x1b \t"
)

var wideEscapes = map[byte]string{'N': "\u0085", '_': "\u00A0", 'L': "\u2028", 'P': "\u2029"}

// escape reads the escape at i, which isn't of a line break, and gives where the text continues.
func (b *builder) escape(i int) (next int) {
	c, more := b.text[i+1], b.file.Format < JSON
	if k := strings.IndexByte(jsonEscapes, c); k >= 0 {
		b.put(jsonEscaped[k:k+1], i, i+2)
		return i + 2
	}
	if k := strings.IndexByte(yamlEscapes, c); k >= 0 && more {
		b.put(yamlEscaped[k:k+1], i, i+2)
		return i + 2
	}
	switch {
	case c == 'u':
		return b.unicode(i, 4)
	case more && c == 'x':
		return b.unicode(i, 2)
	case more && c == 'U':
		return b.unicode(i, 8)
	case more && c == '0':
		b.stop(i, i+2, noNUL, "a NUL character")
	case more && wideEscapes[c] != "":
		b.put(wideEscapes[c], i, i+2)
		return i + 2
	}
	_, size := utf8.DecodeRuneInString(b.text[i+1:])
	b.stop(i, i+1+size, `a backslash itself is written \\`, "the escape %s doesn't exist", quote(b.text[i:i+1+size]))
	return 0
}

const noNUL = "remove it: programs written in C take it for the end of the text"

// unicode reads the hexadecimal digits after \x, \u or \U, and a surrogate pair of two \u.
func (b *builder) unicode(i, digits int) (next int) {
	r, ok := b.hex(i+2, digits)
	next = i + 2 + digits
	if !ok {
		found, _, _ := strings.Cut(b.text[i:min(next, len(b.text))], `"`)
		b.stop(i, i+len(found), "", "the escape %s doesn't have its hexadecimal digits", quote(found))
	}
	switch {
	case r == 0 && b.file.Format != JSONData:
		b.stop(i, next, noNUL, "a NUL character")
	case utf16.IsSurrogate(r):
		if digits == 4 && strings.HasPrefix(b.text[next:], `\u`) {
			low, _ := b.hex(next+2, 4)
			if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
				b.put(string(pair), i, next+6)
				return next + 6
			}
		}
		b.stop(i, next, "a character beyond U+FFFF is written as two escapes, high before low, or as itself",
			"the escape %s is half of a surrogate pair", quote(b.text[i:next]))
	case r > utf8.MaxRune || r < 0:
		b.stop(i, next, "", "the escape %s is beyond Unicode", quote(b.text[i:next]))
	}
	b.put(string(r), i, next)
	return next
}

func (b *builder) hex(from, digits int) (rune, bool) {
	r, err := strconv.ParseUint(b.text[from:min(from+digits, len(b.text))], 16, 32)
	return rune(r), err == nil && from+digits <= len(b.text)
}

// blockHeader is the first line of a block scalar: how its last line breaks count, and how far it is indented, in
// either order, and blanks and a comment.
var blockHeader = regexp.MustCompile(`^[|>](?:([+-])([1-9])|([1-9]?)([+-]?))((?:[ \t]+(?:#[^\r\n]*)?)?)`)

// block decodes a literal (|) or folded (>) scalar that begins at start, below
// a parent that is indented by parent columns (-1 at the top). It gives the end
// of its last line of text, without the line break, and the start of that line.
func (b *builder) block(start, parent int) (end, line int) {
	header := blockHeader.FindStringSubmatch(b.text[start:])
	i := start + len(header[0])
	end, line = i-len(header[5]), -1
	if i == len(b.text) {
		return end, line
	}
	if !isBreak(b.text[i]) {
		b.stop(i, i+1, "the text begins on the next line; quote text that begins with | or >",
			"expected the end of the line after %s", quote(b.text[start:end]))
	}
	i = afterBreak(b.text, i)
	indent := -1 // as the first line of text is indented
	if explicit, _ := strconv.Atoi(header[2] + header[3]); explicit > 0 {
		indent = max(parent, 0) + explicit
	}
	deepest, deepestAt := 0, i // of the empty lines before it
	empty := 0                 // lines since the last line of text
	open, spaced := false, false
	for i < len(b.text) {
		from := i
		for i < len(b.text) && i-from != indent && b.text[i] == ' ' {
			i++
		}
		spaces := i - from
		if i == len(b.text) {
			break
		}
		if isBreak(b.text[i]) {
			if empty++; spaces > deepest {
				deepest, deepestAt = spaces, from
			}
			i = afterBreak(b.text, i)
			continue
		}
		if indent < 0 && spaces > parent {
			if indent = spaces; deepest > spaces {
				b.stop(deepestAt, deepestAt+deepest, "remove its spaces, or say how far the text is indented: |2",
					"an empty line with more spaces than the first line of text below it")
			}
		}
		if indent < 0 || spaces < indent || indent == 0 && atMarker(b.text, i) {
			break
		}
		indented := blank(b.text[i])
		switch {
		case line < 0:
			b.newlines(empty, end, i)
		case b.text[start] == '|' || spaced || indented:
			b.newlines(empty+1, end, i)
		default:
			b.joinLines(empty+1, end, i)
		}
		end, line = i, from
		for end < len(b.text) && !isBreak(b.text[end]) {
			end++
		}
		b.copy(i, end)
		spaced, empty, i = indented, 0, end
		if open = end < len(b.text); open {
			i = afterBreak(b.text, end)
		}
	}
	switch chomp := header[1] + header[4]; {
	case chomp == "+" && open:
		b.newlines(empty+1, end, i)
	case chomp == "+":
		b.newlines(empty, end, i)
	case chomp == "" && open:
		b.newlines(1, end, i)
	}
	return end, line
}

// atMarker reports whether a document marker, --- or ..., stands at i, which is
// the start of a line.
func atMarker(s string, i int) bool {
	if !strings.HasPrefix(s[i:], "---") && !strings.HasPrefix(s[i:], "...") {
		return false
	}
	return i+3 == len(s) || blank(s[i+3]) || isBreak(s[i+3])
}
