package expression

import (
	"math"
	"strconv"
	"strings"

	"github.com/obelus-dev/obelus/compiler/reference"
)

// ParseString reads a string of a plan, as that has it once it is decoded: an expression, or a text with expressions in
// it. It is nil for one that is neither.
func ParseString(s string, isKind func(word string) bool) (*Expr, *Error) {
	switch {
	case reference.IsText(s):
		return ParseText(s, isKind)
	case reference.IsExpression(s):
		return Parse(s)
	}
	return nil, nil
}

// ParseText reads a text with expressions in it, as the plan has it once it is decoded. In its braces a word that
// isKind has for a kind begins a reference, with or without †. Its expressions are bounded together.
func ParseText(text string, isKind func(word string) bool) (*Expr, *Error) {
	l := &lowering{scan: &scan{text: text, isKind: isKind}, nodes: 1}
	root := &Node{Op: OpText, End: len(text), fn: operators[OpText]}
	var plain []byte // text behind text is one piece
	from := 0
	flush := func(to int) {
		if len(plain) > 0 {
			root.Args = append(root.Args, &Node{Op: OpLiteral, Value: string(plain), Start: from, End: to})
		}
		plain = plain[:0]
	}
	for at := 0; at < len(text); {
		literal, open := reference.LiteralText(text, at)
		plain = append(plain, literal...)
		if open == len(text) {
			break
		}
		end, err := reference.ClosingBrace(text, open)
		if err != nil {
			return nil, err
		}
		operand, err := l.braced(open+len(reference.Opening), end)
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
	at := reference.SkipBlanks(text, from)
	l.first, l.open = len(l.tokens), l.open[:0]
	if strings.HasPrefix(text[at:], mark+"(") {
		return nil, fail(at, at+len(mark), "in braces an expression needs no †",
			"leave out the † before the parenthesis")
	}
	if strings.HasPrefix(text[at:], mark) || l.beginsUnmarked(text, at) {
		ref, end, err := reference.Read(text, at)
		if err != nil {
			return nil, err
		}
		if reference.SkipBlanks(text, end) == to { // as most are, and needs no parser
			if l.nodes++; l.nodes > maxNodes {
				return nil, tooLarge(l.text)
			}
			l.refs = append(l.refs, ref)
			return l.reference(token{start: at, end: end}), nil
		}
	}
	return l.read(from, to, 2)
}

// words are those of the expression language that are no kinds.
var words = map[string]bool{
	"let": true, "if": true, "else": true, "in": true, "not": true, "and": true, "or": true,
	"matches": true, "contains": true, "startsWith": true, "endsWith": true, "true": true, "false": true, "nil": true,
	"null": true,
}

// beginsUnmarked reports whether a reference without its † begins at text[at:]: a kind that is no key and no function.
func (s *scan) beginsUnmarked(text string, at int) bool {
	if s.isKind == nil {
		return false
	}
	end := reference.ReadKey(text, at)
	if word := text[at:end]; words[word] || !s.isKind(word) {
		return false
	}
	before := ""
	if last := len(s.tokens) - 1; last >= s.first {
		before = s.word(last)
	}
	next := text[reference.SkipBlanks(text, end):]
	inObject := len(s.open) > 0 && s.text[s.tokens[s.open[len(s.open)-1]].start] == '{'
	switch {
	case before == "." || before == "?." || before == "#", strings.HasPrefix(next, "("):
		return false
	case strings.HasPrefix(next, ":") && inObject && (before == "{" || before == ","):
		return false
	}
	return true
}

// AsText is a value as it is written in a text with expressions in it: a string as it is, a number or boolean as JSON.
// It is false for one that can't: null, a list or an object.
func AsText(value any) (string, bool) {
	switch v := value.(type) {
	case string:
		return v, true
	case bool:
		return strconv.FormatBool(v), true
	case float64:
		return numberText(v), !math.IsNaN(v) && !math.IsInf(v, 0)
	}
	return timeText(value)
}

// textOf is the text that operands make one after the other.
func textOf(c invocation) any {
	var all strings.Builder
	for i, v := range c.args {
		text, _ := AsText(v)
		c.m.grow(c.n.Args[i], len(text))
		all.WriteString(text)
	}
	return all.String()
}
