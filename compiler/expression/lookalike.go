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

// A notation is a way in which other systems, and slips, write a reference inside a text. Without a closing mark it
// ends where its path does.
type notation struct {
	open, closing string
	sure          bool // a built-in kind inside is enough to believe it
	bare          bool // the kind may be left out before what the state holds
}

// notations are those that are known, the longer before those that begin like them.
var notations = []notation{
	{open: mark, sure: true}, {"{" + mark, "}", true, false}, {"‡{", "}", true, false},
	{"‡", "", true, false},
	{"{{{", "}}}", true, true}, {"${{", "}}", true, true}, {"{{", "}}", true, true}, {"${", "}", true, true},
	{open: "#{", closing: "}"}, {open: "{", closing: "}"}, {open: "$", sure: true},
}

// canBegin reports whether the notation can begin at s[at:].
func (n notation) canBegin(s string, at int) bool {
	if !strings.HasPrefix(s[at:], n.open) || n.open == mark && strings.HasPrefix(s, mark+mark) {
		return false // the † of a text that begins with †† are its own
	}
	if n.closing != "" || at == 0 {
		return true
	}
	// Behind these it is a footnote, an address, or a mark as itself.
	before, _ := utf8.DecodeLastRuneInString(s[:at])
	return !unicode.IsLetter(before) && !unicode.IsDigit(before) && before != Mark && (before != '$' || n.open == mark)
}

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
	if ref, end, ok := reference.Unmarked(quoted, behindPrefix(quoted, 0)); ok &&
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
		for i := 0; end == at && i < len(notations); i++ {
			var ref Reference
			ref, end = notations[i].read(s, quoted, at, there)
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

// read reads a reference in the notation at s[at:], and where it ends: at, if there is none. Quoted is the text with
// quoted keys in double quotes.
func (n notation) read(s, quoted string, at int, there func(Reference) bool) (ref Reference, end int) {
	if !n.canBegin(s, at) {
		return ref, at
	}
	text, from := s[:min(len(s), at+maxPath)], at+len(n.open)
	if n.closing == "" {
		text = trimDot(s, at)
	} else {
		from = behindPrefix(s, reference.SkipBlanks(s, from))
	}
	ref, end, ok := reference.Unmarked(quoted[:len(text)], from)
	if n.closing != "" {
		end = reference.SkipBlanks(s, end)
	}
	if ref, named := n.intended(ref, there); ok && named && strings.HasPrefix(s[end:], n.closing) {
		return ref, end + len(n.closing)
	}
	return ref, at
}

// intended is the reference that a path in the notation is taken for, if it is taken for one.
func (n notation) intended(ref Reference, there func(Reference) bool) (Reference, bool) {
	if ref.Kind == "inputs" && (n.open == "${{" || there(Reference{Kind: "input", Path: ref.Path})) {
		ref.Kind = "input" // which workflows of other systems call inputs
	}
	known := slices.Contains(reference.Kinds, ref.Kind) || n.open == mark
	inState := Reference{Kind: "state", Path: append([]Segment{{Key: ref.Kind}}, ref.Path...)}
	switch {
	case len(ref.Path) > 0 && known && n.sure, (len(ref.Path) > 0 || n.sure || n.bare) && there(ref):
		return ref, true
	case n.bare && !known && there(inState):
		return inState, true
	}
	return ref, false
}

// behindPrefix is where a path begins behind what others write before its kind.
func behindPrefix(s string, at int) int {
	for _, prefix := range []string{"$.", ".", mark} {
		if strings.HasPrefix(s[at:], prefix) {
			return at + len(prefix)
		}
	}
	return at
}

// trimDot cuts a string behind at where a reference that ends a sentence ends,
// so that the full stop isn't taken for a path's dot. What is longer than a
// sentence's word is cut.
func trimDot(s string, at int) string {
	end := at
	for end < len(s) && end < at+maxPath {
		r, size := utf8.DecodeRuneInString(s[end:])
		if unicode.IsSpace(r) {
			break
		}
		end += size
	}
	return strings.TrimRight(s[:end], ".,;:!?)'\"»”")
}
