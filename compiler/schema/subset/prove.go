// Package subset decides whether one schema accepts all that another does: it looks for a value that some nodes accept
// and others refuse. It finds one answer within a number of steps, the same every time: a value, that there is none, or
// that it can't tell. It never takes what it doesn't model for a reason that there is none.
package subset

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"

	"github.com/obelus-dev/obelus/compiler/schema/ast"
	"github.com/obelus-dev/obelus/compiler/schema/regex"
)

// A Prover looks for one value that a set of literals describes: nodes that must accept it and nodes that must not. It
// splits by kind of value, takes nodes apart keyword by keyword, branches over alternatives, and puts a value together
// from what is left. What it doesn't model it leaves out, and remembers: without it "there is none" still holds, and a
// value that is found has to be tried. Where it can't put one together it tries samples.
//
// A set of literals that comes up again strictly inside a value for itself counts as empty there: a smallest value
// never contains a smaller one of the same description. So recursive schemas end (least fixpoint).
type Prover struct {
	Steps, limit int
	Out          bool // of steps: from then on nothing is known not to be there
	level        int  // how deep inside the value
	low          int  // the lowest open question that was assumed to be empty inside
	active       map[string]question
	cache        map[string]finding

	count uint32 // of different nodes
	ids   map[*ast.Node]uint32
	forms map[string]uint32 // of nodes by identity, to know equal ones again
	kinds map[*ast.Node]ast.Kinds
	tags  map[*ast.Node][]string
	ways  map[uint64][]way                     // see refusals
	atoms map[*ast.Node]string                 // nodes that refuse by one keyword; by name if it isn't modelled
	lists map[*ast.ArrayRules]*ast.ObjectRules // see parts
}

func NewProver(limit int) *Prover {
	return &Prover{limit: limit, low: closed, active: map[string]question{}, cache: map[string]finding{},
		ids: map[*ast.Node]uint32{}, forms: map[string]uint32{}, kinds: map[*ast.Node]ast.Kinds{},
		tags: map[*ast.Node][]string{}, ways: map[uint64][]way{},
		atoms: map[*ast.Node]string{}, lists: map[*ast.ArrayRules]*ast.ObjectRules{}}
}

// A question is one that is being answered.
type question struct{ index, level int }

// closed is above every index: nothing was assumed.
const closed = math.MaxInt

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

// A finding is the answer about a set of literals.
type finding struct {
	Status status
	Value  any
	Why    string // for unclear: the keyword, or "budget"
}

func none() finding              { return finding{Status: Empty} }
func some(v any) finding         { return finding{Status: Found, Value: v} }
func unknown(why string) finding { return finding{Status: Unclear, Why: why} }

// or keeps the better of two findings about two ways to the same goal.
func (f finding) or(g finding) finding {
	if g.Status == Found || f.Status == Empty {
		return g
	}
	return f
}

// Allow begins a part of the work that may take so many steps, whatever those before it took.
func (p *Prover) Allow(steps int) { p.limit, p.Out = p.Steps+steps, false }

