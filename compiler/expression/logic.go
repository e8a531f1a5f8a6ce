package expression

// A Term is a piece of an expression, for reasoning about its possible values.
type Term struct {
	Op    TermOp
	Name  string  // TermOther: the operator, function or key; "#" is the item of a loop
	Ref   int     // TermReference: its index in References
	Soft  bool    // TermReference: while it is absent it is null
	Value any     // TermLiteral: plain JSON
	Args  []*Term // operands: one of TermNot, two of the comparisons
	// Needs are what must be there before the term is looked at at all; while
	// one of them is absent, so is the term.
	Needs      []*Term
	Start, End int // its place in the text, in bytes

	node *node
}

// TermOp says what a term does with its operands.
type TermOp uint8

// The operations. TermFallback and TermGate are || and &&; the others are the
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

// Logic is the expression as terms: a graph without cycles, in which a term may occur in several places. It is made
// anew by every call.
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
	p := &Term{Start: n.start, End: n.end, node: n}
	for _, a := range n.atoms {
		if *made == nil {
			*made = terms{}
		}
		need := made.of(a)
		(*made)[a] = need
		p.Needs = append(p.Needs, need)
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
			one := &Term{Op: termOps[o], Args: operands[i : i+2 : i+2], Start: n.args[i].start, End: n.args[i+1].end}
			one.node = &node{op: o, args: n.args[i : i+2 : i+2], start: one.Start, end: one.End, slot: -1,
				item: n.args[i].item || n.args[i+1].item, local: min(n.args[i].local, n.args[i+1].local)}
			p.Args = append(p.Args, one)
		}
	default:
		p.Op, p.Args = termOps[n.op], made.all(n.args)
		if p.Op == TermOther {
			p.Name = n.called()
		}
		if n.op == opMember {
			p.Args = append(p.Args, &Term{Op: TermLiteral, Value: n.name})
		}
		if n.constant() {
			p.Op, p.Value, p.Args = TermLiteral, n.literal(), nil
		}
	}
	return p
}

// called is what a node does, as it is written.
func (n *node) called() string {
	switch n.op {
	case opItem:
		return "#"
	case opNegate:
		return "-"
	case opMember, opAt:
		return "."
	case opCond:
		return "?:"
	case opList:
		return "[]"
	case opSlice:
		return "[:]"
	}
	if name := binaryNames[n.op]; name != "" {
		return name
	}
	return n.name
}

// Print is a term of the expression in canonical form, see [Expr.String].
func (e *Expr) Print(t *Term) string {
	return e.PrintAs(t, nil)
}

// PrintAs is Print with other names for the references, by their index, so that two terms
// are alike that ask the same of different values.
func (e *Expr) PrintAs(t *Term, named func(ref int) string) string {
	p := &printer{expr: e, named: named}
	p.print(t.node, bindLet)
	return p.out.String()
}

// Holds evaluates a term of the expression that comes out true or false, over the values of its references from look;
// none may be pending. It is neither where the term has no value or goes wrong, as one of a loop has none without an
// item, and one of a let without what that names.
func (e *Expr) Holds(t *Term, look Lookup, left *Meter) (yes, no bool) {
	if t.node.open() {
		return false, false
	}
	if left.Steps < 1 {
		left.Steps = -1
		return false, false
	}
	m := &evaluation{expr: e, look: look, most: *left}
	if m.refs = m.few[:]; len(e.refs) > len(m.few) {
		m.refs = make([]slot, len(e.refs))
	}
	if e.slots > 0 {
		m.kept = make([]slot, e.slots)
	}
	if e.locals > 0 {
		m.locals = make([]any, e.locals)
	}
	m.settle(t.node)
	value, err := m.attempt(t.node)
	left.Steps -= m.steps
	left.Memory -= m.memory
	return err == nil && value == true, err == nil && value == false
}

// settle evaluates the fallbacks and gates of a node that are kept beforehand.
func (m *evaluation) settle(n *node) {
	switch {
	case n == nil:
	case n.slot >= 0 && n.isPresence():
		value, p, err := m.present(n)
		m.kept[n.slot] = slot{value, p, true, err}
	default:
		for _, a := range n.args {
			m.settle(a)
		}
	}
}

func (made *terms) all(nodes []*node) []*Term {
	list := make([]*Term, 0, len(nodes))
	for _, n := range nodes {
		if n != nil { // an end of a slice that isn't given
			list = append(list, made.of(n))
		}
	}
	return list
}
