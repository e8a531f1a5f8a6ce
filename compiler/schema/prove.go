package schema

import (
	"encoding/binary"
	"math"
	"slices"
)

// The prover looks for one value that a set of literals describes: nodes that
// must accept it and nodes that must not. It splits by kind of value, takes
// keywords apart into goals of that kind, branches over alternatives, and
// leaves the rest to a solver for each kind. What it doesn't model it leaves
// out, and remembers: without it "there is none" still holds, and a value that
// is found has to be tried.
//
// A set of literals that comes up again strictly inside a value for itself
// counts as empty there: a smallest value never contains a smaller one of the
// same description. So recursive schemas end (least fixpoint).
type prover struct {
	steps, limit int
	out          bool // of steps: from then on nothing is known not to be there
	level        int  // how deep inside the value
	ids          map[*node]uint32
	forms        map[string]uint32 // of nodes by identity, to know equal ones again
	cache        map[string]finding
	active       map[string]frame
	stack        int
	kinds        map[*node]Kinds
	bares        map[*node]*node
	tags         map[*node][]string
}

func newProver(limit int) *prover {
	return &prover{limit: limit, ids: map[*node]uint32{}, forms: map[string]uint32{}, cache: map[string]finding{},
		active: map[string]frame{}, kinds: map[*node]Kinds{}, bares: map[*node]*node{}, tags: map[*node][]string{}}
}

type frame struct{ index, level int }

// A literal is a node that has to accept the value, or has to refuse it.
type literal struct {
	node *node
	deny bool
}

type status uint8

const (
	empty   status = iota // there is no such value
	found                 // there is, and here is one
	unclear               // it couldn't be told
)

// unconditional is above every index of the stack.
const unconditional = math.MaxInt32

// A finding is the answer about a set of literals.
type finding struct {
	status status
	value  any
	why    string // for unclear: the keyword, or "budget"
	low    int    // the lowest frame whose emptiness below was assumed
}

func none() finding              { return finding{status: empty, low: unconditional} }
func some(v any) finding         { return finding{status: found, value: v, low: unconditional} }
func unknown(why string) finding { return finding{status: unclear, why: why, low: unconditional} }

// or keeps the better of two findings about two ways to the same goal.
func (f finding) or(g finding) finding {
	low := min(f.low, g.low)
	if g.status == found || f.status == empty {
		f = g
	}
	f.low = low
	return f
}

// spend takes steps off the budget, and reports whether there are any left. A search without steps gives up;
// [prover.inhabit] doesn't take that for an answer.
func (p *prover) spend(n int) bool {
	p.steps += n
	p.out = p.out || p.steps > p.limit
	return !p.out
}

// inhabit finds a value for the literals. It is asked about the value itself. A
// search that was given up for want of steps hasn't shown that there is none.
func (p *prover) inhabit(literals []literal) finding {
	if !p.spend(1) {
		return unknown("budget")
	}
	literals, ok := p.canonical(literals)
	if !ok {
		return none()
	}
	if len(literals) == 0 {
		return some(nil)
	}
	key := p.key(literals)
	if known, ok := p.cache[key]; ok {
		return known
	}
	if open, ok := p.active[key]; ok {
		if p.level > open.level {
			return finding{status: empty, low: open.index}
		}
		return unknown("recursion")
	}
	index := p.stack
	p.stack++
	p.active[key] = frame{index, p.level}
	result := p.split(literals)
	delete(p.active, key)
	p.stack--
	if p.out && result.status != found {
		return unknown("budget")
	}
	if result.status == found || result.low >= index {
		result.low = unconditional
		p.cache[key] = result
	}
	return result
}

// inside asks about a part of the value.
func (p *prover) inside(literals []literal) finding {
	if p.level >= maxNesting {
		return unknown("nesting")
	}
	p.level++
	defer func() { p.level-- }()
	return p.inhabit(literals)
}

// canonical sorts literals and drops those that say nothing; it is false when
// they contradict each other at sight.
func (p *prover) canonical(literals []literal) ([]literal, bool) {
	list := make([]literal, 0, len(literals)+4)
	contradiction := false
	var add func(l literal)
	add = func(l literal) {
		l.node = l.node.plain()
		switch l.node.verdict {
		case always:
			contradiction = contradiction || l.deny
			return
		case never:
			contradiction = contradiction || !l.deny
			return
		}
		if l.node.unit == detached && l.node.allOf != nil && !l.deny {
			for _, part := range l.node.allOf { // a meet of places
				add(literal{part, false})
			}
			return
		}
		if l.node.unit == detached && l.node.anyOf != nil && l.deny {
			for _, part := range l.node.anyOf { // a join of places
				add(literal{part, true})
			}
			return
		}
		list = append(list, l)
	}
	for _, l := range literals {
		add(l)
	}
	if contradiction {
		return nil, false
	}
	slices.SortFunc(list, func(a, b literal) int {
		if x, y := p.id(a.node), p.id(b.node); x != y {
			return int(x) - int(y)
		}
		return sign(a) - sign(b)
	})
	list = slices.CompactFunc(list, func(a, b literal) bool { return a.deny == b.deny && p.id(a.node) == p.id(b.node) })
	for i := 1; i < len(list); i++ {
		if p.id(list[i-1].node) == p.id(list[i].node) {
			return nil, false // the same node accepts and refuses
		}
	}
	return list, true
}

