package source

import "strings"

// atom reads a scalar or an alias below a parent at column n. A single one ends with its line. Of a scalar only the
// text is read: whether it is a key or a value decides what that means.
func (y *yamlReader) atom(n int, single, flow bool) *Node {
	switch y.text[y.i] {
	case '*':
		return y.alias()
	case '"', '\'':
		return y.quoted(n)
	}
	return y.plain(n, single, flow)
}

// isScalar reports whether only the text of a node is read.
func (n *Node) isScalar() bool { return n.Kind == String && !n.Alias }

// plain reads a scalar without quotes. Its further lines stand further in than
// column n.
func (y *yamlScanner) plain(n int, single, flow bool) *Node {
	start := y.i
	y.refusePlainStart(flow)
	y.begin()
	run, end := start, y.plainLine(start, flow)
	for !single {
		next, breaks := y.continuation(end, n, flow)
		if breaks == 0 {
			break
		}
		y.copy(run, end)
		y.joinLines(breaks, end, next)
		run, end = next, y.plainLine(next, flow)
	}
	y.i = end
	y.checkScalar(start, end)
	node := y.node(String, Plain, start, end)
	node.Text = y.decoded(start, run, end)
	return node
}

// refusePlainStart refuses what text without quotes can't begin with.
func (y *yamlScanner) refusePlainStart(flow bool) {
	c := y.text[y.i]
	switch {
	case strings.IndexByte("%@`|>", c) >= 0:
		if strings.HasPrefix(y.text[y.i:], fence) {
			y.stop(y.i, y.i+len(fence), fenceHelp, "%s begins a block of Markdown, not YAML", quote(fence))
		}
		y.stop(y.i, y.i+1, "put it in quotes", "text without quotes can't begin with %q", string(c))
	case c == '!':
		y.stop(y.i, y.nameEnd(y.i), "remove it; what begins with ! goes in quotes, an expression as \"†(!†input.x)\"",
			"a tag; values are of the kinds that JSON has")
	case c == '&':
		y.stop(y.i, y.nameEnd(y.i), "put it behind the colon; text that begins with & goes in quotes",
			"an anchor in the place of a key")
	case flowIndicator(c):
		y.stop(y.i, y.i+1, "put it in quotes if it is text", "unexpected %q", string(c))
	case y.at('?'):
		y.stop(y.i, y.i+1, "write the key before a colon; text that begins with ? goes in quotes",
			"a key behind a question mark")
	case c == '#':
		y.stop(y.i, y.i+1, "a comment needs a space before its #; text that begins with # goes in quotes",
			"unexpected \"#\"")
	case c != '-' && c != '?' && c != ':':
	case y.separated(y.i + 1), flow && flowIndicator(y.text[y.i+1]):
		y.stop(y.i, y.i+1, "put it in quotes if it is text", "unexpected %q", string(c))
	}
}

// inPlain is what continues text without quotes wherever it stands.
var inPlain = classOf(func(c byte) bool {
	return !blank(c) && !isBreak(c) && c != ':' && c != '#' && !flowIndicator(c)
})

// plainLine is the end of the text without quotes that a line holds from i on.
func (y *yamlScanner) plainLine(i int, flow bool) int {
	end := i
	for ; i < len(y.text); i++ {
		if next := inPlain.end(y.text, i); next > i {
			if i, end = next, next; i == len(y.text) {
				return end
			}
		}
		c := y.text[i]
		switch {
		case blank(c):
			continue
		case isBreak(c):
			return end
		case c == ':' && (y.separated(i+1) || flow && flowIndicator(y.text[i+1])):
			return end
		case c == '#' && i > end:
			return end
		case flow && flowIndicator(c):
			return end
		}
		end = i + 1
	}
	return end
}

// lines goes over line breaks from i on, and blanks among and behind them: where the last line and its text begin.
func (y *yamlScanner) lines(i int) (line, next, breaks int) {
	line, next = y.line, i
	for next < len(y.text) && isBreak(y.text[next]) {
		breaks++
		line = afterBreak(y.text, next)
		for next = line; next < len(y.text) && blank(y.text[next]); next++ {
		}
	}
	return line, next, breaks
}

// spaces is how many of them a line begins with.
func (y *yamlScanner) spaces(line int) int {
	return len(y.text[line:]) - len(strings.TrimLeft(y.text[line:], " "))
}

// continuation goes to the further line in which text without quotes continues that has ended, and gives by how many
// line breaks; by none if it doesn't.
func (y *yamlScanner) continuation(end, n int, flow bool) (next, breaks int) {
	for end < len(y.text) && blank(y.text[end]) {
		end++
	}
	line, next, breaks := y.lines(end)
	switch {
	case breaks == 0 || next == len(y.text) || y.text[next] == '#' || next == line && atMarker(y.text, next),
		flow && (flowIndicator(y.text[next]) || y.text[next] == ':' && y.flowSeparated(next+1)),
		!flow && y.spaces(line) <= n:
		return next, 0
	}
	y.line = line
	return next, breaks
}

