package expression

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
)

// Op is what a node does with its operands.
type Op uint8

// The operations. Args are the operands in the order of the text, unless the operation says otherwise.
const (
	OpLiteral  Op = iota // Value
	OpRef                // the reference Index of References; soft: null while it is absent
	OpFallback           // the first operand that has a value: || and ??
	OpGate               // the last operand, once all have a value: &&
	OpVar                // the parameter Name
	OpParams             // all parameters, as an object
	OpLocal              // the let variable Index
	OpItem               // the item of the innermost loop
	OpIndex              // its index
	OpAcc                // what reduce has so far
	OpLet                // Args[0] is the value of the variable Index, Args[1] the expression that uses it
	OpCond               // Args[0] ? Args[1] : Args[2]
	OpList               // a list of the operands
	OpObject             // Args[2i] is a key, Args[2i+1] its value
	OpMember             // Args[0][Args[1]], also written with a dot; soft: null of null
	OpSlice              // Args[0][Args[1]:Args[2]], where a bound may be nil; soft: null of null
	OpCall               // the function or method Name of the operands
	OpText               // the operands one after the other, as text
	OpNot
	OpNegate
	OpPlus
	OpOr
	OpAnd // of a < b < c, which is a < b and b < c, the Name is the second operator
	OpEqual
	OpUnequal
	OpLess
	OpLessEqual
	OpMore
	OpMoreEqual
	OpIn
	OpMatches
	OpContains
	OpStarts
	OpEnds
	OpRange
	OpAdd
	OpSubtract
	OpMultiply
	OpDivide
	OpModulo
	OpPower
)

// Compares reports whether an operation compares two values: == != < <= > >=.
func (o Op) Compares() bool { return o >= OpEqual && o <= OpMoreEqual }

// Orders reports whether an operation compares two values by size.
func (o Op) Orders() bool { return o >= OpLess && o <= OpMoreEqual }

// A Node is an expression or a part of one. Nodes are read-only: all users share them.
type Node struct {
	Op         Op
	Soft       bool // see Op
	Constant   bool // the node is a literal, or a list, an object or a text of literals, and Value its value
	Start, End int  // bytes of the expression's text
	Index      int
	Name       string // of a variable, function or method; of an operator as it is written
	Value      any
	Args       []*Node

	// Needs are the references that a node can't do without, and the fallbacks and gates below it that are evaluated
	// first. Only the root has them, and operands of fallbacks and gates.
	Needs []*Node

	fn      *function
	pattern *pattern // of OpMatches with a constant pattern
	slot    int      // where a fallback or gate among Needs stores its value; -1: it is evaluated in place

	// What is free in the node: the items of a loop around it, and the let variables from this index on.
	item  bool
	local int
}

const noLocal = math.MaxInt

// Open reports whether a node's value changes from one item of a loop to the next, or depends on a let.
func (n *Node) Open() bool { return n.item || n.local != noLocal }

// IsPresence reports whether a node chooses by whether its operands have a value.
func (n *Node) IsPresence() bool { return n.Op == OpFallback || n.Op == OpGate }

// All is the node and every node below it, each before its operands. The operand in the middle of a < b < c occurs
// twice.
func (n *Node) All() iter.Seq[*Node] {
	return func(yield func(*Node) bool) { n.walk(yield) }
}

func (n *Node) walk(yield func(*Node) bool) bool {
	if n == nil {
		return true
	}
	return yield(n) && !slices.ContainsFunc(n.Args, func(a *Node) bool { return !a.walk(yield) })
}

