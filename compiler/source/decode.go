package source

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// A decoder turns the text of one scalar into its value. With mapping on it
// also remembers which bytes of the text each part of the value came from; the
// readers leave it off, and [Node.Within] decodes a second time.
type decoder struct {
	src        string
	out        []byte
	mapping    bool
	strictJSON bool // JSON's escapes only, and no line folding
	nul        bool // an escape may represent NUL

	pieces []piece
}

// A piece is a part of the value that begins at text and ends where the next
// piece begins. It is a copy of src from start on, or else represents all of
// src[start:end].
type piece struct {
	text, start, end int
	copied           bool
}

// A fault is what is wrong inside a scalar.
type fault struct {
	start, end    int
	message, help string
}

func (d *decoder) copy(start, end int) {
	if start == end {
		return
	}
	if d.mapping {
		d.pieces = append(d.pieces, piece{len(d.out), start, end, true})
	}
	d.out = append(d.out, d.src[start:end]...)
}

func (d *decoder) put(value string, start, end int) {
	if d.mapping {
		d.pieces = append(d.pieces, piece{len(d.out), start, end, false})
	}
	d.out = append(d.out, value...)
}

// newlines represents n line breaks somewhere in src[start:end].
func (d *decoder) newlines(n, start, end int) {
	if n > 0 {
		d.put(strings.Repeat("\n", n), start, end)
	}
}

