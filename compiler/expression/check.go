package expression

import (
	"maps"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/naming"
)

// Check checks the expression against what is known of its references:
// ref tells the type of the reference with this index in References, nil where
// nothing is known. It returns the type of the result, nil where nothing is
// known of that. The error is at the operand that is wrong. Only what can't
// come out well is an error: a value that may be null, or that may have other
// kinds, is taken to have the right one.
func (e *Expr) Check(ref func(i int) *Type) (*Type, *Error) {
	return (&checker{expr: e, ref: ref}).result()
}

// CheckCode checks the code of an activity against what is known of the
// parameters; variable tells their types by name.
func (e *Expr) CheckCode(variable func(name string) *Type) (*Type, *Error) {
	return (&checker{expr: e, variable: variable}).result()
}

type checker struct {
	expr     *Expr
	ref      func(i int) *Type
	variable func(name string) *Type
	err      *Error // the first one
	items    []itemType
	locals   []*Type
	times    bool // dates or durations occur; otherwise no value can be one
	blind    bool // it looks at what no type speaks of
	mayFail  bool // there are values with which it fails, see MayFail
}

type itemType struct{ item, acc *Type }

func (c *checker) result() (*Type, *Error) {
	c.locals = make([]*Type, c.expr.locals)
	root := c.expr.tree()
	c.times = root.calls("date") || root.calls("duration")
	t := c.check(root)
	c.constants(root)
	if c.err != nil {
		return nil, c.err
	}
	if c.times {
		t = t.outside(0)
	}
	return t, nil
}

// calls reports whether a function is called somewhere in a node.
func (n *node) calls(name string) bool {
	return n != nil && (n.op == opCall && n.name == name || slices.ContainsFunc(n.args, func(a *node) bool { return a.calls(name) }))
}

func (c *checker) fail(n *node, message, help string) {
	if c.err == nil {
		c.err = fail(n.start, n.end, message, help)
	}
}

// want reports a value none of whose kinds is wanted, and reports whether all is well.
func (c *checker) want(n *node, t *Type, kinds KindSet, what, help string) bool {
	if t.kinds()&kinds != 0 {
		c.suspect(t, kinds)
		return true
	}
	shown := kinds &^ Null
	if !c.times && shown&AnyKind != 0 {
		shown &= AnyKind
	}
	c.fail(n, what+" wants "+shown.String()+", and this is "+t.kinds().String(), help)
	return false
}

func (c *checker) check(n *node) *Type {
	if c.err != nil {
		return nil
	}
	c.noteFailures(n)
	switch n.op {
	case opLiteral:
		return &Type{Kinds: kindOf(n.value)}
	case opRef:
		t := c.ref(n.index)
		if n.soft {
			t = t.with(Null)
		}
		return t
	case opFallback, opGate:
		return c.pick(n)
	case opVar:
		if c.variable != nil {
			return c.variable(n.name)
		}
		return nil
	case opParams:
		return anObject
	case opLocal:
		return c.locals[n.index]
	case opItem:
		return c.items[len(c.items)-1].item
	case opAcc:
		return c.items[len(c.items)-1].acc
	case opIndex:
		return aNumber
	case opLet:
		c.locals[n.index] = c.check(n.args[0])
		return c.check(n.args[1])
	case opCond:
		c.truth(n.args[0], "a condition")
		yes := c.check(n.args[1])
		return either(yes, c.check(n.args[2]), 0)
	case opNot, opAnd, opOr:
		name := "\"not\""
		if n.op != opNot {
			name = quote(binaryNames[n.op])
		}
		for _, a := range n.args {
			c.truth(a, name)
		}
		return aBool
	case opList:
		out := &Type{Kinds: Array, Elem: never}
		for _, a := range n.args {
			out.Elem = either(out.Elem, c.check(a), 0)
		}
		return out
	case opObject:
		return c.object(n)
	case opMember:
		return c.member(n)
	case opAt:
		return c.at(n)
	case opSlice:
		base := c.check(n.args[0])
		for _, b := range n.args[1:] {
			if b != nil {
				c.want(b, c.check(b), Number, "a slice", "")
			}
		}
		wanted := Array | String
		if n.soft {
			wanted |= Null
		}
		c.want(n.args[0], base, wanted, "a slice", "")
		if n.soft {
			return base
		}
		return base.without(Null)
	case opLoop:
		return c.loop(n)
	case opCall:
		return c.call(n)
	case opMethod:
		return c.method(n)
	case opText:
		for _, a := range n.args {
			t := c.check(a)
			if c.suspect(t, textual); t.kinds()&textual == 0 {
				c.fail(a, noText(t.kinds()), helpText(t.kinds()))
			}
		}
		return aString
	case opChain:
		left := c.check(n.args[0])
		for _, a := range n.args[1:] {
			right := c.check(a)
			c.ordered(n.args[0], a, left, right)
			left = right
		}
		return aBool
	case opNegate, opPlus:
		c.want(n.args[0], c.check(n.args[0]), Number, "a sign", "")
		return aNumber
	}
	return c.operator(n)
}

