package expression

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/obelus-dev/obelus/compiler/wording"
)

// maxIndex is the largest index of a list that a reference may name.
const maxIndex = 1_000_000

func fail(start, end int, message, help string) *Error {
	return &Error{Start: start, End: end, Message: message, Help: help}
}

// ParsePath reads a text that is one reference and nothing else, as a scope
// is: †state.items[0]. The error's place is in the text.
func ParsePath(text string) (Reference, *Error) {
	if !strings.HasPrefix(text, mark) {
		return Reference{}, fail(0, len(text), "a reference begins with †", "write †state."+bareStart(text))
	}
	ref, end, optional, err := readReference(text, 0)
	if err != nil {
		return Reference{}, err
	}
	if optional {
		return Reference{}, fail(0, end, "\"?.\" has no meaning here",
			"a path alone is expected, such as †state.items")
	}
	if end != len(text) {
		return Reference{}, afterReference(text, ref, end, "a path alone is expected here, not an expression")
	}
	return ref, nil
}

// bareStart is the bare key that a text begins with, for a suggestion.
func bareStart(text string) string {
	if end := readKey(text, 0); end > 0 {
		return text[:end]
	}
	return "key"
}

// readReference reads the reference at text[at:], which begins with †, or with its
// kind. It ends where the first thing stands that isn't part of a reference. What
// comes behind a ?. is part of it too, and makes it optional.
func readReference(text string, at int) (ref Reference, end int, optional bool, err *Error) {
	kind := len(text) - len(strings.TrimPrefix(text[at:], mark))
	end = readKey(text, kind)
	if end == kind {
		return ref, 0, false, noKind(text, at)
	}
	ref = Reference{Kind: text[kind:end], Start: at, Required: true}
	ref.Path, end, optional, err = readSegments(text, end, at)
	ref.End = end
	return ref, end, optional, err
}

// noKind explains a † that no kind follows.
func noKind(text string, at int) *Error {
	rest := text[at+len(mark):]
	end := at + len(mark)
	const escape = "write †kind.path, such as †state.total; a text that begins with † itself is written ††"
	switch {
	case rest == "":
		return fail(at, end, "\"†\" alone refers to nothing", escape)
	case strings.HasPrefix(rest, mark):
		return fail(at, end+len(mark), "two † in a row mean a literal †, and only at the beginning of a string",
			"write one †")
	case rest[0] == ' ' || rest[0] == '\t' || rest[0] == '\n':
		return fail(at, end, "a kind must follow † directly", escape)
	case rest[0] == '(' && at > 0:
		return fail(at, end, "within an expression parentheses need no †", "leave out the † before the parenthesis")
	case rest[0] == '.' || rest[0] == '*':
		return fail(at, end+1, "a reference begins with its kind", escape)
	case strings.IndexByte("\"'`[{!-+#", rest[0]) >= 0:
		return fail(at, end, "an expression that doesn't begin with a reference stands in parentheses",
			"write †( … )")
	}
	r, size := utf8.DecodeRuneInString(rest)
	return fail(at, end+size, "no kind can begin with "+quoteRune(r), escape)
}

// readSegments reads what may follow a kind: .key, [0], .0, ["any key"], and
// the same behind a ?. start is where the whole reference begins, for errors.
func readSegments(text string, at, start int) (path []Segment, end int, optional bool, err *Error) {
	var few [8]Segment
	read := few[:0] // copied once it is known how many there are
	for at < len(text) {
		dot := at
		soft := false
		if strings.HasPrefix(text[at:], "?.") {
			soft = true
			at += 2
		}
		var segment Segment
		var next int
		switch {
		case at < len(text) && text[at] == '[':
			segment, next, err = readBracket(text, at)
			if err != nil {
				return nil, 0, false, err
			}
			if next == at { // an index that is computed: no longer the reference's own
				return exactly(read), dot, optional || soft, nil
			}
		case soft:
			segment, next, err = readDotted(text, at-1)
		case text[at] == '.':
			segment, next, err = readDotted(text, at)
		default:
			return exactly(read), at, optional, nil
		}
		if err != nil {
			return nil, 0, false, err
		}
		if segment.IsIndex && segment.Index > maxIndex {
			return nil, 0, false, fail(at, next, "an index is at most "+strconv.Itoa(maxIndex),
				"a key of digits is quoted: [\""+segment.Key+"\"]")
		}
		read = append(read, segment)
		optional = optional || soft
		at = next
	}
	return exactly(read), at, optional, nil
}

