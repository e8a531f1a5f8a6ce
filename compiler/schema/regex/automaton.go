package regex

import (
	"encoding/binary"
	"regexp/syntax"
	"slices"
	"unicode"
)

// An automaton reads a pattern character by character, as the search for a
// match anywhere in the text: its states are made as they are reached. It is
// in state dead when no match can follow, and in state won when one has been.
type automaton struct {
	prog   *syntax.Prog
	seen   []uint32 // by instruction: the last closure that it was in
	walks  uint32
	cuts   []rune // see bounds
	class  []int32
	effort int // instructions that were followed
	states map[string]int
	list   []autoState
}

// Before a character is read, an autoState holds the threads of the search and
// what came before, on which ^, $ and \b depend.
type autoState struct {
	threads []uint32
	before  rune // -1 at the start; else a character of the same sort
	won     bool
	next    map[rune]int // by the representative of a class
	ends    int8         // whether the text may end here: 0 not yet known, 1 match, -1 none
}

const maxStates = 4_000

// Words finds words by the automata of patterns, which it keeps. It is told of its
// work in steps by calling Spend, which reports whether there are any left.
type Words struct {
	Spend    func(steps int) bool
	automata map[string]*automaton
}

// automatonOf builds the automaton of a regular pattern, or nil where it would be
// too large.
func (w *Words) automatonOf(x *Pattern) *automaton {
	if a, ok := w.automata[x.text]; ok {
		return a
	}
	var a *automaton
	if _, prog := x.parsed(); len(prog.Inst) < maxProgram && w.Spend(len(prog.Inst)/16) {
		a = newAutomaton(prog)
	}
	if w.automata == nil {
		w.automata = map[string]*automaton{}
	}
	w.automata[x.text] = a
	return a
}

func newAutomaton(prog *syntax.Prog) *automaton {
	a := &automaton{prog: prog, seen: make([]uint32, len(prog.Inst)), states: map[string]int{}}
	a.intern(nil, -1, false)
	return a
}

func (a *automaton) intern(threads []uint32, before rune, won bool) int {
	key := make([]byte, 0, 4*len(threads)+5)
	if won {
		threads, before = nil, -2
	}
	key = binary.BigEndian.AppendUint32(key, uint32(before))
	for _, t := range threads {
		key = binary.BigEndian.AppendUint32(key, t)
	}
	if id, ok := a.states[string(key)]; ok {
		return id
	}
	id := len(a.list)
	a.states[string(key)] = id
	a.list = append(a.list, autoState{threads: threads, before: before, won: won, next: map[rune]int{}})
	return id
}

// sort reduces a character to one that ^, $ and \b can't tell from it.
func sortOf(r rune) rune {
	switch {
	case r == '\n':
		return '\n'
	case syntax.IsWordChar(r):
		return 'a'
	}
	return ' '
}

// closure follows what takes no character, under the assertions that hold
// between two characters; it reports whether a match is complete.
func (a *automaton) closure(threads []uint32, before, after rune) (closed []uint32, matched bool) {
	flags := syntax.EmptyOpContext(before, after)
	a.walks++
	stack := append(slices.Clone(threads), uint32(a.prog.Start)) // a match may begin anywhere
	for len(stack) > 0 {
		pc := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if a.seen[pc] == a.walks {
			continue
		}
		a.seen[pc] = a.walks
		a.effort++
		switch inst := &a.prog.Inst[pc]; inst.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			stack = append(stack, inst.Out, inst.Arg)
		case syntax.InstCapture, syntax.InstNop:
			stack = append(stack, inst.Out)
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(inst.Arg)&^flags == 0 {
				stack = append(stack, inst.Out)
			}
		case syntax.InstMatch:
			matched = true
		case syntax.InstFail:
		default:
			closed = append(closed, pc)
		}
	}
	return closed, matched
}

// step reads one character in a state.
func (a *automaton) step(state int, r rune) int {
	s := &a.list[state]
	if s.won {
		return state
	}
	if to, ok := s.next[r]; ok {
		return to
	}
	closed, matched := a.closure(s.threads, s.before, r)
	var threads []uint32
	if !matched {
		for _, pc := range closed {
			inst := &a.prog.Inst[pc]
			if inst.MatchRune(r) {
				threads = append(threads, inst.Out)
			}
		}
		slices.Sort(threads)
		threads = slices.Compact(threads)
	}
	to := a.intern(threads, sortOf(r), matched)
	a.list[state].next[r] = to
	return to
}