// place is where src[from:to] of the value is in the text.
func (d *decoder) place(from, to int) (start, end int) {
	if len(d.pieces) == 0 {
		return -1, -1
	}
	at := func(offset int) piece {
		lo, hi := 0, len(d.pieces)
		for hi-lo > 1 {
			if mid := (lo + hi) / 2; d.pieces[mid].text <= offset {
				lo = mid
			} else {
				hi = mid
			}
		}
		return d.pieces[lo]
	}
	if from == len(d.out) {
		last := at(from - 1)
		if last.copied {
			start = last.start + from - last.text
		} else {
			start = last.end
		}
	} else if first := at(from); first.copied {
		start = first.start + from - first.text
	} else {
		start = first.start
	}
	if to == from {
		return start, start
	}
	if last := at(to - 1); last.copied {
		end = last.start + to - last.text
	} else {
		end = last.end
	}
	return start, end
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

// breaks counts line breaks from i on, among blanks, and gives where the text continues.
func (d *decoder) breaks(i, end int) (next, count int) {
	for i < end {
		switch {
		case isBreak(d.src[i]):
			count++
			i = afterBreak(d.src, i)
		case blank(d.src[i]):
			i++
		default:
			return i, count
		}
	}
	return i, count
}

// fold reads the line break at i, with the blanks and empty lines that follow:
// one break is a space, each further one a line break. It gives where the text
// continues.
func (d *decoder) fold(i, end int) int {
	next, count := d.breaks(i, end)
	d.joinLines(count, i, next)
	return next
}

func (d *decoder) joinLines(breaks, start, end int) {
	if breaks == 1 {
		d.put(" ", start, end)
	} else {
		d.newlines(breaks-1, start, end)
	}
}

// trimmed is the end of a run of text before a line break, without its
// trailing blanks.
func (d *decoder) trimmed(from, to int) int {
	for to > from && blank(d.src[to-1]) {
		to--
	}
	return to
}

// plain decodes a scalar without quotes.
func (d *decoder) plain(start, end int) {
	run := start
	for i := start; i < end; {
		if !isBreak(d.src[i]) {
			i++
			continue
		}
		d.copy(run, d.trimmed(run, i))
		run = d.fold(i, end)
		i = run
	}
	d.copy(run, end)
}

// single decodes 'text', quotes included.
func (d *decoder) single(start, end int) {
	d.quoted(start, end, '\'', func(i, _ int) (int, *fault) {
		d.put("'", i, i+2)
		return i + 2, nil
	})
}

// double decodes "text", quotes included.
func (d *decoder) double(start, end int) *fault { return d.quoted(start, end, '\\', d.escape) }

// quoted decodes text between quotes, in which one character begins escapes. What reads
// them gives where the text continues.
func (d *decoder) quoted(start, end int, escapes byte, escape func(i, end int) (next int, bad *fault)) *fault {
	end--
	run := start + 1
	for i := run; i < end; {
		switch c := d.src[i]; {
		case c == escapes:
			d.copy(run, i)
			next, bad := escape(i, end)
			if bad != nil {
				return bad
			}
			i, run = next, next
		case isBreak(c) && !d.strictJSON:
			d.copy(run, d.trimmed(run, i))
			run = d.fold(i, end)
			i = run
		default:
			i++
		}
	}
	d.copy(run, end)
	return nil
}

// The escapes of one character: JSON's, and those that YAML adds.
const (
	jsonEscapes = `"\/bfnrt`
	jsonEscaped = "\"\\/\b\f\n\r\t"
	yamlEscapes = "ave \t"
	yamlEscaped = "\a\v\x1b \t"
)

var wideEscapes = map[byte]string{'N': "\u0085", '_': "\u00A0", 'L': "\u2028", 'P': "\u2029"}

// escape reads the escape at i and gives where the text continues.
func (d *decoder) escape(i, end int) (int, *fault) {
	c := d.src[i+1]
	if k := strings.IndexByte(jsonEscapes, c); k >= 0 {
		d.put(jsonEscaped[k:k+1], i, i+2)
		return i + 2, nil
	}
	if c == 'u' {
		return d.unicode(i, end, 4)
	}
	if !d.strictJSON {
		if k := strings.IndexByte(yamlEscapes, c); k >= 0 {
			d.put(yamlEscaped[k:k+1], i, i+2)
			return i + 2, nil
		}
		switch {
		case c == 'x':
			return d.unicode(i, end, 2)
		case c == 'U':
			return d.unicode(i, end, 8)
		case c == '0':
			return i, &fault{i, i + 2, "a NUL character", noNUL}
		case isBreak(c):
			next, count := d.breaks(i+1, end)
			// the line continues without a space, and empty lines that follow are line breaks
			d.newlines(count-1, i, next)
			return next, nil
		case wideEscapes[c] != "":
			d.put(wideEscapes[c], i, i+2)
			return i + 2, nil
		}
	}
	_, size := utf8.DecodeRuneInString(d.src[i+1:])
	stop := min(i+1+size, end)
	return i, &fault{i, stop, "the escape " + quote(d.src[i:stop]) + " doesn't exist",
		`a backslash itself is written \\`}
}

const noNUL = "remove it: programs written in C take it for the end of the text"

// unicode reads \xXX, \uXXXX or \UXXXXXXXX, and a surrogate pair of two \u.
func (d *decoder) unicode(i, end, digits int) (int, *fault) {
	r, ok := d.hex(i+2, end, digits)
	stop := i + 2 + digits
	if !ok {
		stop = min(stop, end)
		return i, &fault{i, stop, "the escape " + quote(d.src[i:stop]) + " doesn't have its hexadecimal digits", ""}
	}
	switch {
	case r == 0 && !d.nul:
		return i, &fault{i, stop, "a NUL character", noNUL}
	case utf16.IsSurrogate(r):
		if digits == 4 && stop+6 <= end && d.src[stop] == '\\' && d.src[stop+1] == 'u' {
			if low, ok := d.hex(stop+2, end, 4); ok {
				if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
					d.put(string(pair), i, stop+6)
					return stop + 6, nil
				}
			}
		}
		return i, &fault{i, stop, "the escape " + quote(d.src[i:stop]) + " is half of a surrogate pair",
			"a character beyond U+FFFF is written as two escapes, high before low, or as itself"}
	case r > utf8.MaxRune || r < 0:
		return i, &fault{i, stop, "the escape " + quote(d.src[i:stop]) + " is beyond Unicode", ""}
	}
	d.put(string(r), i, stop)
	return stop, nil
}

func (d *decoder) hex(from, end, digits int) (rune, bool) {
	if from+digits > end {
		return 0, false
	}
	r, err := strconv.ParseUint(d.src[from:from+digits], 16, 32)
	return rune(r), err == nil
}

