package expression

import (
	"strings"
	"unicode/utf8"

	"github.com/obelus-dev/obelus/compiler/wording"
)

// run evaluates a node whose indispensable references are set. What fails leaves it by a panic, see
// [evaluation.attempt].
func (m *evaluation) run(n *Node) any {
	m.step(n, 1)
	switch n.Op {
	case OpLiteral:
		return n.Value
	case OpRef:
		return m.required(n)
	case OpFallback, OpGate:
		return m.pick(n)
	case OpVar:
		return m.params[n.Name]
	case OpParams:
		if m.params == nil {
			return map[string]any{}
		}
		return m.params
	case OpLocal:
		return m.locals[n.Index]
	case OpItem:
		return m.scopes[len(m.scopes)-1].item
	case OpIndex:
		return float64(m.scopes[len(m.scopes)-1].index)
	case OpAcc:
		return m.scopes[len(m.scopes)-1].acc
	case OpLet:
		m.locals[n.Index] = m.run(n.Args[0])
		return m.run(n.Args[1])
	case OpCond:
		if m.truth(n, 0, "a condition") {
			return m.run(n.Args[1])
		}
		return m.run(n.Args[2])
	case OpNot:
		return !m.truth(n, 0, "\"not\"")
	case OpAnd:
		return m.truth(n, 0, "\"and\"") && m.truth(n, 1, "\"and\"")
	case OpOr:
		return m.truth(n, 0, "\"or\"") || m.truth(n, 1, "\"or\"")
	case OpNegate:
		return -m.signed(n)
	case OpPlus:
		return m.signed(n)
	case OpList:
		return m.list(n)
	case OpObject:
		return m.object(n)
	case OpMember:
		return m.member(n)
	case OpSlice:
		return m.slice(n)
	case OpLoop:
		return m.loop(n)
	case OpCall, OpMethod:
		return m.call(n)
	case OpText:
		return m.text(n)
	case OpChain:
		return m.chain(n)
	}
	left := m.run(n.Args[0])
	return m.operator(n, left, m.run(n.Args[1]))
}

// required is the value of a reference.
func (m *evaluation) required(n *Node) any {
	switch s := m.reference(n); {
	case s.presence == There:
		return s.value
	case s.presence == Pending:
		panic(abandoned{errPending})
	case n.Soft:
		return nil
	}
	panic(abandoned{errAbsent})
}

// pick evaluates a fallback or gate whose value isn't stored: one that depends on a loop's item or a let. Where it is
// absent it is null.
func (m *evaluation) pick(n *Node) any {
	if n.slot >= 0 {
		if err := m.kept[n.slot].err; err != nil {
			panic(abandoned{err})
		}
		return m.kept[n.slot].value
	}
	var last any
	for _, a := range n.Args {
		value, err := m.attempt(a)
		if err != nil && err != errAbsent {
			panic(abandoned{err})
		}
		isSet := value != nil
		if n.Op == OpFallback && (isSet || a.Op == OpLiteral) || n.Op == OpGate && !isSet {
			return value
		}
		last = value
	}
	return last
}

// want evaluates an argument of a call, which must be of some kinds.
func (m *evaluation) want(n *Node, kinds KindSet, call *Node) any {
	v := m.run(n)
	if kindOf(v)&kinds == 0 {
		where := ""
		if call.Op == OpLoop && n != call.Args[0] {
			where = " of each item"
		}
		panic(abandoned{mismatch(n, quote(call.Name), where, kinds, kindOf(v))})
	}
	return v
}

// truth evaluates an operand that must be true or false.
func (m *evaluation) truth(n *Node, operand int, what string) bool {
	a := n.Args[operand]
	v := m.run(a)
	b, ok := v.(bool)
	if !ok {
		panic(abandoned{mismatch(a, what, "", Bool, kindOf(v))})
	}
	return b
}