func (c *checker) truth(n *node, what string) {
	c.want(n, c.check(n), Bool, what, helpTruth(n))
}

// pick is the type of a fallback or gate. Null never comes out of an operand, except of a literal; in a loop it means
// absence.
func (c *checker) pick(n *node) *Type {
	var out *Type
	first := true
	closed := false // nothing can come after a literal
	for _, a := range n.args {
		t := c.check(a)
		if a.constant() && n.op == opFallback {
			closed = true
		} else {
			if t != nil && t.Kinds == Null {
				continue
			}
			t = t.without(Null)
		}
		if first || n.op == opGate {
			out, first = t, false
		} else {
			out = either(out, t, 0)
		}
		if closed {
			break
		}
	}
	if n.open() && !closed {
		out = out.with(Null)
	}
	return out
}

// constant reports whether a node is a literal, or a list, an object or a text of
// them.
func (n *node) constant() bool {
	return n.op == opLiteral || (n.op == opList || n.op == opObject || n.op == opText) && !slices.ContainsFunc(n.args, func(a *node) bool { return !a.constant() })
}

func (c *checker) object(n *node) *Type {
	out := &Type{Kinds: Object, Fields: map[string]*Type{}}
	for i := 0; i < len(n.args); i += 2 {
		key := c.check(n.args[i])
		c.want(n.args[i], key, String, "a key", "write string(…)")
		value := c.check(n.args[i+1])
		if name, ok := n.args[i].value.(string); ok && n.args[i].op == opLiteral {
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

func (c *checker) member(n *node) *Type {
	base := c.check(n.args[0])
	if c.err != nil {
		return nil
	}
	kinds := base.kinds()
	wanted := Object
	if n.soft {
		wanted |= Null
	}
	c.suspect(base, wanted)
	switch {
	case kinds&Object != 0:
	case kinds&Array != 0:
		c.fail(n, "a list has no key "+quote(n.name), "read one item with [0], all with map(."+bareStart(n.name)+")")
		return nil
	case kinds&Null != 0 && n.soft:
		return &Type{Kinds: Null}
	default:
		c.fail(n, kinds.String()+" has no key "+quote(n.name), "")
		return nil
	}
	if base == nil {
		return nil
	}
	field, known := base.Fields[n.name]
	switch {
	case known && n.soft:
		return field.with(Null)
	case known:
		return field
	case kinds&^Null == Object && base.Rest != nil:
		return base.Rest.with(Null)
	case kinds&^Null != Object || base.open() || n.soft:
		c.blind = c.blind || !n.soft
		return nil
	}
	c.fail(n, "there is no field "+quote(n.name), helpField(n.name, base.Fields))
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

func (c *checker) at(n *node) *Type {
	base, key := c.check(n.args[0]), c.check(n.args[1])
	wanted := Array | Object | String
	if n.soft {
		wanted |= Null
	}
	if !c.want(n.args[0], base, wanted, "an index", "") {
		return nil
	}
	var keys KindSet
	kinds := base.kinds()
	if kinds&Object != 0 {
		keys |= String
	}
	if kinds&(Array|String) != 0 {
		keys |= Number
	}
	if keys != 0 && !c.want(n.args[1], key, keys, "the index of "+kinds.without(Null).String(), "") {
		return nil
	}
	var out *Type
	switch kinds &^ Null {
	case Array:
		out = base.Elem
	case String:
		out = aString
	}
	if n.soft {
		out = out.with(Null)
	}
	return out
}

func (k KindSet) without(kinds KindSet) KindSet { return k &^ kinds }

// loop checks one of loops.
func (c *checker) loop(n *node) *Type {
	base := c.check(n.args[0])
	if !c.want(n.args[0], base, Array, quote(n.name), "") {
		return nil
	}
	base = base.without(Null)
	item := itemType{item: base.elem()}
	var start *Type
	if len(n.args) == 3 {
		start = c.check(n.args[2])
		if n.name == "sortBy" {
			c.want(n.args[2], start, String, "the order of a sort", "write \"asc\" or \"desc\"")
		}
	}
	body, at := item.item, n.args[0]
	if len(n.args) > 1 {
		c.items = append(c.items, item)
		body, at = c.check(n.args[1]), n.args[1]
		c.items = c.items[:len(c.items)-1]
	}
	switch n.name {
	case "map":
		return &Type{Kinds: Array, Elem: body}
	case "sum":
		c.want(at, body, Number, "\"sum\"", "")
		return aNumber
	case "groupBy":
		c.want(at, body, String|Number|Bool, "\"groupBy\"", "")
		return &Type{Kinds: Object, Open: true, Rest: base}
	case "sortBy":
		c.want(at, body, Number|String|date|duration, "\"sortBy\"", "")
		return base
	case "reduce":
		if len(n.args) < 3 {
			return either(item.item, body, 0)
		}
		return either(start, body, 0)
	}
	c.want(at, body, Bool, quote(n.name), helpTruth(at))
	switch n.name {
	case "filter":
		return base
	case "count":
		return aNumber
	case "find", "findLast":
		return item.item.with(Null)
	case "findIndex", "findLastIndex":
		return maybe
	}
	return aBool
}

func (c *checker) call(n *node) *Type {
	var first *Type
	for i, a := range n.args {
		t := c.check(a)
		if i == 0 {
			first = t
		}
		c.want(a, t, n.fn.param(i), quote(n.name), "")
	}
	if n.name == "get" && len(n.args) == 2 {
		return c.got(n, first)
	}
	switch {
	case n.fn.items:
		return first.elem().with(Null)
	case n.fn.same:
		return first.without(Null)
	case n.name == "values":
		return &Type{Kinds: Array, Elem: first.parts()}
	case n.name == "fromPairs":
		return &Type{Kinds: Object, Open: true, Rest: first.elem().elem()}
	}
	return n.fn.result
}

// got is the type of what get finds.
func (c *checker) got(n *node, base *Type) *Type {
	if base == nil {
		return nil
	}
	if base.Kinds&^Null == Array {
		return base.Elem.with(Null)
	}
	name, _ := n.args[1].value.(string)
	if n.args[1].op != opLiteral || base.Kinds&^Null != Object {
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

func (c *checker) method(n *node) *Type {
	of := methods[n.name]
	wanted := date
	if of.date == nil {
		wanted = duration
	}
	for i, a := range n.args {
		t := c.check(a)
		if i == 0 {
			c.want(a, t, wanted, quote(n.name), "date(…) and duration(…) read them")
		} else {
			c.want(a, t, String, quote(n.name), "")
		}
	}
	return of.result
}

// sizes are the kinds with an order.
const sizes = Number | String | date | duration

// ordered checks two values that are compared by size.
func (c *checker) ordered(left, right *node, a, b *Type) {
	x, y := a.kinds(), b.kinds()
	c.mayFail = c.mayFail || x != y || x != Number && x != String
	switch {
	case x&sizes == 0:
		c.fail(left, x.String()+" can't be compared by size", "")
	case y&sizes == 0:
		c.fail(right, y.String()+" can't be compared by size", "")
	case x&y&sizes == 0:
		c.fail(right, (x&sizes).String()+" can't be compared with "+(y&sizes).String(), "")
	}
}

// operator checks the operators between two values.
func (c *checker) operator(n *node) *Type {
	left, right := n.args[0], n.args[1]
	a := c.check(left)
	b := c.check(right)
	if c.err != nil {
		return nil
	}
	x, y := a.kinds(), b.kinds()
	switch n.op {
	case opEqual, opUnequal:
		// Asking whether a value is null is never wrong.
		if x&y == 0 && x != Null && y != Null {
			c.fail(right, x.String()+" never equals "+y.String(), helpEqual(x, y))
		}
		return aBool
	case opLess, opLessEqual, opMore, opMoreEqual:
		c.ordered(left, right, a, b)
		return aBool
	case opIn:
		help := ""
		if y&String != 0 {
			help = "a piece of a string is found by contains"
		}
		if !c.want(right, b, Array|Object|Null, "\"in\"", help) {
			return nil
		}
		switch item := b.elem(); {
		case y&Object != 0 && y&Array != 0:
			c.suspect(a, String)
		case y&^Null == Object:
			c.want(left, a, String, "\"in\" an object", "")
		case y&^Null == Array && item.kinds()&x == 0:
			c.fail(left, x.String()+" is never in a list of which each item is "+item.kinds().String(), "")
		}
		return aBool
	case opMatches, opContains, opStarts, opEnds:
		help := ""
		if n.op == opContains && x&Array != 0 {
			help = "an item of a list is found by in: item in list"
		}
		c.want(left, a, String|Null, quote(binaryNames[n.op]), help)
		c.want(right, b, String|Null, quote(binaryNames[n.op]), "")
		return aBool
	case opRange:
		c.want(left, a, Number, "a range", "")
		c.want(right, b, Number, "a range", "")
		return numbers
	}
	return c.arithmetic(n, x, y)
}

func helpEqual(x, y KindSet) string {
	if x|y == Number|String {
		return "write the number without quotes, or string(…) around it"
	}
	return ""
}

// sums are the kinds between which each operator calculates, and what comes out.
var sums = map[op][][3]KindSet{
	opAdd: {{Number, Number, Number}, {String, String, String}, {date, duration, date}, {duration, date, date},
		{duration, duration, duration}},
	opSubtract: {{Number, Number, Number}, {date, date, duration}, {date, duration, date}, {duration, duration, duration}},
	opMultiply: {{Number, Number, Number}, {duration, Number, duration}, {Number, duration, duration}},
	opDivide:   {{Number, Number, Number}},
	opModulo:   {{Number, Number, Number}},
	opPower:    {{Number, Number, Number}},
}

func (c *checker) arithmetic(n *node, x, y KindSet) *Type {
	var out, left, right KindSet
	if !c.times {
		x, y = x&AnyKind, y&AnyKind
	}
	c.mayFail = c.mayFail || x != y || x != Number && (x != String || n.op != opAdd)
	for _, s := range sums[n.op] {
		left |= s[0]
		if x&s[0] != 0 {
			right |= s[1]
			if y&s[1] != 0 {
				out |= s[2]
			}
		}
	}
	name := quote(binaryNames[n.op])
	hidden := date | duration
	switch {
	case right == 0:
		help := ""
		if x&Array != 0 && n.op == opAdd {
			help = "lists are joined by concat(…, …)"
		}
		c.fail(n.args[0], name+" wants "+(left&^hidden).String()+", and this is "+x.String(), help)
	case out == 0:
		shown := right
		if right&^hidden != 0 {
			shown = right &^ hidden
		}
		help := ""
		if n.op == opAdd && x == String {
			help = "write string(…) to join it"
		} else if y == String && right&String == 0 {
			help = "write float(…) to read it as a number"
		}
		c.fail(n.args[1], name+" wants "+shown.String()+" here, and this is "+y.String(), help)
	}
	if out == 0 {
		return nil
	}
	return &Type{Kinds: out}
}
