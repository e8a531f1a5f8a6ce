package expression

import "math"

// MayFail reports whether there are values of the types of the references with which the expression fails, where
// [Expr.Check] finds nothing that always fails: a value of another kind than is wanted, an index past the end, a
// division by zero. Where it is false the expression can only fail by its limits.
//
// It is blind where it looks at what no type speaks of: a key of an object that may have
// others than are named, what is read from JSON. Then a failure with some values shows
// nothing, as there may be more in them.
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

// suspect notes that a value of a type may not do where one of some kinds is needed.
func (c *checker) suspect(t *Type, kinds KindSet) {
	all := t.kinds()
	if !c.times {
		all &= AnyKind
	}
	c.mayFail = c.mayFail || all&^kinds != 0
}

// total are the functions that give a value for all arguments of their kinds.
var total = map[string]bool{
	"len": true, "type": true, "abs": true, "ceil": true, "floor": true, "round": true, "string": true, "trim": true, "trimPrefix": true, "trimSuffix": true,
	"upper": true, "lower": true, "split": true, "replace": true, "indexOf": true, "lastIndexOf": true, "hasPrefix": true, "hasSuffix": true, "toJSON": true, "toBase64": true,
	"first": true, "last": true, "keys": true, "values": true, "toPairs": true, "reverse": true, "uniq": true, "concat": true, "flatten": true,
}

// noteFailures notes what may fail of a node although the kinds of its operands are right.
func (c *checker) noteFailures(n *node) {
	literal := func(i int) bool { return len(n.args) > i && n.args[i] != nil && n.args[i].op == opLiteral }
	switch n.op {
	case opDivide:
		c.mayFail = c.mayFail || !literal(1) || n.args[1].value == 0.0
	case opModulo, opPower, opMethod:
		c.mayFail = true
	case opRange:
		c.mayFail = c.mayFail || !literal(0) || !literal(1) || !isShort(n.args[0].value, n.args[1].value)
	case opAt:
		c.mayFail = c.mayFail || !literal(1) || kindOf(n.args[1].value) != String
	case opSlice:
		for i := range n.args[1:] {
			c.mayFail = c.mayFail || n.args[1+i] != nil && !literal(1+i)
		}
	case opMatches:
		c.mayFail = c.mayFail || n.pattern == nil
	case opLoop:
		c.mayFail = c.mayFail || n.name == "reduce" && len(n.args) < 3 || n.name == "sortBy"
	case opCall:
		c.blind = c.blind || n.name == "fromJSON"
		c.mayFail = c.mayFail || !total[n.name] || (n.name == "split" || n.name == "replace") && literal(len(n.args)-1) && len(n.args) > n.fn.least
	}
}

// constants fails for a part without references that fails whenever it is worked out.
func (c *checker) constants(n *node) {
	switch {
	case n == nil || c.err != nil || n.op == opLiteral:
	case !n.open() && !n.varies():
		m := &evaluation{expr: c.expr, most: Meter{constantSteps, constantMemory}}
		if l := c.expr.limits; l != nil {
			m.most = Meter{min(m.most.Steps, l.Steps), min(m.most.Memory, l.Memory)}
		}
		m.locals = make([]any, c.expr.locals)
		if _, err := m.attempt(n); err != nil && !m.spent() {
			c.err, _ = err.(*Error)
		}
	default:
		for _, a := range n.args {
			c.constants(a)
		}
	}
}

// What working out a part without references may take while an expression is checked.
const (
	constantSteps  = 10_000
	constantMemory = 1 << 20
)

// spent reports whether an evaluation has taken more than it may.
func (m *evaluation) spent() bool { return m.steps > m.most.Steps || m.memory > m.most.Memory }

// varies reports whether a node's value depends on something outside of it.
func (n *node) varies() bool {
	if n == nil {
		return false
	}
	switch n.op {
	case opRef, opVar, opParams, opFallback, opGate:
		return true
	}
	for _, a := range n.args {
		if a.varies() {
			return true
		}
	}
	return false
}

// isShort reports whether a range is of integers, and of so few that it is made anywhere.
func isShort(from, to any) bool {
	const few = 1000
	a, ok := from.(float64)
	b, both := to.(float64)
	return ok && both && a == math.Trunc(a) && b == math.Trunc(b) && b-a <= few
}

// Literals calls f for every number and text that the expression holds word for word.
func (e *Expr) Literals(f func(any)) {
	var walk func(n *node)
	walk = func(n *node) {
		if n == nil {
			return
		}
		if n.op == opLiteral {
			f(n.value)
		}
		for _, a := range n.args {
			walk(a)
		}
	}
	walk(e.tree())
}