// exactly is a copy of a path with no room to spare: plans hold many.
func exactly(path []Segment) []Segment {
	if len(path) == 0 {
		return nil
	}
	return append(make([]Segment, 0, len(path)), path...)
}

// readDotted reads the segment behind the dot at text[at].
func readDotted(text string, at int) (Segment, int, *Error) {
	from := at + 1
	end := readKey(text, from)
	if end > from {
		key := text[from:end]
		if digits(key, 0) == len(key) {
			return indexSegment(text, from, end)
		}
		return Segment{Key: key}, end, nil
	}
	rest := text[from:]
	switch {
	case rest == "" || strings.IndexByte(" \t\r\n),]}", rest[0]) >= 0:
		return Segment{}, 0, fail(at, from, "a reference can't end with a dot", "name the key, or leave out the dot")
	case rest[0] == '.':
		return Segment{}, 0, fail(at, from+1, "a segment of the path is empty",
			"leave out one dot; a range wants a space before its \"..\"")
	case rest[0] == '*':
		return Segment{}, 0, fail(at, from+1, "a reference can't have a wildcard",
			"a list's items are had by †( … | map(.key))")
	case rest[0] == '"' || rest[0] == '\'':
		return Segment{}, 0, fail(at, from+1, "a quoted key stands in brackets", "write [\"key\"] without the dot")
	case rest[0] == '[':
		return Segment{}, 0, fail(at, from, "a segment of the path is empty", "leave out the dot before \"[\"")
	}
	r, size := utf8.DecodeRuneInString(rest)
	return Segment{}, 0, fail(from, from+size, "no key can begin with "+quoteRune(r),
		"a key of other characters than letters, digits and _ is quoted: [\"key\"]")
}

// readBracket reads [0] or ["any key"] at text[at]. It returns at itself as the
// end when the bracket holds something else, which is an expression.
func readBracket(text string, at int) (Segment, int, *Error) {
	from := skipBlanks(text, at+1)
	if from == len(text) {
		return Segment{}, 0, fail(at, at+1, "\"[\" is never closed", "write [0] or [\"key\"]")
	}
	switch c := text[from]; {
	case c == ']':
		return Segment{}, 0, fail(at, from+1, "a segment of the path is empty", "write [0] or [\"key\"]")
	case c == '*':
		return Segment{}, 0, fail(at, from+1, "a reference can't have a wildcard",
			"a list's items are had by †( … | map(.key))")
	case c >= '0' && c <= '9':
		end := digits(text, from)
		if closing := skipBlanks(text, end); closing < len(text) && text[closing] == ']' {
			segment, _, err := indexSegment(text, from, end)
			return segment, closing + 1, err
		}
	case c == '"' || c == '\'':
		key, end, err := readQuoted(text, from)
		if err != nil {
			return Segment{}, 0, err
		}
		if closing := skipBlanks(text, end); closing < len(text) && text[closing] == ']' {
			return Segment{Key: key}, closing + 1, nil
		}
	}
	return Segment{}, at, nil
}

func indexSegment(text string, from, end int) (Segment, int, *Error) {
	key := text[from:end]
	if len(key) > 1 && key[0] == '0' {
		return Segment{}, 0, fail(from, end, "an index has no leading zero",
			"write "+strings.TrimLeft(key[:len(key)-1], "0")+key[len(key)-1:]+", or [\""+key+"\"] for a key")
	}
	if len(key) > 9 {
		return Segment{Key: key, Index: maxIndex + 1, IsIndex: true}, end, nil
	}
	index := 0
	for _, c := range []byte(key) {
		index = index*10 + int(c-'0')
	}
	return Segment{Key: key, Index: index, IsIndex: true}, end, nil
}

