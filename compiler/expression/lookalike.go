package expression

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// kinds are those that every document has. A mistaken reference that isn't marked by
// † is only believed to be one when it begins with one of them: other templates are
// somebody else's.
var kinds = []string{"input", "state", "data", "error", "advice"}

// maxLookalike bounds how much of a literal is searched.
const maxLookalike = 1 << 16

// Lookalike finds what looks like a mistaken reference in the literal part of a
// string (S4.7): a † inside, $state.x, ${state.x}, {{state.x}}. It gives the place of
// the first (bytes of s) and the whole string as it was meant: a reference where there
// is nothing else, else a text with references in it (S4.9).
func Lookalike(s string) (start, end int, meant string, ok bool) {
	if IsExpression(s) || strings.HasPrefix(s, mark+mark) || len(s) > maxLookalike {
		return 0, 0, "", false // an expression, or † written twice on purpose
	}
	var text strings.Builder
	copied, last := 0, Reference{}
	for at := 0; at < len(s); {
		next := strings.IndexAny(s[at:], mark+"${")
		if next < 0 {
			break
		}
		at += next
		if end := SkipBraces(s, at); end > at {
			at = end
			continue
		}
		ref, to, found := lookalikeAt(s, at)
		if !found {
			_, size := utf8.DecodeRuneInString(s[at:])
			at += size
			continue
		}
		if !ok {
			start, end, ok = at, to, true
		}
		last = ref
		reference := ref.String()
		if slices.Contains(kinds, ref.Kind) {
			reference = strings.TrimPrefix(reference, mark)
		}
		text.WriteString(s[copied:at] + opening + reference + "}")
		at, copied = to, to
	}
	if ok && strings.TrimSpace(s[:start]) == "" && strings.TrimSpace(s[end:]) == "" {
		return start, end, last.String(), true
	}
	return start, end, text.String() + s[copied:], ok
}

// SkipBraces is where an expression ends that begins with †{ at s[at:] (S4.9): at the
// string's end if it is never closed, behind the brace of a ††{, which is text, and
// where it begins if there is neither.
func SkipBraces(s string, at int) int {
	switch {
	case !strings.HasPrefix(s[at:], opening):
		return at
	case strings.HasSuffix(s[:at], mark):
		return at + len(opening)
	}
	closing, err := closingBrace(s, at)
	if err != nil {
		return len(s) // which is reported
	}
	return closing + 1
}

// lookalikeAt reads the mistaken reference at s[at:], which begins with †, $ or {.
func lookalikeAt(s string, at int) (ref Reference, end int, ok bool) {
	switch {
	case strings.HasSuffix(s[:at], mark): // one that has been written twice
		return ref, 0, false
	case strings.HasPrefix(s[at:], mark):
		if before, _ := utf8.DecodeLastRuneInString(s[:at]); at > 0 && (unicode.IsLetter(before) || unicode.IsDigit(before) || before == Mark) {
			return ref, 0, false // a footnote, or † as itself
		}
		ref, end, _, err := readReference(trimDot(s, at), at)
		return ref, end, err == nil && len(ref.Path) > 0
	case strings.HasPrefix(s[at:], "{{"):
		return enclosed(s, at, "{{", "}}")
	case strings.HasPrefix(s[at:], "${{"):
		return enclosed(s, at, "${{", "}}")
	case strings.HasPrefix(s[at:], "${"):
		return enclosed(s, at, "${", "}")
	case strings.HasPrefix(s[at:], "$"):
		if before, _ := utf8.DecodeLastRuneInString(s[:at]); at > 0 && (unicode.IsLetter(before) || unicode.IsDigit(before) || before == '$') {
			return ref, 0, false
		}
		ref, end, ok := unmarked(trimDot(s, at), at+1)
		return ref, end, ok
	}
	return ref, 0, false
}

// trimDot cuts a string behind at where a reference that ends a sentence ends,
// so that the full stop isn't taken for a path's dot. What is longer than a
// sentence's word is cut.
func trimDot(s string, at int) string {
	const most = 1000
	end := at
	for end < len(s) && end < at+most {
		r, size := utf8.DecodeRuneInString(s[end:])
		if unicode.IsSpace(r) {
			break
		}
		end += size
	}
	return strings.TrimRight(s[:end], ".,;:!?)'\"»”")
}

func enclosed(s string, at int, open, closing string) (Reference, int, bool) {
	from := skipBlanks(s, at+len(open))
	ref, end, ok := unmarked(s, from)
	if !ok {
		return ref, 0, false
	}
	end = skipBlanks(s, end)
	if !strings.HasPrefix(s[end:], closing) {
		return ref, 0, false
	}
	return ref, end + len(closing), true
}

// unmarked reads kind.path without its †, where the kind is a known one.
func unmarked(s string, at int) (ref Reference, end int, ok bool) {
	if strings.HasPrefix(s[at:], mark) {
		at += len(mark)
	}
	kind := readKey(s, at)
	if !slices.Contains(kinds, s[at:kind]) {
		return ref, 0, false
	}
	path, end, _, err := readSegments(s, kind, at)
	return Reference{Kind: s[at:kind], Path: path}, end, err == nil && len(path) > 0
}

// BareReference reports whether a literal is nothing but kind.path without its †,
// as in state.items[0]. Whether that is a mistake hangs on what is wanted
// there, which the caller knows.
func BareReference(s string) bool {
	s = strings.TrimSpace(s)
	if strings.HasPrefix(s, mark) {
		return false
	}
	_, end, ok := unmarked(s, 0)
	return ok && end == len(s)
}

// quoteText writes a text literal.
func quoteText(s string) string { return string(appendText(nil, s, false)) }
