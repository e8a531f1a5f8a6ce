package regex

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// What ECMA-262 and Go read differently, as the inside of a class.
const (
	spaces    = `\t-\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}`
	nonSpaces = `\x00-\x08\x0e-\x1f!-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}` +
		`\x{200b}-\x{2027}\x{202a}-\x{202e}\x{2030}-\x{205e}\x{2060}-\x{2fff}` +
		`\x{3001}-\x{fefe}\x{ff00}-\x{10ffff}`
	notEnds  = `[^\n\r\x{2028}\x{2029}]` // the dot: no line terminators
	anything = `[\x00-\x{10ffff}]`
	nothing  = `[^\x00-\x{10ffff}]`
)

// A translator writes an expression of ECMA-262 as Go reads it.
type translator struct {
	strings.Builder
	source string
	at     int
	dotAll bool // s of (?s:…)
}

func translate(source string) (string, error) {
	t := &translator{source: source}
	err := t.group(0)
	return t.String(), err
}

// next is the next character, and goes past it.
func (t *translator) next() rune {
	r, size := utf8.DecodeRuneInString(t.source[t.at:])
	t.at += size
	return r
}

// take goes past a text that stands here.
func (t *translator) take(text string) bool {
	ok := strings.HasPrefix(t.source[t.at:], text)
	if ok {
		t.at += len(text)
	}
	return ok
}

const maxDepth = 250

// group reads to the end of a group, or of everything.
func (t *translator) group(depth int) error {
	if depth > maxDepth {
		return errors.New("groups are nested too deep")
	}
	dotAll := t.dotAll
	defer func() { t.dotAll = dotAll }()
	for t.at < len(t.source) {
		begin := t.at
		var err error
		switch t.next() {
		case '\\':
			err = t.escape(false)
		case '.':
			t.WriteString(map[bool]string{false: notEnds, true: anything}[t.dotAll])
		case '[':
			err = t.class()
		case '(':
			err = t.open(depth)
		case ')':
			if depth > 0 {
				return nil
			}
			return errors.New(`a ")" closes nothing`)
		default:
			t.WriteString(t.source[begin:t.at])
		}
		if err != nil {
			return err
		}
	}
	if depth > 0 {
		return errors.New(`a "(" isn't closed`)
	}
	return nil
}

// open reads a group of any kind, whose parenthesis was read.
func (t *translator) open(depth int) error {
	dotAll := t.dotAll
	switch {
	case t.take("?=") || t.take("?!") || t.take("?<=") || t.take("?<!"):
		return errors.New("look-ahead and look-behind aren't supported")
	case t.take("?:"):
		t.WriteString("(?:")
	case t.take("?<") || t.take("?P<"):
		end := strings.IndexByte(t.source[t.at:], '>')
		if end < 1 {
			return errors.New("the name of a group isn't closed")
		}
		t.at += end + 1
		t.WriteString("(")
	case !t.take("?"):
		t.WriteString("(")
	default:
		flags := t.source[t.at:]
		end := strings.IndexAny(flags, ":)")
		if end < 0 || strings.Trim(flags[:end], "ims-") != "" {
			return errors.New(`after "(?" a kind of group is missing`)
		}
		on, off, _ := strings.Cut(flags[:end], "-")
		t.dotAll = (t.dotAll || strings.Contains(on, "s")) && !strings.Contains(off, "s")
		t.WriteString("(?" + flags[:end+1])
		if t.at += end + 1; flags[end] == ')' {
			return nil // they hold to the end of the group around
		}
	}
	err := t.group(depth + 1)
	t.WriteString(")")
	t.dotAll = dotAll
	return err
}

