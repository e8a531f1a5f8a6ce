package expression

import (
	"maps"
	"slices"

	"github.com/obelus-dev/obelus/compiler/naming"
	"github.com/obelus-dev/obelus/compiler/wording"
)

// Checked is what is known of an expression by the types of its references.
type Checked struct {
	Type *Type // of the result; nil where nothing is known of it
	// Err is at the operand that is wrong. Only what always fails is an error: a value that may be null, or that may
	// have other kinds, is taken to have the right one.
	Err *Error
	// MayFail says, without an error, that there are values of these types with which the expression fails: a value of
	// another kind than is wanted, an index past the end, a division by zero, a number that is too large. Else it can
	// only fail by its limits.
	MayFail bool
	// Blind says that it reads what no type describes: a key of an object that may have others than are named, what is
	// read from JSON. Then a failure with some values proves nothing, as there may be more in them.
	Blind bool
}

// Check checks the expression against what is known of its references: ref is the type of the reference with this index
// in References, nil where nothing is known.
func (e *Expr) Check(ref func(i int) *Type) Checked { return (&checker{expr: e, ref: ref}).all() }

// CheckCode checks the code of an activity against what is known of the parameters; variable is their type by name.
func (e *Expr) CheckCode(variable func(name string) *Type) Checked {
	return (&checker{expr: e, variable: variable}).all()
}

// CheckPart is what is known of the value of a part of the expression; nil where nothing is, and where evaluating the
// part always fails. The part must not be open.
func (e *Expr) CheckPart(n *Node, ref func(i int) *Type) *Type {
	c := &checker{expr: e, ref: ref}
	t := c.from(n)
	if c.Err != nil {
		return nil
	}
	return t
}

type checker struct {
	Checked
	expr     *Expr
	ref      func(i int) *Type
	variable func(name string) *Type
	items    []*Type // of the loops around what is checked
	locals   []*Type
	types    []*Type // of the arguments of the calls around what is checked
	times    bool    // dates or durations occur; otherwise no value can be one
}

func (c *checker) all() Checked {
	root := c.expr.Root()
	c.Type = c.from(root)
	if c.constants(root); c.Err != nil {
		c.Type, c.MayFail = nil, false
	}
	return c.Checked
}

// from checks the root of an expression, or a part that isn't open.
func (c *checker) from(n *Node) *Type {
	c.locals = make([]*Type, c.expr.locals)
	c.times = n.any(func(n *Node) bool { return n.Op == OpCall && (n.Name == "date" || n.Name == "duration") })
	t := c.check(n)
	if c.times {
		t = t.outside(0)
	}
	return t
}

// report keeps the first problem.
func (c *checker) report(problem *Error) {
	if c.Err == nil {
		c.Err = problem
	}
}

// kinds are the kinds that a value of a type may have here.
func (c *checker) kinds(t *Type) KindSet {
	kinds := t.kinds()
	if !c.times {
		kinds &= AnyKind
	}
	return kinds
}

// apply is the type of what a node results in, of its operands' types.
func (c *checker) apply(n *Node, types []*Type) *Type {
	kinds := make([]KindSet, 0, 4)
	for i, t := range types {
		if n.Args[i] == nil { // a bound that is left out
			t = aNumber
		}
		kinds = append(kinds, c.kinds(t))
	}
	forms, problem := n.accept(kinds)
	if problem != nil {
		c.report(problem)
		return nil
	}
	if n.fn.perItem && len(types) == 1 { // of the items themselves
		c.want(n, 0, types[0].elem(), n.fn.param(1).kinds, n.fn.words())
	}
	c.MayFail = c.MayFail || n.refuses(kinds, 0, allForms) || n.mayFail()
	c.Blind = c.Blind || n.fn.name == "fromJSON"
	if n.fn.results != nil {
		return n.fn.results(c, n, types)
	}
	result := never
	for i, form := range n.fn.forms {
		switch {
		case forms&(1<<i) == 0:
		case form.item:
			result = types[0].elem().with(Null)
		case form.same && n.Soft:
			result = types[0]
		case form.same:
			result = types[0].without(Null)
		default:
			result = either(result, form.result, 0)
		}
	}
	return result
}

