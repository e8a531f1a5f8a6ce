package expression

import (
	"slices"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/obelus-dev/obelus/compiler/reference"
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
	text   string
	tokens []token
	refs   []Reference
	isKind func(word string) bool // in braces, where a kind's † may be left out; else nil
	code   bool                   // of an activity, which has no references

	source  string  // what the parser gets: the part of the text that was scanned last
	first   int     // the index of its first token
	offsets []int32 // of each of its characters, the byte of the text that it begins at

	end    int             // where the part ends that is being scanned
	open   []int           // indexes of the brackets that are open
	copied int             // up to here, the text is in built
	built  strings.Builder // of the source
}

// scanExpression cuts the references out of the expression text[from:to].
func (s *scan) scanExpression(from, to int) *Error {
	if to-from > maxText {
		return fail(from, to, "an expression is at most 1 MiB long", "shorten it, or move its text into the state")
	}
	s.first, s.end, s.open, s.copied = len(s.tokens), to, s.open[:0], from
	s.built.Reset()
	s.built.Grow(to - from)
	for at := from; at < to; {
		if len(s.tokens) > maxNodes*tokensPerNode {
			return tooLarge(s.text)
		}
		var err *Error
		if at, err = s.next(at); err != nil {
			return err
		}
	}
	if len(s.open) > 0 {
		t := s.tokens[s.open[len(s.open)-1]]
		closing := string(pair(s.text[t.start]))
		return fail(t.start, t.end, quote(s.text[t.start:t.end])+" is never closed", "add the missing "+quote(closing))
	}
	if len(s.tokens) == s.first {
		return fail(from, to, "an expression is missing", "write one, such as price * count")
	}
	s.replace(to, to, "")
	s.source = s.built.String()
	s.offsets = slices.Grow(s.offsets[:0], to-from+1)
	for i := range s.text[from:to] {
		s.offsets = append(s.offsets, int32(from+i))
	}
	s.offsets = append(s.offsets, int32(to))
	return nil
}

// replace puts other text into the source for a part of the expression.
func (s *scan) replace(start, end int, other string) {
	s.built.WriteString(s.text[s.copied:start])
	s.built.WriteString(other)
	s.copied = end
}

// emit adds a token, and is where it ends.
func (s *scan) emit(kind tokenKind, start, end int) int {
	s.tokens = append(s.tokens, token{kind: kind, start: start, end: end, match: -1})
	return end
}

