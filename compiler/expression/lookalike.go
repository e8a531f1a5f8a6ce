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

// These bound how much of a literal is searched.
const (
	maxLookalike = 1 << 16
	maxPath      = 1000 // bytes of a mistaken reference, or of an expression in †( … )
)

// A notation is a way in which other systems, and slips, write a reference inside a text. Without a closing mark it ends
// where its path does.
type notation struct {
	open, closing string
	sure          bool // a built-in kind inside is enough to believe it
	bare          bool // the kind may be left out before what the state holds
}

// notations are those that are known, the longer before those that begin like them.
var notations = []notation{
	{open: mark, sure: true}, {open: "{" + mark, closing: "}", sure: true},
	{"{{{", "}}}", true, true}, {"${{", "}}", true, true}, {"{{", "}}", true, true}, {"${", "}", true, true},
	{open: "$(", closing: ")"}, {open: "$."}, {open: "$", sure: true},
	{open: "#{", closing: "}"}, {open: "{", closing: "}"}, {open: "%", closing: "%"}, {open: "<%=", closing: "%>"},
	{open: "@"}, {open: "‡"}, {open: "&dagger;"},
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
	// Intended is the whole string as it was meant: a reference if there is nothing else, otherwise a text with references
	// in it.
	Intended string
	Sure     bool // nothing else can have been meant
}

// Lookalike finds what looks like mistaken references in the literal part of a string:
// a † inside, $state.x, ${state.x}, {{state.x}}, and where there reports that what they
// name is there, those that other notations have. Without any mark only a whole string
// counts.
func Lookalike(s string, there func(Reference) bool) (m Misspelt, ok bool) {
	if IsExpression(s) || len(s) > maxLookalike || !strings.ContainsAny(s, ".[{$") && !strings.Contains(s, mark) {
		return m, false
	}
	quoted := strings.ReplaceAll(s, "'", "\"") // ['key'] is read as ["key"]
	if ref, end, ok := unmarked(quoted, behindPrefix(quoted, 0)); ok && strings.TrimSpace(s[end:]) == "" && there(ref) {
		return Misspelt{0, end, ref.String(), false}, true
	}
	switch trimmed := strings.TrimSpace(s); {
	case !strings.Contains(s, mark) || !isExpression(s):
	case !strings.HasPrefix(trimmed, mark):
		return Misspelt{0, len(s), mark + "(" + s + ")", false}, true
	default:
		if _, err := ParsePath(trimmed); err != nil {
			return Misspelt{0, len(s), trimmed, false}, true
		}
	}
	var text strings.Builder
	copied, alone := 0, "" // what is meant where there is nothing else
	for at := 0; at < len(s); {
		next := strings.IndexAny(s[at:], mark+"$#{%<@‡&")
		if next < 0 {
			break
		}
		at += next
		if end := skipBraces(s, at); end > at {
			at = end
			continue
		}
		inside, end := parenthesized(s, at)
		alone = mark + "(" + inside + ")"
		if end == at {
			inside, alone, end = calculated(s, at, there)
		}
		if end == at {
			ref, behind := misspeltAt(quoted, at, there)
			inside, end, alone = ref.String(), behind, ref.String()
			if slices.Contains(kinds, ref.Kind) {
				inside = strings.TrimPrefix(inside, mark)
			}
		}
		if end == at {
			_, size := utf8.DecodeRuneInString(s[at:])
			at += size
			continue
		}
		if !ok {
			m.Start, m.End, m.Sure, ok = at, end, true, true
		}
		if at > 0 && end < len(s) && s[at-1] == s[end] && strings.IndexByte("\"'`", s[end]) >= 0 {
			m.Sure = false // it may be spoken of
		}
		text.WriteString(s[copied:at] + opening + inside + "}")
		at, copied = end, end
	}
	if strings.Contains(s[copied:], "{{") {
		m.Sure = false // another template's
	}
	m.Intended = text.String() + s[copied:]
	if ok && strings.TrimSpace(s[:m.Start]+s[m.End:]) == "" {
		m.Intended = alone
	}
	return m, ok
}

// Unfilled finds a †{ … } in a text literal of an expression, where nothing fills it in: which
// bytes of the string the literal takes.
func Unfilled(s string) (start, end int, ok bool) {
	if !IsExpression(s) || !strings.Contains(s, opening) {
		return 0, 0, false
	}
	for at := len(mark); at < len(s); at++ {
		if c := s[at]; c != '"' && c != '\'' && c != '`' {
			continue
		}
		end, err := textEnd(s, at)
		if err != nil {
			break
		}
		literal := strings.ReplaceAll(s[at:end], mark+opening, "")
		if _, inside, ok := strings.Cut(literal, opening); ok && strings.Contains(inside, "}") {
			return at, end, true
		}
		at = end - 1
	}
	return 0, 0, false
}

