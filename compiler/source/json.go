package source

import (
	"strings"
	"unicode/utf8"
)

// A jsonReader reads RFC 8259 and nothing more.
type jsonReader struct {
	*builder
	i     int // the next byte
	depth int
}

func (j *jsonReader) document() *Node {
	if strings.HasPrefix(j.text, byteOrderMark) {
		j.stop(0, 3, "save the file without it", "a JSON file can't begin with a byte order mark")
	}
	j.blanks()
	if j.i == len(j.text) {
		j.stop(j.i, j.i, "", "the file is empty; expected a JSON value")
	}
	root := j.value()
	j.blanks()
	if j.i < len(j.text) {
		j.refuseComment()
		j.stop(j.i, j.word(j.i), "a file holds one value; a .jsonl file holds one in each line",
			"there is text after the JSON value")
	}
	return root
}

func (j *jsonReader) blanks() {
	for j.i < len(j.text) {
		switch j.text[j.i] {
		case ' ', '\t', '\n', '\r':
			j.i++
		default:
			return
		}
	}
}

func (j *jsonReader) value() *Node {
	if j.i == len(j.text) {
		j.stop(j.i, j.i, "", "the text ends where a value is expected")
	}
	switch c := j.text[j.i]; {
	case c == '"':
		return j.str()
	case c == '{':
		return j.object()
	case c == '[':
		return j.array()
	case c == '-' || '0' <= c && c <= '9':
		return j.number()
	}
	for _, word := range [...]string{"true", "false", "null"} {
		if strings.HasPrefix(j.text[j.i:], word) && j.word(j.i) == j.i+len(word) {
			n := j.node(Bool, Plain, j.i, j.i+len(word))
			if word == "null" {
				n.Kind = Null
			} else {
				n.Text = word
			}
			j.i += len(word)
			return n
		}
	}
	j.refuseComment()
	start, end := j.i, j.word(j.i)
	switch text := j.text[start:end]; text {
	case "]", "}":
		j.stop(start, end, "", "expected a value before %q", text)
	case ",":
		j.stop(start, end, "", "expected a value before the comma")
	case "NaN", "Infinity", "-Infinity":
		j.stop(start, end, "write null, or text in quotes", "%s isn't a JSON value", text)
	case "True", "False", "None", "undefined":
		j.stop(start, end, "JSON has true, false and null", "%s isn't a JSON value", quote(text))
	case "'":
		j.stop(start, end, "use double quotes", "JSON has no single quotes")
	default:
		if strings.HasPrefix(j.text[start:], fence) {
			j.stop(start, end, fenceHelp, "%s begins a block of Markdown, not JSON", quote(text))
		}
		j.stop(start, end, "put text in double quotes", "%s isn't a JSON value", quote(text))
	}
	return nil
}

// A fence is around code in Markdown, where models like to put their answers.
const (
	fence     = "```"
	fenceHelp = "take out the lines that begin with " + fence
)

// word is the end of what a person takes for one word, to show it in messages.
func (j *jsonReader) word(start int) int {
	end := start
	for end < len(j.text) && end-start < 64 {
		r, size := utf8.DecodeRuneInString(j.text[end:])
		if strings.ContainsRune(" \t\r\n,:[]{}\"'/#", r) {
			break
		}
		end += size
	}
	if end == start && end < len(j.text) {
		_, size := utf8.DecodeRuneInString(j.text[start:])
		end += size
	}
	return end
}

func (j *jsonReader) refuseComment() {
	rest := j.text[j.i:]
	if strings.HasPrefix(rest, "//") || strings.HasPrefix(rest, "/*") || strings.HasPrefix(rest, "#") {
		size := strings.IndexAny(rest, "\r\n")
		if size < 0 {
			size = len(rest)
		}
		j.stop(j.i, j.i+size, "remove it, or write the plan as YAML", "a JSON file can't hold comments")
	}
}

func (j *jsonReader) enter(start int) {
	if j.depth++; j.depth > j.limits.Depth {
		j.fail(codeLimit, start, start+1, "", "nested more than %d deep", j.limits.Depth)
	}
}

func (j *jsonReader) array() *Node {
	n, mark := j.node(Array, Plain, j.i, 0), len(j.itemStack)
	j.entries(n, ']', func() { j.itemStack = append(j.itemStack, j.value()) })
	n.Items = j.takeItems(mark)
	return n
}

func (j *jsonReader) object() *Node {
	n, mark := j.node(Object, Plain, j.i, 0), len(j.fieldStack)
	j.entries(n, '}', func() {
		key := j.key()
		j.blanks()
		if j.i == len(j.text) || j.text[j.i] != ':' {
			if j.i < len(j.text) {
				j.refuseComment()
			}
			j.stop(j.i, j.word(j.i), "", "expected \":\" after the key %s", quote(key.Text))
		}
		j.i++
		j.blanks()
		j.fieldStack = append(j.fieldStack, Field{key, j.value()})
	})
	n.Fields = j.takeFields(mark)
	return n
}

