// Package subset looks for a value that some nodes of schemas accept and others refuse, and so tells whether one schema
// accepts all that another does. It finds one answer within a number of steps, the same every time: a value, that
// there is none, or that it can't tell. It never takes what it doesn't model for a reason that there is none.
package subset

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"

	"github.com/obelus-dev/obelus/compiler/schema/ast"
	"github.com/obelus-dev/obelus/compiler/schema/regex"
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
type Prover struct {
	Steps, limit int
	Out          bool // of steps: from then on nothing is known not to be there
	level        int  // how deep inside the value
	ids          map[*ast.Node]uint32
	forms        map[string]uint32 // of nodes by identity, to know equal ones again
	cache        map[string]finding
	active       map[string]frame
	stack        int
	kinds        map[*ast.Node]ast.Kinds
	tags         map[*ast.Node][]string
}

func NewProver(limit int) *Prover {
	return &Prover{limit: limit, ids: map[*ast.Node]uint32{}, forms: map[string]uint32{}, cache: map[string]finding{},
		active: map[string]frame{}, kinds: map[*ast.Node]ast.Kinds{}, tags: map[*ast.Node][]string{}}
}

type frame struct{ index, level int }

// A literal is a node that has to accept the value, or has to refuse it.
type literal struct {
	node *ast.Node
	deny bool
}

type status uint8

const (
	Empty   status = iota // there is no such value
	Found                 // there is, and here is one
	Unclear               // it couldn't be told
)

// unconditional is above every index of the stack.
const unconditional = math.MaxInt32

// A finding is the answer about a set of literals.
type finding struct {
	Status status
	Value  any
	Why    string // for unclear: the keyword, or "budget"
	low    int    // the lowest frame whose emptiness below was assumed
}

func none() finding              { return finding{Status: Empty, low: unconditional} }
func some(v any) finding         { return finding{Status: Found, Value: v, low: unconditional} }
func unknown(why string) finding { return finding{Status: Unclear, Why: why, low: unconditional} }

// or keeps the better of two findings about two ways to the same goal.
func (f finding) or(g finding) finding {
	low := min(f.low, g.low)
	if g.Status == Found || f.Status == Empty {
		f = g
	}
	f.low = low
	return f
}

// spend takes steps off the budget, and reports whether there are any left. A search without steps gives up;
// [Prover.inhabit] doesn't take that for an answer.
func (p *Prover) spend(n int) bool {
	p.Steps += n
	p.Out = p.Out || p.Steps > p.limit
	return !p.Out
}

// inhabit finds a value for the literals. It is asked about the value itself. A
// search that was given up for want of steps hasn't shown that there is none.
func (p *Prover) inhabit(literals []literal) finding {
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
			return finding{Status: Empty, low: open.index}
		}
		return unknown("recursion")
	}
	index := p.stack
	p.stack++
	p.active[key] = frame{index, p.level}
	result := p.split(literals)
	delete(p.active, key)
	p.stack--
	if p.Out && result.Status != Found {
		return unknown("budget")
	}
	if result.Status == Found || result.low >= index {
		result.low = unconditional
		p.cache[key] = result
	}
	return result
}

// inside asks about a part of the value.
func (p *Prover) inside(literals []literal) finding {
	if p.level >= ast.MaxNesting {
		return unknown("nesting")
	}
	p.level++
	defer func() { p.level-- }()
	return p.inhabit(literals)
}