// signed evaluates the operand of a sign.
func (m *evaluation) signed(n *Node) float64 {
	v := m.run(n.Args[0])
	number, ok := v.(float64)
	if !ok {
		panic(abandoned{mismatch(n.Args[0], "a sign", "", Number, kindOf(v))})
	}
	return number
}

func (m *evaluation) list(n *Node) any {
	m.grow(n, listItem*len(n.Args))
	out := make([]any, len(n.Args))
	for i, a := range n.Args {
		out[i] = m.run(a)
	}
	return out
}

func (m *evaluation) object(n *Node) any {
	m.grow(n, objectField*len(n.Args))
	out := make(map[string]any, len(n.Args)/2)
	for i := 0; i < len(n.Args); i += 2 {
		k := m.run(n.Args[i])
		key, ok := k.(string)
		if !ok {
			panic(abandoned{mismatch(n.Args[i], "a key", "", String, kindOf(k))})
		}
		out[key] = m.run(n.Args[i+1])
	}
	return out
}

// member reads a key of an object or an item of a list or string.
func (m *evaluation) member(n *Node) any {
	base := m.run(n.Args[0])
	if base == nil && n.Soft {
		return nil
	}
	key := n.Args[1].Value
	if n.Args[1].Op != OpLiteral {
		key = m.run(n.Args[1])
	}
	switch base := base.(type) {
	case map[string]any:
		if name, ok := key.(string); ok {
			return base[name]
		}
	case []any:
		if i, ok := integer(key); ok {
			return base[m.bounded(n, i, len(base), "list", "item")]
		}
	case string:
		if i, ok := integer(key); ok {
			i = m.bounded(n, i, m.characters(n, base), "string", "character")
			return cut(base, i, i+1)
		}
	}
	panic(abandoned{n.noMember(kindOf(base), key)})
}

// bounded is an index, counted from the end where it is below 0, that must be below a length.
func (m *evaluation) bounded(n *Node, i, length int, what, of string) int {
	at := i
	if at < 0 {
		at += length
	}
	if at < 0 || at >= length {
		message := "the " + what + " has " + wording.Count(length, of) + ", and no index " + itoa(i)
		panic(failure(n, message, "get(…) is null instead").of(OfValue))
	}
	return at
}

// noMember is the error of reading a member of a value of some kind by a key that it can't have.
func (n *Node) noMember(base KindSet, key any) *Error {
	name, named := n.key()
	keys := keysOf(base)
	_, isNumber := key.(float64)
	switch {
	case named:
		return n.noKey(name, base)
	case base == Null:
		return fail(n.Start, n.End, "null has no items", "write ?.[ … ] to have null instead")
	case keys == 0:
		return mismatch(n.Args[0], "an index", "", Array|Object|String, base)
	case isNumber && keys == Number:
		return fail(n.Args[1].Start, n.Args[1].End, "an index is a whole number, and this is "+describe(key), "")
	}
	return mismatch(n.Args[1], "the index of "+base.String(), "", keys, kindOf(key))
}

// noKey is the error of reading a key that is written out of a value of some kinds, none of them an object.
func (n *Node) noKey(name string, base KindSet) *Error {
	message, help := base.String()+" has no key "+quote(name), ""
	switch {
	case base&Array != 0:
		message, help = "a list has no key "+quote(name), "read one item with [0], all with map(."+bareStart(name)+")"
	case base == Null:
		help = "write ?." + bareStart(name) + " to have null instead"
	}
	return fail(n.Start, n.End, message, help)
}

func (m *evaluation) slice(n *Node) any {
	base := m.run(n.Args[0])
	length := 0
	switch base := base.(type) {
	case []any:
		length = len(base)
	case string:
		length = m.characters(n, base)
	case nil:
		if n.Soft {
			return nil
		}
		panic(failure(n, "null can't be sliced", "write … || [] to have an empty list instead"))
	default:
		panic(abandoned{mismatch(n.Args[0], "a slice", "", Array|String, kindOf(base))})
	}
	bounds := [2]int{0, length}
	for i, b := range n.Args[1:] {
		if b == nil {
			continue
		}
		v := m.run(b)
		at, ok := integer(v)
		if !ok {
			panic(failure(b, "a slice is cut at whole numbers, and this is "+describe(v), ""))
		}
		if at < 0 {
			at += length
		}
		bounds[i] = max(0, min(at, length))
	}
	from, to := min(bounds[0], bounds[1]), bounds[1]
	if text, ok := base.(string); ok {
		return cut(text, from, to)
	}
	return base.([]any)[from:to:to]
}

