package source

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// A Stream reads a JSON solution while it is being written: it
// knows which of its calls are complete before the rest has arrived.
//
// It takes the text in pieces of any size, looks at each byte once and keeps no
// more than the text, the open brackets and the ends of the calls. What it lets
// pass [Parse] lets pass as well, but for keys given twice and numbers that don't
// fit: those are for Parse to say, of a prefix or of the whole.
//
// Models like to put a code fence around what they write. Where nothing but white
// space stands before ``` and a word, that line and the closing ``` count as
// white space: [Stream.Prefix] and [Stream.Solution] have blanks in their place,
// so that every offset stays what it is in the text. Any other text around the
// object is an error.
//
// Of several "calls" the first counts, as it does for Parse.
type Stream struct {
	limits Limits
	text   []byte
	state  streamState
	fault  *Problem

	faultAt int  // how far the text was read when it couldn't become a solution any more
	full    bool // as much is kept behind the fault as ever will be

	open   []byte // the brackets that are open, outermost first
	start  int    // of the scalar that is being read
	member string // the last key of the object itself, if it is one that matters

	isKey bool // the string that is being read

	begin, end int // of the object: of its first byte, and behind its last; 0 where there is none
	ticks      int // backticks that opened the fence, while it may be closed
	closing    int // backticks that close it

	head     int // the end of the last member before "calls"
	advisors bool
	phase    callsPhase
	items    int // just behind the bracket that opens the calls
	item     int // where the call begins that is being read
	calls    []stretch
}

// A stretch is where a call begins, and the end of it.
type stretch struct{ start, end int }

// callsPhase is how far the list of calls has come.
type callsPhase uint8

const (
	callsAhead callsPhase = iota
	callsNamed            // its key has been read
	callsOpen
	callsOver
)

type streamState uint8

const (
	beforeObject streamState = iota
	openingFence
	fenceWord
	firstKeyOrEnd
	nextKey
	keyColon
	memberValue
	firstItemOrEnd
	nextItem
	afterValue
	inString
	inEscape
	inWord // or a number
	afterObject
	closingFence
	faulty
)

// What may stand at each place, in words.
var streamExpects = [...]string{
	beforeObject:   "a JSON object",
	openingFence:   "a JSON object, or ``` around it",
	fenceWord:      "the end of the line that opens the fence",
	firstKeyOrEnd:  "a key in double quotes or \"}\"",
	nextKey:        "a key in double quotes",
	keyColon:       "\":\" after the key",
	memberValue:    "a JSON value",
	firstItemOrEnd: "a JSON value or \"]\"",
	nextItem:       "a JSON value",
	afterObject:    "nothing more after the object",
	closingFence:   "the end of the fence and nothing more",
}

// NewStream begins with an empty text. In limits zero means the default.
func NewStream(limits Limits) *Stream { return &Stream{limits: limits.orDefaults()} }

// keptBehind is how much is kept of what stands behind a fault, for people.
const keptBehind = 1 << 10

// Write takes the next piece of the text, which may end anywhere, be it inside
// of a character.
func (s *Stream) Write(piece string) {
	from := len(s.text)
	room := s.limits.Bytes - from
	if s.fault != nil {
		s.keep(piece[:min(len(piece), room)])
		return
	}
	s.text = append(s.text, piece[:min(len(piece), room)]...)
	for at := from; at < len(s.text) && s.fault == nil; at++ {
		s.faultAt = at // if there is one here
		s.step(at, s.text[at])
	}
	if len(piece) > room {
		s.fail(codeLimit, s.limits.Bytes, fmt.Sprintf("the text is larger than the limit of %d bytes", s.limits.Bytes))
	}
	if s.fault != nil {
		s.keep("")
	}
}

// keep reads the text after a fault, up to a limit: the same however
// the text is cut into pieces.
func (s *Stream) keep(piece string) {
	if s.full {
		return
	}
	s.text = append(s.text, piece...)
	if end := s.faultAt + keptBehind; len(s.text) > end {
		s.text, s.full = bytes.ToValidUTF8(s.text[:end], nil), true
	}
}

