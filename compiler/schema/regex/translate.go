package regex

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
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

// A mark is what Go's expressions don't have: a look-around, or a reference back to what a group has matched. In the
// text an empty group replaces it.
type mark struct {
	part             int // of the text, for a look-around
	behind, negative bool
	group            int    // for a reference; 0 for none
	name             string // of that group, until all groups are known
}

// A part is the text of the pattern, or of one of its look-arounds. Groups holds
// for each of its groups, in order, the number that it has in the pattern, or, of a
// mark, minus its place among the marks, counted from 1.
type part struct {
	strings.Builder
	groups []int
}

// A translator writes an expression of ECMA-262 as Go reads it.
type translator struct {
	source string
	at     int
	parts  []*part // the first is the whole
	now    *part
	marks  []mark
	groups int
	names  map[string]int
	dotAll bool // s of (?s:…)
	effort int  // of the counts above 1,000 so far: the bytes and the repetitions that they write
}

func translate(source string) (*translator, error) {
	t := &translator{source: source, names: map[string]int{}}
	t.parts = []*part{{}}
	t.now = t.parts[0]
	if err := t.group(0); err != nil {
		return nil, err
	}
	for i := range t.marks {
		m := &t.marks[i]
		if m.name != "" {
			if m.group = t.names[m.name]; m.group == 0 {
				return nil, fmt.Errorf("there is no group %q", m.name)
			}
		}
		if m.group > t.groups {
			return nil, fmt.Errorf("there is no group %d", m.group)
		}
	}
	return t, nil
}

func (t *translator) text() string { return t.parts[0].String() }

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
	atom, groups := 0, 0 // where what was read last begins, and how many groups are before it
	for t.at < len(t.source) {
		begin := t.at
		start, before := t.now.Len(), len(t.now.groups)
		var err error
		switch t.next() {
		case '\\':
			err = t.escape(false)
		case '.':
			t.now.WriteString(map[bool]string{false: notEnds, true: anything}[t.dotAll])
		case '[':
			err = t.class()
		case '(':
			err = t.open(depth)
		case ')':
			if depth > 0 {
				return nil
			}
			return errors.New(`a ")" closes nothing`)
		case '{':
			count := "{"
			if len(t.now.groups) == groups {
				count = t.count(t.now.String()[atom:])
			}
			t.now.WriteString(count)
		default:
			t.now.WriteString(t.source[begin:t.at])
		}
		if err != nil {
			return err
		}
		atom, groups = start, before
	}
	if depth > 0 {
		return errors.New(`a "(" isn't closed`)
	}
	return nil
}

// counts are those of a repetition behind its bracket.
var counts = regexp.MustCompile(`^(\d{1,5})(,(\d{0,5}))?\}`)

// count reads how often what was written last is repeated, whose bracket was read. Go allows 1,000 times: a higher
// count becomes several repetitions, unless they are too much work: Go refuses it then.
func (t *translator) count(atom string) (text string) {
	const most, mostEffort = 1000, 1 << 15
	found := counts.FindStringSubmatch(t.source[t.at:])
	if found == nil {
		return "{"
	}
	low, _ := strconv.Atoi(found[1])
	high, err := strconv.Atoi(found[3])
	if max(low, high) <= most || err == nil && high < low {
		return "{"
	}
	if t.effort += (max(low, high)/most + 2) * (len(atom) + 100); t.effort > mostEffort {
		return "{"
	}
	t.at += len(found[0])
	for rest := low; rest > 0; rest -= most {
		text += fmt.Sprintf("{%d}%s", min(rest, most), atom)
	}
	if found[2] == "," {
		return text + "*"
	}
	for rest := high - low; rest > 0; rest -= most {
		text += fmt.Sprintf("{0,%d}%s", min(rest, most), atom)
	}
	return strings.TrimSuffix(text, atom)
}

// open reads a group of any kind, whose parenthesis was read.
func (t *translator) open(depth int) error {
	for prefix, m := range map[string]mark{"?=": {}, "?!": {negative: true}, "?<=": {behind: true},
		"?<!": {behind: true, negative: true}} {
		if t.take(prefix) {
			return t.lookAround(m, depth)
		}
	}
	name, dotAll := "", t.dotAll
	switch {
	case t.take("?:"):
		t.now.WriteString("(?:")
	case t.take("?<") || t.take("?P<"):
		end := strings.IndexByte(t.source[t.at:], '>')
		if end < 1 {
			return errors.New("the name of a group isn't closed")
		}
		name = t.source[t.at : t.at+end]
		t.at += end + 1
		if t.names[name] != 0 {
			return fmt.Errorf("two groups have the name %q", name)
		}
		fallthrough
	default:
		if name != "" || !t.take("?") {
			t.groups++
			t.now.groups = append(t.now.groups, t.groups)
			if name != "" {
				t.names[name] = t.groups
			}
			t.now.WriteString("(")
			break
		}
		flags := t.source[t.at:]
		end := strings.IndexAny(flags, ":)")
		if end < 0 || strings.Trim(flags[:end], "ims-") != "" {
			return errors.New(`after "(?" a kind of group is missing`)
		}
		on, off, _ := strings.Cut(flags[:end], "-")
		t.dotAll = (t.dotAll || strings.Contains(on, "s")) && !strings.Contains(off, "s")
		t.now.WriteString("(?" + flags[:end+1])
		if t.at += end + 1; flags[end] == ')' {
			return nil // they hold to the end of the group around
		}
	}
	err := t.group(depth + 1)
	t.now.WriteString(")")
	t.dotAll = dotAll
	return err
}

