package expression

import (
	"slices"
	"sort"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// maxText bounds the bytes of an expression, text literals included.
const maxText = 1 << 20

// tokensPerNode bounds how much text the parser is given for the nodes that
// may come out: brackets and commas are tokens, but no nodes.
const tokensPerNode = 8

type tokenKind uint8

const (
	tokenReference tokenKind = iota
	tokenWord
	tokenNumber
	tokenText
	tokenOperator
	tokenOpen
	tokenClose
)

// A token is a piece of an expression. It exists to find places: the grammar
// is the parser's business.
type token struct {
	kind       tokenKind
	start, end int  // bytes of the text
	match      int  // of a bracket: the index of the other one
	group      bool // of a bracket: it groups, and doesn't index, call or hold
}

// A scan is an expression's text made fit for the parser: references are
// replaced by names of as many characters, so that a place in characters means
// the same in both.
type scan struct {
	text     string
	tokens   []token
	refs     []Reference
	optional []bool                 // of each reference: a ?. is in it
	isKind   func(word string) bool // in braces, where a kind's † may be left out; else nil

	source  string  // what the parser gets: the part of the text that was scanned last
	first   int     // the index of its first token
	offsets []int32 // of each of its characters, the byte of the text that it begins at
}

// A scan's lists are used again: an expression keeps none of them but its references.
var scans = sync.Pool{New: func() any { return new(scan) }}

func newScan(text string, isKind func(word string) bool) *scan {
	s := scans.Get().(*scan)
	s.text, s.isKind = text, isKind
	return s
}

func (s *scan) release() {
	*s = scan{tokens: s.tokens[:0], optional: s.optional[:0], offsets: s.offsets[:0]}
	scans.Put(s)
}

// scanExpression cuts the references out of the expression text[from:to]. Code has
// no references at all.
func (s *scan) scanExpression(from, to int, limits Limits, code bool) *Error {
	if to-from > maxText {
		return fail(from, to, "an expression is at most 1 MiB long", "shorten it, or move its text into the state")
	}
	text := s.text[:to]
	var source strings.Builder
	source.Grow(to - from)
	s.first = len(s.tokens)
	var open []int // indexes of the brackets that are open
	at := from
	copied := from // up to here, text is in source
	emit := func(kind tokenKind, start, end int) {
		s.tokens = append(s.tokens, token{kind: kind, start: start, end: end, match: -1})
	}
	for at < len(text) {
		if len(s.tokens) > limits.Nodes*tokensPerNode {
			return tooLarge(s.text, limits)
		}
		c := text[at]
		start := at
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			at++
		case strings.HasPrefix(text[at:], mark) || s.beginsUnmarked(text, at, open):
			if code {
				return fail(at, at+len(mark), "the code of an activity has no references", "its variables are the call's parameters: write their names alone")
			}
			n := len(s.tokens)
			if n > s.first && s.word(n-1) == "#" { // the parser would take the reference for the name of a #name
				return fail(at, at+len(mark), "an operator is missing between # and the reference", "# is the item; write #.key, or join the two with an operator, such as ||")
			}
			if n > s.first && s.tokens[n-1].end == at && s.tokens[n-1].valueLike() {
				end := at + len(mark)
				if !strings.HasPrefix(text[at:], mark) {
					end = readKey(text, at)
				}
				return fail(at, end, "an operator is missing before the reference", "join the two with an operator, such as || or +")
			}
			ref, end, optional, err := readReference(text, at)
			if err != nil {
				return err
			}
			if err := s.checkAfter(ref, end); err != nil {
				return err
			}
			source.WriteString(text[copied:at])
			source.WriteByte('$')
			for range utf8.RuneCountInString(text[at:end]) - 1 {
				source.WriteByte('_')
			}
			s.refs = append(s.refs, ref)
			s.optional = append(s.optional, optional)
			emit(tokenReference, at, end)
			at, copied = end, end
		case c == '"' || c == '\'' || c == '`':
			end, err := textEnd(text, at)
			if err != nil {
				return err
			}
			emit(tokenText, at, end)
			at = end
		case c == '/' && strings.HasPrefix(text[at:], "//"):
			if end := strings.IndexByte(text[at:], '\n'); end >= 0 {
				at += end
			} else {
				at = len(text)
			}
		case c == '/' && strings.HasPrefix(text[at:], "/*"):
			end := strings.Index(text[at+2:], "*/")
			if end < 0 {
				return fail(at, at+2, "the comment is never closed", "end it with */")
			}
			at += 2 + end + 2
		case c >= '0' && c <= '9' || c == '.' && at+1 < len(text) && text[at+1] >= '0' && text[at+1] <= '9':
			at = numberEnd(text, at)
			emit(tokenNumber, start, at)
		case c == '(' || c == '[' || c == '{':
			if len(open) >= limits.Depth {
				return tooDeep(at, at+1, limits)
			}
			emit(tokenOpen, at, at+1)
			n := len(s.tokens) - 1
			s.tokens[n].group = c == '(' && (n == s.first || !s.tokens[n-1].callable())
			open = append(open, n)
			at++
		case c == ')' || c == ']' || c == '}':
			emit(tokenClose, at, at+1)
			at++
			if len(open) == 0 || pair(text[s.tokens[open[len(open)-1]].start]) != c {
				return s.unbalanced(open)
			}
			n := open[len(open)-1]
			open = open[:len(open)-1]
			last := len(s.tokens) - 1
			s.tokens[n].match, s.tokens[last].match = last, n
			s.tokens[last].group = s.tokens[n].group
		default:
			if end := wordEnd(text, at); end > at {
				if (text[at:end] == "b" || text[at:end] == "B") && end < len(text) && (text[end] == '"' || text[end] == '\'') {
					return fail(at, end, "bytes have no form in JSON", "leave out the "+quote(text[at:end])+" before the text")
				}
				emit(tokenWord, at, end)
				at = end
				break
			}
			end := operatorEnd(text, at)
			if end == at {
				return strayCharacter(text, at)
			}
			if text[at:end] == "??" { // the same as ||, and binding as loosely
				source.WriteString(text[copied:at])
				source.WriteString("||")
				copied = end
			}
			emit(tokenOperator, at, end)
			at = end
		}
	}
	if len(open) > 0 {
		t := s.tokens[open[len(open)-1]]
		closing := string(pair(text[t.start]))
		return fail(t.start, t.end, quote(text[t.start:t.end])+" is never closed", "add the missing "+quote(closing))
	}
	if len(s.tokens) == s.first {
		return fail(from, to, "an expression is missing", "write one, such as price * count")
	}
	source.WriteString(text[copied:])
	s.source = source.String()
	s.offsets = slices.Grow(s.offsets[:0], to-from+1)
	for i := range text[from:] {
		s.offsets = append(s.offsets, int32(from+i))
	}
	s.offsets = append(s.offsets, int32(to))
	return nil
}

