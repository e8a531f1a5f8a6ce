package expression

import (
	"maps"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/naming"
)

// Check checks the expression against what is known of its references: ref is the type of the reference with this index
// in References, nil where nothing is known. It returns the type of the result, nil where nothing is known of that. The
// error is at the operand that is wrong. Only what always fails is an error: a value that may be null, or that may have
// other kinds, is taken to have the right one.
func (e *Expr) Check(ref func(i int) *Type) (*Type, *Error) {
	return (&checker{expr: e, ref: ref}).result()
}

// CheckCode checks the code of an activity against what is known of the parameters; variable is their type by name.
func (e *Expr) CheckCode(variable func(name string) *Type) (*Type, *Error) {
	return (&checker{expr: e, variable: variable}).result()
}

// CheckPart is what is known of the value of a part of the expression; nil where nothing is, and where evaluating the
// part always fails. The part must not be open.
func (e *Expr) CheckPart(n *Node, ref func(i int) *Type) *Type {
	c := &checker{expr: e, ref: ref}
	t := c.from(n)
	if c.err != nil {
		return nil
	}
	return t
}

// MayFail reports whether there are values of the types of the references with which the expression fails, where
// [Expr.Check] finds nothing that always fails: a value of another kind than is wanted, an index past the end, a
// division by zero. Where it is false the expression can only fail by its limits.
//
// It is blind where it reads what no type describes: a key of an object that may have others than are named, what is
// read from JSON. Then a failure with some values proves nothing, as there may be more in them.
func (e *Expr) MayFail(ref func(i int) *Type) (mayFail, blind bool) {
	return (&checker{expr: e, ref: ref}).findFailures()
}

// CodeMayFail is MayFail of the code of an activity.
func (e *Expr) CodeMayFail(variable func(name string) *Type) (mayFail, blind bool) {
	return (&checker{expr: e, variable: variable}).findFailures()
}

func (c *checker) findFailures() (mayFail, blind bool) {
	_, err := c.result()
	return err == nil && c.mayFail, c.blind
}

type checker struct {
	expr     *Expr
	ref      func(i int) *Type
	variable func(name string) *Type
	err      *Error  // the first one
	items    []*Type // of the loops around what is checked
	locals   []*Type
	types    []*Type // of the arguments of the calls around what is checked
	times    bool    // dates or durations occur; otherwise no value can be one
	blind    bool    // it reads what no type describes
	mayFail  bool    // there are values with which it fails, see MayFail
}