// Find finds a value that some nodes accept and others refuse. It is asked about the value itself.
func (p *Prover) Find(accept, refuse []*ast.Node) finding {
	return p.find(literalsOf(accept, refuse))
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

// spend takes steps off the budget, and reports whether there are any left. A search without steps gives up, and hasn't
// shown that there is none.
func (p *Prover) spend(n int) bool {
	p.Steps += n
	p.Out = p.Out || p.Steps > p.limit
	return !p.Out
}

// find finds a value for the literals. It is asked about the value itself.
func (p *Prover) find(literals []literal) finding {
	if !p.spend(1) {
		return unknown("budget")
	}
	literals, ok := p.canonical(literals)
	switch {
	case !ok:
		return none()
	case len(literals) == 0:
		return some(nil)
	}
	var key []byte
	for _, l := range literals {
		key = binary.BigEndian.AppendUint32(key, p.code(l))
	}
	if known, ok := p.cache[string(key)]; ok {
		return known
	}
	if open, ok := p.active[string(key)]; ok {
		if p.level > open.level {
			p.low = min(p.low, open.index)
			return none()
		}
		return unknown("recursion")
	}
	index, before := len(p.active), p.low
	p.active[string(key)], p.low = question{index, p.level}, closed
	result := p.split(literals)
	delete(p.active, string(key))
	if p.Out && result.Status != Found {
		result = unknown("budget")
	} else if result.Status == Found || p.low >= index {
		p.low = closed
		p.cache[string(key)] = result
	}
	p.low = min(p.low, before)
	return result
}

// inside asks about a part of the value.
func (p *Prover) inside(literals []literal) finding {
	if p.level >= ast.MaxNesting {
		return unknown("nesting")
	}
	p.level++
	defer func() { p.level-- }()
	return p.find(literals)
}

// canonical sorts literals and drops those that say nothing; it is false when they contradict each other at sight.
func (p *Prover) canonical(literals []literal) ([]literal, bool) {
	list := make([]literal, 0, len(literals))
	for _, l := range literals {
		l.node = l.node.Plain()
		switch {
		case l.node.Verdict == ast.Depends:
			list = append(list, l)
		case (l.node.Verdict == ast.Never) != l.deny:
			return nil, false
		}
	}
	slices.SortStableFunc(list, func(a, b literal) int { return cmp.Compare(p.code(a), p.code(b)) })
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

// id numbers nodes; nodes of the same form have the same number, so that a schema is known again wherever it stands.
func (p *Prover) id(n *ast.Node) uint32 {
	if id, ok := p.ids[n]; ok {
		return id
	}
	form := n.Identity()
	id, ok := p.forms[form]
	if !ok {
		p.count++
		id = p.count
		p.forms[form] = id
	}
	p.ids[n] = id
	return id
}

// made is a node of our own, which is like no other.
func (p *Prover) made(n ast.Node) *ast.Node {
	n.Unit, n.Kinds = ast.Detached, ast.Anything
	p.count++
	p.ids[&n] = p.count
	return &n
}

// possible is [ast.Node.Possible], remembered.
func (p *Prover) possible(n *ast.Node) ast.Kinds {
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
		kinds &= p.possible(l.node)
		if values := l.node.Values; values != nil && (finite == nil || len(values) < len(finite)) {
			finite = values
		}
	}
	switch {
	case kinds == 0:
		return none()
	case finite != nil:
		return p.among(finite, literals)
	}
	result := none()
	for kind := ast.Null; kind <= ast.Object && result.Status != Found; kind <<= 1 {
		switch {
		case kinds&kind == 0:
		case kind == ast.Null:
			result = result.or(p.among([]any{nil}, literals))
		case kind == ast.Boolean:
			result = result.or(p.among([]any{false, true}, literals))
		default:
			asked := append(slices.Clip(literals), literal{ofKind(kind), false})
			b := &branch{p: p, kind: kind, asked: asked, size: ast.AnySize}
			if b.addAll(literals) {
				result = result.or(b.search())
			}
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

// holds reports whether a value is as the literals say; false also when the steps don't last to tell.
func (p *Prover) holds(literals []literal, v any) bool {
	return !slices.ContainsFunc(literals, func(l literal) bool { return p.accepts(l.node, v) == l.deny || p.Out })
}

func (p *Prover) accepts(n *ast.Node, v any) bool {
	c := p.checker()
	accepted := c.Accepts(n, v)
	return p.charge(c.Steps, c.Spent) && accepted
}

func (p *Prover) matches(x *regex.Pattern, text string) bool {
	c := p.checker()
	matched := c.Matches(x, text)
	return p.charge(c.Steps, c.Spent) && matched
}

// checker is one whose work counts as reasoning, by charge.
func (p *Prover) checker() ast.Checker { return ast.Bounded((p.limit - p.Steps) * ast.ChecksPerStep) }

// charge takes off what a checker has done. Where the steps didn't last, there are none left, and its answer doesn't
// count.
func (p *Prover) charge(steps int, spent bool) (counts bool) {
	p.Steps += steps / ast.ChecksPerStep
	p.Out = p.Out || spent
	return !spent
}
