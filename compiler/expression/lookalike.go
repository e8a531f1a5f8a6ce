package expression

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/obelus-dev/obelus/compiler/reference"
)

// These bound how much of a literal is searched.
const (
	maxLookalike = 1 << 16
	maxPath      = 1000 // bytes of a mistaken reference, or of an expression in †( … )
)

// opening is what other systems, and slips, write before a reference inside a text. One without braces ends where its
// path does.
var opening = regexp.MustCompile(`^(?:[$#‡]?(\{{1,3})\s*(?:†|\$?\.)?|[$‡†])`)

// A Misspelt reference is in the literal part of a string.
type Misspelt struct {
	Start, End int // of the first, in bytes of the string
	// Intended is the whole string as it was meant: a reference if there is nothing else, otherwise a text with
	// references in it.
	Intended string
	Sure     bool // nothing else can have been meant
}

// Lookalike finds what looks like mistaken references in the literal part of a string:
// a † inside, $state.x, ${state.x}, {{state.x}}, and where there reports that what they
// name is there, those that other notations have. Without any mark only a whole string
// counts.
func Lookalike(s string, there func(Reference) bool) (m Misspelt, ok bool) {
	if reference.IsExpression(s) || len(s) > maxLookalike ||
		!strings.ContainsAny(s, ".[{$") && !strings.Contains(s, mark) {
		return m, false
	}
	quoted := strings.ReplaceAll(s, "'", "\"") // ['key'] is read as ["key"]
	if ref, end, ok := reference.Unmarked(quoted, len(quoted)-len(bare(quoted))); ok &&
		strings.TrimSpace(s[end:]) == "" && len(ref.Path) > 0 && there(ref) {
		return Misspelt{0, end, ref.String(), false}, true
	}
	trimmed := strings.TrimSpace(s)
	if _, err := reference.Parse(trimmed); err != nil && strings.Contains(s, mark) && isExpression(s) {
		return Misspelt{0, len(s), mark + "(" + trimmed + ")", false}, true
	}
	decisive := strings.ContainsAny(s, "|&?=<>(\"'") // which text hardly has
	if with, is := Marked(s); is && dollar.MatchString(s) && strings.ContainsAny(trimmed, " (|") {
		return Misspelt{0, len(s), with, decisive}, true
	}
	var text strings.Builder
	copied, alone := 0, "" // what is meant where there is nothing else
	for at := 0; at < len(s); {
		next := strings.IndexAny(s[at:], mark+"‡$#{")
		if next < 0 {
			break
		}
		at += next
		if end := reference.SkipBraces(s, at); end > at {
			at = end
			continue
		}
		inside, end := parenthesized(s, at)
		alone = mark + "(" + inside + ")"
		if end == at {
			var ref Reference
			ref, end = foreign(s, quoted, at, there)
			inside, alone = ref.String(), ref.String()
			if slices.Contains(reference.Kinds, ref.Kind) {
				inside = strings.TrimPrefix(inside, mark)
			}
		}
		if end == at {
			at++
			continue
		}
		if !ok {
			m.Start, m.End, m.Sure, ok = at, end, true, true
		}
		if at > 0 && end < len(s) && s[at-1] == s[end] && strings.IndexByte("\"'`", s[end]) >= 0 {
			m.Sure = false // it may be spoken of
		}
		text.WriteString(s[copied:at] + reference.Opening + inside + "}")
		at, copied = end, end
	}
	m.Intended = text.String() + s[copied:]
	if strings.Contains(m.Intended, "{{") || strings.Contains(m.Intended, "${") {
		m.Sure = false // another template's, or an expression in its braces
	}
	if ok && strings.TrimSpace(s[:m.Start]+s[m.End:]) == "" {
		m.Intended = alone
	}
	return m, ok
}

// The marks of others, before a reference or around one.
var (
	braces   = regexp.MustCompile(`[$†#]?\{+\s*([^{}]*?)\s*\}+`)
	unmarked = regexp.MustCompile(`(^|[\s(!,<>=+*/])\$?(input|state|data|error|advice|item|index)\b`)
	dollar   = regexp.MustCompile(`\$(input|state|data|item)[.[]`)
)

