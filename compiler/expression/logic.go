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
func (e *Expr) Logic() *Term { return make(terms).of(e.root) }

var termOps = map[op]TermOp{
	opFallback: TermFallback, opGate: TermGate, opNot: TermNot, opAnd: TermAnd, opOr: TermOr,
	opEqual: TermEqual, opUnequal: TermUnequal, opLess: TermLess, opLessEqual: TermLessEqual, opMore: TermMore, opMoreEqual: TermMoreEqual,
}

// terms are those made so far; what a term needs also stands among its operands.
type terms map[*node]*Term

func (made terms) of(n *node) *Term {
	if p := made[n]; p != nil {
		return p
	}
	p := &Term{Start: n.start, End: n.end}
	made[n] = p
	for _, a := range n.atoms {
		p.Needs = append(p.Needs, made.of(a))
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
		for i, o := range n.ops {
			if termOps[o] < TermEqual {
				p.Op, p.Args = TermOther, nil
				return p
			}
			p.Args = append(p.Args, &Term{Op: termOps[o], Args: []*Term{made.of(n.args[i]), made.of(n.args[i+1])}, Start: n.args[i].start, End: n.args[i+1].end})
		}
	case opIn:
		made.member(p, n)
	default:
		known, ok := termOps[n.op]
		if !ok {
			return p
		}
		p.Op = known
		for _, a := range n.args {
			p.Args = append(p.Args, made.of(a))
		}
	}
	return p
}

// maxMembers bounds the list of an "in" that is understood.
const maxMembers = 64

// member turns x in [a, b] into x == a or x == b, where the list is literal.
func (made terms) member(p *Term, n *node) {
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
	for _, item := range items {
		p.Args = append(p.Args, &Term{Op: TermEqual, Args: []*Term{made.of(n.args[0]), {Op: TermLiteral, Value: item}}, Start: n.start, End: n.end})
	}
}