// Shape is a part of the expression as its tree has it: parts that differ only in blanks, quotes, the spelling of
// numbers or needless parentheses have the same. If named isn't nil it names the references, by their index, so that
// parts that differ in them alone have the same shape.
func (e *Expr) Shape(n *Node, named func(ref int) string) string {
	if n == nil { // a bound of a slice that is left out
		return "_"
	}
	shape := strconv.Itoa(int(n.Op)) + n.Name
	switch {
	case n.Op == OpLiteral:
		return fmt.Sprintf("%#v", n.Value)
	case n.Op == OpRef && named != nil:
		shape = named(n.Index)
	case n.Op == OpRef:
		shape = e.refs[n.Index].String()
	}
	if n.Soft {
		shape += "?"
	}
	for _, a := range n.Args {
		shape += "(" + e.Shape(a, named) + ")"
	}
	return shape
}

// key is the key of a member that is written out.
func (n *Node) key() (string, bool) {
	name, ok := n.Args[1].Value.(string)
	return name, ok && n.Args[1].Op == OpLiteral
}

// any reports whether a condition holds for the node or a node below it.
func (n *Node) any(holds func(*Node) bool) bool {
	return !n.walk(func(n *Node) bool { return !holds(n) })
}

// seal finds out of a node and all below it what is constant, and what is free.
func (n *Node) seal() {
	n.local, n.slot = noLocal, -1
	switch n.Op {
	case OpItem, OpIndex, OpAcc:
		n.item = true
	case OpLocal:
		n.local = n.Index
	}
	for i, a := range n.Args {
		if a == nil {
			continue
		}
		a.seal()
		if n.fn == nil || !n.fn.param(i).perItem {
			n.item = n.item || a.item
		}
		if a.local != noLocal && !(n.Op == OpLet && i == 1 && a.local >= n.Index) {
			n.local = min(n.local, a.local)
		}
	}
	n.Constant = n.Op == OpLiteral
	if (n.Op == OpList || n.Op == OpObject || n.Op == OpText) &&
		!slices.ContainsFunc(n.Args, func(a *Node) bool { return !a.Constant }) {
		value, err := (&Expr{}).evaluation(nil, nil).attempt(n)
		n.Value, n.Constant = value, err == nil
	}
}

// settle finds what a root, or an operand of a fallback or gate, can't do without.
func (l *lowering) settle(n *Node) {
	switch {
	case n.Op == OpLiteral || n.Op == OpRef:
	case n.IsPresence() && !n.Open():
		for _, a := range n.Args {
			l.settle(a)
		}
	default:
		l.gather(n, n, false)
	}
}

// gather lists in root what it can't do without. Within an operand of a fallback that is evaluated in place, nothing is
// indispensable.
func (l *lowering) gather(root, n *Node, dispensable bool) {
	switch {
	case n == nil:
	case n.Op == OpRef:
		if !dispensable {
			root.Needs = append(root.Needs, n)
		}
	case n != root && n.IsPresence() && !n.Open() && !dispensable:
		if n.slot < 0 {
			n.slot = l.slots
			l.slots++
			l.settle(n)
			root.Needs = append(root.Needs, n)
		}
	default:
		for _, a := range n.Args {
			l.gather(root, a, dispensable || n.Op == OpFallback)
		}
	}
}

// Alternatives reports whether the expression is references joined by || and nothing else, but that it may end with a
// literal.
func (e *Expr) Alternatives() (yes, literal bool) {
	if e.root == nil || e.root.Op != OpFallback {
		return false, false
	}
	last := len(e.root.Args) - 1
	for i, a := range e.root.Args {
		if a.Op == OpLiteral && i == last {
			return true, true
		}
		if a.Op != OpRef {
			return false, false
		}
	}
	return true, false
}

// Deciding calls f with the references that only decide by their presence whether there is a value: those in the
// operands of a gate but its last.
func (e *Expr) Deciding(f func(ref int)) { e.root.deciding(false, f) }

func (n *Node) deciding(inside bool, f func(ref int)) {
	switch {
	case n == nil:
	case n.Op == OpRef && inside:
		f(n.Index)
	default:
		for i, operand := range n.Args {
			operand.deciding(inside || n.Op == OpGate && i < len(n.Args)-1, f)
		}
	}
}