// ends reports whether the pattern matches a text that ends in a state.
func (a *automaton) ends(state int) bool {
	s := &a.list[state]
	if s.won {
		return true
	}
	if s.ends == 0 {
		_, matched := a.closure(s.threads, s.before, -1)
		if s.ends = -1; matched {
			s.ends = 1
		}
	}
	return s.ends > 0
}

// What reading takes, in steps of a validator: so many instructions that are followed,
// characters that are read and states that are made.
const (
	followedInStep = 4
	readInStep     = 4
	stepsOfState   = 4
)

// read is whether a regular pattern matches somewhere in a text, if its automaton tells
// that within a number of steps, and what it took.
func (p *Pattern) read(text string, most int) (matched bool, steps int, decided bool) {
	_, prog := p.parsed()
	if steps = len(prog.Inst); steps > most || len(prog.Inst) >= maxProgram {
		return false, min(steps, most), false
	}
	a := newAutomaton(prog)
	at, read := 0, 0
	for _, r := range text {
		at = a.step(at, r)
		read++
		if a.list[at].won {
			break
		}
		if spent := steps + a.effort/followedInStep + read/readInStep + len(a.list)*stepsOfState; spent > most || len(a.list) > maxStates {
			return false, spent, false
		}
	}
	return a.ends(at), steps + a.effort/followedInStep + read/readInStep + len(a.list)*stepsOfState, true
}

// bounds are the places between characters that the pattern tells apart: each
// number begins a new class.
func (a *automaton) bounds() []rune {
	if a.cuts != nil {
		return a.cuts
	}
	add := func(r rune) { a.cuts = append(a.cuts, r) }
	seen := map[*rune]bool{} // what a pattern repeats has its classes in common
	for i := range a.prog.Inst {
		inst := &a.prog.Inst[i]
		if len(inst.Rune) > 0 {
			if seen[&inst.Rune[0]] {
				continue
			}
			seen[&inst.Rune[0]] = true
		}
		switch inst.Op {
		case syntax.InstEmptyWidth:
			for _, r := range []rune{'\n', '\n' + 1, '0', '9' + 1, 'A', 'Z' + 1, '_', '_' + 1, 'a', 'z' + 1} {
				add(r)
			}
		case syntax.InstRune1:
			add(inst.Rune[0])
			add(inst.Rune[0] + 1)
		case syntax.InstRuneAnyNotNL:
			add('\n')
			add('\n' + 1)
		case syntax.InstRune:
			if len(inst.Rune) == 1 { // one character, perhaps in either case
				r := inst.Rune[0]
				for f := r; ; {
					add(f)
					add(f + 1)
					if f = unicode.SimpleFold(f); f == r {
						break
					}
				}
				continue
			}
			for j := 0; j+1 < len(inst.Rune); j += 2 {
				add(inst.Rune[j])
				add(inst.Rune[j+1] + 1)
			}
		}
	}
	slices.Sort(a.cuts)
	a.cuts = slices.Compact(a.cuts)
	return a.cuts
}

// classes are the classes of characters that the pattern tells apart: by number, for
// what lies below the first of its bounds, and for what begins with each of them.
// Classes of Unicode are many ranges each, and few sets.
func (a *automaton) classes() []int32 {
	if a.class != nil {
		return a.class
	}
	cuts := a.bounds()
	a.class = make([]int32, len(cuts)+1)
	last := int32(0)
	var split map[int32]int32
	within := func(lo, hi rune) { // what lies in it is told from what doesn't
		from, _ := slices.BinarySearch(cuts, lo)
		for i := from; i < len(cuts) && cuts[i] <= hi; i++ {
			a.effort++
			class, ok := split[a.class[i+1]]
			if !ok {
				last++
				class, split[a.class[i+1]] = last, last
			}
			a.class[i+1] = class
		}
	}
	seen := map[*rune]bool{}
	for i := range a.prog.Inst {
		inst := &a.prog.Inst[i]
		if len(inst.Rune) > 0 {
			if seen[&inst.Rune[0]] {
				continue
			}
			seen[&inst.Rune[0]] = true
		}
		split = map[int32]int32{}
		switch inst.Op {
		case syntax.InstEmptyWidth:
			within('\n', '\n')
			split = map[int32]int32{}
			for _, r := range [][2]rune{{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}} {
				within(r[0], r[1])
			}
		case syntax.InstRuneAnyNotNL:
			within('\n', '\n')
		case syntax.InstRune1:
			within(inst.Rune[0], inst.Rune[0])
		case syntax.InstRune:
			if len(inst.Rune) == 1 {
				for f := unicode.SimpleFold(inst.Rune[0]); ; f = unicode.SimpleFold(f) {
					if within(f, f); f == inst.Rune[0] {
						break
					}
				}
				continue
			}
			for j := 0; j+1 < len(inst.Rune); j += 2 {
				within(inst.Rune[j], inst.Rune[j+1])
			}
		}
	}
	return a.class
}

