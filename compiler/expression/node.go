package expression

import "math"

// op is what a node does.
type op uint8

const (
	opLiteral  op = iota // value
	opRef                // refs[index]; soft: absent gives null
	opFallback           // args in order
	opGate               // args in order
	opVar                // the parameter name
	opParams             // all parameters, as an object
	opLocal              // the let variable index
	opItem               // the item of the innermost loop
	opIndex              // its index
	opAcc                // what reduce has so far
	opLet                // args[0] is the value of local index, args[1] what is done with it
	opCond               // args[0] ? args[1] : args[2]
	opList               // args
	opObject             // args[2i] is a key, args[2i+1] its value
	opMember             // args[0].name; soft: null of null
	opAt                 // args[0][args[1]]; soft: null of null
	opSlice              // args[0][args[1]:args[2]], both may be nil
	opChain              // args[0] ops[0] args[1] ops[1] args[2] …, comparisons that all hold
	opLoop               // name over args[0] with args[1] once per item; args[2] is reduce's start or sortBy's order
	opCall               // fn with args
	opMethod             // name on args[0] with the others
	opText               // args one after the other, as text
	opNot
	opNegate
	opPlus
	opOr
	opAnd
	opEqual
	opUnequal
	opLess
	opLessEqual
	opMore
	opMoreEqual
	opIn
	opMatches
	opContains
	opStarts
	opEnds
	opRange
	opAdd
	opSubtract
	opMultiply
	opDivide
	opModulo
	opPower
)

// binding strengths, as the grammar has them; 0 is the weakest.
const (
	bindLet     = 0
	bindCond    = 1
	bindOr      = 10
	bindAnd     = 15
	bindCompare = 20
	bindRange   = 25
	bindAdd     = 30
	bindNot     = 50
	bindMul     = 60
	bindSign    = 90
	bindPower   = 100
	bindPrimary = 1000
)

// binary are the operators between two values, by the grammar's name.
var binary = map[string]struct {
	op   op
	bind int
}{
	"or": {opOr, bindOr}, "||": {opFallback, bindOr}, "and": {opAnd, bindAnd}, "&&": {opGate, bindAnd},
	"==": {opEqual, bindCompare}, "!=": {opUnequal, bindCompare}, "<": {opLess, bindCompare}, ">": {opMore, bindCompare},
	"<=": {opLessEqual, bindCompare}, ">=": {opMoreEqual, bindCompare}, "in": {opIn, bindCompare},
	"matches": {opMatches, bindCompare}, "contains": {opContains, bindCompare},
	"startsWith": {opStarts, bindCompare}, "endsWith": {opEnds, bindCompare}, "..": {opRange, bindRange},
	"+": {opAdd, bindAdd}, "-": {opSubtract, bindAdd}, "*": {opMultiply, bindMul}, "/": {opDivide, bindMul},
	"%": {opModulo, bindMul}, "**": {opPower, bindPower},
}

// binaryNames are the operators' names by op.
var binaryNames = func() (names [opPower + 1]string) {
	for name, o := range binary {
		names[o.op] = name
	}
	return names
}()

// A node is a part of an expression. It isn't changed once it is lowered, so
// that any number of goroutines may evaluate it at once.
type node struct {
	op         op
	soft       bool
	start, end int // its place in the text, in bytes
	index      int
	name       string
	value      any
	args       []*node
	ops        []op
	fn         *function
	pattern    *pattern // of opMatches with a constant pattern

	// Where presence matters, the node is the root of an expression, or an operand of a fallback or gate that doesn't
	// depend on a loop's item or a let. atoms are then what the rest of it can't do without: references, and fallbacks and
	// gates below that are settled before the rest is looked at.
	atoms []*node
	slot  int // where a fallback or gate that is an atom keeps its value; -1: it is evaluated in place

	// what is free in it: the items of a loop around it, and the let variables
	// from this index on
	item  bool
	local int
}

const noLocal = math.MaxInt

// open reports whether a node's value changes from one item of a loop to the next, or depends on a let.
func (n *node) open() bool { return n.item || n.local != noLocal }

func (n *node) isPresence() bool { return n.op == opFallback || n.op == opGate }

// seal works out what is free in a node, and in what is below it, and where
// fallbacks and gates keep their values.
func (l *lowering) seal(n *node) {
	n.local, n.slot = noLocal, -1
	switch n.op {
	case opItem, opIndex, opAcc:
		n.item = true
	case opLocal:
		n.local = n.index
	}
	for i, a := range n.args {
		if a == nil {
			continue
		}
		l.seal(a)
		if !(n.op == opLoop && i == 1) {
			n.item = n.item || a.item
		}
		if a.local != noLocal && !(n.op == opLet && i == 1 && a.local >= n.index) {
			n.local = min(n.local, a.local)
		}
	}
}

// settle marks the places where presence matters, from a root down.
func (l *lowering) settle(n *node) {
	switch {
	case n.op == opLiteral || n.op == opRef:
	case n.isPresence() && !n.open():
		for _, a := range n.args {
			l.settle(a)
		}
	default:
		l.gather(n, n, false)
	}
}

// gather lists in root what it can't do without. Within an operand of a
// fallback that is evaluated in place, nothing is indispensable.
func (l *lowering) gather(root, n *node, dispensable bool) {
	switch {
	case n == nil:
	case n.op == opRef:
		if !dispensable {
			root.atoms = append(root.atoms, n)
		}
	case n != root && n.isPresence() && !n.open() && !dispensable:
		n.slot = l.slots
		l.slots++
		root.atoms = append(root.atoms, n)
		l.settle(n)
	default:
		for _, a := range n.args {
			l.gather(root, a, dispensable || n.op == opFallback)
		}
	}
}
