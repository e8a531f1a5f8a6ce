package reference

import (
	"strings"
)

// Opening begins an expression in a text.
const Opening = mark + "{"

// IsText reports whether a string of a plan is a text with expressions in it: it isn't one
// expression itself, and holds a †{ that isn't written ††{.
func IsText(s string) bool {
	if !strings.Contains(s, Opening) || IsExpression(s) {
		return false
	}
	_, next := LiteralText(s, 0)
	return next < len(s)
}

// Literal is the text of a string of a plan when there is no expression in it: †† at the beginning is one †, and ††{
// anywhere is †{.
func Literal(s string) string {
	text, _ := LiteralText(s, 0)
	return text
}

// LiteralText is the text of a string of a plan from a place on, up to the next expression in it, and where that
// begins: at the string's end if there is none.
func LiteralText(s string, at int) (text string, next int) {
	var before strings.Builder
	copied := at // up to here the string is in the text
	if at == 0 && strings.HasPrefix(s, mark+mark) {
		copied, at = len(mark), 2*len(mark)
	}
	for {
		found := strings.Index(s[at:], Opening)
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
		copied, at = found, found+len(Opening)
	}
}

// ClosingBrace is where the brace stands that closes the †{ at s[open:]: the one
// that balances outside of strings.
func ClosingBrace(s string, open int) (int, *Error) {
	closing, err := Balanced(s, open+len(Opening), '{', '}')
	if err != nil || closing >= 0 {
		return closing, err
	}
	return 0, Fault(open, open+len(Opening), "\"†{\" is never closed",
		"close it with }; a †{ that is text is written ††{")
}

// Balanced is where the bracket is that closes what is open at a byte, outside of strings; -1 if there is none.
func Balanced(s string, at int, open, closing byte) (int, *Error) {
	depth := 0
	for ; at < len(s); at++ {
		switch c := s[at]; {
		case c == '"' || c == '\'' || c == '`':
			end, err := TextEnd(s, at)
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

// TextEnd is the end of the text literal at text[at:].
func TextEnd(text string, at int) (int, *Error) {
	delimiter := text[at]
	for i := at + 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == delimiter && c == '`' && i+1 < len(text) && text[i+1] == '`':
			i++
		case c == delimiter:
			return i + 1, nil
		case c == '\\' && delimiter != '`':
			i++
		case c == '\n' && delimiter != '`':
			help := "close it with " + string(delimiter) +
				"; a line break in it is written \\n, and in double quotes of YAML or JSON \\\\n"
			return 0, Fault(at, i, "the text isn't closed on its line", help)
		}
	}
	return 0, Fault(at, len(text), "the text is never closed", "close it with "+string(delimiter))
}

// Kinds are those that every document has. A mistaken reference that isn't marked by
// † is only believed to be one when it begins with one of them: other templates are
// somebody else's.
var Kinds = []string{"input", "state", "data", "error", "advice"}

// Unmarked reads kind.path without its †, where the kind may be any word.
func Unmarked(s string, at int) (ref Reference, end int, ok bool) {
	if at > len(s) {
		return ref, at, false
	}
	ref, end, err := Read(s, at)
	return ref, end, err == nil && !strings.HasPrefix(s[at:], mark)
}

// SkipBraces is where an expression ends that begins with †{ at s[at:]: at the
// string's end if it is never closed, behind the brace of a ††{, which is text, and
// where it begins if there is neither.
func SkipBraces(s string, at int) int {
	switch {
	case !strings.HasPrefix(s[at:], Opening):
		return at
	case strings.HasSuffix(s[:at], mark):
		return at + len(Opening)
	}
	closing, err := ClosingBrace(s, at)
	if err != nil {
		return len(s) // which is reported
	}
	return closing + 1
}