// canonical sorts literals and drops those that say nothing; it is false when
// they contradict each other at sight.
func (p *Prover) canonical(literals []literal) ([]literal, bool) {
	list := make([]literal, 0, len(literals)+4)
	contradiction := false
	var add func(l literal)
	add = func(l literal) {
		l.node = l.node.Plain()
		switch l.node.Verdict {
		case ast.Always:
			contradiction = contradiction || l.deny
			return
		case ast.Never:
			contradiction = contradiction || !l.deny
			return
		}
		if l.node.Unit == ast.Detached && l.node.AllOf != nil && !l.deny {
			for _, part := range l.node.AllOf { // a meet of places
				add(literal{part, false})
			}
			return
		}
		if l.node.Unit == ast.Detached && l.node.AnyOf != nil && l.deny {
			for _, part := range l.node.AnyOf { // a join of places
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
	slices.SortFunc(list, func(a, b literal) int { return cmp.Compare(p.code(a), p.code(b)) })
	list = slices.CompactFunc(list, func(a, b literal) bool { return p.code(a) == p.code(b) })
	for i := 1; i < len(list); i++ {
		if p.code(list[i-1])>>1 == p.code(list[i])>>1 {
			return nil, false // the same node accepts and refuses
		}
	}
	return list, true
}

// code is the node's number, and whether it has to refuse.
func (p *Prover) code(l literal) uint32 {
	if l.deny {
		return p.id(l.node)<<1 | 1
	}
	return p.id(l.node) << 1
}

func (p *Prover) key(literals []literal) string {
	key := make([]byte, 0, 5*len(literals))
	for _, l := range literals {
		key = binary.BigEndian.AppendUint32(key, p.code(l))
	}
	return string(key)
}

// possibleKinds is [ast.Node.Possible], remembered.
func (p *Prover) possibleKinds(n *ast.Node) ast.Kinds {
	k, ok := p.kinds[n]
	if !ok {
		k = n.Possible()
		p.kinds[n] = k
	}
	return k
}

// split goes over the kinds that the value can be of, simple ones first.
func (p *Prover) split(literals []literal) finding {
	kinds := ast.Anything
	var finite []any
	for _, l := range literals {
		if l.deny {
			kinds &^= l.node.FullKinds()
			continue
		}
		kinds &= p.possibleKinds(l.node)
		if values := l.node.Values; values != nil && (finite == nil || len(values) < len(finite)) {
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
	for kind := ast.Null; kind <= ast.Object; kind <<= 1 {
		if kinds&kind == 0 {
			continue
		}
		switch kind {
		case ast.Null:
			result = result.or(p.among([]any{nil}, literals))
		case ast.Boolean:
			result = result.or(p.among([]any{false, true}, literals))
		default:
			result = result.or(p.ofKind(kind, literals))
		}
		if result.Status == Found {
			break
		}
	}
	return result
}

// among tries values one by one: what a validator says of them is exact.
func (p *Prover) among(values []any, literals []literal) finding {
	for _, v := range values {
		if p.spend(1+len(literals)) && p.holds(literals, v) {
			return some(v)
		}
	}
	return none()
}

// holds reports whether a value is as the literals say; false also when the steps
// don't last to tell.
func (p *Prover) holds(literals []literal, v any) bool {
	return !slices.ContainsFunc(literals, func(l literal) bool { return p.accepts(l.node, v) == l.deny || p.Out })
}

// ofKind finds a value of one kind.
func (p *Prover) ofKind(kind ast.Kinds, literals []literal) finding {
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
func (p *Prover) id(n *ast.Node) uint32 {
	if id, ok := p.ids[n]; ok {
		return id
	}
	form := n.Identity()
	id, ok := p.forms[form]
	if !ok {
		id = uint32(len(p.forms) + 1)
		p.forms[form] = id
	}
	p.ids[n] = id
	return id
}

// A known is a node that is known to accept the value, or to refuse it. Nodes with one id have one form.
type known struct {
	node *ast.Node
	id   uint32
}

// checker is one whose work counts as reasoning, by charge.
func (p *Prover) checker() ast.Checker { return ast.Bounded((p.limit - p.Steps) * ast.ChecksPerStep) }

// charge takes off what a checker has done. Where the steps didn't last, there are
// none left, and its answer doesn't count.
func (p *Prover) charge(c *ast.Checker) (counts bool) {
	p.Steps += c.Steps / ast.ChecksPerStep
	p.Out = p.Out || c.Spent
	return !c.Spent
}

func (p *Prover) accepts(n *ast.Node, v any) bool {
	c := p.checker()
	accepted := c.Accepts(n, v)
	return p.charge(&c) && accepted
}

func (p *Prover) matches(x *regex.Pattern, text string) bool {
	c := p.checker()
	matched := c.Matches(x, text)
	return p.charge(&c) && matched
}

// Allow begins a part of the work that may take so many steps, whatever those
// before it took.
func (p *Prover) Allow(steps int) { p.limit, p.Out = p.Steps+steps, false }

// Find finds a value that some nodes accept and others refuse. It is asked about the value itself.
func (p *Prover) Find(accept, refuse []*ast.Node) finding {
	return p.inhabit(literalsOf(accept, refuse))
}

// Confirms reports whether a value is what was to be found; false also when the steps don't last to tell.
func (p *Prover) Confirms(accept, refuse []*ast.Node, v any) bool {
	return p.holds(literalsOf(accept, refuse), v)
}

func literalsOf(accept, refuse []*ast.Node) (all []literal) {
	for _, n := range accept {
		all = append(all, literal{n, false})
	}
	for _, n := range refuse {
		all = append(all, literal{n, true})
	}
	return all
}