// offset is the byte at which a character, counted as the parser counts, begins.
func (s *scan) offset(rune int) int {
	return int(s.offsets[max(0, min(rune, len(s.offsets)-1))])
}

// word is the text of the i-th token.
func (s *scan) word(i int) string { return s.text[s.tokens[i].start:s.tokens[i].end] }

// tokenAt is the index of the last token that begins at or before a byte, or 0.
func (s *scan) tokenAt(offset int) int {
	return max(0, sort.Search(len(s.tokens), func(i int) bool { return s.tokens[i].start > offset })-1)
}

// widen takes the parentheses around a range into it.
func (s *scan) widen(start, end int) (int, int) {
	first, last := s.tokenAt(start), s.tokenAt(max(start, end-1))
	for first > 0 && s.tokens[first-1].group && s.tokens[first-1].match == last+1 && s.tokens[first-1].kind == tokenOpen {
		first, last = first-1, last+1
		start, end = s.tokens[first].start, s.tokens[last].end
	}
	return start, end
}

// valueLike reports whether a value ends with the token.
func (t token) valueLike() bool {
	return t.kind <= tokenText || t.kind == tokenClose
}

// callable reports whether a parenthesis right after the token calls something.
func (t token) callable() bool {
	return t.kind == tokenWord || t.kind == tokenReference || t.kind == tokenClose
}