// quoted reads 'text' or "text". Its further lines stand further in than column
// n, which finds a forgotten quote where it was forgotten.
func (y *yamlScanner) quoted(n int) *Node {
	start, quotes, style := y.i, y.text[y.i], SingleQuoted
	if quotes == '"' {
		style = DoubleQuoted
	}
	y.begin()
	for i, run := start+1, start+1; i < len(y.text); {
		next := i + 1
		switch c := y.text[i]; {
		case isBreak(c):
			y.copy(run, y.trimmed(run, i))
			breaks := 0
			next, breaks = y.quotedBreak(start, i, n)
			y.joinLines(breaks, i, next)
			run = next
		case c == '\\' && quotes == '"' && next < len(y.text):
			y.copy(run, i)
			if breaks := 0; isBreak(y.text[next]) { // the line continues without a space
				next, breaks = y.quotedBreak(start, next, n)
				y.newlines(breaks-1, i, next)
			} else {
				next = y.escape(i)
			}
			run = next
		case c == quotes && c == '\'' && strings.HasPrefix(y.text[next:], "'"):
			y.copy(run, i)
			next++
			y.put("'", i, next)
			run = next
		case c == quotes:
			y.i = next
			y.checkScalar(start, next)
			node := y.node(String, style, start, next)
			node.Text = y.decoded(start+1, run, i)
			return node
		}
		i = next
	}
	y.stop(start, start+1, "", "the quote is never closed")
	return nil
}

// quotedBreak goes over the line break at i and the empty lines behind it.
func (y *yamlScanner) quotedBreak(start, i, n int) (next, breaks int) {
	y.line, next, breaks = y.lines(i)
	if next == len(y.text) {
		return next, breaks
	}
	if spaces := y.spaces(y.line); next > y.line+spaces && spaces <= n {
		y.tabAt(y.line + spaces)
	}
	if next == y.line && atMarker(y.text, next) || next-y.line <= n {
		y.stop(start, start+1, "close it, or indent the lines on which it goes on",
			"the quote isn't closed where its lines end")
	}
	return next, breaks
}

// blockScalar reads | or > below a parent at column n.
func (y *yamlScanner) blockScalar(n int) *Node {
	start := y.i
	style := Literal
	if y.text[start] == '>' {
		style = Folded
	}
	y.begin()
	end, line := y.block(start, n)
	y.checkScalar(start, end)
	if line >= 0 {
		header := y.lineEnd(start)
		if k := strings.IndexByte(y.text[start:header], '#'); k >= 0 {
			y.i = start + k
			y.comment()
		}
		y.line = line
	}
	y.i = end
	node := y.node(String, style, start, end)
	node.Text = string(y.out)
	node.parent = int32(n)
	return node
}

// asKey makes a node a key.
func (y *yamlReader) asKey(n *Node) *Node {
	if !n.isScalar() {
		y.report(codeSyntax, n.Start, n.End, keyIsText, "a key that is %s", keyKind(n))
		return &Node{File: n.File, Kind: String, Start: n.Start, End: n.End, Text: n.Text}
	}
	if n.Style == Plain && n.Text != "" && y.file.Format != YAMLData {
		if kind, _, _, _ := resolve(n.Text); kind != String {
			y.report(codeSyntax, n.Start, n.End, "put it in quotes", "the key %s is %s; a key is text", n.Text,
				kind).Quote = true
		}
	}
	return n
}

// keyKind is what a key is that is no text.
func keyKind(n *Node) string {
	if n.Alias {
		return "an alias"
	}
	return n.Kind.String()
}

const keyIsText = "a key is text; text that begins with { or [ goes in quotes, and a reference begins with †"

// asValue makes a node a value: what its text means is settled here.
func (y *yamlReader) asValue(n *Node) *Node {
	if n.isScalar() && n.Style == Plain && y.resolvePlain(n) && (n.Kind == String || n.Kind == Number) {
		if as, help := ambiguous(n.Text, n.Kind); as != "" {
			y.report(codeAmbiguous, n.Start, n.End, help, "%s is %s, but YAML 1.1 readers take it for %s",
				quote(n.Text), n.Kind, as)
		}
	}
	return n
}

// resolvePlain gives a scalar the kind that its text has. A number that can't
// be held is reported and becomes null.
func (y *yamlScanner) resolvePlain(n *Node) bool {
	kind, digits, integer, special := resolve(n.Text)
	n.Kind = kind
	switch {
	case special:
		y.report(codeSyntax, n.Start, n.End, "write null, or put it in quotes", "%s is no number that JSON has", n.Text)
		n.Kind, n.Text = Null, ""
		return false
	case kind == Number && !y.checkNumber(n, digits, integer):
		n.Kind, n.Text = Null, ""
		return false
	case kind == Bool:
		n.Text = strings.ToLower(n.Text)
	case kind == Null:
		n.Text = ""
	}
	return true
}

// A class is a set of bytes.
type class [256]bool

func classOf(in func(c byte) bool) *class {
	var c class
	for i := range c {
		c[i] = in(byte(i))
	}
	return &c
}

// end is where the run of bytes of the class at text[i:] ends.
func (c *class) end(text string, i int) int {
	for i < len(text) && c[text[i]] {
		i++
	}
	return i
}
