package expression

import (
	"math"
	"strconv"
	"strings"
)

// opening begins an expression in a text.
const opening = mark + "{"

// IsText reports whether a string of a plan is a text with expressions in it: it isn't one
// expression itself, and holds a †{ that isn't written ††{.
func IsText(s string) bool {
	if !strings.Contains(s, opening) || IsExpression(s) {
		return false
	}
	_, next := literalText(s, 0)
	return next < len(s)
}

// Literal is the text of a string of a plan when there is no expression in it: †† at the beginning is one †, and ††{
// anywhere is †{.
func Literal(s string) string {
	text, _ := literalText(s, 0)
	return text
}

// Escape is the string of a plan for a text, whatever that holds: the inverse of [Literal].
func Escape(text string) string {
	text = escapeBraces(text)
	if strings.HasPrefix(text, mark) && !strings.HasPrefix(text, mark+opening) {
		return mark + text
	}
	return text
}

func escapeBraces(text string) string { return strings.ReplaceAll(text, opening, mark+opening) }

// literalText is the text of a string of a plan from a place on, up to the next expression in it, and where that
// begins: at the string's end if there is none.
func literalText(s string, at int) (text string, next int) {
	var before strings.Builder
	copied := at // up to here the string is in the text
	if at == 0 && strings.HasPrefix(s, mark+mark) {
		copied, at = len(mark), 2*len(mark)
	}
	for {
		found := strings.Index(s[at:], opening)
		if found < 0 {
			before.WriteString(s[copied:])
			return before.String(), len(s)
		}
		found += at
		if !strings.HasSuffix(s[at:found], mark) {
			before.WriteString(s[copied:found])
			return before.String(), found
		}
		before.WriteString(s[copied : found-len(mark)])
		copied, at = found, found+len(opening)
	}
}

// closingBrace is where the brace stands that closes the †{ at s[open:]: the one
// that balances outside of strings.
func closingBrace(s string, open int) (int, *Error) {
	closing, err := balanced(s, open+len(opening), '{', '}')
	if err != nil || closing >= 0 {
		return closing, err
	}
	return 0, fail(open, open+len(opening), "\"†{\" is never closed",
		"close it with }; a †{ that is text is written ††{")
}

// balanced is where the bracket is that closes what is open at a byte, outside of strings; -1 if there is none.
func balanced(s string, at int, open, closing byte) (int, *Error) {
	depth := 0
	for ; at < len(s); at++ {
		switch c := s[at]; {
		case c == '"' || c == '\'' || c == '`':
			end, err := textEnd(s, at)
			if err != nil {
				return 0, err
			}
			at = end - 1
		case c == open:
			depth++
		case c == closing && depth == 0:
			return at, nil
		case c == closing:
			depth--
		}
	}
	return -1, nil
}

// ParseText reads a text with expressions in it, as the plan has it once it is decoded. In its braces a word that
// isKind has for a kind begins a reference, with or without †. The limits are those of all its expressions together.
func ParseText(text string, isKind func(word string) bool, limits Limits) (*Expr, *Error) {
	l := &lowering{scan: newScan(text, isKind, limits.orDefault(), false), nodes: 1}
	defer l.release()
	root := &Node{Op: OpText, End: len(text)}
	var plain []byte // text behind text is one piece
	from := 0
	flush := func(to int) {
		if len(plain) > 0 {
			root.Args = append(root.Args, &Node{Op: OpLiteral, Value: string(plain), Start: from, End: to})
		}
		plain = plain[:0]
	}
	for at := 0; at < len(text); {
		literal, open := literalText(text, at)
		plain = append(plain, literal...)
		if open == len(text) {
			break
		}
		end, err := closingBrace(text, open)
		if err != nil {
			return nil, err
		}
		operand, err := l.braced(open+len(opening), end)
		if err != nil {
			return nil, err
		}
		at = end + 1
		if literal, ok := operand.plainText(); ok {
			plain = append(plain, literal...)
			continue
		}
		flush(open)
		root.Args = append(root.Args, operand)
		from = at
	}
	flush(len(text))
	return l.finish(root), nil
}

// plainText is the text of a literal, if the node is one.
func (n *Node) plainText() (string, bool) {
	text, ok := n.Value.(string)
	return text, ok && n.Op == OpLiteral
}

