package source

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
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
		j.stop(j.i, j.i, "", "the text is empty; expected a JSON value")
	}
	root := j.value()
	j.blanks()
	if j.i < len(j.text) {
		j.refuseComment()
		j.stop(j.i, j.i+len(j.word()), "a file holds one value; a .jsonl file holds one in each line",
			"there is text after the JSON value")
	}
	return root
}

var jsonBlanks = classOf(func(c byte) bool { return blank(c) || isBreak(c) })

func (j *jsonReader) blanks() { j.i = jsonBlanks.end(j.text, j.i) }

// at reports whether one of some bytes stands next.
func (j *jsonReader) at(set string) bool {
	return j.i < len(j.text) && strings.IndexByte(set, j.text[j.i]) >= 0
}

func (j *jsonReader) value() *Node {
	switch {
	case j.at(`"`):
		return j.str()
	case j.at("{"):
		n, mark := j.node(Object, Plain, j.i, 0), len(j.fieldStack)
		j.entries(n, '}', j.field)
		n.Fields = j.takeFields(mark)
		return n
	case j.at("["):
		n, mark := j.node(Array, Plain, j.i, 0), len(j.itemStack)
		j.entries(n, ']', func() { j.itemStack = append(j.itemStack, j.value()) })
		n.Items = j.takeItems(mark)
		return n
	case j.at("-0123456789"):
		return j.number()
	}
	for _, word := range [...]string{"true", "false", "null"} {
		if strings.HasPrefix(j.text[j.i:], word) && j.word() == word {
			n := j.node(Null, Plain, j.i, j.i+len(word))
			if word != "null" {
				n.Kind, n.Text = Bool, word
			}
			j.i += len(word)
			return n
		}
	}
	j.refuse("a value", "put text in double quotes")
	return nil
}

// A fence is around code in Markdown, where models like to put their answers.
const (
	fence     = "```"
	fenceHelp = "take out the lines that begin with " + fence
)

var jsonWord = regexp.MustCompile(`^(?s:[^ \t\r\n,:\[\]{}"'/#]{1,64}|.)?`)

// word is what a person takes for one word, to show it in messages.
func (j *jsonReader) word() string { return jsonWord.FindString(j.text[j.i:]) }

// foreignWords are what other languages have for values of JSON.
var foreignWords = map[string]string{
	"NaN": "write null, or text in quotes", "Infinity": "write null, or text in quotes",
	"True": "JSON has true, false and null", "False": "JSON has true, false and null",
	"None": "JSON has true, false and null", "undefined": "JSON has true, false and null",
}

// refuse reports what is in the place of something else.
func (j *jsonReader) refuse(expected, help string) {
	j.refuseComment()
	switch text, end := j.word(), j.i+len(j.word()); {
	case text == "":
		j.stop(j.i, j.i, "", "the text ends where %s is expected", expected)
	case text == ",":
		j.stop(j.i, end, "", "expected %s before the comma", expected)
	case text == "]" || text == "}":
		j.stop(j.i, end, "", "expected %s before %q", expected, text)
	case text == "'":
		j.stop(j.i, end, "use double quotes", "JSON has no single quotes")
	case strings.HasPrefix(text, fence):
		j.stop(j.i, end, fenceHelp, "%s begins a block of Markdown, not JSON", quote(text))
	default:
		j.stop(j.i, end, cmp.Or(foreignWords[text], help), "expected %s, found %s", expected, quote(text))
	}
}

func (j *jsonReader) refuseComment() {
	rest := j.text[j.i:]
	if strings.HasPrefix(rest, "//") || strings.HasPrefix(rest, "/*") || strings.HasPrefix(rest, "#") {
		line := strings.FieldsFunc(rest, func(r rune) bool { return r == '\r' || r == '\n' })[0]
		j.stop(j.i, j.i+len(line), "remove it, or write the plan as YAML", "a JSON file can't hold comments")
	}
}

func (j *jsonReader) field() {
	if !j.at(`"`) {
		j.refuse("a key in double quotes", "put the key in double quotes")
	}
	key := j.str()
	if j.blanks(); !j.at(":") {
		j.refuse("\":\" after the key "+quote(key.Text), "")
	}
	j.i++
	j.blanks()
	j.fieldStack = append(j.fieldStack, Field{key, j.value()})
}

// entries reads those of a list or mapping, one by one, up to its end.
func (j *jsonReader) entries(n *Node, closer byte, entry func()) {
	if j.depth++; j.depth > j.limits.Depth {
		j.fail(codeLimit, j.i, j.i+1, "", "nested more than %d deep", j.limits.Depth)
	}
	j.i++
	for more, comma := true, -1; ; {
		j.blanks()
		switch {
		case j.i == len(j.text):
			j.stop(n.Start, n.Start+1, "", "%q is never closed; expected %q before the end of the file",
				j.text[n.Start:n.Start+1], string(closer))
		case j.text[j.i] == closer && comma >= 0:
			j.stop(comma, comma+1, "remove it", "a comma before %q; JSON allows none after the last entry",
				string(closer))
		case j.text[j.i] == closer:
			j.i++
			n.End = j.i
			j.depth--
			return
		case more:
			entry()
			more, comma = false, -1
		case j.text[j.i] == ',':
			more, comma = true, j.i
			j.i++
		default:
			j.refuse("a comma or "+strconv.Quote(string(closer)), "")
		}
	}
}

// quotable are the bytes that need no escape in a string.
var quotable = classOf(func(c byte) bool { return c >= ' ' && c != '"' && c != '\\' })

// str reads a string.
func (j *jsonReader) str() *Node {
	start, text := j.i, j.text
	n := j.node(String, DoubleQuoted, start, 0)
	j.begin()
	for run, i := start+1, quotable.end(text, start+1); i < len(text); i = quotable.end(text, i) {
		switch c := text[i]; c {
		case '"':
			j.i = i + 1
			n.End = j.i
			j.checkScalar(start, n.End)
			n.Text = j.decoded(start+1, run, i)
			return n
		case '\\':
			if i+1 == len(text) {
				i++
				break
			}
			j.copy(run, i)
			i = j.escape(i)
			run = i
		case '\n', '\r':
			j.stop(start, i, "close it on its line; a line break is written \\n", "the string isn't closed on its line")
		default:
			j.stop(i, i+1, "write it as an escape", "a control character (U+%04X) inside a string", c)
		}
	}
	j.stop(start, start+1, "", "the string is never closed")
	return nil
}

var jsonNumber = regexp.MustCompile(`^-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?`)

func (j *jsonReader) number() *Node {
	start, found := j.i, jsonNumber.FindStringSubmatchIndex(j.text[j.i:])
	if found != nil {
		j.i += found[1]
	}
	if found == nil || j.i < len(j.text) && !j.at(" \t\r\n,]}") {
		j.refuseComment()
		end := j.i
		j.i = start
		end = max(end, start+len(j.word()))
		j.stop(start, end, "put it in quotes if it is text",
			"%s isn't a JSON number: those don't begin with 0 and another digit, and have digits around the point",
			quote(j.text[start:end]))
	}
	n := j.node(Number, Plain, start, j.i)
	n.Text = j.text[start:j.i]
	if !j.checkNumber(n, n.Text, found[2] < 0 && found[4] < 0) {
		n.Kind, n.Text = Null, ""
	}
	return n
}