func (t *translator) lookAround(m mark, depth int) error {
	m.part = len(t.parts)
	t.mark(m)
	outer := t.now
	t.now = &part{}
	t.parts = append(t.parts, t.now)
	err := t.group(depth + 1)
	t.now = outer
	return err
}

func (t *translator) mark(m mark) {
	t.marks = append(t.marks, m)
	t.now.groups = append(t.now.groups, -len(t.marks))
	t.now.WriteString("()")
}

// class reads a class of characters, whose bracket was read.
func (t *translator) class() error {
	negated := t.take("^")
	if t.take("]") {
		t.now.WriteString(map[bool]string{false: nothing, true: anything}[negated])
		return nil
	}
	t.now.WriteString(map[bool]string{false: "[", true: "[^"}[negated])
	for wide := false; t.at < len(t.source); {
		begin := t.at
		switch c := t.next(); {
		case c == ']':
			t.now.WriteByte(']')
			return nil
		case c == '-' && (wide || t.ahead(t.at)):
			t.now.WriteString(`\-`) // beside \d it is no range
			wide = false
		case c == '\\':
			wide = t.ahead(begin)
			if err := t.escape(true); err != nil {
				return err
			}
		case c == '[':
			t.now.WriteString(`\[`)
			wide = false
		default:
			t.now.WriteString(t.source[begin:t.at])
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
		t.now.WriteString(t.source[begin-1 : t.at])
	case c == 's' || c == 'S':
		body := map[rune]string{'s': spaces, 'S': nonSpaces}[c]
		if !inClass {
			body = "[" + body + "]"
		}
		t.now.WriteString(body)
	case c == 'b' && inClass:
		t.now.WriteString(`\x08`)
	case c == 'b' || c == 'B' && !inClass:
		t.now.WriteString(t.source[begin-1 : t.at])
	case c == 'p' || c == 'P':
		return t.property(c)
	case c == 'k' && !inClass && t.take("<"):
		name, _, ok := strings.Cut(t.source[t.at:], ">")
		if !ok || name == "" {
			return errors.New("the name of a group isn't closed")
		}
		t.at += len(name) + 1
		t.mark(mark{name: name})
	case '1' <= c && c <= '9' && !inClass:
		for t.at < len(t.source) && '0' <= t.source[t.at] && t.source[t.at] <= '9' {
			t.at++
		}
		n, err := strconv.Atoi(t.source[begin:t.at])
		if err != nil {
			return fmt.Errorf("there is no group %s", t.source[begin:t.at])
		}
		t.mark(mark{group: n})
	case c < utf8.RuneSelf && (isLetter(c) || '0' <= c && c <= '9'):
		r, ok := t.code(c)
		if !ok {
			return fmt.Errorf(`"\%c" means nothing here`, c)
		}
		fmt.Fprintf(t.now, `\x{%x}`, r)
	case c < utf8.RuneSelf:
		t.now.WriteString(t.source[begin-1 : t.at])
	default:
		t.now.WriteString(t.source[begin:t.at])
	}
	return nil
}

func isLetter(c rune) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

// code reads an escape that names a character by a number.
func (t *translator) code(c rune) (rune, bool) {
	rest := t.source[t.at:]
	switch {
	case c == '0':
		return 0, rest == "" || rest[0] < '0' || rest[0] > '9'
	case c == 'c' && rest != "" && isLetter(rune(rest[0])):
		t.at++
		return rune(rest[0] % 32), true
	case c == 'x':
		return t.hex(2)
	case c == 'u' && t.take("{"):
		digits, _, _ := strings.Cut(t.source[t.at:], "}")
		r, ok := t.hex(len(digits))
		return r, ok && t.take("}")
	case c == 'u':
		r, ok := t.hex(4)
		if at := t.at; ok && 0xD800 <= r && r < 0xDC00 && t.take(`\u`) {
			if low, ok := t.hex(4); ok && 0xDC00 <= low && low < 0xE000 {
				return (r-0xD800)<<10 + (low - 0xDC00) + 0x10000, true
			}
			t.at = at
		}
		return r, ok
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
	t.now.WriteString(`\` + string(c) + "{" + name + "}")
	return nil
}