// isExpression reports whether a text is an expression but for the † and the parentheses
// around it.
func isExpression(s string) bool {
	_, err := Parse(mark+"("+s+")", Limits{})
	return err == nil
}

// parenthesized reads an expression in †( … ) at s[at:], as it is in a string that is nothing else, and where it ends:
// at, if there is none.
func parenthesized(s string, at int) (inside string, end int) {
	if !strings.HasPrefix(s[at:], mark+"(") {
		return "", at
	}
	from := at + len(mark) + 1
	end, err := balanced(s[:min(len(s), at+maxPath)], from, '(', ')')
	if err != nil || end < 0 || !isExpression(s[from:end]) {
		return "", at
	}
	return s[from:end], end + 1
}

// calculated reads what other notations have for a text with more than a reference in it, {{upper(input.name)}} or
// ${input.count + 1}, as it is in braces and as an expression of its own, and where it ends: at, if there is none.
func calculated(s string, at int, there func(Reference) bool) (inside, alone string, end int) {
	for _, n := range notations {
		if n.closing == "" || !strings.HasPrefix(s[at:], n.open) {
			continue
		}
		from := at + len(n.open)
		length := strings.Index(s[from:min(len(s), at+maxPath)], n.closing)
		if length < 0 {
			continue
		}
		inside = strings.TrimSpace(s[from : from+length])
		if !strings.ContainsAny(inside, "(+*/|?") || strings.Contains(inside, n.open) {
			continue
		}
		isKind := func(word string) bool { return slices.Contains(kinds, word) }
		e, err := ParseText(opening+inside+"}", isKind, DefaultLimits())
		missing := func(r Reference) bool { return !there(r) }
		if err == nil && len(e.refs) > 0 && len(e.root.Args) == 1 && !slices.ContainsFunc(e.refs, missing) {
			return inside, mark + "(" + e.Print(e.root.Args[0], nil) + ")", from + length + len(n.closing)
		}
	}
	return "", "", at
}

// misspeltAt reads the misspelt reference at s[at:], and where it ends: at, if there is
// none.
func misspeltAt(s string, at int, there func(Reference) bool) (ref Reference, end int) {
	for _, n := range notations {
		if !n.canBegin(s, at) {
			continue
		}
		text, inner := s[:min(len(s), at+maxPath)], at+len(n.open)
		if n.closing == "" {
			text = trimDot(s, at)
		} else {
			inner = behindPrefix(s, skipBlanks(s, inner))
		}
		ref, end, ok := unmarked(text, inner)
		if !ok {
			continue
		}
		if n.closing != "" {
			end = skipBlanks(s, end)
		}
		if !strings.HasPrefix(s[end:], n.closing) {
			continue
		}
		if ref.Kind == "inputs" && (n.open == "${{" || there(Reference{Kind: "input", Path: ref.Path})) {
			ref.Kind = "input" // which workflows of other systems call inputs
		}
		known := slices.Contains(kinds, ref.Kind) || n.open == mark
		switch inState := (Reference{Kind: "state", Path: append([]Segment{{Key: ref.Kind}}, ref.Path...)}); {
		case len(ref.Path) > 0 && (known && n.sure || there(ref)):
			return ref, end + len(n.closing)
		case n.bare && !known && there(inState):
			return inState, end + len(n.closing)
		}
	}
	return ref, at
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

// skipBraces is where an expression ends that begins with †{ at s[at:]: at the
// string's end if it is never closed, behind the brace of a ††{, which is text, and
// where it begins if there is neither.
func skipBraces(s string, at int) int {
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

// unmarked reads kind.path without its †, where the kind may be any word.
func unmarked(s string, at int) (ref Reference, end int, ok bool) {
	if at > len(s) {
		return ref, at, false
	}
	kind := readKey(s, at)
	path, end, _, err := readSegments(s, kind, at)
	return Reference{Kind: s[at:kind], Path: path}, end, err == nil && kind > at
}

// BareReference reports whether a literal is nothing but kind.path without its †, as in state.items[0]. Whether that is
// a mistake depends on the expected type, which the caller knows.
func BareReference(s string) bool {
	s = strings.TrimSpace(s)
	if strings.HasPrefix(s, mark) {
		return false
	}
	ref, end, ok := unmarked(s, 0)
	return ok && end == len(s) && len(ref.Path) > 0 && slices.Contains(kinds, ref.Kind)
}

// quoteText writes a text literal.
func quoteText(s string) string { return string(appendText(nil, s, false)) }
