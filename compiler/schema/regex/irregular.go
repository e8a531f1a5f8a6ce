package regex

import (
	"encoding/binary"
	"errors"
	"regexp/syntax"
	"slices"
	"strings"
)

// MaxSteps bounds one match of a pattern that isn't regular; maxVisited bounds its
// memory, in bits. Texts that take more aren't decided.
const (
	MaxSteps   = 1_000_000
	maxVisited = 1 << 25
)

// An irregular matches a pattern that has look-arounds or references by going on
// with one alternative after the other. Without references, what can follow at an
// instruction and a character doesn't depend on the way there, so that no pair of
// them is looked at again once it has led nowhere, or to a match.
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
			return nil, errors.New(strings.ReplaceAll(strings.TrimPrefix(err.Error(), "error parsing regexp: "), "`", `"`))
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
	states []visits
}

// visits are what is known of one part: which instructions lead nowhere at which
// characters, and which lead to a match.
type visits struct{ dead, live bits }

type bits []uint64

func (b bits) has(i int) bool { return b[i/64]>>(i%64)&1 == 1 }
func (b bits) add(i int)      { b[i/64] |= 1 << (i % 64) }
func (b bits) drop(i int)     { b[i/64] &^= 1 << (i % 64) }

// A trail is where one attempt has been: at which bits of its part's visits, each
// after which other, or, where there are references, at which alternatives with
// what in the groups.
type trail struct {
	steps []footstep
	alts  map[string]bool
}

type footstep struct{ bit, after int }

// match looks for a match anywhere in a text.
func (x *irregular) match(text string, steps *int) (matched, decided bool) {
	m := matching{irregular: x, text: []rune(text), steps: steps, states: make([]visits, len(x.parts))}
	if x.size()*(len(m.text)+1) > maxVisited {
		*steps = 0
		return false, false
	}
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

type outlook uint8

const (
	unknown outlook = iota
	dead
	live
)

// look says what is known of following an instruction at a character, after another
// step of the trail; what isn't known counts as dead until the attempt is over.
func (m *matching) look(t *trail, part int, pc uint32, at, after int) outlook {
	if m.refers {
		if op := m.parts[part].Inst[pc].Op; op != syntax.InstAlt && op != syntax.InstAltMatch {
			return unknown // what comes here again has come by an alternative
		}
		key := binary.AppendUvarint(binary.AppendUvarint(nil, uint64(pc)), uint64(at))
		for _, g := range m.groups {
			key = binary.AppendVarint(key, int64(g))
		}
		if t.alts[string(key)] {
			return dead
		}
		if t.alts == nil {
			t.alts = map[string]bool{}
		}
		t.alts[string(key)] = true
		return unknown
	}
	v := &m.states[part]
	if v.dead == nil {
		words := (len(m.parts[part].Inst)*(len(m.text)+1) + 63) / 64
		v.dead, v.live = make(bits, words), make(bits, words)
	}
	bit := int(pc)*(len(m.text)+1) + at
	switch {
	case v.live.has(bit):
		return live
	case v.dead.has(bit):
		return dead
	}
	v.dead.add(bit)
	t.steps = append(t.steps, footstep{bit, after})
	return unknown
}

// arrived is the end of an attempt that has led to a match, and so has every step on
// the way; of the others it isn't known any more that they lead nowhere.
func (m *matching) arrived(t *trail, part, last int) bool {
	v := &m.states[part]
	for _, s := range t.steps {
		v.dead.drop(s.bit)
	}
	for ; last >= 0; last = t.steps[last].after {
		v.live.add(t.steps[last].bit)
	}
	return true
}

// A turn is a place to go on from when what was tried has led nowhere. Groups, unless
// it is nil, is what they are set back to first.
type turn struct {
	pc        uint32
	at, after int
	groups    []int
}

// from reports whether a part matches from a place on.
func (m *matching) from(part, at int) bool {
	p, cost, way := m.parts[part], 1, trail{}
	if m.refers {
		cost = 16 // which takes memory
	}
	turns := []turn{{uint32(p.Start), at, -1, nil}}
	for len(turns) > 0 {
		last := turns[len(turns)-1]
		turns = turns[:len(turns)-1]
		if last.groups != nil {
			copy(m.groups, last.groups)
		}
		pc, at, after := last.pc, last.at, last.after
		for on := true; on; {
			if *m.steps -= cost; *m.steps <= 0 {
				return false
			}
			known := m.look(&way, part, pc, at, after)
			if known == live {
				return m.arrived(&way, part, after)
			} else if known == dead {
				break
			}
			after = len(way.steps) - 1
			inst := &p.Inst[pc]
			pc = inst.Out
			switch inst.Op {
			case syntax.InstAlt, syntax.InstAltMatch:
				other := turn{inst.Arg, at, after, nil}
				if m.refers {
					other.groups = slices.Clone(m.groups)
				}
				turns = append(turns, other)
			case syntax.InstCapture:
				at, on = m.capture(p, inst, at)
			case syntax.InstEmptyWidth:
				on = syntax.EmptyOp(inst.Arg)&^syntax.EmptyOpContext(m.rune(at-1), m.rune(at)) == 0
			case syntax.InstMatch:
				return m.arrived(&way, part, after)
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
		return m.again(m.groups[2*k.group], m.groups[2*k.group+1], at, p.backward)
	}
	return at, m.around(k, at) != k.negative
}

// around reports whether what a look-around asks for is there.
func (m *matching) around(k mark, at int) bool {
	if m.refers {
		before := slices.Clone(m.groups)
		found := m.from(k.part, at)
		if !found || k.negative {
			copy(m.groups, before)
		}
		return found
	}
	return m.from(k.part, at)
}

// again goes past what a group has matched; one that hasn't matched is empty.
func (m *matching) again(from, to, at int, backward bool) (int, bool) {
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
