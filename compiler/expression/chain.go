package expression

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// parseChain reads what most expressions are that are more than one reference:
// references and literals joined by || or by &&, such as †state.a || 0. It gives
// exactly what the library's parser and the lowering give (TestChains holds the
// one against the other) in a fifth of the time. It is nil for everything else,
// faults included: those are for the parser to explain.
func parseChain(text string, limits Limits) *Expr {
	if strings.HasPrefix(text, mark+"(") {
		return nil // no operand of a chain stands in parentheses
	}
	most := 1 + strings.Count(text, "||") + strings.Count(text, "??") + strings.Count(text, "&&") // operands, if it is a chain
	if most < 2 || most >= limits.Nodes || limits.Depth < 2 || len(text) > maxText {
		return nil
	}
	nodes := make([]node, 1+most)
	for i := range nodes {
		nodes[i].local, nodes[i].slot = noLocal, -1
	}
	root := &nodes[0]
	root.args = make([]*node, 0, most)
	refs := make([]Reference, 0, min(most, strings.Count(text, mark)))
	for at := 0; ; {
		operand := &nodes[1+len(root.args)]
		operand.start = at
		if strings.HasPrefix(text[at:], mark) {
			ref, end, optional, err := readReference(text, at)
			if err != nil {
				return nil
			}
			operand.op, operand.index, operand.soft, operand.end = opRef, len(refs), optional, end
			ref.Required = !optional
			refs = append(refs, ref)
		} else if operand.value, operand.end = plainLiteral(text, at); operand.end == at {
			return nil
		}
		root.args = append(root.args, operand)
		root.end = operand.end
		if at = skipBlanks(text, operand.end); at == len(text) {
			break
		}
		op, name := operator(text[at:])
		if name == "" || root.name != "" && root.op != op {
			return nil
		}
		root.op, root.name = op, name
		at = skipBlanks(text, at+len(name))
	}
	if len(root.args) < 2 {
		return nil
	}
	for i := range refs {
		refs[i].Required = refs[i].Required && root.op == opGate
	}
	return &Expr{Text: text, root: root, refs: refs, limits: limits.shared()}
}

// operator is the presence operator that a text begins with, by the name that it
// has in the tree; ?? is another spelling of ||.
func operator(text string) (op, string) {
	switch {
	case strings.HasPrefix(text, "||"), strings.HasPrefix(text, "??"):
		return opFallback, "||"
	case strings.HasPrefix(text, "&&"):
		return opGate, "&&"
	}
	return 0, ""
}

// plainLiteral reads a literal at text[at:] that is written in the simplest way:
// null, true, false, digits with or without a fraction, text without escapes. Its
// end is at when there is no such literal.
func plainLiteral(text string, at int) (value any, end int) {
	rest := text[at:]
	switch {
	case rest == "":
	case rest[0] == '"' || rest[0] == '\'':
		if length := strings.IndexByte(rest[1:], rest[0]); length >= 0 && isPlain(rest[1:1+length]) {
			return rest[1 : 1+length], at + length + 2
		}
	case rest[0] == '-' || rest[0] >= '0' && rest[0] <= '9':
		end = numberEnd(text, at+len(rest)-len(strings.TrimPrefix(rest, "-")))
		if number, ok := plainNumber(text[at:end]); ok {
			return number, end
		}
	default:
		end = wordEnd(text, at)
		switch text[at:end] {
		case "null", "nil":
			return nil, end
		case "true", "false":
			return text[at:end] == "true", end
		}
	}
	return nil, at
}

func isPlain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] == '\\' {
			return false
		}
	}
	return utf8.ValidString(s)
}

// plainNumber reads 10, -1 or 0.5: at most 15 digits, which a float64 tells apart.
func plainNumber(s string) (float64, bool) {
	whole, fraction, pointed := strings.Cut(strings.TrimPrefix(s, "-"), ".")
	if digits(whole, 0) != len(whole) || digits(fraction, 0) != len(fraction) || whole == "" || pointed && fraction == "" ||
		len(whole) > 1 && whole[0] == '0' || len(whole)+len(fraction) > 15 {
		return 0, false
	}
	v, err := strconv.ParseFloat(s, 64)
	return v, err == nil
}
