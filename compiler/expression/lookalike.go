package expression

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// knownKinds are the kinds that every document has. A mistaken reference that
// isn't marked by † is only believed to be one when it begins with one of them:
// other templates are somebody else's.
var knownKinds = map[string]bool{"input": true, "state": true, "data": true, "error": true, "advice": true}

// maxLookalike bounds how much of a literal is searched.
const maxLookalike = 1 << 16

// Lookalike finds what looks like a mistaken reference in a literal string
// (S4.7): a † inside, $state.x, ${state.x}, {{state.x}}. It gives the place of
// the first (bytes of s) and what the whole string would be as an expression.
func Lookalike(s string) (start, end int, suggestion string, ok bool) {
	if strings.HasPrefix(s, mark) || len(s) > maxLookalike {
		return 0, 0, "", false // an expression, or † written twice on purpose
	}
	var parts []string
	copied := 0
	for at := 0; at < len(s); {
		next := strings.IndexAny(s[at:], mark+"${")
		if next < 0 {
			break
		}
		at += next
		ref, to, found := lookalikeAt(s, at)
		if !found {
			_, size := utf8.DecodeRuneInString(s[at:])
			at += size
			continue
		}
		if !ok {
			start, end, ok = at, to, true
		}
		if copied < at {
			parts = append(parts, quoteText(s[copied:at]))
		}
		ref.Kind = strings.TrimSpace(ref.Kind)
		parts = append(parts, ref.String())
		at, copied = to, to
	}
	if !ok {
		return 0, 0, "", false
	}
	if strings.TrimSpace(s[:start]) == "" && strings.TrimSpace(s[end:]) == "" {
		for _, p := range parts {
			if strings.HasPrefix(p, mark) {
				return start, end, p, true
			}
		}
	}
	if copied < len(s) {
		parts = append(parts, quoteText(s[copied:]))
	}
	return start, end, mark + "(" + strings.Join(parts, " + ") + ")", true
}

// lookalikeAt reads the mistaken reference at s[at:], which begins with †, $ or {.
func lookalikeAt(s string, at int) (ref Reference, end int, ok bool) {
	switch {
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
	if !knownKinds[s[at:kind]] {
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
