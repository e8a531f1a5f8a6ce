package reference

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/obelus-dev/obelus/compiler/wording"
)

// maxOutputPaths bounds the paths of all alternatives together.
const maxOutputPaths = 1000

// ParseOutput reads an _outputPath: alternatives joined by ||, each of paths joined by &&, all of which receive
// the result. It returns the alternatives in order, each with its paths, as often as it names them. A path without † is
// one of the state.
// The places of the references are bytes of text.
func ParseOutput(text string) (alternatives [][]Reference, err *Error) {
	o := &outputReader{text: text}
	if o.skip(); o.at == len(text) {
		return nil, Fault(0, len(text), "the path is empty", "write †state.result, or leave _outputPath out")
	}
	for paths := 0; ; {
		var all []Reference
		for {
			ref, err := o.path()
			if err != nil {
				return nil, err
			}
			if paths++; paths > maxOutputPaths {
				return nil, Fault(0, o.at, "the alternatives name more than "+strconv.Itoa(maxOutputPaths)+" paths",
					"split the call, or its output, into fewer")
			}
			all = append(all, ref)
			if o.skip(); !o.take("&&") {
				break
			}
		}
		alternatives = append(alternatives, all)
		if !o.take("||") {
			break
		}
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

func (o *outputReader) skip() { o.at = SkipBlanks(o.text, o.at) }

func (o *outputReader) take(operator string) bool {
	if !strings.HasPrefix(o.text[o.at:], operator) {
		return false
	}
	o.at += len(operator)
	o.skip()
	return true
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
	case o.at < len(text) && SkipBlanks(text, o.at) == o.at && strings.IndexByte("&|", text[o.at]) < 0:
		err = o.unexpected()
	}
	return ref, err
}

// noPath is the error of something in the place of a path.
func (o *outputReader) noPath() *Error {
	r, size := utf8.DecodeRuneInString(o.text[o.at:])
	return Fault(o.at, o.at+size, "no path can begin with "+QuoteRune(r),
		"a path is written †state.key, or key; alternatives a && b || c have no parentheses")
}

// unexpected is the error of the text behind a path.
func (o *outputReader) unexpected() *Error {
	rest := o.text[o.at:]
	word, _, _ := strings.Cut(strings.NewReplacer("\t", " ", "\n", " ").Replace(rest), " ")
	if rest[0] == '[' {
		return Fault(o.at, o.at+1, "a path that is written has no computed index", "write [0] or [\"key\"]")
	}
	return Fault(o.at, o.at+len(word), "unexpected "+wording.Quote(word)+" after the path",
		"paths are joined by && (to all of them) or || (to one of them)")
}
