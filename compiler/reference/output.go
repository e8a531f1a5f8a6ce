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
	var route []Reference
	at := SkipBlanks(text, 0)
	for paths := 1; ; paths++ {
		ref, end, err := readWritten(text, at)
		if err != nil {
			return nil, err
		}
		route, at = append(route, ref), SkipBlanks(text, end)
		switch rest := text[at:]; {
		case paths > maxOutputPaths:
			return nil, Fault(0, at, "the alternatives name more than "+strconv.Itoa(maxOutputPaths)+" paths",
				"split the call, or its output, into fewer")
		case rest == "":
			return append(alternatives, route), nil
		case rest[0] == '[':
			return nil, Fault(at, at+1, "a path that is written has no computed index", "write [0] or [\"key\"]")
		case strings.HasPrefix(rest, "||"):
			alternatives, route = append(alternatives, route), nil
		case !strings.HasPrefix(rest, "&&"):
			word, _, _ := strings.Cut(rest, " ")
			return nil, Fault(at, at+len(word), "unexpected "+wording.Quote(word)+" after the path",
				"paths are joined by && (to all of them) or || (to one of them)")
		}
		at = SkipBlanks(text, at+len("&&"))
	}
}

// readWritten reads one path that is written.
func readWritten(text string, at int) (ref Reference, end int, err *Error) {
	isMarked := strings.HasPrefix(text[at:], mark)
	switch r, size := utf8.DecodeRuneInString(text[at:]); {
	case size == 0:
		return ref, at, Fault(at, at, "a path is missing", "write †state.key, or leave _outputPath out")
	case !isMarked && ReadKey(text, at) == at:
		return ref, at, Fault(at, at+size, "no path can begin with "+QuoteRune(r),
			"a path is written †state.key, or key; alternatives a && b || c have no parentheses")
	}
	ref, end, err = Read(text, at)
	if err == nil && !ref.Required {
		err = Fault(at, end, "\"?.\" has no meaning in a path that is written", "write a dot")
	}
	if !isMarked {
		ref.Kind, ref.Path = "state", append([]Segment{{Key: ref.Kind}}, ref.Path...)
	}
	return ref, end, err
}