func sign(l literal) int {
	if l.deny {
		return 1
	}
	return 0
}

func (p *prover) key(literals []literal) string {
	key := make([]byte, 0, 5*len(literals))
	for _, l := range literals {
		key = binary.BigEndian.AppendUint32(key, p.id(l.node)<<1|uint32(sign(l)))
	}
	return string(key)
}

// plain goes through nodes that are nothing but a reference.
func (n *node) plain() *node {
	for range maxKeywords {
		if n.ref == nil || n.kinds != Anything || n.values != nil || n.allOf != nil || n.anyOf != nil || n.oneOf != nil ||
			n.not != nil || n.cond != nil || n.numbers != nil || n.strings != nil || n.arrays != nil || n.objects != nil {
			break
		}
		n = n.ref
	}
	return n
}

// possibleKinds is node.possible, remembered.
func (p *prover) possibleKinds(n *node) Kinds {
	k, ok := p.kinds[n]
	if !ok {
		k = n.possible()
		p.kinds[n] = k
	}
	return k
}

// split goes over the kinds that the value can be of, simple ones first.
func (p *prover) split(literals []literal) finding {
	kinds := Anything
	var finite []any
	for _, l := range literals {
		if l.deny {
			kinds &^= l.node.fullKinds()
			continue
		}
		kinds &= p.possibleKinds(l.node)
		if values := l.node.values; values != nil && (finite == nil || len(values) < len(finite)) {
			finite = values
		}
	}
	if kinds == 0 {
		return none()
	}
	if finite != nil {
		return p.among(finite, literals)
	}
	result := none()
	for kind := Null; kind <= Object; kind <<= 1 {
		if kinds&kind == 0 {
			continue
		}
		switch kind {
		case Null:
			result = result.or(p.among([]any{nil}, literals))
		case Boolean:
			result = result.or(p.among([]any{false, true}, literals))
		default:
			result = result.or(p.ofKind(kind, literals))
		}
		if result.status == found {
			break
		}
	}
	return result
}

// among tries values one by one: what a validator says of them is exact.
func (p *prover) among(values []any, literals []literal) finding {
	for _, v := range values {
		if p.spend(1+len(literals)) && p.holds(literals, v) {
			return some(v)
		}
	}
	return none()
}

// holds reports whether a value is as the literals say; false also when the steps
// don't last to tell.
func (p *prover) holds(literals []literal, v any) bool {
	return !slices.ContainsFunc(literals, func(l literal) bool { return p.accepts(l.node, v) == l.deny || p.out })
}

// ofKind finds a value of one kind.
func (p *prover) ofKind(kind Kinds, literals []literal) finding {
	s := newState(kind, literals)
	for _, l := range literals {
		var g goal = accept{l.node}
		if l.deny {
			g = refuse{l.node}
		}
		if !g.apply(p, s) {
			return none()
		}
	}
	return p.search(s)
}

// id numbers nodes; nodes of the same form have the same number, so that a
// schema is known again wherever it stands.
func (p *prover) id(n *node) uint32 {
	if id, ok := p.ids[n]; ok {
		return id
	}
	form := n.identity()
	id, ok := p.forms[form]
	if !ok {
		id = uint32(len(p.forms) + 1)
		p.forms[form] = id
	}
	p.ids[n] = id
	return id
}

// A known is a node that is known to accept the value, or to refuse it, and those before it. Nodes with one id have one
// form. Branches share what they know.
type known struct {
	node   *node
	id     uint32
	before *known
	count  int
}

func (k *known) with(n *node, id uint32) *known { return &known{n, id, k, k.len() + 1} }

func (k *known) len() int {
	if k == nil {
		return 0
	}
	return k.count
}

// nodes are all that are known, the oldest first.
func (k *known) nodes() []*node {
	all := make([]*node, k.len())
	for ; k != nil; k = k.before {
		all[k.count-1] = k.node
	}
	return all
}