// mayFail reports whether a node fails for some operands although their kinds are right.
func (n *Node) mayFail() bool {
	if n.fn.fails != nil {
		return n.fn.fails(n)
	}
	for i, a := range n.Args {
		if a != nil && n.fn.param(i).integer {
			if v, ok := integer(a.Value); a.Op != OpLiteral || !ok || v < 0 && n.Op != OpSlice {
				return true
			}
		}
	}
	return n.fn.partial
}

// unlessShort reports whether a range isn't of so few integers that it is made anywhere.
func unlessShort(n *Node) bool {
	const few = 1000
	from, ok := integer(n.Args[0].Value)
	to, both := integer(n.Args[1].Value)
	return n.Args[0].Op != OpLiteral || n.Args[1].Op != OpLiteral || !ok || !both || to-from > few
}

// want reports an operand of a type none of whose kinds is wanted, and by what.
func (c *checker) want(n *Node, i int, t *Type, kinds KindSet, what string) {
	got := c.kinds(t)
	c.MayFail = c.MayFail || got&^kinds != 0
	if got&kinds == 0 {
		c.report(unwanted(n.Args[i], what, "", kinds, got))
	}
}

func (c *checker) check(n *Node) *Type {
	if c.Err != nil {
		return nil
	}
	switch n.Op {
	case OpLiteral:
		return &Type{Kinds: KindOf(n.Value)}
	case OpRef:
		t := c.ref(n.Index)
		if n.Soft {
			t = t.with(Null)
		}
		return t
	case OpVar:
		if c.variable != nil {
			return c.variable(n.Name)
		}
		return nil
	case OpParams:
		return anObject
	case OpLocal:
		return c.locals[n.Index]
	case OpItem:
		return c.items[len(c.items)-1]
	case OpIndex:
		return aNumber
	case OpAcc:
		return nil
	case OpFallback, OpGate:
		return c.presence(n)
	case OpLet:
		c.locals[n.Index] = c.check(n.Args[0])
		return c.check(n.Args[1])
	case OpList:
		out := &Type{Kinds: Array, Elem: never}
		for _, a := range n.Args {
			out.Elem = either(out.Elem, c.check(a), 0)
		}
		return out
	case OpObject:
		return c.object(n)
	case OpMember:
		if name, ok := n.key(); ok {
			return c.field(n, name)
		}
	}
	return c.call(n)
}

// call checks a node whose operands are all evaluated before it is.
func (c *checker) call(n *Node) *Type {
	base := len(c.types)
	defer func() { c.types = c.types[:base] }()
	for i, a := range n.Args {
		var t *Type
		switch {
		case a == nil:
		case n.fn.param(i).perItem:
			c.items = append(c.items, c.types[base].elem())
			t = c.check(a)
			c.items = c.items[:len(c.items)-1]
		default:
			t = c.check(a)
		}
		if c.Err != nil {
			return nil
		}
		c.types = append(c.types, t)
	}
	return c.apply(n, c.types[base:])
}

// presence is the type of a fallback or gate. Null never comes out of an operand, except of a literal; in a loop it
// means absence.
func (c *checker) presence(n *Node) *Type {
	out := never
	for _, a := range n.Args {
		t := c.check(a)
		switch {
		case a.Constant && n.Op == OpFallback: // nothing can come after a literal
			return either(out, t, 0)
		case t != nil && t.Kinds == Null:
		case n.Op == OpGate:
			out = t.without(Null)
		default:
			out = either(out, t.without(Null), 0)
		}
	}
	if n.Open() {
		out = out.with(Null)
	}
	return out
}

