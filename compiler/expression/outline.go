package expression

// A PartKind is how the value of a part of an expression comes about.
type PartKind uint8

// The kinds of part.
const (
	// Computed: worked out of its operands; [Part.Check] tells what is known of it.
	Computed PartKind = iota
	// Referred: the value of the reference with the index Ref.
	Referred
	// Written: a literal, or a list or object of literals, of the value Value.
	Written
	// Fallback: that of the first of Parts that is there (||, ??).
	Fallback
	// Gate: that of the last of Parts, once all are there (&&).
	Gate
	// Choice: that of either of Parts, as a condition decides (?:).
	Choice
)

// A Part is an expression, or a part of one, as far as its value is handed on
// unchanged from somewhere else: what is known of that place is known of the
// value.
type Part struct {
	Kind       PartKind
	Start, End int    // bytes of the expression's text
	Ref        int    // of a reference: its index in References
	Soft       bool   // of a reference: null where it is absent
	Value      any    // of a literal
	Parts      []Part // operands, in the order of the text

	expr *Expr
	node *node
}

// Outline is the expression as one part.
func (e *Expr) Outline() Part { return e.outline(e.root) }

func (e *Expr) outline(n *node) Part {
	p := Part{Start: n.start, End: n.end, expr: e, node: n}
	operands := n.args
	switch {
	case n.op == opRef:
		p.Kind, p.Ref, p.Soft = Referred, n.index, n.soft
		return p
	case n.constant():
		p.Kind, p.Value = Written, n.literal()
		return p
	case n.open():
		return p
	case n.op == opFallback:
		p.Kind = Fallback
	case n.op == opGate:
		p.Kind = Gate
	case n.op == opCond:
		p.Kind, operands = Choice, n.args[1:]
	default:
		return p
	}
	for _, a := range operands {
		p.Parts = append(p.Parts, e.outline(a))
	}
	return p
}

// literal is the value of a constant node.
func (n *node) literal() any {
	switch n.op {
	case opList:
		list := make([]any, len(n.args))
		for i, a := range n.args {
			list[i] = a.literal()
		}
		return list
	case opObject:
		object := make(map[string]any, len(n.args)/2)
		for i := 0; i < len(n.args); i += 2 {
			if key, ok := n.args[i].literal().(string); ok {
				object[key] = n.args[i+1].literal()
			}
		}
		return object
	}
	return n.value
}

// Check is what is known of the part's value, from what is known of the
// references (see [Expr.Check]); nil where nothing is, and where the part can't
// come out well.
func (p Part) Check(ref func(i int) *Type) *Type {
	c := &checker{expr: p.expr, ref: ref, locals: make([]*Type, p.expr.locals)}
	c.times = p.node.calls("date") || p.node.calls("duration")
	t := c.check(p.node)
	if c.err != nil {
		return nil
	}
	if c.times {
		t = t.outside(0)
	}
	return t
}

// Presences calls f for every fallback and gate of the expression, from the
// outside in, with its operands as parts. Those inside loops and lets aren't
// among them.
func (e *Expr) Presences(f func(Part)) {
	var walk func(n *node)
	walk = func(n *node) {
		if n == nil {
			return
		}
		if n.isPresence() && !n.open() {
			f(e.outline(n))
		}
		for _, a := range n.args {
			walk(a)
		}
	}
	walk(e.root)
}
