package source

import (
	"bytes"
	"fmt"
)

// string reads a byte of a string.
func (s *Stream) string(at int, c byte) {
	if at-s.start >= s.limits.Scalar {
		s.fail(codeLimit, s.start, fmt.Sprintf("a scalar of more than %d bytes", s.limits.Scalar))
		return
	}
	switch s.state {
	case inString:
		switch {
		case c == '"':
			s.quoted(at + 1)
		case c == '\\':
			s.state = inEscape
		case c < ' ':
			s.fail(codeSyntax, at, fmt.Sprintf("a control character (U+%04X) inside a string", c))
		case c >= 0x80:
			s.character(at, c)
		}
	case inEscape:
		switch {
		case c == 'u':
			s.state, s.digits, s.unit = inUnicode, 4, 0
		case bytes.IndexByte([]byte(jsonEscapes), c) >= 0:
			s.state = inString
		default:
			s.unexpected(at)
		}
	case inUnicode:
		s.unicode(at, c)
	case expectsLowHalf:
		if s.state = expectsLowUnit; c != '\\' {
			s.unexpected(at)
		}
	case expectsLowUnit:
		if c != 'u' {
			s.unexpected(at)
			return
		}
		s.state, s.digits, s.unit = inUnicode, 4, 0
	case inCharacter:
		if c < s.low || c > s.up {
			s.unexpected(at)
			return
		}
		s.low, s.up = 0x80, 0xBF
		if s.follow--; s.follow == 0 {
			s.state = inString
		}
	}
}

// quoted ends a string.
func (s *Stream) quoted(end int) {
	if !s.isKey {
		s.ended(end)
		return
	}
	s.state = keyColon
	if len(s.open) == 1 {
		s.member = s.key(end)
		if s.member == "calls" && s.phase == callsAhead {
			s.phase = callsNamed
		}
	}
}

// key is a key of the object itself, escapes resolved; "" for one that is too
// long to matter.
func (s *Stream) key(end int) string {
	const longest = len(`""`) + len("advisors")*len(`\u0000`)
	if end-s.start > longest {
		return ""
	}
	text := string(s.text[s.start:end])
	d := decoder{src: text, strictJSON: true}
	if d.double(0, len(text)) != nil {
		return ""
	}
	return string(d.out)
}

// unicode reads a digit of \uXXXX.
func (s *Stream) unicode(at int, c byte) {
	switch {
	case isDigit(c):
		c -= '0'
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		c = c | 0x20 - 'a' + 10
	default:
		s.unexpected(at)
		return
	}
	s.unit = s.unit<<4 | uint32(c)
	if s.digits--; s.digits > 0 {
		return
	}
	high, low := s.unit>>10 == 0xD800>>10, s.unit>>10 == 0xDC00>>10
	switch {
	case s.unit == 0:
		s.fail(codeSyntax, at, "a NUL character")
	case low != s.high:
		s.fail(codeSyntax, at, "half of a surrogate pair")
	case high:
		s.state, s.high = expectsLowHalf, true
	default:
		s.state, s.high = inString, false
	}
}

// character reads the first byte of a character beyond ASCII.
func (s *Stream) character(at int, c byte) {
	s.state, s.low, s.up = inCharacter, 0x80, 0xBF
	switch {
	case 0xC2 <= c && c <= 0xDF:
		s.follow = 1
	case 0xE0 <= c && c <= 0xEF:
		s.follow = 2
	case 0xF0 <= c && c <= 0xF4:
		s.follow = 3
	default:
		s.unexpected(at)
	}
	switch c {
	case 0xE0:
		s.low = 0xA0 // below are longer forms than needed
	case 0xED:
		s.up = 0x9F // above are surrogates
	case 0xF0:
		s.low = 0x90
	case 0xF4:
		s.up = 0x8F // above is beyond Unicode
	}
}

// number reads a byte that may belong to a number, and reports whether it does.
func (s *Stream) number(at int, c byte) bool {
	digit := isDigit(c)
	switch s.state {
	case inMinus:
		switch {
		case c == '0':
			s.state = inZero
		case digit:
			s.state = inInteger
		default:
			s.unexpected(at)
		}
		return true
	case inInteger, inFraction, inExponent:
		if digit {
			return true
		}
	case inPoint:
		s.need(at, digit, inFraction)
		return true
	case inExponentSign:
		if c == '+' || c == '-' {
			s.state = inExponentDigit
		} else {
			s.need(at, digit, inExponent)
		}
		return true
	case inExponentDigit:
		s.need(at, digit, inExponent)
		return true
	}
	switch {
	case c == '.' && (s.state == inZero || s.state == inInteger):
		s.state = inPoint
	case c|0x20 == 'e' && s.state != inExponent:
		s.state = inExponentSign
	default:
		return false
	}
	return true
}

func (s *Stream) need(at int, ok bool, next streamState) {
	if !ok {
		s.unexpected(at)
		return
	}
	s.state = next
}