// characters is the length of a string.
func (m *evaluation) characters(n *Node, s string) int {
	m.step(n, len(s)/4) // counted here, and found when it is cut
	return utf8.RuneCountInString(s)
}

// cut is the part of a string between two of its characters.
func cut(s string, from, to int) string {
	start, at := len(s), 0
	for i := range s {
		if at == from {
			start = i
		}
		if at == to {
			return s[start:i]
		}
		at++
	}
	return s[start:]
}

func (m *evaluation) chain(n *Node) any {
	left := m.run(n.Args[0].Args[0])
	for _, comparison := range n.Args {
		right := m.run(comparison.Args[1])
		if m.operator(comparison, left, right) == false {
			return false
		}
		left = right
	}
	return true
}

// operator evaluates an operator that needs the values of both operands.
func (m *evaluation) operator(n *Node, left, right any) any {
	var result any
	ok := false
	switch n.Op {
	case OpEqual, OpUnequal:
		return m.equal(n, left, right, 0) == (n.Op == OpEqual)
	case OpLess, OpLessEqual, OpMore, OpMoreEqual:
		var order int
		if order, ok = m.compare(n.Args[1], left, right); ok {
			return n.Op.holds(order)
		}
	case OpIn:
		result, ok = m.in(n, left, right)
	case OpMatches, OpContains, OpStarts, OpEnds:
		result, ok = m.search(n, left, right)
	case OpRange:
		if operands, numbers := bothNumbers(left, right); numbers {
			return m.span(n, operands)
		}
	default:
		result, ok = m.arithmetic(n, left, right)
	}
	if !ok {
		_, problem := n.operands(kindOf(left), kindOf(right))
		panic(abandoned{problem})
	}
	return result
}

// holds reports whether a comparison by size is true of two values in some order.
func (o Op) holds(order int) bool {
	switch o {
	case OpLess:
		return order < 0
	case OpLessEqual:
		return order <= 0
	case OpMore:
		return order > 0
	}
	return order >= 0
}

func (m *evaluation) in(n *Node, needle, haystack any) (isIn, ok bool) {
	switch h := haystack.(type) {
	case nil:
		return false, true
	case []any:
		for _, v := range h {
			if m.equal(n, v, needle, 0) {
				return true, true
			}
		}
		return false, true
	case map[string]any:
		key, ok := needle.(string)
		_, isIn = h[key]
		return isIn, ok
	}
	return false, false
}

func (m *evaluation) search(n *Node, left, right any) (found, ok bool) {
	where, isText := left.(string)
	what, areTexts := right.(string)
	if !isText || !areTexts {
		return false, (isText || left == nil) && (areTexts || right == nil)
	}
	m.step(n, len(where)/16)
	switch n.Op {
	case OpContains:
		return strings.Contains(where, what), true
	case OpStarts:
		return strings.HasPrefix(where, what), true
	case OpEnds:
		return strings.HasSuffix(where, what), true
	}
	return m.match(n, where, what), true
}

// span is the list of the whole numbers from one to another.
func (m *evaluation) span(n *Node, bounds [2]float64) any {
	var ends [2]int
	for i, bound := range bounds {
		at, ok := integer(bound)
		if !ok {
			panic(failure(n.Args[i], "a range goes from one whole number to another, and this is "+describe(bound), ""))
		}
		ends[i] = at
	}
	size := max(0, ends[1]-ends[0]+1)
	m.grow(n, listItem*size)
	out := make([]any, size)
	for i := range out {
		out[i] = float64(ends[0] + i)
	}
	return out
}
