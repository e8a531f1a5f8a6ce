package source

import (
	"fmt"
	"strings"
)

// flowCollection reads [a, b] or {a: b}. Lines inside it may be indented by any
// number of spaces: many people put the closing bracket below the key.
func (y *yamlReader) flowCollection() *Node {
	start := y.i
	y.enter(start)
	var n *Node
	if y.text[start] == '[' {
		n = y.node(Array, Plain, start, 0)
		mark := len(y.itemStack)
		for y.flowEntry(n, ']') {
			item := y.flowNode(true)
			if y.skip(); y.flowColon(item) {
				y.stop(y.i, y.i+1, "put the pair in { }, close the bracket, or put the text in quotes",
					"a colon behind an item of a list")
			}
			y.itemStack = append(y.itemStack, item)
		}
		n.Items = y.takeItems(mark)
	} else {
		n = y.node(Object, Plain, start, 0)
		mark := len(y.fieldStack)
		for y.flowEntry(n, '}') {
			y.flowPair()
		}
		n.Fields = y.takeFields(mark)
	}
	n.End = y.i
	y.depth--
	return n
}

// flowEntry goes to the next entry of a flow collection, over the bracket or
// comma before it; without a further entry it goes over the closing bracket.
func (y *yamlReader) flowEntry(open *Node, closer byte) bool {
	if y.i > open.Start {
		y.flowSkip(open, closer)
		if y.text[y.i] != closer && y.text[y.i] != ',' {
			y.expectComma(open, closer)
		}
	}
	if y.text[y.i] != closer {
		y.i++
		y.flowSkip(open, closer)
	}
	switch y.text[y.i] {
	case closer:
		y.i++
		return false
	case ',', ']', '}':
		y.stop(y.i, y.i+1, "", "expected a value or %q, found %q", string(closer), y.text[y.i:y.i+1])
	}
	return true
}

func (y *yamlReader) expectComma(open *Node, closer byte) {
	if y.leftBehind(open) {
		y.report(codeSyntax, open.Start, open.Start+1, "", "%q is never closed; expected %q",
			y.text[open.Start:open.Start+1], string(closer)).
			Related = []Note{{Span{y.file, y.i, y.i + 1}, "here something else begins"}}
		panic(stopped{})
	}
	help := "put text that holds any of , [ ] { } in quotes"
	if c := y.text[y.i]; c == ']' || c == '}' {
		help = fmt.Sprintf("close the %q with %q before it; %s", y.text[open.Start:open.Start+1], string(closer), help)
	} else if c == '{' && y.i > 0 && y.text[y.i-1] == '$' {
		help =
			"\"${…}\" isn't replaced in a plan: declare the value under \"input\" and write †input.NAME, or " +
				"quote the text"
	} else if c == ':' {
		help = "put text that holds a colon and a blank in quotes"
	}
	p := y.report(codeSyntax, y.i, y.i+1, help, "expected a comma or %q", string(closer))
	if open.Start < y.line {
		p.Related = []Note{{Span{y.file, open.Start, open.Start + 1}, "it is opened here"}}
	}
	panic(stopped{})
}

// leftBehind reports whether the line that is read can't belong to a collection that
// was opened behind something on a line before it: it is indented no further than that.
func (y *yamlReader) leftBehind(open *Node) bool {
	if open.Start >= y.line {
		return false
	}
	opening := strings.LastIndexByte(y.text[:open.Start], '\n') + 1
	return opening+y.spaces(opening) < open.Start && y.spaces(y.line) <= y.spaces(opening)
}

// flowSkip goes to the next thing inside a flow collection.
func (y *yamlReader) flowSkip(open *Node, closer byte) {
	y.skip()
	if y.i == len(y.text) || y.atMarker() {
		y.stop(open.Start, open.Start+1, "close it; text that holds \" #\" goes in quotes, since that begins a comment",
			"%q is never closed; expected %q", y.text[open.Start:open.Start+1], string(closer))
	}
	y.refuseTab(y.flowParent)
}

// flowPair reads a key and the value that belongs to it, if there is one.
func (y *yamlReader) flowPair() {
	read := y.flowNode(false)
	y.skip()
	key := y.asKey(read)
	if y.flowColon(read) {
		y.i++
		y.field(key, y.flowNode(true))
		return
	}
	if read.isScalar() && read.Style == Plain && strings.Contains(key.Text, ":") {
		y.report(codeAmbiguous, key.Start, key.End, "put a space behind the colon, or the text in quotes",
			"%s is a key without a value here", quote(key.Text))
	}
	y.field(key, y.node(Null, Plain, key.End, key.End))
}

// flowColon reports whether the colon of a key stands next. Behind quotes and
// brackets it needs no space.
func (y *yamlReader) flowColon(key *Node) bool {
	if y.i == len(y.text) || y.text[y.i] != ':' {
		return false
	}
	tight := key.Kind >= Array || key.Style == SingleQuoted || key.Style == DoubleQuoted
	return tight && !key.Alias || y.flowSeparated(y.i+1)
}

func (y *yamlScanner) flowSeparated(i int) bool {
	return y.separated(i) || flowIndicator(y.text[i])
}

func flowIndicator(c byte) bool {
	return c == ',' || c == '[' || c == ']' || c == '{' || c == '}'
}

// flowNode reads a node inside a flow collection, which may be empty: a value, or what is a key or one.
func (y *yamlReader) flowNode(value bool) *Node {
	behind := y.i
	y.skip()
	var m mark
	if value {
		if m = y.anchor(); m.name != "" {
			behind = m.end
		}
	}
	n := y.node(Null, Plain, behind, behind)
	if y.i < len(y.text) && !y.atMarker() {
		switch c := y.text[y.i]; {
		case c == ',' || c == ']' || c == '}', c == ':' && y.flowSeparated(y.i+1):
		case c == '[' || c == '{':
			n = y.flowCollection()
		case c == '-' && y.flowSeparated(y.i+1):
			y.stop(y.i, y.i+1, "separate items by commas", "a list of dashes can't stand inside brackets")
		case c == '|' || c == '>':
			y.stop(y.i, y.i+1, "put it in quotes", "text inside brackets can't begin with %q", string(c))
		default:
			n = y.atom(-1, false, true)
		}
	}
	if value {
		y.asValue(n)
	}
	return y.anchored(m, n)
}