// class reads a class of characters, whose bracket was read.
func (t *translator) class() error {
	negated := t.take("^")
	if t.take("]") {
		t.WriteString(map[bool]string{false: nothing, true: anything}[negated])
		return nil
	}
	t.WriteString(map[bool]string{false: "[", true: "[^"}[negated])
	for wide := false; t.at < len(t.source); {
		begin := t.at
		switch c := t.next(); {
		case c == ']':
			t.WriteByte(']')
			return nil
		case c == '-' && (wide || t.ahead(t.at)):
			t.WriteString(`\-`) // beside \d it is no range
			wide = false
		case c == '\\':
			wide = t.ahead(begin)
			if err := t.escape(true); err != nil {
				return err
			}
		case c == '[':
			t.WriteString(`\[`)
			wide = false
		default:
			t.WriteString(t.source[begin:t.at])
			wide = false
		}
	}
	return errors.New(`a "[" isn't closed`)
}

// ahead reports whether a whole class such as \d stands at a place.
func (t *translator) ahead(at int) bool {
	rest := t.source[at:]
	return len(rest) > 1 && rest[0] == '\\' && strings.IndexByte("dDsSwWpP", rest[1]) >= 0
}

// escape reads what follows a backslash.
func (t *translator) escape(inClass bool) error {
	if t.at == len(t.source) {
		return errors.New("nothing follows the last backslash")
	}
	begin := t.at
	c := t.next()
	switch {
	case strings.ContainsRune("dDwWtnvfr", c):
		t.WriteString(t.source[begin-1 : t.at])
	case c == 's' || c == 'S':
		body := map[rune]string{'s': spaces, 'S': nonSpaces}[c]
		if !inClass {
			body = "[" + body + "]"
		}
		t.WriteString(body)
	case c == 'b' && inClass:
		t.WriteString(`\x08`)
	case c == 'b' || c == 'B' && !inClass:
		t.WriteString(t.source[begin-1 : t.at])
	case c == 'p' || c == 'P':
		return t.property(c)
	case c == 'k' && !inClass && t.take("<") || '1' <= c && c <= '9' && !inClass:
		return errors.New("references back to groups aren't supported")
	case c < utf8.RuneSelf && (isLetter(c) || '0' <= c && c <= '9'):
		r, ok := t.code(c)
		if !ok {
			return fmt.Errorf(`"\%c" means nothing here`, c)
		}
		fmt.Fprintf(t, `\x{%x}`, r)
	case c < utf8.RuneSelf:
		t.WriteString(t.source[begin-1 : t.at])
	default:
		t.WriteString(t.source[begin:t.at])
	}
	return nil
}

func isLetter(c rune) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

// code reads an escape that names a character by a number.
func (t *translator) code(c rune) (rune, bool) {
	switch {
	case c == 'x':
		return t.hex(2)
	case c == 'u' && t.take("{"):
		digits, _, _ := strings.Cut(t.source[t.at:], "}")
		r, ok := t.hex(len(digits))
		return r, ok && t.take("}")
	case c == 'u':
		r, ok := t.hex(4)
		return r, ok && !utf16.IsSurrogate(r)
	}
	return 0, false
}

// hex reads some hexadecimal digits.
func (t *translator) hex(digits int) (rune, bool) {
	if digits == 0 || digits > len(t.source)-t.at {
		return 0, false
	}
	n, err := strconv.ParseUint(t.source[t.at:t.at+digits], 16, 32)
	t.at += digits
	return rune(n), err == nil && n <= utf8.MaxRune
}

// property reads a class of Unicode. Go knows scripts and categories by their bare
// names.
func (t *translator) property(c rune) error {
	end := strings.IndexByte(t.source[t.at:], '}')
	if end < 0 || !t.take("{") {
		return fmt.Errorf(`"\%c" is followed by a property in braces`, c)
	}
	name := t.source[t.at : t.at+end-1]
	t.at += end
	if kind, value, ok := strings.Cut(name, "="); ok &&
		slices.Contains([]string{"Script", "sc", "Script_Extensions", "scx", "General_Category", "gc"}, kind) {
		name = value
	}
	t.WriteString(`\` + string(c) + "{" + name + "}")
	return nil
}