// braced reads the contents of the braces of a text.
func (l *lowering) braced(from, to int) (*Node, *Error) {
	text := l.text[:to]
	at := skipBlanks(text, from)
	l.first, l.open = len(l.tokens), l.open[:0]
	if strings.HasPrefix(text[at:], mark+"(") {
		return nil, fail(at, at+len(mark), "in braces an expression needs no †",
			"leave out the † before the parenthesis")
	}
	if strings.HasPrefix(text[at:], mark) || l.beginsUnmarked(text, at) {
		ref, end, optional, err := readReference(text, at)
		if err != nil {
			return nil, err
		}
		if skipBlanks(text, end) == to { // as most are, and needs no parser
			if l.nodes++; l.nodes > l.limits.Nodes {
				return nil, tooLarge(l.text, l.limits)
			}
			l.refs, l.optional = append(l.refs, ref), append(l.optional, optional)
			return l.reference(token{start: at, end: end}), nil
		}
	}
	return l.read(from, to, 2)
}

// words are those of the expression language that are no kinds.
var words = map[string]bool{
	"let": true, "if": true, "else": true, "in": true, "not": true, "and": true, "or": true,
	"matches": true, "contains": true, "startsWith": true, "endsWith": true, "true": true, "false": true, "nil": true, "null": true,
}

// beginsUnmarked reports whether a reference without its † begins at text[at:]: a kind that is no key and no function.
func (s *scan) beginsUnmarked(text string, at int) bool {
	if s.isKind == nil {
		return false
	}
	end := readKey(text, at)
	if word := text[at:end]; words[word] || !s.isKind(word) {
		return false
	}
	before := ""
	if last := len(s.tokens) - 1; last >= s.first {
		before = s.word(last)
	}
	next := text[skipBlanks(text, end):]
	inObject := len(s.open) > 0 && s.text[s.tokens[s.open[len(s.open)-1]].start] == '{'
	switch {
	case before == "." || before == "?." || before == "#", strings.HasPrefix(next, "("):
		return false
	case strings.HasPrefix(next, ":") && inObject && (before == "{" || before == ","):
		return false
	}
	return true
}

// textual are the kinds of value that have one evident form in a text. Others must
// say which is meant.
const textual = String | Number | Bool | date | duration

// noText is the error of a node in a text whose value has no evident form there.
func noText(n *Node, kinds KindSet) *Error {
	help := "write string(…) or toJSON(…) to convert it"
	if kinds == Null {
		help = "add a default: †{ … || \"none\" }; string(…) would write the word null"
	}
	message := "†{ … } accepts a string, a number or a boolean; this is " + kinds.String()
	return fail(n.Start, n.End, message, help)
}

// appendAsText puts a value to a text: a string as it is, a number or boolean as
// JSON. It is false for a value that isn't textual, or no finite number.
func appendAsText(text []byte, value any) ([]byte, bool) {
	switch v := value.(type) {
	case string:
		return append(text, v...), true
	case bool:
		return strconv.AppendBool(text, v), true
	case float64:
		return appendNumber(text, v), !math.IsNaN(v) && !math.IsInf(v, 0)
	}
	time, ok := timeText(value)
	return append(text, time...), ok
}

// AsText is a value as it is written in a text with expressions in it. It is false for one that can't: null, a list or
// an object.
func AsText(value any) (string, bool) {
	text, ok := appendAsText(nil, value)
	return string(text), ok
}

// text evaluates a text with expressions in it.
func (m *evaluation) text(n *Node) any {
	var text []byte
	for _, a := range n.Args {
		value := m.run(a)
		before, ok := len(text), false
		if text, ok = appendAsText(text, value); !ok {
			panic(abandoned{noText(a, kindOf(value))})
		}
		m.grow(a, len(text)-before)
	}
	return string(text)
}

// interpolation writes a text with expressions in it.
func (p *printer) interpolation(n *Node) {
	for i, a := range n.Args {
		text, ok := a.plainText()
		switch {
		case ok && i == 0 && (text == mark || len(n.Args) == 1 || !strings.HasSuffix(text, mark)):
			p.text(Escape(text))
		case ok && (i == len(n.Args)-1 || !strings.HasSuffix(text, mark)):
			p.text(escapeBraces(text))
		default: // right before a brace a † would make it a literal one
			p.text(opening)
			p.print(a, bindLet)
			p.text("}")
		}
	}
}