// block decodes a literal (|) or folded (>) scalar that begins at start, below
// a parent that is indented by parent columns (-1 at the top). It gives the end
// of its last line of text, without the line break, and the start of that line.
func (d *decoder) block(start, parent int) (end, line int, bad *fault) {
	folded := d.src[start] == '>'
	i, explicit, chomp := start+1, 0, byte(0)
	for ; i < len(d.src); i++ {
		if c := d.src[i]; '1' <= c && c <= '9' && explicit == 0 {
			explicit = int(c - '0')
		} else if (c == '+' || c == '-') && chomp == 0 {
			chomp = c
		} else {
			break
		}
	}
	end = i
	rest := i
	for rest < len(d.src) && blank(d.src[rest]) {
		rest++
	}
	if rest < len(d.src) && d.src[rest] == '#' && rest > i {
		for rest < len(d.src) && !isBreak(d.src[rest]) {
			rest++
		}
	}
	if rest < len(d.src) && !isBreak(d.src[rest]) {
		return end, -1, &fault{rest, rest + 1, "expected the end of the line after " + quote(d.src[start:i]),
			"the text begins on the next line; quote text that begins with | or >"}
	}
	if rest == len(d.src) {
		return end, -1, nil
	}
	i = afterBreak(d.src, rest)
	indent, bad := d.blockIndent(i, parent, explicit)
	if bad != nil {
		return end, -1, bad
	}
	return d.blockLines(i, end, indent, folded, chomp)
}

// blockIndent finds how far the text of a block scalar is indented.
func (d *decoder) blockIndent(i, parent, explicit int) (int, *fault) {
	if explicit > 0 {
		return max(parent, 0) + explicit, nil
	}
	deepest, deepestAt := 0, i
	for i < len(d.src) {
		line := i
		for i < len(d.src) && d.src[i] == ' ' {
			i++
		}
		spaces := i - line
		if i < len(d.src) && !isBreak(d.src[i]) {
			if spaces <= parent { // the parent's next line: there is no text
				return max(deepest, parent+1), nil
			}
			if deepest > spaces {
				return 0, &fault{deepestAt, deepestAt + deepest,
					"an empty line with more spaces than the first line of text below it",
					"remove its spaces, or say how far the text is indented: |2"}
			}
			return spaces, nil
		}
		if spaces > deepest {
			deepest, deepestAt = spaces, line
		}
		if i < len(d.src) {
			i = afterBreak(d.src, i)
		}
	}
	return max(deepest, parent+1), nil
}

func (d *decoder) blockLines(i, headerEnd, indent int, folded bool, chomp byte) (end, line int, bad *fault) {
	end, line = headerEnd, -1
	empty := 0 // empty lines since the last line of text
	any, open, spaced := false, false, false
	for i < len(d.src) {
		from := i
		for i < len(d.src) && i-from < indent && d.src[i] == ' ' {
			i++
		}
		if i == len(d.src) {
			break
		}
		if isBreak(d.src[i]) {
			empty++
			i = afterBreak(d.src, i)
			continue
		}
		if i-from < indent || indent == 0 && atMarker(d.src, i) {
			break
		}
		stop := i
		for stop < len(d.src) && !isBreak(d.src[stop]) {
			stop++
		}
		indented := blank(d.src[i])
		switch {
		case !any:
			d.newlines(empty, end, i)
		case !folded || spaced || indented:
			d.newlines(empty+1, end, i)
		default:
			d.joinLines(empty+1, end, i)
		}
		d.copy(i, stop)
		any, spaced, empty, end, line = true, indented, 0, stop, from
		if open = stop < len(d.src); open {
			stop = afterBreak(d.src, stop)
		}
		i = stop
	}
	switch {
	case chomp == '+' && open:
		d.newlines(empty+1, end, i)
	case chomp == '+':
		d.newlines(empty, end, i)
	case chomp == 0 && open:
		d.newlines(1, end, i)
	}
	return end, line, nil
}

// atMarker reports whether a document marker, --- or ..., stands at i, which is
// the start of a line.
func atMarker(s string, i int) bool {
	if !strings.HasPrefix(s[i:], "---") && !strings.HasPrefix(s[i:], "...") {
		return false
	}
	return i+3 == len(s) || blank(s[i+3]) || isBreak(s[i+3])
}