// checkAfter refuses what can't follow a reference.
func (s *scan) checkAfter(ref Reference, end int) *Error {
	rest := s.text[end:]
	if rest == "" {
		return nil
	}
	r, _ := utf8.DecodeRuneInString(rest)
	blank := strings.TrimLeft(rest, " \t")
	switch {
	case strings.HasPrefix(blank, "("):
		return afterReference(s.text, ref, end+len(rest)-len(blank), "")
	case r == '.':
		return fail(end, end+1, "a reference can't end with a dot", "name the key, or leave out the dot")
	case unicode.IsSpace(r) || strings.ContainsRune("|&?=<>+-*/%^,;:!#)[]}", r):
		return nil
	}
	return afterReference(s.text, ref, end, "")
}

// unbalanced explains the closing bracket that was scanned last.
func (s *scan) unbalanced(open []int) *Error {
	t := s.tokens[len(s.tokens)-1]
	if len(open) == 0 {
		return fail(t.start, t.end, quote(s.text[t.start:t.end])+" closes nothing", "leave it out, or open it before")
	}
	o := s.tokens[open[len(open)-1]]
	return fail(t.start, t.end, quote(s.text[t.start:t.end])+" doesn't close "+quote(s.text[o.start:o.end]),
		"write "+quote(string(pair(s.text[o.start]))))
}

func pair(open byte) byte {
	switch open {
	case '(':
		return ')'
	case '[':
		return ']'
	}
	return '}'
}

// textEnd is the end of the text literal at text[at:].
func textEnd(text string, at int) (int, *Error) {
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
			return 0, fail(at, i, "the text isn't closed on its line", "close it with "+string(delimiter)+"; a line break in it is written \\n, and in double quotes of YAML or JSON \\\\n")
		}
	}
	return 0, fail(at, len(text), "the text is never closed", "close it with "+string(delimiter))
}

func numberEnd(text string, at int) int {
	hex := strings.HasPrefix(text[at:], "0x") || strings.HasPrefix(text[at:], "0X")
	for at < len(text) {
		c := text[at]
		switch {
		case c == '.' && at+1 < len(text) && text[at+1] == '.':
			return at
		case (c == 'e' || c == 'E') && !hex && at+1 < len(text) && (text[at+1] == '+' || text[at+1] == '-'):
			at += 2
		case c == '.' || c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			at++
		default:
			return at
		}
	}
	return at
}

func wordEnd(text string, at int) int {
	for i, r := range text[at:] {
		if r != '_' && r != '$' && !unicode.IsLetter(r) && (i == 0 || !unicode.IsDigit(r)) {
			return at + i
		}
	}
	return len(text)
}

var operators = []string{
	"||", "&&", "??", "?.", "==", "!=", "<=", ">=", "**", "..", "::",
	"|", "?", "!", "<", ">", "*", ".", ":", ",", ";", "%", "+", "-", "^", "/", "#", "=", "&",
}

func operatorEnd(text string, at int) int {
	for _, o := range operators {
		if strings.HasPrefix(text[at:], o) {
			return at + len(o)
		}
	}
	return at
}

func strayCharacter(text string, at int) *Error {
	r, size := utf8.DecodeRuneInString(text[at:])
	help := ""
	switch r {
	case '“', '”', '„', '‘', '’', '«', '»':
		help = "text stands in straight quotes: \"…\""
	case '×':
		help = "did you mean \"*\"?"
	case '÷':
		help = "did you mean \"/\"?"
	case '−', '–', '—':
		help = "did you mean \"-\"?"
	case '≤':
		help = "did you mean \"<=\"?"
	case '≥':
		help = "did you mean \">=\"?"
	case '≠':
		help = "did you mean \"!=\"?"
	default:
		help = "put it into quotes if it is text"
	}
	return fail(at, at+size, "unexpected character "+quoteRune(r), help)
}

func tooDeep(start, end int, limits Limits) *Error {
	return fail(start, end, "the expression is nested more than "+itoa(limits.Depth)+" deep", "move a part of it into a call of its own")
}

func tooLarge(text string, limits Limits) *Error {
	return fail(0, len(text), "the expression has more than "+itoa(limits.Nodes)+" nodes", "move a part of it into a call of its own")
}
