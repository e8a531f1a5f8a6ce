package expression

import (
	"slices"
	"strings"
)

// maxOutputPaths bounds the paths of all alternatives together: bringing
// nested fan-outs of alternatives into one form multiplies them.
const maxOutputPaths = 1000

// maxOutputDepth bounds the parentheses of an output path.
const maxOutputDepth = 50

// ParseOutput reads an _outputPath: paths joined by && (the result is
// written to all of them) and || (to one of them), with parentheses. It returns
// the alternatives in order, each with all paths that it writes, as often as it
// names them. A path without † is one of the state.
// The places of the references are bytes of text.
func ParseOutput(text string) (alternatives [][]Reference, err *Error) {
	o := &outputReader{text: text}
	if o.at = skipBlanks(text, 0); o.at == len(text) {
		return nil, fail(0, len(text), "the path is empty", "write †state.result, or leave _outputPath out")
	}
	alternatives, err = o.alternatives(0)
	if err != nil {
		return nil, err
	}
	if o.at < len(text) {
		return nil, o.unexpected()
	}
	return alternatives, nil
}

type outputReader struct {
	text string
	at   int
}

func (o *outputReader) skip() { o.at = skipBlanks(o.text, o.at) }

func (o *outputReader) take(operator string) bool {
	if !strings.HasPrefix(o.text[o.at:], operator) {
		return false
	}
	o.at += len(operator)
	o.skip()
	return true
}

func (o *outputReader) alternatives(depth int) ([][]Reference, *Error) {
	start := o.at
	all, err := o.fanOut(depth)
	for err == nil && o.take("||") {
		var more [][]Reference
		if more, err = o.fanOut(depth); err == nil {
			all, err = append(all, more...), o.affordable(start, len(all)+len(more))
		}
	}
	return all, err
}

// fanOut reads operands joined by &&. Alternatives among them are multiplied
// out: (a || b) && c is a && c || b && c.
func (o *outputReader) fanOut(depth int) ([][]Reference, *Error) {
	start := o.at
	product, err := o.operand(depth)
	for err == nil && o.take("&&") {
		var right [][]Reference
		if right, err = o.operand(depth); err != nil {
			break
		}
		paths := 0
		for _, a := range product {
			for _, b := range right {
				paths += len(a) + len(b)
			}
		}
		if err = o.affordable(start, paths); err != nil {
			break
		}
		next := make([][]Reference, 0, len(product)*len(right))
		for _, a := range product {
			for _, b := range right {
				next = append(next, slices.Concat(a, b))
			}
		}
		product = next
	}
	return product, err
}

func (o *outputReader) affordable(start, paths int) *Error {
	if paths > maxOutputPaths {
		return fail(start, o.at, "the alternatives name more than "+itoa(maxOutputPaths)+" paths",
			"split the call, or its output, into fewer")
	}
	return nil
}

func (o *outputReader) operand(depth int) ([][]Reference, *Error) {
	open := o.at
	if !o.take("(") {
		ref, err := o.path()
		o.skip()
		return [][]Reference{{ref}}, err
	}
	if depth >= maxOutputDepth {
		return nil, fail(open, open+1, "the path is nested more than "+itoa(maxOutputDepth)+" deep", "")
	}
	inner, err := o.alternatives(depth + 1)
	if err != nil {
		return nil, err
	}
	if o.at == len(o.text) {
		return nil, fail(open, open+1, "\"(\" is never closed", "add the missing \")\"")
	}
	if !o.take(")") {
		return nil, o.unexpected()
	}
	return inner, nil
}

func (o *outputReader) path() (Reference, *Error) {
	text, start := o.text, o.at
	if start == len(text) {
		return Reference{}, fail(start, start, "a path is missing at the end", "write †state.key")
	}
	var ref Reference
	var end int
	var optional bool
	var err *Error
	if strings.HasPrefix(text[start:], mark) {
		ref, end, optional, err = readReference(text, start)
	} else {
		ref, end, optional, err = readBare(text, start)
	}
	if err != nil {
		return ref, err
	}
	o.at = end
	if optional {
		return ref, fail(start, end, "\"?.\" has no meaning in a path that is written", "write a dot")
	}
	if next := skipBlanks(text, end); next < len(text) && next == end && strings.IndexByte("&|)", text[end]) < 0 {
		return ref, o.unexpected()
	}
	return ref, nil
}

// readBare reads a path of the state that is written without †.
func readBare(text string, start int) (ref Reference, end int, optional bool, err *Error) {
	key := readKey(text, start)
	if key == start {
		end := start + 1
		isOperator := strings.IndexByte("&|", text[start]) >= 0
		for end < len(text) && (text[end] == text[start] || !isOperator && strings.IndexByte(" \t\n&|()", text[end]) < 0) {
			end++
		}
		return ref, 0, false, fail(start, end, quote(text[start:end])+" isn't a path",
			"a path is written †state.key, or key")
	}
	ref = Reference{Kind: "state", Start: start, Required: true}
	rest, end, optional, err := readSegments(text, key, start)
	ref.Path = append([]Segment{{Key: text[start:key]}}, rest...)
	ref.End = end
	return ref, end, optional, err
}

// unexpected explains the text behind a path.
func (o *outputReader) unexpected() *Error {
	rest := o.text[o.at:]
	word := rest
	if i := strings.IndexAny(rest, " \t\n"); i > 0 {
		word = rest[:i]
	}
	help := "paths are joined by && (to all of them) or || (to one of them)"
	switch {
	case strings.HasPrefix(rest, ")"):
		return fail(o.at, o.at+1, "\")\" closes nothing", "leave it out")
	case strings.HasPrefix(rest, "("):
		return fail(o.at, o.at+1, "a path can't be called", help)
	case strings.HasPrefix(rest, "["):
		return fail(o.at, o.at+1, "a path that is written has no computed index", "write [0] or [\"key\"]")
	case strings.EqualFold(word, "or"):
		help = "did you mean \"||\"?"
	case strings.EqualFold(word, "and"), word == ",", word == "&":
		help = "did you mean \"&&\"?"
	case word == "|":
		help = "did you mean \"||\"?"
	}
	return fail(o.at, o.at+len(word), "unexpected "+quote(word)+" after the path", help)
}
