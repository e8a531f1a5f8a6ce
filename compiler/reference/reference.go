// Package reference reads references as text, †kind.path, and the paths that are written, which are joined by && and
// ||. It knows nothing of expressions: what comes in is a text, what goes out a reference or an error with its place.
package reference

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/obelus-dev/obelus/compiler/wording"
)

// Mark begins every reference.
const Mark = '†'

const mark = string(Mark)

// IsExpression reports whether a string of a plan is an expression: its
// first character is †, and its second neither that nor the brace of an
// expression in a text, †{.
func IsExpression(s string) bool {
	return strings.HasPrefix(s, mark) && !strings.HasPrefix(s[len(mark):], mark) && !strings.HasPrefix(s, mark+"{")
}

// A Segment is one step of a path: a key of an object, or an index of a list.
// [0] and .0 are indexes; ["0"] is a key.
type Segment struct {
	Key     string // the key, or the index in decimal
	Index   int
	IsIndex bool
}

// A Reference is one †kind.path in an expression's text.
type Reference struct {
	Kind string
	Path []Segment
	// Start and End are byte offsets in the decoded text of the scalar, † included.
	Start, End int
	// Required is false inside ||, ?? or ?., where the expression can do without
	// it. In a path that is written (ParseOutput) it is always true.
	Required bool
}

// An Error says what is wrong with a text, and where in it (bytes of the
// decoded scalar).
type Error struct {
	Start, End int
	Message    string // lower case, no full stop
	Help       string // what to do; may be ""
	Cause      Cause
}

// Cause is what an expression fails for.
type Cause uint8

const (
	// OfKind: a value has a kind that isn't wanted there, or the expression itself is wrong.
	OfKind Cause = iota
	// OfValue: the kinds are right and the values aren't: an index past the end, a division
	// by zero.
	OfValue
	// OfText: a text isn't written as a function reads it, or a number is too large: which
	// values do is for those who know them.
	OfText
)

func (e *Error) Error() string { return e.Message }

// IsBareKey reports whether a key can follow a dot in a reference without
// quotes: letters, digits, _, and - inside. A key of digits alone can't,
// because it would be an index.
func IsBareKey(key string) bool {
	return key != "" && ReadKey(key, 0) == len(key) && digits(key, 0) != len(key)
}

// String is the reference in canonical form: †state.items[0]["odd key"].
func (r Reference) String() string {
	return Below(mark+r.Kind, r.Path)
}

// Below is the text of a path below another that is given as text.
func Below(above string, path []Segment) string {
	var b strings.Builder
	b.WriteString(above)
	for _, s := range path {
		switch {
		case s.IsIndex:
			b.WriteString("[" + s.Key + "]")
		case IsBareKey(s.Key):
			b.WriteString("." + s.Key)
		default:
			b.WriteString("[" + strconv.Quote(s.Key) + "]")
		}
	}
	return b.String()
}

// maxIndex is the largest index of a list that a reference may name.
const maxIndex = 1_000_000

// maxSegments bounds a path: what is known of it is asked of each part, and for each part below that.
const maxSegments = 100

func Fault(start, end int, message, help string) *Error {
	return &Error{Start: start, End: end, Message: message, Help: help}
}

// Parse reads a text that is one reference and nothing else, as a scope
// is: †state.items[0]. The error's place is in the text.
func Parse(text string) (Reference, *Error) {
	if !strings.HasPrefix(text, mark) {
		return Reference{}, Fault(0, len(text), "a reference begins with †", "write †state."+BareStart(text))
	}
	ref, end, err := Read(text, 0)
	if err == nil && !ref.Required {
		err = Fault(0, end, "\"?.\" has no meaning here", "a path alone is expected, such as †state.items")
	} else if err == nil && end != len(text) {
		err = Fault(end, len(text), "a path alone is expected here, not an expression", "")
	}
	return ref, err
}

// BareStart is the bare key that a text begins with, for a suggestion.
func BareStart(text string) string { return cmp.Or(text[:ReadKey(text, 0)], "key") }

// Read reads the reference at text[at:], which begins with †, or with its
// kind. It ends where the first thing stands that isn't part of a reference. What
// comes behind a ?. is part of it too, and then the reference isn't required.
func Read(text string, at int) (ref Reference, end int, err *Error) {
	kind := len(text) - len(strings.TrimPrefix(text[at:], mark))
	end = ReadKey(text, kind)
	if end == kind {
		return ref, 0, noKind(text, at, kind)
	}
	ref = Reference{Kind: text[kind:end], Start: at, Required: true}
	var few [8]Segment
	path := few[:0] // copied once it is known how many there are
	for end < len(text) {
		from, soft := end, strings.HasPrefix(text[end:], "?.")
		if soft {
			from++
			if strings.HasPrefix(text[from:], ".[") {
				from++
			}
		}
		segment, next, err := readSegment(text, from)
		if err == nil && len(path) == maxSegments && next > from {
			err = Fault(at, next, "a path has at most "+strconv.Itoa(maxSegments)+" keys and indexes", "")
		}
		if err != nil {
			return ref, 0, err
		}
		ref.Required = ref.Required && !soft
		if next == from {
			break
		}
		path, end = append(path, segment), next
	}
	ref.Path, ref.End = append([]Segment(nil), path...), end
	return ref, end, nil
}

