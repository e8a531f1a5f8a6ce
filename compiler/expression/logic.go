package expression

// A Term is a piece of an expression as far as it decides whether there is a
// value, and whether that is true. What is more than that is one [TermOther].
type Term struct {
	Op    TermOp
	Ref   int     // TermReference: its index in References
	Soft  bool    // TermReference: while it is absent it is null
	Value any     // TermLiteral: plain JSON
	Args  []*Term // operands: one of TermNot, two of the comparisons
	// Needs are what must be there before the term is looked at at all; while
	// one of them is absent, so is the term (S4.4).
	Needs      []*Term
	Start, End int // its place in the text, in bytes
}

// TermOp says what a term does with its operands.
type TermOp uint8

// The operations. TermFallback and TermGate are || and && (S4.3); the others are the
// boolean operators and comparisons of the expression language.
const (
	TermOther TermOp = iota
	TermLiteral
	TermReference
	TermFallback
	TermGate
	TermNot
	TermAnd
	TermOr
	TermEqual
	TermUnequal
	TermLess
	TermLessEqual
	TermMore
	TermMoreEqual
)

// Logic is the expression as terms: a graph without cycles, in which a term may
// stand in several places. It is made anew by every call.
func (e *Expr) Logic() *Term { return new(terms).of(e.tree()) }

var termOps = map[op]TermOp{
	opFallback: TermFallback, opGate: TermGate, opNot: TermNot, opAnd: TermAnd, opOr: TermOr,
	opEqual: TermEqual, opUnequal: TermUnequal, opLess: TermLess, opLessEqual: TermLessEqual, opMore: TermMore, opMoreEqual: TermMoreEqual,
}

// terms are those made so far of the nodes that a larger one needs, which stand
// among its operands as well.
type terms map[*node]*Term

func (made *terms) of(n *node) *Term {
	if p := (*made)[n]; p != nil {
		return p
	}
	p := &Term{Start: n.start, End: n.end}
	for _, a := range n.atoms {
		if *made == nil {
			*made = terms{}
		}
		need := made.of(a)
		(*made)[a] = need
		p.Needs = append(p.Needs, need)
	}
	if n.open() {
		return p
	}
	switch n.op {
	case opLiteral:
		p.Op, p.Value = TermLiteral, n.value
	case opRef:
		p.Op, p.Ref, p.Soft = TermReference, n.index, n.soft
	case opChain:
		p.Op = TermAnd
		operands := made.all(n.args)
		for i, o := range n.ops {
			if termOps[o] < TermEqual {
				p.Op, p.Args = TermOther, nil
				return p
			}
			p.Args = append(p.Args, &Term{Op: termOps[o], Args: operands[i : i+2 : i+2], Start: n.args[i].start, End: n.args[i+1].end})
		}
	case opIn:
		made.member(p, n)
	default:
		known, ok := termOps[n.op]
		if !ok {
			return p
		}
		p.Op, p.Args = known, made.all(n.args)
	}
	return p
}

func (made *terms) all(nodes []*node) []*Term {
	list := make([]*Term, len(nodes))
	for i, n := range nodes {
		list[i] = made.of(n)
	}
	return list
}

// maxMembers bounds the list of an "in" that is understood.
const maxMembers = 64

// member turns x in [a, b] into x == a or x == b, where the list is literal.
func (made *terms) member(p *Term, n *node) {
	list := n.args[1]
	var items []any
	switch {
	case list.op == opList && len(list.args) <= maxMembers:
		for _, item := range list.args {
			if item.op != opLiteral {
				return
			}
			items = append(items, item.value)
		}
	case list.op == opLiteral:
		values, ok := list.value.([]any)
		if !ok || len(values) > maxMembers {
			return
		}
		items = values
	default:
		return
	}
	p.Op = TermOr
	member := made.of(n.args[0])
	for _, item := range items {
		p.Args = append(p.Args, &Term{Op: TermEqual, Args: []*Term{member, {Op: TermLiteral, Value: item}}, Start: n.start, End: n.end})
	}
}