// readQuoted reads the string in quotes at text[at] with JSON's and Go's
// escapes, so that it is the inverse of strconv.Quote.
func readQuoted(text string, at int) (string, int, *Error) {
	quote := text[at]
	plain := true
	for i := at + 1; i < len(text); i++ {
		switch text[i] {
		case quote:
			if plain {
				return text[at+1 : i], i + 1, nil
			}
			s, err := unescape(text, at+1, i)
			return s, i + 1, err
		case '\\':
			plain = false
			i++
		case '\n':
			i = len(text)
		}
	}
	return "", 0, fail(at, at+1, "the quoted key is never closed", "write ["+string(quote)+"key"+string(quote)+"]")
}

func unescape(text string, from, end int) (string, *Error) {
	var b strings.Builder
	for at := from; at < end; {
		if text[at] != '\\' {
			b.WriteByte(text[at])
			at++
			continue
		}
		if at+1 < end && strings.IndexByte("\"'/`", text[at+1]) >= 0 {
			b.WriteByte(text[at+1])
			at += 2
			continue
		}
		r, multibyte, rest, err := strconv.UnquoteChar(text[at:end], '"')
		next := end - len(rest)
		if err == nil && r < utf8.RuneSelf || err == nil && multibyte {
			b.WriteRune(r)
			at = next
			continue
		}
		// A pair of surrogates, which JSON writes for a character beyond U+FFFF.
		if high, ok := hex4(text, at, end); ok {
			if low, ok := hex4(text, at+6, end); ok && high>>10 == 0xD800>>10 && low>>10 == 0xDC00>>10 {
				b.WriteRune((high-0xD800)<<10 + (low - 0xDC00) + 0x10000)
				at += 12
				continue
			}
		}
		return "", fail(at, min(at+2, end), "the escape "+strconv.Quote(text[at:min(at+2, end)])+" means no character",
			"write \\\\ for a backslash")
	}
	return b.String(), nil
}

func hex4(text string, at, end int) (rune, bool) {
	if at+6 > end || text[at] != '\\' || text[at+1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(text[at+2:at+6], 16, 16)
	return rune(n), err == nil
}

// readKey reads a bare key at text[at:] and returns its end, which is at when
// there is none. A - belongs to it between other characters of it.
func readKey(text string, at int) int {
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

func skipBlanks(text string, at int) int {
	for at < len(text) && (text[at] == ' ' || text[at] == '\t' || text[at] == '\n' || text[at] == '\r') {
		at++
	}
	return at
}

// afterReference says what is wrong with a character that follows a reference
// where nothing that could go on stands.
func afterReference(text string, ref Reference, end int, otherwise string) *Error {
	r, size := utf8.DecodeRuneInString(text[end:])
	switch {
	case r == '(':
		help, last := "only functions can be called, not references", ref.Kind
		if len(ref.Path) > 0 {
			last = ref.Path[len(ref.Path)-1].Key
		} else {
			help = "an expression that begins with a function is in parentheses: †(" + last + "( … ))"
		}
		if instead := foreignNames[strings.ToLower(last)]; instead != "" && functions[last] == nil {
			help += "; write " + instead + ", in parentheses: †( … )"
		}
		return fail(ref.Start, end, quote(text[ref.Start:end])+" can't be called", help)
	case r == Mark:
		return fail(end, end+size, "an operator is missing between two references",
			"join them with an operator, such as || or +")
	case r == '.' || r == '[' || unicode.IsSpace(r) || strings.ContainsRune("|&?=<>+-*/%^,;:!#)]}", r):
		return fail(end, len(text), otherwise, "")
	case unicode.IsMark(r):
		return fail(end, end+size, "a key with the combining character "+quoteRune(r)+" must be quoted",
			"write [\"key\"]")
	}
	return fail(end, end+size, quoteRune(r)+" can't stand in a reference without quotes",
		"write [\"key\"] for a key of other characters than letters, digits, _ and -")
}

// quote puts a piece of the user's text into quotes, shortened when it is long.
func quote(s string) string {
	return "\"" + wording.Cut(s, 40) + "\""
}

func quoteRune(r rune) string {
	if unicode.IsGraphic(r) && !unicode.IsMark(r) && r != ' ' {
		return "\"" + string(r) + "\""
	}
	return fmt.Sprintf("U+%04X", r)
}
