package expression

import "slices"

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
	// Text: that of all Parts as text, one after the other.
	Text
	// Least and Most: the smallest and the largest number among Parts, or in them (min, max).
	Least
	Most
)

// A Part is an expression, or a part of one, whose value is passed on unchanged from somewhere else: what is known of
// that place is known of the value.
type Part struct {
	Kind       PartKind
	Soft       bool   // of a reference: null where it is absent
	Ref        int    // of a reference: its index in References
	Start, End int    // bytes of the expression's text
	Value      any    // of a literal
	Parts      []Part // operands, in the order of the text

	expr *Expr
	node *node
}

// Outline is the expression as one part.
func (e *Expr) Outline() Part {
	if e.root == nil {
		return Part{Kind: Referred, End: e.only[0].End, expr: e}
	}
	return e.outline(e.root)
}

// Alternatives reports whether the expression is references joined by || and
// nothing else, but that it may end with a literal.
func (e *Expr) Alternatives() (yes, literal bool) {
	if e.root == nil || e.root.op != opFallback {
		return false, false
	}
	last := len(e.root.args) - 1
	for i, a := range e.root.args {
		if a.op == opLiteral && i == last {
			return true, true
		}
		if a.op != opRef {
			return false, false
		}
	}
	return true, false
}

// Either calls f with the references where the expression needs one and can do without the others: the operands of
// fallbacks that don't end in a value that is always there.
func (e *Expr) Either(f func(ref int)) {
	if e.root != nil {
		e.root.either(false, f)
	}
}

func (n *node) either(within bool, f func(ref int)) {
	switch {
	case n == nil || n.certain():
	case n.op == opRef && within:
		f(n.index)
	default:
		for _, operand := range n.args {
			operand.either(within || n.op == opFallback && !n.open(), f)
		}
	}
}

// certain reports whether a node has a value whatever the references are.
func (n *node) certain() bool {
	return n.constant() || n.op == opRef && n.soft || n.op == opFallback && slices.ContainsFunc(n.args, (*node).certain)
}

// Deciding tells the references that do no more than decide whether there is a value, by
// being there: those in the operands of a gate but its last.
func (e *Expr) Deciding(f func(ref int)) {
	if e.root != nil {
		e.deciding(e.root, false, f)
	}
}

func (e *Expr) deciding(n *node, decides bool, f func(ref int)) {
	switch {
	case decides && n.op == opRef:
		f(n.index)
	case decides, n.op == opFallback:
		for _, operand := range n.args {
			e.deciding(operand, decides, f)
		}
	case n.op == opGate:
		for i, operand := range n.args {
			e.deciding(operand, i < len(n.args)-1, f)
		}
	}
}

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
	case n.op == opText:
		p.Kind = Text
	case n.op == opCall && n.name == "min":
		p.Kind = Least
	case n.op == opCall && n.name == "max":
		p.Kind = Most
	default:
		return p
	}
	p.Parts = make([]Part, len(operands))
	for i, a := range operands {
		p.Parts[i] = e.outline(a)
	}
	return p
}

// Condition is what decides between the parts of a choice.
func (p Part) Condition() *Term { return new(terms).of(p.node.args[0]) }

// literal is the value of a constant node.
func (n *node) literal() any {
	switch n.op {
	case opText:
		var text []byte
		for _, a := range n.args {
			text, _ = appendAsText(text, a.literal())
		}
		return string(text)
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
	n := p.node
	if n == nil {
		n = p.expr.tree()
	}
	c.times = n.calls("date") || n.calls("duration")
	t := c.check(n)
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
	walk(e.tree())
}

// Comparisons calls f for every literal that a reference's value is compared with for
// being equal (==, !=), or looked for among (in): with the index of the reference in
// References and the literal, in the order of the text.
func (e *Expr) Comparisons(f func(ref int, with Part)) {
	var walk func(n *node)
	walk = func(n *node) {
		if n == nil {
			return
		}
		switch n.op {
		case opEqual, opUnequal:
			for i, a := range n.args {
				if other := n.args[1-i]; a.op == opRef && other.constant() {
					f(a.index, e.outline(other))
				}
			}
		case opIn:
			if list := n.args[1]; n.args[0].op == opRef && list.op == opList && list.constant() {
				for _, item := range list.args {
					f(n.args[0].index, e.outline(item))
				}
			}
		}
		for _, a := range n.args {
			walk(a)
		}
	}
	walk(e.tree())
}