// classOf is the class of a character.
func (a *automaton) classOf(r rune) int32 {
	i, begins := slices.BinarySearch(a.bounds(), r)
	if begins {
		i++
	}
	return a.classes()[i]
}

// alphabet is one character for every class that the automata and the excluded
// words tell apart, the most readable first.
func alphabet(automata []*automaton, words []string) []rune {
	cuts := []rune{0, 0xD800, 0xE000, unicode.MaxRune + 1}
	add := func(r rune) { cuts = append(cuts, r) }
	for _, a := range automata {
		cuts = append(cuts, a.bounds()...)
	}
	spelt := map[rune]bool{}
	for _, w := range words {
		for _, r := range w {
			spelt[r] = true
			add(r)
			add(r + 1)
		}
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	var runes []rune
	for i := 0; i+1 < len(cuts); i++ {
		lo, hi := cuts[i], cuts[i+1]-1
		if lo < 0 || hi > unicode.MaxRune || lo >= 0xD800 && hi < 0xE000 {
			continue
		}
		runes = append(runes, readable(lo, hi))
	}
	bySort := make([][]rune, 7) // runes ascend already
	for _, r := range runes {
		bySort[legibility(r)] = append(bySort[legibility(r)], r)
	}
	known, key := map[string]bool{}, []byte(nil)
	return slices.DeleteFunc(slices.Concat(bySort...), func(r rune) bool {
		if spelt[r] {
			return false
		}
		key = key[:0]
		for _, a := range automata {
			key = binary.BigEndian.AppendUint32(key, uint32(a.classOf(r)))
		}
		if known[string(key)] {
			return true
		}
		known[string(key)] = true
		return false
	})
}

// readable is the most readable character of a range.
func readable(lo, hi rune) rune {
	for _, r := range []rune{'a', 'A', '0', '-', '_', ' '} {
		if lo <= r && r <= hi {
			return r
		}
	}
	for _, from := range []rune{'a', 'A', '0', '!', 'À', 'α'} {
		if r := max(lo, from); r <= hi && legibility(r) < 5 {
			return r
		}
	}
	return lo
}

func legibility(r rune) int {
	switch {
	case 'a' <= r && r <= 'z':
		return 0
	case 'A' <= r && r <= 'Z':
		return 1
	case '0' <= r && r <= '9':
		return 2
	case '!' <= r && r <= '~':
		return 3
	case r > 0x7f && unicode.IsGraphic(r):
		return 4
	case r == ' ':
		return 5
	}
	return 6
}

// Find finds a shortest string of a length between low and high that some patterns
// match, some don't, and that isn't one of a list: a walk through the product of
// their automata, breadth first. All patterns are regular. Where there is no such
// string, why is empty; else it says why none was found: "budget", or "pattern" for
// automata that are too large.
func (f *Words) Find(low, high int, matches, misses []*Pattern, not []string) (word string, found bool, why string) {
	w := product{spend: f.Spend, positive: len(matches), trie: newTrie(not), ids: map[string]int32{}}
	for _, x := range slices.Concat(matches, misses) {
		a := f.automatonOf(x)
		if a == nil {
			return "", false, "pattern"
		}
		w.automata = append(w.automata, a)
	}
	told := 0 // what it took to know the classes of characters
	for _, a := range w.automata {
		told -= a.effort
		told += len(a.classes())
		told += a.effort
	}
	if !w.spend(told/16 + w.trie.size()/16) {
		return "", false, "budget"
	}
	w.runes = alphabet(w.automata, not)
	w.intern(make([]int32, len(w.automata)+1))
	queue := []walked{{from: -1}}
	seen := []int{} // by state: the length plus one at which it was last reached, counted up to low
	for head := 0; head < len(queue); head++ {
		at := queue[head]
		if at.length >= low && w.accepts(at.state) {
			return w.spell(queue, head), true, ""
		}
		if at.length >= high {
			continue
		}
		if !w.spend(1+len(w.runes)/8) || len(queue) > maxWalk {
			return "", false, "budget"
		}
		for i := range w.runes {
			to, why := w.step(at.state, i)
			if why != "" {
				return "", false, why
			}
			for int(to) >= len(seen) {
				seen = append(seen, 0)
			}
			if reached := min(at.length+1, low) + 1; to >= 0 && seen[to] < reached {
				seen[to] = reached
				queue = append(queue, walked{head, int32(i), to, at.length + 1})
			}
		}
	}
	return "", false, ""
}

// maxWalk bounds the memory of one walk.
const maxWalk = 400_000

type walked struct {
	from   int
	rune   int32
	state  int32
	length int
}

// A product is several automata and a trie that read the same text. Its states
// are numbered as they are reached.
type product struct {
	spend    func(steps int) bool
	automata []*automaton
	positive int // so many of them have to match, the others mustn't
	trie     trie
	runes    []rune
	ids      map[string]int32
	states   [][]int32
	next     [][]int32 // by state and character: 0 not yet known, -1 dead, else a state plus one
	accept   []int8
}

func (w *product) intern(state []int32) int32 {
	key := make([]byte, 0, 4*len(state))
	for _, x := range state {
		key = binary.BigEndian.AppendUint32(key, uint32(x))
	}
	id, ok := w.ids[string(key)]
	if !ok {
		id = int32(len(w.states))
		w.ids[string(key)] = id
		w.states = append(w.states, state)
		w.next = append(w.next, nil) // made when it is gone on from
		w.accept = append(w.accept, 0)
	}
	return id
}

// step is the state after a character, -1 where no accepted word goes on.
func (w *product) step(from int32, i int) (to int32, why string) {
	if w.next[from] == nil {
		w.next[from] = make([]int32, len(w.runes))
	}
	if known := w.next[from][i]; known != 0 {
		return max(known-1, -1), ""
	}
	state := make([]int32, len(w.automata)+1)
	for j, a := range w.automata {
		at := int(w.states[from][j])
		if !w.spend(len(a.list[at].threads) / 4) {
			return 0, "budget"
		}
		before := a.effort
		to := a.step(at, w.runes[i])
		if !w.spend((a.effort - before) / 16) {
			return 0, "budget"
		}
		if len(a.list) > maxStates {
			return 0, "pattern"
		}
		if j >= w.positive && a.list[to].won {
			w.next[from][i] = -1
			return -1, ""
		}
		state[j] = int32(to)
	}
	state[len(w.automata)] = w.trie.step(w.states[from][len(w.automata)], w.runes[i])
	to = w.intern(state)
	w.next[from][i] = to + 1
	return to, ""
}

func (w *product) accepts(id int32) bool {
	if w.accept[id] == 0 {
		w.accept[id] = 1
		state := w.states[id]
		for i, a := range w.automata {
			if a.ends(int(state[i])) != (i < w.positive) {
				w.accept[id] = -1
			}
		}
		if w.trie.final(state[len(w.automata)]) {
			w.accept[id] = -1
		}
	}
	return w.accept[id] > 0
}

func (w *product) spell(queue []walked, i int) string {
	var runes []rune
	for ; queue[i].from >= 0; i = queue[i].from {
		runes = append(runes, w.runes[queue[i].rune])
	}
	slices.Reverse(runes)
	return string(runes)
}

// A trie follows a text along a list of words; node 0 is the start, -1 is off
// the list.
type trie struct {
	next []map[rune]int32
	end  []bool
}

func newTrie(words []string) trie {
	t := trie{next: []map[rune]int32{{}}, end: []bool{false}}
	for _, word := range words {
		at := int32(0)
		for _, r := range word {
			to, ok := t.next[at][r]
			if !ok {
				to = int32(len(t.next))
				t.next, t.end = append(t.next, map[rune]int32{}), append(t.end, false)
				t.next[at][r] = to
			}
			at = to
		}
		t.end[at] = true
	}
	return t
}

func (t trie) size() int { return len(t.end) }

func (t trie) step(at int32, r rune) int32 {
	if at < 0 {
		return -1
	}
	if to, ok := t.next[at][r]; ok {
		return to
	}
	return -1
}

func (t trie) final(at int32) bool { return at >= 0 && t.end[at] }