// Marked is a text as the expression that it is once each of its references has its †, in the place of what others
// write there; false where that is no expression with a reference.
func Marked(text string) (string, bool) {
	with := braces.ReplaceAllString(strings.ReplaceAll(text, "$(", mark+"("), "$1")
	with = unmarked.ReplaceAllString(with, "$1†$2")
	if !reference.IsExpression(with) {
		with = mark + "(" + with + ")"
	}
	e, err := Parse(with)
	return with, err == nil && len(e.refs) > 0
}

// isExpression reports whether a text is an expression but for the † and the parentheses
// around it.
func isExpression(s string) bool {
	_, err := Parse(mark + "(" + s + ")")
	return err == nil
}

// parenthesized reads an expression in †( … ) at s[at:], as it is in a string that is nothing else, and where it ends:
// at, if there is none.
func parenthesized(s string, at int) (inside string, end int) {
	if !strings.HasPrefix(s[at:], mark+"(") {
		return "", at
	}
	from := at + len(mark) + 1
	end, err := reference.Balanced(s[:min(len(s), at+maxPath)], from, '(', ')')
	if err != nil || end < 0 || !isExpression(s[from:end]) {
		return "", at
	}
	return s[from:end], end + 1
}

// bare is a text without what others write before the kind of a reference.
func bare(s string) string { return strings.TrimPrefix(strings.TrimPrefix(s, "$."), ".") }

// foreign reads a reference as other systems write it at s[at:], and where it ends: at, if there is none. Quoted is the
// text with quoted keys in double quotes.
func foreign(s, quoted string, at int, there func(Reference) bool) (ref Reference, end int) {
	open := opening.FindStringSubmatch(s[at:])
	if open == nil || strings.HasPrefix(s, mark+mark) && strings.HasPrefix(open[0], mark) {
		return ref, at // the † of a text that begins with †† are its own
	}
	text, isMark := quoted[:min(len(s), at+maxPath)], strings.HasPrefix(open[0], mark)
	if open[1] == "" {
		// Behind these it is a footnote, an address, or a mark as itself.
		before, _ := utf8.DecodeLastRuneInString(s[:at])
		if at > 0 && (unicode.IsLetter(before) || unicode.IsDigit(before) || before == Mark ||
			before == '$' && !isMark) {
			return ref, at
		}
		if blank := strings.IndexFunc(text[at:], unicode.IsSpace); blank >= 0 {
			text = text[:at+blank]
		}
		text = strings.TrimRight(text, ".,;:!?)'\"»”") // a full stop is no path's dot
	}
	ref, end, ok := reference.Unmarked(text, at+len(open[0]))
	if open[1] != "" {
		end = reference.SkipBlanks(s, end)
	}
	if !ok || !strings.HasPrefix(s[end:], strings.Repeat("}", len(open[1]))) {
		return ref, at
	}
	end += len(open[1])
	// One brace alone means a reference only in programs that know what they replace.
	another := len(open[1]) > 1 || strings.HasPrefix(open[0], "${")
	certain := another || open[1] == "" || strings.Contains(open[0], mark) || strings.HasPrefix(open[0], "‡")
	if input := (Reference{Kind: "input", Path: ref.Path}); ref.Kind == "inputs" &&
		(strings.HasPrefix(open[0], "${{") || there(input)) {
		ref = input // which workflows of other systems call inputs
	}
	known := slices.Contains(reference.Kinds, ref.Kind) || isMark
	inState := Reference{Kind: "state", Path: append([]Segment{{Key: ref.Kind}}, ref.Path...)}
	switch {
	case len(ref.Path) > 0 && known && certain, (len(ref.Path) > 0 || certain) && there(ref):
		return ref, end
	case another && !known && there(inState):
		return inState, end
	}
	return ref, at
}