// Calls is how many calls are complete.
func (s *Stream) Calls() int { return len(s.calls) }

// Advisors reports whether a list of advisors' opinions that stands before the
// calls is complete.
func (s *Stream) Advisors() bool { return s.advisors }

// Done reports whether the object is complete.
func (s *Stream) Done() bool { return s.end > 0 }

// Err is why what has arrived isn't the beginning of one JSON object, and can't
// become one; nil while it may. Nothing after it has been looked at, and little of
// it is kept.
func (s *Stream) Err() *Problem { return s.fault }

// Text is everything that has arrived, as it came, up to the limit on a file's
// bytes. It must not be changed.
func (s *Stream) Text() []byte { return s.text[:len(s.text):len(s.text)] }

// Solution is the text with blanks in the place of a fence: what is for [Parse] to
// read once the stream is closed.
func (s *Stream) Solution() []byte { return s.bare(len(s.text)) }

// Prefix is a whole solution with the first k calls, from 0 to Calls(), and the
// members that stand before them. Its bytes are those of the text, up to the end
// of the last of these calls.
func (s *Stream) Prefix(k int) []byte {
	switch {
	case k > 0:
		return append(s.bare(s.calls[k-1].end), "]}"...)
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
	if s.fault != nil {
		return
	}
	file := &File{Name: "solution.json", Format: JSON, Text: s.text}
	s.fault = &Problem{Code: code, Span: Span{file, at, min(at+1, len(s.text))}, Message: message}
	s.state = faulty
}

func (s *Stream) unexpected(at int) {
	wanted := streamExpects[s.state]
	if s.state == afterValue {
		wanted = "a comma or \"]\""
		if s.open[len(s.open)-1] == '{' {
			wanted = "a comma or \"}\""
		}
	}
	s.fail(codeSyntax, at, "expected "+wanted)
}

func isBlank(c byte) bool { return blank(c) || isBreak(c) }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// step reads one byte.
func (s *Stream) step(at int, c byte) {
	switch s.state {
	case beforeObject, openingFence, fenceWord:
		s.before(at, c)
	case inString, inEscape:
		s.string(at, c)
	case inWord:
		if !isDigit(c) && !isLetter(c) && c != '-' && c != '+' && c != '.' && s.scalar(at) != nil {
			s.ended(at)
			s.step(at, c)
		}
	case afterObject, closingFence:
		s.after(at, c)
	default:
		if !isBlank(c) {
			s.structure(at, c)
		}
	}
}

// before reads what stands before the object: white space, and a fence.
func (s *Stream) before(at int, c byte) {
	switch {
	case c == '`' && (s.state == openingFence || s.state == beforeObject && s.ticks == 0):
		s.state = openingFence
		s.ticks++
	case s.state == openingFence && s.ticks < 3:
		s.unexpected(at)
	case c == '{':
		s.begin, s.head = at, at+1
		s.enter(at, c)
	case isBlank(c):
		s.state = beforeObject
	case s.state != beforeObject && (isDigit(c) || isLetter(c)):
		s.state = fenceWord
	default:
		s.unexpected(at)
	}
}

// after reads what stands after the object: white space, and the end of a fence.
func (s *Stream) after(at int, c byte) {
	switch {
	case c == '`' && s.closing < s.ticks && (s.closing == 0 || s.state == closingFence):
		s.state = closingFence
		s.closing++
	case isBlank(c) && (s.state == afterObject || s.closing == s.ticks):
		s.state = afterObject
	default:
		s.unexpected(at)
	}
}

// structure reads what stands between scalars.
func (s *Stream) structure(at int, c byte) {
	switch s.state {
	case firstKeyOrEnd, nextKey:
		switch {
		case c == '"':
			s.state, s.start, s.isKey = inString, at, true
		case c == '}' && s.state == firstKeyOrEnd:
			s.leave(at)
		default:
			s.unexpected(at)
		}
	case keyColon:
		if c != ':' {
			s.unexpected(at)
			return
		}
		s.state = memberValue
	case firstItemOrEnd:
		if c == ']' {
			s.leave(at)
			return
		}
		s.value(at, c)
	case memberValue, nextItem:
		s.value(at, c)
	case afterValue:
		switch inside := s.open[len(s.open)-1]; {
		case c == ',' && inside == '{':
			s.state = nextKey
		case c == ',':
			s.state = nextItem
		case c == inside+2: // in ASCII ] is [ and two, and } is { and two
			s.leave(at)
		default:
			s.unexpected(at)
		}
	}
}

// value reads the first byte of a value.
func (s *Stream) value(at int, c byte) {
	if s.phase == callsNamed {
		s.phase = callsOver
		if c == '[' {
			s.phase, s.items = callsOpen, at+1
		}
	}
	if s.start = at; len(s.open) == 2 && s.phase == callsOpen {
		s.item = at
	}
	switch {
	case c == '{' || c == '[':
		s.enter(at, c)
	case c == '"':
		s.state, s.isKey = inString, false
	case c == '-', isDigit(c), c == 't', c == 'f', c == 'n':
		s.state = inWord
	default:
		s.unexpected(at)
	}
}

// enter opens a list or an object.
func (s *Stream) enter(at int, c byte) {
	if len(s.open) == s.limits.Depth {
		s.fail(codeLimit, at, fmt.Sprintf("nested more than %d deep", s.limits.Depth))
		return
	}
	s.open = append(s.open, c)
	s.state = firstItemOrEnd
	if c == '{' {
		s.state = firstKeyOrEnd
	}
}

// leave closes one.
func (s *Stream) leave(at int) {
	closed := s.open[len(s.open)-1]
	s.open = s.open[:len(s.open)-1]
	if len(s.open) == 1 && closed == '[' && s.member == "advisors" && s.phase == callsAhead {
		s.advisors = true
	}
	s.ended(at + 1)
}

// ended notes the end of a value.
func (s *Stream) ended(end int) {
	s.state = afterValue
	switch len(s.open) {
	case 0:
		s.end, s.state = end, afterObject
	case 1:
		if s.phase == callsAhead {
			s.head = end
		} else {
			s.phase = callsOver
		}
	case 2:
		if s.phase == callsOpen {
			s.calls = append(s.calls, stretch{s.item, end})
		}
	}
}

// string reads a byte of a string.
func (s *Stream) string(at int, c byte) {
	switch {
	case at-s.start >= s.limits.Scalar:
		s.fail(codeLimit, s.start, fmt.Sprintf("a scalar of more than %d bytes", s.limits.Scalar))
	case c < ' ':
		s.fail(codeSyntax, at, fmt.Sprintf("a control character (U+%04X) inside a string", c))
	case s.state == inEscape:
		s.state = inString
	case c == '\\':
		s.state = inEscape
	case c == '"':
		s.quoted(at + 1)
	}
}

// quoted ends a string.
func (s *Stream) quoted(end int) {
	n := s.scalar(end)
	switch {
	case n == nil:
	case !s.isKey:
		s.ended(end)
	default:
		s.state = keyColon
		if len(s.open) == 1 {
			s.member = n.Text
			if s.member == "calls" && s.phase == callsAhead {
				s.phase = callsNamed
			}
		}
	}
}

// scalar is the one that ends here; nil after a fault in it.
func (s *Stream) scalar(end int) *Node {
	switch text := s.text[s.start:end]; {
	case !utf8.Valid(text):
		s.fail(codeSyntax, s.start, "expected valid UTF-8")
		return nil
	case len(s.open) > 1 && text[0] == '"' && bytes.IndexByte(text, '\\') < 0:
		return &Node{} // nothing in it can be wrong
	}
	file := &File{Name: "solution.json", Format: JSON, Text: s.text}
	n, problems := read(file, s.limits, func(b *builder) *Node {
		b.text = string(s.text[s.start:end])
		return (&jsonReader{builder: b, depth: len(s.open)}).document()
	})
	if n == nil {
		s.fault, s.state = &problems[len(problems)-1], faulty
		s.fault.Span = Span{file, s.fault.Span.Start + s.start, s.fault.Span.End + s.start}
	}
	return n
}
