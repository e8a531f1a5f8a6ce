package reference

import (
	"slices"
	"strconv"
	"strings"

	"github.com/obelus-dev/obelus/compiler/wording"
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
	if o.skip(); o.at == len(text) {
		return nil, Fault(0, len(text), "the path is empty", "write †state.result, or leave _outputPath out")
	}
	alternatives, err = o.read("||", 0)
	if err == nil && o.at < len(text) {
		err = o.unexpected()
	}
	if err != nil {
		return nil, err
	}
	return alternatives, nil
}

type outputReader struct {
	text string
	at   int
}

func (o *outputReader) skip() { o.at = SkipBlanks(o.text, o.at) }

func (o *outputReader) take(operator string) bool {
	if !strings.HasPrefix(o.text[o.at:], operator) {
		return false
	}
	o.at += len(operator)
	o.skip()
	return true
}

// read reads operands joined by an operator. Alternatives among those of && are multiplied out: (a || b) && c is
// a && c || b && c.
func (o *outputReader) read(operator string, depth int) (all [][]Reference, err *Error) {
	start := o.at
	for {
		var next [][]Reference
		if operator == "||" {
			next, err = o.read("&&", depth)
		} else {
			next, err = o.operand(depth)
		}
		if err != nil {
			return nil, err
		}
		joined := slices.Concat(all, next)
		if operator == "&&" && all != nil {
			joined = nil
			for paths := 0; paths <= maxOutputPaths && len(joined) < len(all)*len(next); {
				i := len(joined)
				joined = append(joined, slices.Concat(all[i/len(next)], next[i%len(next)]))
				paths += len(joined[i])
			}
		}
		paths := 0
		for _, a := range joined {
			paths += len(a)
		}
		if all = joined; paths > maxOutputPaths {
			return nil, Fault(start, o.at, "the alternatives name more than "+strconv.Itoa(maxOutputPaths)+" paths",
				"split the call, or its output, into fewer")
		}
		if !o.take(operator) {
			return all, nil
		}
	}
}

func (o *outputReader) operand(depth int) ([][]Reference, *Error) {
	open := o.at
	if !o.take("(") {
		ref, err := o.path()
		o.skip()
		return [][]Reference{{ref}}, err
	}
	if depth >= maxOutputDepth {
		return nil, Fault(open, open+1, "the path is nested more than "+strconv.Itoa(maxOutputDepth)+" deep", "")
	}
	inner, err := o.read("||", depth+1)
	if err != nil {
		return nil, err
	}
	if o.at == len(o.text) {
		return nil, Fault(open, open+1, "\"(\" is never closed", "add the missing \")\"")
	}
	if !o.take(")") {
		return nil, o.unexpected()
	}
	return inner, nil
}

func (o *outputReader) path() (ref Reference, err *Error) {
	text, start := o.text, o.at
	if start == len(text) {
		return ref, Fault(start, start, "a path is missing at the end", "write †state.key")
	}
	optional := false
	if strings.HasPrefix(text[start:], mark) {
		ref, o.at, optional, err = Read(text, start)
	} else { // of the state
		end := ReadKey(text, start)
		if end == start {
			return ref, o.noPath()
		}
		ref = Reference{Kind: "state", Start: start, Required: true, Path: []Segment{{Key: text[start:end]}}}
		var rest []Segment
		rest, o.at, optional, err = ReadSegments(text, end, start)
		ref.Path, ref.End = append(ref.Path, rest...), o.at
	}
	switch {
	case err != nil:
	case optional:
		err = Fault(start, o.at, "\"?.\" has no meaning in a path that is written", "write a dot")
	case o.at < len(text) && SkipBlanks(text, o.at) == o.at && strings.IndexByte("&|)", text[o.at]) < 0:
		err = o.unexpected()
	}
	return ref, err
}

// noPath is the error of something in the place of a path.
func (o *outputReader) noPath() *Error {
	text, end := o.text, o.at+1
	isOperator := strings.IndexByte("&|", text[o.at]) >= 0
	for end < len(text) && (text[end] == text[o.at] || !isOperator && strings.IndexByte(" \t\n&|()", text[end]) < 0) {
		end++
	}
	return Fault(o.at, end, wording.Quote(text[o.at:end])+" isn't a path", "a path is written †state.key, or key")
}

// unexpected is the error of the text behind a path.
func (o *outputReader) unexpected() *Error {
	rest := o.text[o.at:]
	word, _, _ := strings.Cut(strings.NewReplacer("\t", " ", "\n", " ").Replace(rest), " ")
	help := "paths are joined by && (to all of them) or || (to one of them)"
	switch {
	case rest[0] == ')':
		return Fault(o.at, o.at+1, "\")\" closes nothing", "leave it out")
	case rest[0] == '(':
		return Fault(o.at, o.at+1, "a path can't be called", help)
	case rest[0] == '[':
		return Fault(o.at, o.at+1, "a path that is written has no computed index", "write [0] or [\"key\"]")
	case strings.EqualFold(word, "or"), word == "|":
		help = "did you mean \"||\"?"
	case strings.EqualFold(word, "and"), word == ",", word == "&":
		help = "did you mean \"&&\"?"
	}
	return Fault(o.at, o.at+len(word), "unexpected "+wording.Quote(word)+" after the path", help)
}