// next reads what begins at a byte, and is where that ends.
func (s *scan) next(at int) (end int, err *Error) {
	text := s.text[:s.end]
	followedBy := func(c byte) bool { return at+1 < len(text) && text[at+1] == c }
	switch c := text[at]; {
	case c == ' ' || c == '\t' || c == '\n' || c == '\r':
		return at + 1, nil
	case strings.HasPrefix(text[at:], mark) || s.beginsUnmarked(text, at):
		return s.reference(text, at)
	case c == '"' || c == '\'' || c == '`':
		end, err = reference.TextEnd(text, at)
		return s.emit(tokenText, at, end), err
	case c == '/' && (followedBy('/') || followedBy('*')):
		return 0, fail(at, at+2, "an expression has no comments", "leave it out; a quotient's whole part is int(a / b)")
	case isDigit(c) || c == '.' && at+1 < len(text) && isDigit(text[at+1]):
		return s.emit(tokenNumber, at, numberEnd(text, at)), nil
	case strings.IndexByte("([{)]}", c) >= 0:
		return at + 1, s.bracket(at)
	}
	if end := wordEnd(text, at); end > at {
		word := text[at:end]
		if (word == "b" || word == "B") && end < len(text) && (text[end] == '"' || text[end] == '\'') {
			return 0, fail(at, end, "bytes have no form in JSON", "leave out the "+quote(word)+" before the text")
		}
		return s.emit(tokenWord, at, end), nil
	}
	end = operatorEnd(text, at)
	if end == at {
		return 0, strayCharacter(text, at)
	}
	if text[at:end] == "??" { // the same as ||, and binding as loosely
		s.replace(at, end, "||")
	}
	return s.emit(tokenOperator, at, end), nil
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// reference cuts a reference out.
func (s *scan) reference(text string, at int) (end int, err *Error) {
	if s.code {
		return 0, fail(at, at+len(mark), "the code of an activity has no references",
			"its variables are the call's parameters: write their names alone")
	}
	if n := len(s.tokens); n > s.first {
		if s.word(n-1) == "#" { // the parser would take the reference for the name of a #name
			return 0, fail(at, at+len(mark), "an operator is missing between # and the reference",
				"# is the item; write #.key, or join the two with an operator, such as ||")
		}
		if s.tokens[n-1].end == at && s.tokens[n-1].valueLike() {
			end := at + len(mark)
			if !strings.HasPrefix(text[at:], mark) {
				end = reference.ReadKey(text, at)
			}
			return 0, fail(at, end, "an operator is missing before the reference",
				"join the two with an operator, such as || or +")
		}
	}
	ref, end, err := reference.Read(text, at)
	if err == nil {
		err = s.checkAfter(ref, end)
	}
	if err != nil {
		return 0, err
	}
	s.replace(at, end, "$"+strings.Repeat("_", utf8.RuneCountInString(text[at:end])-1))
	s.refs = append(s.refs, ref)
	return s.emit(tokenReference, at, end), nil
}

// bracket reads a bracket, and matches a closing one with the one that it closes.
func (s *scan) bracket(at int) *Error {
	c, n := s.text[at], len(s.tokens)
	if c == '(' || c == '[' || c == '{' {
		if len(s.open) >= maxDepth {
			return tooDeep(at, at+1)
		}
		s.emit(tokenOpen, at, at+1)
		s.tokens[n].group = c == '(' && (n == s.first || !s.tokens[n-1].callable())
		s.open = append(s.open, n)
		return nil
	}
	s.emit(tokenClose, at, at+1)
	if len(s.open) == 0 {
		return fail(at, at+1, quote(string(c))+" closes nothing", "leave it out, or open it before")
	}
	last := s.open[len(s.open)-1]
	s.open = s.open[:len(s.open)-1]
	if opening := s.text[s.tokens[last].start]; pair(opening) != c {
		return fail(at, at+1, quote(string(c))+" doesn't close "+quote(string(opening)),
			"write "+quote(string(pair(opening))))
	}
	s.tokens[n].match, s.tokens[last].match = last, n
	s.tokens[n].group = s.tokens[last].group
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
	for first > 0 {
		open := s.tokens[first-1]
		if !open.group || open.match != last+1 || open.kind != tokenOpen {
			break
		}
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
	r, size := utf8.DecodeRuneInString(rest)
	switch {
	case strings.HasPrefix(strings.TrimLeft(rest, " \t"), "("):
		return calledReference(s.text[ref.Start:end], ref)
	case size == 0 || unicode.IsSpace(r) || strings.ContainsRune("|&?=<>+-*/%^,;:!)[]}", r):
		return nil
	case r == reference.Mark:
		return fail(end, end+size, "an operator is missing between two references",
			"join them with an operator, such as || or +")
	}
	return fail(end, end+size, "a key with "+reference.QuoteRune(r)+" in it must be quoted",
		"write [\"key\"] for a key with characters other than letters, digits, _ and -")
}

func pair(open byte) byte { return ")]}"[strings.IndexByte("([{", open)] }

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

var operatorSigns = []string{
	"||", "&&", "??", "?.", "==", "!=", "<=", ">=", "**", "..", "::",
	"|", "?", "!", "<", ">", "*", ".", ":", ",", ";", "%", "+", "-", "^", "/", "#", "=", "&",
}

func operatorEnd(text string, at int) int {
	for _, o := range operatorSigns {
		if strings.HasPrefix(text[at:], o) {
			return at + len(o)
		}
	}
	return at
}

// operatorFor are operators by characters that are taken for them.
var operatorFor = map[rune]string{'×': "*", '÷': "/", '−': "-", '–': "-", '—': "-", '≤': "<=", '≥': ">=", '≠': "!="}

func strayCharacter(text string, at int) *Error {
	r, size := utf8.DecodeRuneInString(text[at:])
	help := "put it into quotes if it is text"
	if operator := operatorFor[r]; operator != "" {
		help = "did you mean " + quote(operator) + "?"
	} else if strings.ContainsRune("“”„‘’«»", r) {
		help = "text is in straight quotes: \"…\""
	}
	return fail(at, at+size, "unexpected character "+reference.QuoteRune(r), help)
}

func tooDeep(start, end int) *Error {
	return fail(start, end, "the expression is nested more than "+itoa(maxDepth)+" deep",
		"move a part of it into a call of its own")
}

func tooLarge(text string) *Error {
	return fail(0, len(text), "the expression has more than "+itoa(maxNodes)+" nodes",
		"move a part of it into a call of its own")
}
