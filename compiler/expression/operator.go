package expression

import "slices"

// How strongly operators bind, as the grammar has it; 0 is the weakest.
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

// An operator is one between two values. The parser, the checker, the evaluator, the printer and the messages read the
// same entry.
type operator struct {
	name  string // in the grammar
	bind  int
	forms []form // nil: all values are accepted
}

// A form is a pair of kinds that an operator accepts, and the kinds of the result.
type form struct{ left, right, result KindSet }

var (
	ofNumbers  = []form{{Number, Number, Number}}
	ofBooleans = []form{{Bool, Bool, Bool}}
	ofTexts    = []form{{String | Null, String | Null, Bool}}
	bySize     = []form{{Number, Number, Bool}, {String, String, Bool}, {date, date, Bool}, {duration, duration, Bool}}
)

// operators are the operators by what a node does.
var operators = [...]operator{
	OpFallback:  {name: "||", bind: bindOr},
	OpGate:      {name: "&&", bind: bindAnd},
	OpOr:        {name: "or", bind: bindOr, forms: ofBooleans},
	OpAnd:       {name: "and", bind: bindAnd, forms: ofBooleans},
	OpEqual:     {name: "==", bind: bindCompare},
	OpUnequal:   {name: "!=", bind: bindCompare},
	OpLess:      {name: "<", bind: bindCompare, forms: bySize},
	OpLessEqual: {name: "<=", bind: bindCompare, forms: bySize},
	OpMore:      {name: ">", bind: bindCompare, forms: bySize},
	OpMoreEqual: {name: ">=", bind: bindCompare, forms: bySize},
	OpIn:        {name: "in", bind: bindCompare, forms: []form{{anything, Array | Null, Bool}, {String, Object, Bool}}},
	OpMatches:   {name: "matches", bind: bindCompare, forms: ofTexts},
	OpContains:  {name: "contains", bind: bindCompare, forms: ofTexts},
	OpStarts:    {name: "startsWith", bind: bindCompare, forms: ofTexts},
	OpEnds:      {name: "endsWith", bind: bindCompare, forms: ofTexts},
	OpRange:     {name: "..", bind: bindRange, forms: []form{{Number, Number, Array}}},
	OpAdd: {name: "+", bind: bindAdd, forms: []form{
		{Number, Number, Number}, {String, String, String},
		{date, duration, date}, {duration, date, date}, {duration, duration, duration},
	}},
	OpSubtract: {name: "-", bind: bindAdd, forms: []form{
		{Number, Number, Number}, {date, date, duration}, {date, duration, date}, {duration, duration, duration},
	}},
	OpMultiply: {name: "*", bind: bindMul, forms: []form{
		{Number, Number, Number}, {duration, Number, duration}, {Number, duration, duration},
	}},
	OpDivide: {name: "/", bind: bindMul, forms: ofNumbers},
	OpModulo: {name: "%", bind: bindMul, forms: ofNumbers},
	OpPower:  {name: "**", bind: bindPower, forms: ofNumbers},
}

// operatorFor is the operator of a name in the grammar.
func operatorFor(name string) (Op, bool) {
	i := slices.IndexFunc(operators[:], func(o operator) bool { return o.name == name })
	return Op(i), i >= 0 && name != ""
}

// operands is the kinds of what a node's operator results in between operands of some kinds, or which operand is of no
// kind that it accepts.
func (n *Node) operands(x, y KindSet) (result KindSet, problem *Error) {
	var left, right KindSet
	for _, f := range operators[n.Op].forms {
		left |= f.left
		if x&f.left != 0 {
			right |= f.right
			if y&f.right != 0 {
				result |= f.result
			}
		}
	}
	if result != 0 {
		return result, nil
	}
	name := quote(operators[n.Op].name)
	switch a, b := n.Args[0], n.Args[1]; {
	case n.Op.Orders() && right == 0:
		return 0, fail(a.Start, a.End, x.String()+" can't be compared by size", conversion(a, name, left, x))
	case n.Op.Orders() && y&left == 0:
		return 0, fail(b.Start, b.End, y.String()+" can't be compared by size", conversion(b, name, right, y))
	case n.Op.Orders():
		message := (x & left).String() + " can't be compared with " + y.String()
		return 0, fail(b.Start, b.End, message, conversion(b, name, right, y))
	case right == 0:
		return 0, mismatch(a, name, "", left, x)
	default:
		return 0, mismatch(b, name, " here", right, y)
	}
}

// mayMismatch reports whether a node's operator refuses operands of some of these kinds.
func (n *Node) mayMismatch(x, y KindSet) bool {
	forms := operators[n.Op].forms
	for left := KindSet(1); left <= x && forms != nil; left <<= 1 {
		var right KindSet
		for _, f := range forms {
			if f.left&left != 0 {
				right |= f.right
			}
		}
		if x&left != 0 && y&^right != 0 {
			return true
		}
	}
	return false
}

// mismatch is the error of a node whose value has another kind than is wanted: by what, and where if that needs saying.
func mismatch(n *Node, what, where string, want, got KindSet) *Error {
	shown := want &^ Null
	if shown&^(date|duration) != 0 {
		shown &^= date | duration
	}
	message := what + " wants " + shown.String() + where + ", and this is " + got.String()
	return fail(n.Start, n.End, message, conversion(n, what, want, got))
}

// conversion is what to do about a value of another kind than is wanted.
func conversion(n *Node, what string, want, got KindSet) string {
	switch {
	case want == Bool:
		return helpTruth(n)
	case got == Null && want&Array != 0:
		return "write … || [] to have an empty list instead"
	case got == Null:
		return "write … || 0, or … || \"\", to have a value in its place"
	case what == `"+"` && got&Array != 0:
		return "lists are joined by concat(…, …)"
	case what == `"contains"` && got&Array != 0:
		return "an item of a list is found by in: item in list"
	case what == `"in"` && got&String != 0:
		return "a piece of a string is found by contains"
	case got&String != 0 && want&Number != 0 && what == `"+"`:
		return "write float(…) to read it as a number, or string(…) around the other"
	case got&String != 0 && want&Number != 0:
		return "write float(…) to read it as a number"
	case got&(Number|Bool) != 0 && want&String != 0:
		return "write string(…) around it to have a string"
	case got&Object != 0 && want&Array != 0:
		return "use values(…) for an object's values"
	case got&(Array|Object) != 0 && want&Number != 0:
		return "write len(…) around it to have its length"
	case want&date != 0:
		return "date(…) reads one"
	case want&duration != 0:
		return "duration(…) reads one, and so does the difference of two dates"
	}
	return ""
}

func helpTruth(n *Node) string {
	switch n.Op {
	case OpFallback:
		return "|| is the first value that is set; write or for booleans"
	case OpGate:
		return "&& is the last value when all are set; write and for booleans"
	}
	return "compare it, as in x != null or x > 0"
}
