// Package reference reads references as text, †kind.path, and the paths that are written, which are joined by && and
// ||. It knows nothing of expressions: what comes in is a text, what goes out a reference or an error with its place.
package reference

import (
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
	ref, end, optional, err := Read(text, 0)
	if err != nil {
		return Reference{}, err
	}
	if optional {
		return Reference{}, Fault(0, end, "\"?.\" has no meaning here",
			"a path alone is expected, such as †state.items")
	}
	if end != len(text) {
		return Reference{}, After(text, ref, end, "a path alone is expected here, not an expression")
	}
	return ref, nil
}

// BareStart is the bare key that a text begins with, for a suggestion.
func BareStart(text string) string {
	if end := ReadKey(text, 0); end > 0 {
		return text[:end]
	}
	return "key"
}

// Read reads the reference at text[at:], which begins with †, or with its
// kind. It ends where the first thing stands that isn't part of a reference. What
// comes behind a ?. is part of it too, and makes it optional.
func Read(text string, at int) (ref Reference, end int, optional bool, err *Error) {
	kind := len(text) - len(strings.TrimPrefix(text[at:], mark))
	end = ReadKey(text, kind)
	if end == kind {
		return ref, 0, false, noKind(text, at)
	}
	ref = Reference{Kind: text[kind:end], Start: at, Required: true}
	ref.Path, end, optional, err = ReadSegments(text, end, at)
	ref.End = end
	return ref, end, optional, err
}

// noKind explains a † that no kind follows.
func noKind(text string, at int) *Error {
	rest, end := text[at+len(mark):], at+len(mark)
	const escape = "write †kind.path, such as †state.total; a text that begins with † itself is written ††"
	r, size := utf8.DecodeRuneInString(rest)
	switch {
	case rest == "" || unicode.IsSpace(r):
		return Fault(at, end, "\"†\" alone refers to nothing: a kind must follow † directly", escape)
	case strings.ContainsRune("(\"'`[{!-+#", r):
		return Fault(at, end, "an expression that doesn't begin with a reference stands in parentheses",
			"write †( … ); nothing else within it but a reference begins with †")
	}
	return Fault(at, end+size, "a reference begins with its kind, and no kind can begin with "+QuoteRune(r), escape)
}

// ReadSegments reads what may follow a kind: .key, [0], .0, ["any key"], and
// the same behind a ?. start is where the whole reference begins, for errors.
func ReadSegments(text string, at, start int) (path []Segment, end int, optional bool, err *Error) {
	var few [8]Segment
	read := few[:0] // copied once it is known how many there are
	for at < len(text) {
		dot, bracket, soft := at, at, strings.HasPrefix(text[at:], "?.")
		if soft {
			dot, bracket = at+1, at+2
		}
		var segment Segment
		var next int
		switch {
		case strings.HasPrefix(text[bracket:], "["):
			segment, next, err = readBracket(text, bracket)
			if err == nil && next == bracket { // an index that is computed: no longer the reference's own
				return append([]Segment(nil), read...), at, optional || soft, nil
			}
		case text[dot] == '.':
			segment, next, err = readDotted(text, dot)
		default:
			return append([]Segment(nil), read...), at, optional, nil
		}
		if err == nil && segment.IsIndex && segment.Index > maxIndex {
			err = Fault(bracket, next, "an index is at most "+strconv.Itoa(maxIndex),
				"a key of digits is quoted: [\""+segment.Key+"\"]")
		} else if err == nil && len(read) == maxSegments {
			err = Fault(start, next, "a path has at most "+strconv.Itoa(maxSegments)+" keys and indexes", "")
		}
		if err != nil {
			return nil, 0, false, err
		}
		read, optional, at = append(read, segment), optional || soft, next
	}
	return append([]Segment(nil), read...), at, optional, nil
}

// readDotted reads the segment behind the dot at text[at].
func readDotted(text string, at int) (Segment, int, *Error) {
	from := at + 1
	end := ReadKey(text, from)
	if end > from {
		key := text[from:end]
		if digits(key, 0) == len(key) {
			return indexSegment(text, from, end)
		}
		return Segment{Key: key}, end, nil
	}
	r, size := utf8.DecodeRuneInString(text[from:])
	if size == 0 || strings.ContainsRune(" \t\r\n),]}", r) {
		return noSegment(at, from, "a reference can't end with a dot", "name the key, or leave out the dot")
	}
	return noSegment(from, from+size, "no key can begin with "+QuoteRune(r), howSegments)
}

const howSegments = "write .key, [0] or [\"any key\"]; a range wants a space before its \"..\", and every item of a " +
	"list is had by †( … | map(.key))"

func noSegment(start, end int, message, help string) (Segment, int, *Error) {
	return Segment{}, 0, Fault(start, end, message, help)
}

// readBracket reads [0] or ["any key"] at text[at]. It returns at itself as the
// end when the bracket holds something else, which is an expression.
func readBracket(text string, at int) (Segment, int, *Error) {
	from := SkipBlanks(text, at+1)
	if from == len(text) {
		return noSegment(at, at+1, "\"[\" is never closed", "write [0] or [\"key\"]")
	}
	switch c := text[from]; {
	case c == ']' || c == '*':
		return noSegment(at, from+1, "the brackets hold no index and no key", howSegments)
	case c >= '0' && c <= '9':
		end := digits(text, from)
		if closing := SkipBlanks(text, end); closing < len(text) && text[closing] == ']' {
			segment, _, err := indexSegment(text, from, end)
			return segment, closing + 1, err
		}
	case c == '"' || c == '\'':
		key, end, err := readQuoted(text, from)
		if closing := SkipBlanks(text, end); err != nil || closing < len(text) && text[closing] == ']' {
			return Segment{Key: key}, closing + 1, err
		}
	}
	return Segment{}, at, nil
}

func indexSegment(text string, from, end int) (Segment, int, *Error) {
	key := text[from:end]
	if len(key) > 1 && key[0] == '0' {
		return noSegment(from, end, "an index has no leading zero", "leave it out, or write [\""+key+"\"] for a key")
	}
	if len(key) > 9 {
		return Segment{Key: key, Index: maxIndex + 1, IsIndex: true}, end, nil
	}
	index, _ := strconv.Atoi(key)
	return Segment{Key: key, Index: index, IsIndex: true}, end, nil
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

// After says what is wrong with a character that follows a reference
// where nothing that could go on stands.
func After(text string, ref Reference, end int, otherwise string) *Error {
	r, size := utf8.DecodeRuneInString(text[end:])
	switch {
	case r == '(':
		return Fault(ref.Start, end, wording.Quote(text[ref.Start:end])+" can't be called",
			"only functions can be called, not references")
	case r == Mark:
		return Fault(end, end+size, "an operator is missing between two references",
			"join them with an operator, such as || or +")
	case r == '.' || r == '[' || unicode.IsSpace(r) || strings.ContainsRune("|&?=<>+-*/%^,;:!#)]}", r):
		return Fault(end, len(text), otherwise, "")
	case unicode.IsMark(r):
		return Fault(end, end+size, "a key with the combining character "+QuoteRune(r)+" must be quoted",
			"write [\"key\"]")
	}
	return Fault(end, end+size, QuoteRune(r)+" can't stand in a reference without quotes",
		"write [\"key\"] for a key of other characters than letters, digits, _ and -")
}

// QuoteRune is a character in quotes, or its number where it can't be seen.
func QuoteRune(r rune) string {
	if unicode.IsGraphic(r) && !unicode.IsMark(r) && r != ' ' {
		return "\"" + string(r) + "\""
	}
	return fmt.Sprintf("U+%04X", r)
}
