package regex

import (
	"encoding/binary"
	"errors"
	"regexp/syntax"
	"slices"
	"strings"
)

// MaxSteps bounds one match of a pattern that isn't regular. Texts that take more
// aren't decided.
const MaxSteps = 1_000_000

// An irregular matches a pattern that has look-arounds or references by going on
// with one alternative after the other.
type irregular struct {
	parts  []program // the first is the whole
	marks  []mark
	groups int
	refers bool // it has references
}

// A program is one part; that of a look-behind reads from its end.
type program struct {
	*syntax.Prog
	groups   []int // see part
	backward bool
}

func (t *translator) irregular() (*irregular, error) {
	x := &irregular{marks: t.marks, groups: t.groups}
	for i, p := range t.parts {
		behind := slices.ContainsFunc(t.marks, func(m mark) bool { return m.part == i && m.behind })
		tree, err := syntax.Parse(p.String(), syntax.Perl)
		if err != nil {
			return nil,
				errors.New(strings.ReplaceAll(strings.TrimPrefix(err.Error(), "error parsing regexp: "), "`", `"`))
		}
		if behind {
			reverse(tree)
		}
		prog, err := syntax.Compile(tree.Simplify())
		if err != nil {
			return nil, err
		}
		x.parts = append(x.parts, program{prog, p.groups, behind})
	}
	x.refers = slices.ContainsFunc(t.marks, func(m mark) bool { return m.group > 0 })
	return x, nil
}

func (x *irregular) size() int {
	n := 0
	for _, p := range x.parts {
		n += len(p.Inst)
	}
	return n
}

// reverse turns a tree round. What it asks of a place stays as it is.
func reverse(re *syntax.Regexp) {
	switch re.Op {
	case syntax.OpConcat:
		slices.Reverse(re.Sub)
	case syntax.OpLiteral:
		slices.Reverse(re.Rune)
	}
	for _, sub := range re.Sub {
		reverse(sub)
	}
}

// A matching is one match going on.
type matching struct {
	*irregular
	text   []rune
	steps  *int
	groups []int // where each group was entered and left, -1 before that
}

// match looks for a match anywhere in a text.
func (x *irregular) match(text string, steps *int) (matched, decided bool) {
	m := matching{irregular: x, text: []rune(text), steps: steps}
	m.groups = make([]int, 2*x.groups+2)
	for start := 0; start <= len(m.text) && *steps > 0; start++ {
		for i := range m.groups {
			m.groups[i] = -1
		}
		if m.from(0, start) {
			return true, *steps > 0
		}
	}
	return false, *steps > 0
}

// again is whether an attempt has been at an alternative before, with the same in the
// groups: its result would be the same now. Everything else is reached by one.
func (m *matching) again(been map[string]bool, pc uint32, at int) bool {
	key := binary.AppendUvarint(binary.AppendUvarint(nil, uint64(pc)), uint64(at))
	if m.refers {
		for _, g := range m.groups {
			key = binary.AppendVarint(key, int64(g))
		}
	}
	was := been[string(key)]
	been[string(key)] = true
	return was
}

// A turn is a place to go on from when what was tried has led nowhere, and what the
// groups are set back to first.
type turn struct {
	pc     uint32
	at     int
	groups []int
}

// from reports whether a part matches from a place on.
func (m *matching) from(part, at int) bool {
	p, been := m.parts[part], map[string]bool{}
	turns := []turn{{uint32(p.Start), at, nil}}
	for len(turns) > 0 {
		last := turns[len(turns)-1]
		turns = turns[:len(turns)-1]
		if last.groups != nil {
			copy(m.groups, last.groups)
		}
		pc, at := last.pc, last.at
		for on := true; on; {
			if *m.steps--; *m.steps <= 0 {
				return false
			}
			inst := &p.Inst[pc]
			switch inst.Op {
			case syntax.InstAlt, syntax.InstAltMatch:
				*m.steps -= 4 // which takes memory
				if on = !m.again(been, pc, at); on {
					turns = append(turns, turn{inst.Arg, at, slices.Clone(m.groups)})
				}
			case syntax.InstCapture:
				at, on = m.capture(p, inst, at)
			case syntax.InstEmptyWidth:
				on = syntax.EmptyOp(inst.Arg)&^syntax.EmptyOpContext(m.rune(at-1), m.rune(at)) == 0
			case syntax.InstMatch:
				return true
			case syntax.InstFail:
				on = false
			case syntax.InstNop:
			default:
				next, step := at, 1
				if p.backward {
					next, step = at-1, -1
				}
				on = next >= 0 && next < len(m.text) && inst.MatchRune(m.text[next])
				at += step
			}
			pc = inst.Out
		}
	}
	return false
}

func (m *matching) rune(at int) rune {
	if at < 0 || at >= len(m.text) {
		return -1
	}
	return m.text[at]
}

// capture goes past the beginning or the end of a group, or past a mark, where only the beginning counts.
func (m *matching) capture(p program, inst *syntax.Inst, at int) (to int, ok bool) {
	group, end := p.groups[inst.Arg/2-1], int(inst.Arg%2)
	if group > 0 {
		if end == 0 {
			m.groups[2*group+1] = -1 // what it matched before doesn't count while it matches anew
		}
		m.groups[2*group+end] = at
		return at, true
	}
	if end == 1 {
		return at, true
	}
	k := m.marks[-group-1]
	if k.group > 0 {
		return m.repeated(m.groups[2*k.group], m.groups[2*k.group+1], at, p.backward)
	}
	return at, m.around(k, at) != k.negative
}

// around reports whether what a look-around asks for is there.
func (m *matching) around(k mark, at int) bool {
	before := slices.Clone(m.groups)
	found := m.from(k.part, at)
	if !found || k.negative {
		copy(m.groups, before)
	}
	return found
}

// repeated goes past what a group has matched; one that hasn't matched is empty.
func (m *matching) repeated(from, to, at int, backward bool) (int, bool) {
	if from < 0 || to < 0 {
		return at, true
	}
	from, to = min(from, to), max(from, to)
	begin, next := at, at+to-from
	if backward {
		begin, next = at-(to-from), at-(to-from)
	}
	*m.steps -= to - from
	if begin < 0 || begin+to-from > len(m.text) {
		return at, false
	}
	return next, slices.Equal(m.text[from:to], m.text[begin:begin+to-from])
}