func (c *checker) object(n *Node) *Type {
	out := &Type{Kinds: Object, Fields: map[string]*Type{}}
	for i := 0; i < len(n.Args); i += 2 {
		c.want(n, i, c.check(n.Args[i]), String, aKey)
		value := c.check(n.Args[i+1])
		if name, ok := n.Args[i].Value.(string); ok && n.Args[i].Op == OpLiteral {
			out.Fields[name] = value
		} else {
			out.Open = true
		}
	}
	if out.Open { // a computed key may be any of those that are named
		for name := range out.Fields {
			out.Fields[name] = nil
		}
	}
	return out
}

// field checks a member whose key is written out.
func (c *checker) field(n *Node, name string) *Type {
	base := c.check(n.Args[0])
	if c.Err != nil {
		return nil
	}
	kinds := c.kinds(base)
	accepted := Object
	if n.Soft {
		accepted |= Null
	}
	c.MayFail = c.MayFail || kinds&^accepted != 0
	switch {
	case kinds&Object != 0:
	case kinds&Array == 0 && kinds&Null != 0 && n.Soft:
		return &Type{Kinds: Null}
	default:
		c.report(n.noKey(name, kinds))
		return nil
	}
	if base == nil {
		return nil
	}
	field, known := base.Fields[name]
	switch {
	case known && n.Soft:
		return field.with(Null)
	case known:
		return field
	case kinds&^Null == Object && base.Rest != nil:
		return base.Rest.with(Null)
	case kinds&^Null != Object || base.open() || n.Soft:
		c.Blind = c.Blind || !n.Soft
		return nil
	}
	c.report(fail(n.Start, n.End, "there is no field "+quote(name), helpField(name, base.Fields)))
	return nil
}

func helpField(name string, fields map[string]*Type) string {
	names := slices.Sorted(maps.Keys(fields))
	if near, ok := naming.Nearest(name, names); ok {
		return "did you mean " + quote(near) + "?"
	}
	if len(names) == 0 {
		return "the object has none"
	}
	return "its fields are " + wording.Names(names, 8)
}

func resultOfMember(c *checker, n *Node, types []*Type) (out *Type) {
	switch c.kinds(types[0]) &^ Null {
	case Array:
		out = types[0].Elem
	case String:
		out = aString
	}
	if n.Soft {
		out = out.with(Null)
	}
	return out
}

func equality(c *checker, n *Node, types []*Type) *Type {
	x, y := c.kinds(types[0]), c.kinds(types[1])
	if x&y == 0 && x != Null && y != Null { // asking for null is never wrong
		help := ""
		if x|y == Number|String {
			help = "write the number without quotes, or string(…) around it"
		}
		c.report(n.wrong(1, x.String()+" never equals "+y.String(), help))
	}
	return aBool
}

func membership(c *checker, n *Node, types []*Type) *Type {
	x, items := c.kinds(types[0]), types[1].elem().kinds()
	if c.kinds(types[1])&^Null == Array && items&x == 0 {
		c.report(n.wrong(0, x.String()+" is never in a list of which each item is "+items.String(), ""))
	}
	return aBool
}

// What evaluating a part without references may take while an expression is checked.
const (
	constantSteps  = 10_000
	constantMemory = 1 << 20
)

// constants reports a part without references that fails whenever it is evaluated.
func (c *checker) constants(n *Node) {
	switch {
	case n == nil || c.Err != nil || n.Op == OpLiteral:
	case !n.Open() && !n.varies():
		m := c.expr.evaluation(nil, &Meter{constantSteps, constantMemory})
		if _, err := m.attempt(n); err != nil && m.steps <= m.most.Steps && m.memory <= m.most.Memory {
			c.Err, _ = err.(*Error)
		}
	default:
		for _, a := range n.Args {
			c.constants(a)
		}
	}
}

// varies reports whether a node's value depends on something outside of it.
func (n *Node) varies() bool {
	return n.any(func(n *Node) bool {
		return n.Op == OpRef || n.Op == OpVar || n.Op == OpParams || n.IsPresence()
	})
}