// entries reads those of a list or mapping, one by one, up to its end.
func (j *jsonReader) entries(n *Node, closer byte, entry func()) {
	j.enter(j.i)
	j.i++
	for first := true; ; first = false {
		j.blanks()
		if j.closes(n, closer, first) {
			break
		}
		entry()
		if j.separated(n, closer) {
			break
		}
	}
	n.End = j.i
	j.depth--
}

func (j *jsonReader) key() *Node {
	if j.text[j.i] == '"' {
		return j.str()
	}
	j.refuseComment()
	end := j.word(j.i)
	switch text := j.text[j.i:end]; text {
	case "'":
		j.stop(j.i, end, "use double quotes", "JSON has no single quotes")
	case ",":
		j.stop(j.i, end, "", "expected a key before the comma")
	default:
		j.stop(j.i, end, "put the key in double quotes", "expected a key in double quotes, found %s", quote(text))
	}
	return nil
}

// closes reads the end of a list or mapping where an entry may begin.
func (j *jsonReader) closes(n *Node, closer byte, first bool) bool {
	if j.i == len(j.text) {
		j.unclosed(n, closer)
	}
	if j.text[j.i] != closer {
		return false
	}
	if !first {
		comma := strings.LastIndexByte(j.text[n.Start:j.i], ',') + n.Start
		j.stop(comma, comma+1, "remove it", "a comma before %q; JSON allows none after the last entry", string(closer))
	}
	j.i++
	return true
}

// separated reads what follows an entry: a comma (false) or the end (true).
func (j *jsonReader) separated(n *Node, closer byte) bool {
	j.blanks()
	if j.i == len(j.text) {
		j.unclosed(n, closer)
	}
	switch j.text[j.i] {
	case ',':
		j.i++
		return false
	case closer:
		j.i++
		return true
	}
	j.refuseComment()
	j.stop(j.i, j.word(j.i), "", "expected a comma or %q", string(closer))
	return true
}

func (j *jsonReader) unclosed(n *Node, closer byte) {
	j.stop(n.Start, n.Start+1, "", "%q is never closed; expected %q before the end of the file",
		j.text[n.Start:n.Start+1], string(closer))
}

// quotable are the bytes that need no escape in a string.
var quotable = classOf(func(c byte) bool { return c >= ' ' && c != '"' && c != '\\' })

// str reads a string. One without escapes shares the file's text.
func (j *jsonReader) str() *Node {
	start := j.i
	n := j.node(String, DoubleQuoted, start, 0)
	escaped := false
	for i, text := start+1, j.text; ; i++ {
		if i = quotable.end(text, i); i >= len(text) {
			break
		}
		switch c := text[i]; c {
		case '"':
			j.i = i + 1
			n.End = j.i
			j.checkScalar(start, n.End)
			if !escaped {
				n.Text = text[start+1 : i]
				return n
			}
			d := decoder{src: text, out: j.scratch[:0], strictJSON: true, nul: j.file.Format == JSONData}
			if bad := d.double(start, n.End); bad != nil {
				j.stop(bad.start, bad.end, bad.help, "%s", bad.message)
			}
			n.Text, j.scratch = string(d.out), d.out
			return n
		case '\\':
			escaped = true
			i++
		case '\n', '\r':
			j.stop(start, i, "close it on its line; a line break is written \\n", "the string isn't closed on its line")
		default:
			j.stop(i, i+1, "write it as an escape", "a control character (U+%04X) inside a string", c)
		}
	}
	j.stop(start, start+1, "", "the string is never closed")
	return nil
}

func (j *jsonReader) number() *Node {
	start, i := j.i, j.i
	digits := func() int {
		from := i
		for i < len(j.text) && '0' <= j.text[i] && j.text[i] <= '9' {
			i++
		}
		return i - from
	}
	at := func(set string) bool { return i < len(j.text) && strings.IndexByte(set, j.text[i]) >= 0 }
	bad := func(help, message string) { j.stop(start, max(i, j.word(start)), help, "%s", message) }

	integer := true
	if at("-") {
		i++
	}
	zero := at("0")
	switch n := digits(); {
	case n == 0:
		bad("", "expected digits after the sign of a number")
	case zero && n > 1:
		bad("remove the zeros, or put it in quotes", "a JSON number can't begin with 0")
	}
	if at(".") {
		integer = false
		if i++; digits() == 0 {
			bad("", "expected digits after the point of a number")
		}
	}
	if at("eE") {
		integer = false
		if i++; at("+-") {
			i++
		}
		if digits() == 0 {
			bad("", "expected digits after the exponent sign of a number")
		}
	}
	if i < len(j.text) && !strings.ContainsRune(" \t\r\n,]}", rune(j.text[i])) {
		j.i = i
		j.refuseComment()
		j.stop(start, max(i, j.word(start)), "put it in quotes if it is text", "%s isn't a number",
			quote(j.text[start:max(i, j.word(start))]))
	}
	n := j.node(Number, Plain, start, i)
	n.Text = j.text[start:i]
	j.i = i
	if !j.checkNumber(n, n.Text, integer) {
		n.Kind, n.Text = Null, ""
	}
	return n
}