func (c *checker) result() (*Type, *Error) {
	root := c.expr.Root()
	t := c.from(root)
	c.constants(root)
	if c.err != nil {
		return nil, c.err
	}
	return t, nil
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
	if c.err == nil {
		c.err = problem
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

// suspect notes that a value of a type may not do where one of some kinds is needed.
func (c *checker) suspect(t *Type, kinds KindSet) {
	c.mayFail = c.mayFail || c.kinds(t)&^kinds != 0
}

// want reports a value none of whose kinds is wanted, and reports whether all is well.
func (c *checker) want(n *Node, t *Type, kinds KindSet, what string) bool {
	c.suspect(t, kinds)
	if t.kinds()&kinds != 0 {
		return true
	}
	c.report(mismatch(n, what, "", kinds, c.kinds(t)))
	return false
}

func (c *checker) check(n *Node) *Type {
	if c.err != nil {
		return nil
	}
	c.noteFailures(n)
	switch n.Op {
	case OpLiteral:
		return &Type{Kinds: kindOf(n.Value)}
	case OpRef:
		t := c.ref(n.Index)
		if n.Soft {
			t = t.with(Null)
		}
		return t
	case OpVar, OpParams, OpLocal, OpItem, OpIndex, OpAcc:
		return c.named(n)
	case OpFallback, OpGate:
		return c.presence(n)
	case OpLet:
		c.locals[n.Index] = c.check(n.Args[0])
		return c.check(n.Args[1])
	case OpCond:
		c.want(n.Args[0], c.check(n.Args[0]), Bool, "a condition")
		yes := c.check(n.Args[1])
		return either(yes, c.check(n.Args[2]), 0)
	case OpNot:
		c.want(n.Args[0], c.check(n.Args[0]), Bool, "\"not\"")
		return aBool
	case OpNegate, OpPlus:
		c.want(n.Args[0], c.check(n.Args[0]), Number, "a sign")
		return aNumber
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
		return c.at(n)
	case OpSlice:
		return c.slice(n)
	case OpLoop, OpCall, OpMethod:
		return c.call(n)
	case OpText:
		for _, a := range n.Args {
			t := c.check(a)
			if c.suspect(t, textual); t.kinds()&textual == 0 {
				c.report(noText(a, t.kinds()))
			}
		}
		return aString
	case OpChain:
		left := c.check(n.Args[0].Args[0])
		for _, comparison := range n.Args {
			right := c.check(comparison.Args[1])
			c.operator(comparison, left, right)
			left = right
		}
		return aBool
	}
	left := c.check(n.Args[0])
	return c.operator(n, left, c.check(n.Args[1]))
}

// named is the type of a value that has a name, or is an item.
func (c *checker) named(n *Node) *Type {
	switch n.Op {
	case OpVar:
		if c.variable != nil {
			return c.variable(n.Name)
		}
	case OpParams:
		return anObject
	case OpLocal:
		return c.locals[n.Index]
	case OpItem:
		return c.items[len(c.items)-1]
	case OpIndex:
		return aNumber
	}
	return nil
}

// presence is the type of a fallback or gate. Null never comes out of an operand, except of a literal; in a loop it
// means absence.
func (c *checker) presence(n *Node) *Type {
	var out *Type
	first := true
	closed := false // nothing can come after a literal
	for _, a := range n.Args {
		t := c.check(a)
		if a.Constant && n.Op == OpFallback {
			closed = true
		} else {
			if t != nil && t.Kinds == Null {
				continue
			}
			t = t.without(Null)
		}
		if first || n.Op == OpGate {
			out, first = t, false
		} else {
			out = either(out, t, 0)
		}
		if closed {
			break
		}
	}
	if n.Open() && !closed {
		out = out.with(Null)
	}
	return out
}

func (c *checker) object(n *Node) *Type {
	out := &Type{Kinds: Object, Fields: map[string]*Type{}}
	for i := 0; i < len(n.Args); i += 2 {
		c.want(n.Args[i], c.check(n.Args[i]), String, "a key")
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

// orNull is what a node accepts in the place of a value of some kinds, which is null too if it is soft.
func (n *Node) orNull(kinds KindSet) KindSet {
	if n.Soft {
		kinds |= Null
	}
	return kinds
}

// field checks a member whose key is written out.
func (c *checker) field(n *Node, name string) *Type {
	base := c.check(n.Args[0])
	if c.err != nil {
		return nil
	}
	kinds := c.kinds(base)
	c.suspect(base, n.orNull(Object))
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
		c.blind = c.blind || !n.Soft
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
	const most = 8
	rest := ""
	if len(names) > most {
		rest = " and " + itoa(len(names)-most) + " more"
		names = names[:most]
	}
	if len(names) == 0 {
		return "the object has none"
	}
	for i, field := range names {
		names[i] = quote(field)
	}
	return "its fields are " + strings.Join(names, ", ") + rest
}

// at checks a member whose key or index is computed.
func (c *checker) at(n *Node) *Type {
	base, key := c.check(n.Args[0]), c.check(n.Args[1])
	if !c.want(n.Args[0], base, n.orNull(Array|Object|String), "an index") {
		return nil
	}
	kinds := c.kinds(base)
	if keys := keysOf(kinds); keys != 0 && !c.want(n.Args[1], key, keys, "the index of "+(kinds&^Null).String()) {
		return nil
	}
	var out *Type
	switch kinds &^ Null {
	case Array:
		out = base.Elem
	case String:
		out = aString
	}
	if n.Soft {
		out = out.with(Null)
	}
	return out
}

// keysOf are the kinds of what a value of some kinds is read by.
func keysOf(kinds KindSet) (keys KindSet) {
	if kinds&Object != 0 {
		keys |= String
	}
	if kinds&(Array|String) != 0 {
		keys |= Number
	}
	return keys
}

func (c *checker) slice(n *Node) *Type {
	base := c.check(n.Args[0])
	for _, bound := range n.Args[1:] {
		if bound != nil {
			c.want(bound, c.check(bound), Number, "a slice")
		}
	}
	c.want(n.Args[0], base, n.orNull(Array|String), "a slice")
	if n.Soft {
		return base
	}
	return base.without(Null)
}

// call checks a call of a function, loop or method.
func (c *checker) call(n *Node) *Type {
	if c.types == nil {
		c.types = make([]*Type, 0, 4) // as most expressions need no more
	}
	base := len(c.types)
	defer func() { c.types = c.types[:base] }()
	for i, a := range n.Args {
		p := n.fn.param(i)
		if p.perItem {
			c.items = append(c.items, c.types[base].elem())
		}
		t := c.check(a)
		if p.perItem {
			c.items = c.items[:len(c.items)-1]
		}
		if c.suspect(t, p.kinds); t.kinds()&p.kinds == 0 { // as want does, but few names need quotes
			c.report(mismatch(a, quote(n.Name), "", p.kinds, c.kinds(t)))
		}
		c.types = append(c.types, t)
	}
	types := c.types[base:]
	if c.err != nil {
		return nil
	}
	if len(n.Args) == 1 && n.fn.loop != nil { // of the items themselves
		c.want(n.Args[0], types[0].elem(), n.fn.params[1].kinds, quote(n.Name))
	}
	switch {
	case n.fn.results != nil:
		return n.fn.results(n, types)
	case n.fn.item:
		return types[0].elem().with(Null)
	case n.fn.same:
		return types[0].without(Null)
	}
	return n.fn.result
}

// resultOfGet is the type of what get finds.
func resultOfGet(n *Node, types []*Type) *Type {
	base := types[0]
	if base == nil {
		return nil
	}
	if base.Kinds&^Null == Array {
		return base.Elem.with(Null)
	}
	name, _ := n.Args[1].Value.(string)
	if n.Args[1].Op != OpLiteral || base.Kinds&^Null != Object {
		return nil
	}
	if field, known := base.Fields[name]; known {
		return field.with(Null)
	}
	if !base.open() {
		return &Type{Kinds: Null}
	}
	return nil
}

func listOfResults(_ *Node, arguments []*Type) *Type {
	return &Type{Kinds: Array, Elem: arguments[1]}
}

func objectOfLists(_ *Node, arguments []*Type) *Type {
	return &Type{Kinds: Object, Open: true, Rest: arguments[0].without(Null)}
}

func listOfFields(_ *Node, arguments []*Type) *Type {
	return &Type{Kinds: Array, Elem: arguments[0].parts()}
}

func objectOfPairs(_ *Node, arguments []*Type) *Type {
	return &Type{Kinds: Object, Open: true, Rest: arguments[0].elem().elem()}
}

func resultOfReduce(_ *Node, types []*Type) *Type {
	start := types[0].elem()
	if len(types) == 3 {
		start = types[2]
	}
	return either(start, types[1], 0)
}

// operator checks an operator between two values.
func (c *checker) operator(n *Node, a, b *Type) *Type {
	if c.err != nil {
		return nil
	}
	x, y := c.kinds(a), c.kinds(b)
	if n.Op == OpEqual || n.Op == OpUnequal {
		if right := n.Args[1]; x&y == 0 && x != Null && y != Null { // asking for null is never wrong
			help := ""
			if x|y == Number|String {
				help = "write the number without quotes, or string(…) around it"
			}
			c.report(fail(right.Start, right.End, x.String()+" never equals "+y.String(), help))
		}
		return aBool
	}
	c.mayFail = c.mayFail || n.mayMismatch(x, y)
	result, problem := n.operands(x, y)
	if problem != nil {
		c.report(problem)
		return nil
	}
	item := b.elem()
	if left := n.Args[0]; n.Op == OpIn && y&^Null == Array && item.kinds()&x == 0 {
		c.report(fail(left.Start, left.End,
			x.String()+" is never in a list of which each item is "+item.kinds().String(), ""))
	}
	switch {
	case n.Op == OpRange:
		return numbers
	case result == Bool:
		return aBool
	case result == Number:
		return aNumber
	}
	return &Type{Kinds: result}
}

// noteFailures notes what may fail of a node although the kinds of its operands are right.
func (c *checker) noteFailures(n *Node) {
	literal := func(i int) bool { return len(n.Args) > i && n.Args[i] != nil && n.Args[i].Op == OpLiteral }
	may := false
	switch n.Op {
	case OpDivide:
		may = !literal(1) || n.Args[1].Value == 0.0
	case OpModulo, OpPower:
		may = true
	case OpRange:
		may = !literal(0) || !literal(1) || !isShort(n.Args[0].Value, n.Args[1].Value)
	case OpMember:
		_, named := n.key()
		may = !named
	case OpSlice:
		for i := range n.Args[1:] {
			may = may || n.Args[1+i] != nil && !literal(1+i)
		}
	case OpMatches:
		may = n.pattern == nil
	case OpLoop, OpCall, OpMethod:
		c.blind = c.blind || n.Name == "fromJSON"
		last := len(n.Args) - 1
		may = !n.fn.total || n.Name == "reduce" && last < 2 || last >= n.fn.least && n.fn.param(last).kinds == Number
	}
	c.mayFail = c.mayFail || may
}

// isShort reports whether a range is of integers, and of so few that it is made anywhere.
func isShort(from, to any) bool {
	const few = 1000
	a, ok := integer(from)
	b, both := integer(to)
	return ok && both && b-a <= few
}

// What evaluating a part without references may take while an expression is checked.
const (
	constantSteps  = 10_000
	constantMemory = 1 << 20
)

// constants reports a part without references that fails whenever it is evaluated.
func (c *checker) constants(n *Node) {
	switch {
	case n == nil || c.err != nil || n.Op == OpLiteral:
	case !n.Open() && !n.varies():
		m := c.expr.evaluation(nil)
		m.most = Meter{min(m.most.Steps, constantSteps), min(m.most.Memory, constantMemory)}
		if _, err := m.attempt(n); err != nil && m.steps <= m.most.Steps && m.memory <= m.most.Memory {
			c.err, _ = err.(*Error)
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
