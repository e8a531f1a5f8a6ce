package source

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
)

// A Stream follows a JSON solution while it is being written: it knows which of its calls are complete before the rest
// has arrived. It looks at each byte once, and only at brackets, strings and commas: whether a text is valid is for
// [Parse] to say, of [Stream.Prefix] or of [Stream.Solution].
//
// Models like to put a code fence around what they write. A line of ``` and a word before the object, and backticks
// behind it, count as white space, and have blanks in their place, so that every offset stays what it is in the text.
// Any other text around the object is an error.
type Stream struct {
	limits Limits
	text   []byte
	fault  *Problem

	open       []byte // the brackets that are open, outermost first
	quote      int    // where the string begins that is being read; 0 outside of strings
	escaped    bool   // behind a backslash in it
	first      int    // the first byte that isn't white space; -1 before it
	begin, end int    // of the object: of its first byte, and behind its last; 0 where there is none

	member  int  // where the member of the object begins that is being read
	head    int  // behind the last complete member before "calls"
	named   bool // "calls" has begun
	listing bool // its list is open
	items   int  // just behind the bracket that opens the list; 0 where there is none
	calls   []int
}

// NewStream begins with an empty text. In limits zero means the default.
func NewStream(limits Limits) *Stream { return &Stream{limits: limits.orDefaults(), first: -1} }

// Write takes the next piece of the text, which may end anywhere, be it inside of a character. Nothing behind a fault
// is kept.
func (s *Stream) Write(piece string) {
	for i := 0; i < len(piece) && s.fault == nil; i++ {
		at := len(s.text)
		if at == s.limits.Bytes {
			s.fail(codeLimit, at, fmt.Sprintf("the text is larger than the limit of %d bytes", at))
			return
		}
		s.text = append(s.text, piece[i])
		s.step(at, piece[i])
	}
}

// Calls is how many calls are complete.
func (s *Stream) Calls() int { return len(s.calls) }

// Err is why what has arrived can't become one JSON object; nil while it may.
func (s *Stream) Err() *Problem { return s.fault }

// Text is everything that has arrived, as it came, up to a fault. It must not be changed.
func (s *Stream) Text() []byte { return s.text[:len(s.text):len(s.text)] }

// Solution is the text with blanks in the place of a fence: what is for [Parse] to read once the stream is closed.
func (s *Stream) Solution() []byte { return s.bare(len(s.text)) }

// Prefix is a solution with the first k calls, from 0 to Calls(), and the members that stand before them. Its bytes are
// those of the text, up to the end of the last of these calls.
func (s *Stream) Prefix(k int) []byte {
	switch {
	case k > 0:
		return append(s.bare(s.calls[k-1]), "]}"...)
	case s.items > 0:
		return append(s.bare(s.items), "]}"...)
	case s.head == 0: // nothing but what stands before the object
		return append(blanked(bytes.Clone(s.text)), `{"calls":[]}`...)
	case s.head == s.begin+1:
		return append(s.bare(s.head), `"calls":[]}`...)
	}
	return append(s.bare(s.head), `,"calls":[]}`...)
}

// bare is the text up to a place, with blanks for what stands around the object.
func (s *Stream) bare(to int) []byte {
	text := bytes.Clone(s.text[:to])
	if s.head > 0 {
		blanked(text[:s.begin])
	}
	if 0 < s.end && s.end < to && s.fault == nil {
		blanked(text[s.end:])
	}
	return text
}

// blanked puts blanks in the place of a text, and leaves its lines.
func blanked(text []byte) []byte {
	for i, c := range text {
		if !isBreak(c) {
			text[i] = ' '
		}
	}
	return text
}

func (s *Stream) fail(code string, at int, message string) {
	file := &File{Name: "solution.json", Format: JSON, Text: s.text}
	s.fault = &Problem{Code: code, Span: Span{file, at, min(at+1, len(s.text))}, Message: message}
}

// step reads one byte.
func (s *Stream) step(at int, c byte) {
	switch depth := len(s.open); {
	case s.quote > 0 && at-s.quote > s.limits.Scalar:
		s.fail(codeLimit, s.quote, fmt.Sprintf("a scalar of more than %d bytes", s.limits.Scalar))
	case s.escaped:
		s.escaped = false
	case s.quote > 0:
		if s.escaped = c == '\\'; c == '"' {
			s.quote = 0
		}
	case blank(c) || isBreak(c):
	case s.end > 0:
		if c != '`' || s.text[s.first] != '`' {
			s.fail(codeSyntax, at, "expected nothing more after the object")
		}
	case depth == 0:
		s.before(at, c)
	case c == '"':
		s.quote = at
	case c == '{' || c == '[':
		s.enter(at, c)
	case c == '}' || c == ']':
		s.leave(at, c)
	case c == ',' && depth == 1 && !s.named:
		if s.named = s.key(at) == "calls"; !s.named {
			s.head, s.member = at, at+1
		}
	}
}

// opening is what may stand before the object, and its bracket.
var opening = regexp.MustCompile("^(`{1,9}|`{3,9}[0-9A-Za-z]{1,30}|`{3,9}[0-9A-Za-z]{0,30}\\s*\\{)$")

// before reads what stands before the object, and its bracket.
func (s *Stream) before(at int, c byte) {
	if s.first < 0 {
		s.first = at
	}
	if c == '{' && s.first == at || opening.Match(s.text[s.first:]) {
		if c == '{' {
			s.open, s.begin, s.head, s.member = append(s.open, c), at, at+1, at+1
		}
		return
	}
	s.fail(codeSyntax, at, "expected a JSON object, or a line of ``` before it")
}

// enter opens a list or an object.
func (s *Stream) enter(at int, c byte) {
	if len(s.open) == s.limits.Depth {
		s.fail(codeLimit, at, fmt.Sprintf("nested more than %d deep", s.limits.Depth))
		return
	}
	if len(s.open) == 1 && !s.named && s.key(at) == "calls" {
		if s.named, s.listing = true, c == '['; s.listing {
			s.items = at + 1
		}
	}
	s.open = append(s.open, c)
}

// key is that of the member which is read up to a place; "" where none can be read.
func (s *Stream) key(to int) (key string) {
	if json.NewDecoder(bytes.NewReader(s.text[s.member:to])).Decode(&key) != nil {
		return ""
	}
	return key
}

// leave closes one.
func (s *Stream) leave(at int, c byte) {
	depth := len(s.open) - 1
	if opened := s.open[depth]; c != opened+2 { // in ASCII ] is [ and two, and } is { and two
		s.fail(codeSyntax, at, fmt.Sprintf("expected a comma or %q", string(opened+2)))
		return
	}
	switch s.open = s.open[:depth]; {
	case depth == 0:
		s.end = at + 1
	case depth == 1:
		if s.listing = false; !s.named {
			s.head, s.member = at+1, at+1
		}
	case depth == 2 && s.listing:
		s.calls = append(s.calls, at+1)
	}
}