// noKind explains a place that no kind stands at, behind a † or without.
func noKind(text string, start, at int) *Error {
	const escape = "write †kind.path, such as †state.total; a text that begins with † itself is written ††"
	r, size := utf8.DecodeRuneInString(text[at:])
	switch {
	case size == 0 || unicode.IsSpace(r):
		return Fault(start, at, "\"†\" alone refers to nothing: a kind must follow † directly", escape)
	case strings.ContainsRune("(\"'`[{!-+#", r):
		return Fault(start, at, "an expression that doesn't begin with a reference stands in parentheses",
			"write †( … ), or †state[\"any key\"] for a key; only references begin with †")
	}
	return Fault(start, at+size, "a reference begins with its kind, and no kind can begin with "+QuoteRune(r), escape)
}

// readSegment reads .key, .0, [0] or ["any key"] at text[at]. It returns at itself as the end when
// something else stands there, such as a bracket with an expression in it.
func readSegment(text string, at int) (s Segment, end int, err *Error) {
	const howSegments = "write .key, [0] or [\"any key\"]; a range wants a space before its \"..\", and every item " +
		"of a list is had by †( … | map(.key))"
	switch {
	case text[at] == '.':
		from := at + 1
		if end = ReadKey(text, from); end == from {
			return s, at, Fault(at, from, "no key follows the dot", howSegments)
		} else if digits(text, from) < end {
			return Segment{Key: text[from:end]}, end, nil
		}
		s, err = readIndex(text, from, end)
		return s, end, err
	case text[at] != '[':
		return s, at, nil
	}
	from := SkipBlanks(text, at+1)
	end = from
	switch c := text[from:]; {
	case c == "" || c[0] == ']' || c[0] == '*':
		return s, at, Fault(at, min(from+1, len(text)), "the brackets hold no index and no key", howSegments)
	case digits(text, from) > from:
		end = digits(text, from)
		s, err = readIndex(text, from, end)
	case c[0] == '"' || c[0] == '\'':
		s.Key, end, err = readQuoted(text, from)
	}
	closing := SkipBlanks(text, end)
	if end > from && closing < len(text) && text[closing] == ']' {
		return s, closing + 1, err
	}
	if s.IsIndex || err != nil && end > from { // computed: it isn't the reference's own
		err = nil
	}
	return Segment{}, at, err
}

// readIndex reads an index of digits.
func readIndex(text string, from, end int) (Segment, *Error) {
	key := text[from:end]
	index, err := strconv.Atoi(key)
	if err != nil || index > maxIndex || strconv.Itoa(index) != key {
		return Segment{}, Fault(from, end, "an index is a number from 0 to "+strconv.Itoa(maxIndex),
			"a key of digits is quoted: [\""+key+"\"]")
	}
	return Segment{Key: key, Index: index, IsIndex: true}, nil
}

// readQuoted reads the string in quotes at text[at] with JSON's and Go's
// escapes, so that it is the inverse of strconv.Quote.
func readQuoted(text string, at int) (key string, end int, err *Error) {
	quote := text[at : at+1]
	if end, err = TextEnd(text, at); err != nil {
		return "", 0, Fault(at, at+1, "the quoted key is never closed", "write ["+quote+"key"+quote+"]")
	}
	if key = text[at+1 : end-1]; strings.Contains(key, "\\") {
		key, err = unescape(text, at+1, end-1)
	}
	return key, end, err
}

// doubleQuoted escapes for Go's double quotes what is in single ones, or escaped as only JSON does it.
var doubleQuoted = strings.NewReplacer(`\\`, `\\`, `\"`, `\"`, `\'`, `'`, "\\`", "`", `\/`, `/`, `"`, `\"`)

func unescape(text string, from, end int) (string, *Error) {
	s, wrong := strconv.Unquote(`"` + doubleQuoted.Replace(text[from:end]) + `"`)
	if wrong != nil || !utf8.ValidString(s) {
		return "", Fault(from, end, "an escape in the key "+wording.Quote(text[from:end])+" means no character",
			"write \\\\ for a backslash")
	}
	return s, nil
}

// ReadKey reads a bare key at text[at:] and returns its end, which is at when
// there is none. A - belongs to it between other characters of it.
func ReadKey(text string, at int) int {
	end := at
	for i := at; i < len(text); {
		switch c := text[i]; {
		case c < utf8.RuneSelf && inKey[c]:
			i++
			end = i
		case c == '-' && i > at:
			i++
		case c < utf8.RuneSelf:
			return end
		default:
			r, size := utf8.DecodeRuneInString(text[i:])
			if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
				return end
			}
			i += size
			end = i
		}
	}
	return end
}

// inKey says of an ASCII character that it may stand anywhere in a key.
var inKey = func() (in [utf8.RuneSelf]bool) {
	for c := range in {
		r := rune(c)
		in[c] = r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r)
	}
	return in
}()

// digits is the end of the run of ASCII digits at text[at:].
func digits(text string, at int) int {
	for at < len(text) && text[at] >= '0' && text[at] <= '9' {
		at++
	}
	return at
}

func SkipBlanks(text string, at int) int {
	for at < len(text) && (text[at] == ' ' || text[at] == '\t' || text[at] == '\n' || text[at] == '\r') {
		at++
	}
	return at
}

// QuoteRune is a character in quotes, or its number where it can't be seen.
func QuoteRune(r rune) string {
	if unicode.IsGraphic(r) && !unicode.IsMark(r) && r != ' ' {
		return "\"" + string(r) + "\""
	}
	return fmt.Sprintf("U+%04X", r)
}
