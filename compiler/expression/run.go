package expression

import (
	"strings"
	"unicode/utf8"

	"github.com/obelus-dev/obelus/compiler/wording"
)

// run evaluates a node whose indispensable references are there. What fails leaves it
// by a panic, see [evaluation.attempt].
func (m *evaluation) run(n *node) any {
	m.step(n, 1)
	switch n.op {
	case opLiteral:
		return n.value
	case opRef:
		switch s := m.reference(n); {
		case s.presence == There:
			return s.value
		case s.presence == Pending:
			panic(abandoned{errPending})
		case n.soft:
			return nil
		}
		panic(abandoned{errAbsent})
	case opFallback, opGate:
		return m.pick(n)
	case opVar:
		return m.params[n.name]
	case opParams:
		if m.params == nil {
			return map[string]any{}
		}
		return m.params
	case opLocal:
		return m.locals[n.index]
	case opItem:
		return m.scopes[len(m.scopes)-1].item
	case opIndex:
		return float64(m.scopes[len(m.scopes)-1].index)
	case opAcc:
		return m.scopes[len(m.scopes)-1].acc
	case opLet:
		value := m.run(n.args[0])
		m.locals[n.index] = value
		return m.run(n.args[1])
	case opCond:
		yes := m.truth(n.args[0], "a condition")
		if yes {
			return m.run(n.args[1])
		}
		return m.run(n.args[2])
	case opNot:
		return !m.truth(n.args[0], "\"not\"")
	case opAnd, opOr:
		name := "\"" + binaryNames[n.op] + "\""
		if n.op == opOr {
			return m.truth(n.args[0], name) || m.truth(n.args[1], name)
		}
		return m.truth(n.args[0], name) && m.truth(n.args[1], name)
	case opList:
		return m.list(n)
	case opObject:
		return m.object(n)
	case opMember, opAt:
		return m.member(n)
	case opSlice:
		return m.slice(n)
	case opLoop:
		return m.loop(n)
	case opCall:
		return m.call(n)
	case opMethod:
		return m.method(n)
	case opText:
		return m.text(n)
	case opChain:
		return m.chain(n)
	}
	return m.operator(n)
}

// pick evaluates a fallback or gate whose value isn't kept: one that depends on a loop's item or a let. Where it is
// absent it is null.
func (m *evaluation) pick(n *node) any {
	if n.slot >= 0 {
		if err := m.kept[n.slot].err; err != nil {
			panic(abandoned{err})
		}
		return m.kept[n.slot].value
	}
	var last any
	for _, a := range n.args {
		value, err := m.attempt(a)
		if err != nil && err != errAbsent {
			panic(abandoned{err})
		}
		there := value != nil
		if n.op == opFallback && (there || a.op == opLiteral) || n.op == opGate && !there {
			return value
		}
		last = value
	}
	return last
}

// truth evaluates a node that must be true or false.
func (m *evaluation) truth(n *node, what string) bool {
	v := m.run(n)
	b, ok := v.(bool)
	if !ok {
		panic(m.fail(n, what+" wants true or false, and got "+kindOf(v).String(), helpTruth(n)))
	}
	return b
}

func helpTruth(n *node) string {
	switch n.op {
	case opFallback:
		return "|| takes the first value that is there; of booleans write or"
	case opGate:
		return "&& takes the last value when all are there; of booleans write and"
	}
	return "compare it, as in x != null or x > 0"
}

func (m *evaluation) list(n *node) any {
	m.grow(n, listItem*len(n.args))
	out := make([]any, len(n.args))
	for i, a := range n.args {
		v := m.run(a)
		out[i] = v
	}
	return out
}

func (m *evaluation) object(n *node) any {
	m.grow(n, objectField*len(n.args))
	out := make(map[string]any, len(n.args)/2)
	for i := 0; i < len(n.args); i += 2 {
		k := m.run(n.args[i])
		key, ok := k.(string)
		if !ok {
			panic(m.fail(n.args[i], "a key is a string, and this is "+kindOf(k).String(), "write string(…)"))
		}
		out[key] = m.run(n.args[i+1])
	}
	return out
}

// member reads a key of an object or an item of a list.
func (m *evaluation) member(n *node) any {
	base := m.run(n.args[0])
	if base == nil && n.soft {
		return nil
	}
	var key any = n.name
	at := n
	if n.op == opAt {
		at = n.args[1]
		key = m.run(at)
	}
	switch base := base.(type) {
	case map[string]any:
		if name, ok := key.(string); ok {
			return base[name]
		}
		panic(m.fail(at, "the key of an object is a string, and this is "+kindOf(key).String(), ""))
	case []any:
		if i, ok := integer(key); ok {
			return m.item(n, base, i)
		}
		if name, ok := key.(string); ok {
			panic(m.fail(n, "a list has no key "+quote(name), "read one item with [0], all with map(."+bareStart(name)+")"))
		}
		panic(m.fail(at, "the index of a list is a whole number, and this is "+describe(key), ""))
	case string:
		if i, ok := integer(key); ok {
			length := m.characters(n, base)
			at := i
			if at < 0 {
				at += length
			}
			if at < 0 || at >= length {
				panic(m.fail(n, "the string has "+wording.Count(length, "character")+", and no index "+itoa(i), "").of(OfValue))
			}
			return cut(base, at, at+1)
		}
	case nil:
		if n.op == opMember {
			panic(m.fail(n, "null has no key "+quote(n.name), "write ?."+bareStart(n.name)+" to have null instead"))
		}
		panic(m.fail(n, "null has no items", "write ?.[ … ] to have null instead"))
	}
	panic(m.fail(n, kindOf(base).String()+" has no keys or items", ""))
}

func (m *evaluation) item(n *node, list []any, i int) any {
	at := i
	if at < 0 {
		at += len(list)
	}
	if at < 0 || at >= len(list) {
		panic(m.fail(n, "the list has "+wording.Count(len(list), "item")+", and no index "+itoa(i), "get(…) gives null instead").of(OfValue))
	}
	return list[at]
}

func (m *evaluation) slice(n *node) any {
	base := m.run(n.args[0])
	length := 0
	switch base := base.(type) {
	case []any:
		length = len(base)
	case string:
		length = m.characters(n, base)
	case nil:
		if n.soft {
			return nil
		}
		panic(m.fail(n, "null can't be sliced", "write … || [] to have an empty list instead"))
	default:
		panic(m.fail(n, kindOf(base).String()+" can't be sliced", "lists and strings can"))
	}
	bounds := [2]int{0, length}
	for i, b := range n.args[1:] {
		if b == nil {
			continue
		}
		v := m.run(b)
		at, ok := integer(v)
		if !ok {
			panic(m.fail(b, "a slice is cut at whole numbers, and this is "+describe(v), ""))
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
func (m *evaluation) characters(n *node, s string) int {
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

func (m *evaluation) chain(n *node) any {
	left := m.run(n.args[0])
	for i, o := range n.ops {
		right := m.run(n.args[i+1])
		if !m.less(o, n.args[i], n.args[i+1], left, right) {
			return false
		}
		left = right
	}
	return true
}

// operator evaluates the operators whose operands are all needed.
func (m *evaluation) operator(n *node) any {
	left := m.run(n.args[0])
	if len(n.args) == 1 {
		switch v := left.(type) {
		case float64:
			if n.op == opNegate {
				return -v
			}
			return v
		default:
			panic(m.fail(n.args[0], "a sign wants a number, and got "+kindOf(v).String(), ""))
		}
	}
	right := m.run(n.args[1])
	switch n.op {
	case opEqual, opUnequal:
		return m.equal(n, left, right, 0) == (n.op == opEqual)
	case opLess, opLessEqual, opMore, opMoreEqual:
		return m.less(n.op, n.args[0], n.args[1], left, right)
	case opIn:
		return m.in(n, left, right)
	case opMatches, opContains, opStarts, opEnds:
		return m.search(n, left, right)
	case opRange:
		return m.span(n, left, right)
	}
	return m.arithmetic(n, left, right)
}

func (m *evaluation) in(n *node, needle, haystack any) any {
	switch h := haystack.(type) {
	case nil:
		return false
	case []any:
		for _, v := range h {
			if m.equal(n, v, needle, 0) {
				return true
			}
		}
		return false
	case map[string]any:
		key, ok := needle.(string)
		if !ok {
			panic(m.fail(n.args[0], "the key of an object is a string, and this is "+kindOf(needle).String(), ""))
		}
		_, ok = h[key]
		return ok
	}
	help := ""
	if _, ok := haystack.(string); ok {
		help = "a piece of a string is found by contains"
	}
	panic(m.fail(n.args[1], "\"in\" wants a list or an object, and got "+kindOf(haystack).String(), help))
}

func (m *evaluation) search(n *node, left, right any) any {
	if left == nil || right == nil {
		return false
	}
	where, ok := left.(string)
	if !ok {
		help := ""
		if _, ok := left.([]any); ok && n.op == opContains {
			help = "an item of a list is found by in: item in list"
		}
		panic(m.fail(n.args[0], quote(binaryNames[n.op])+" looks into a string, and this is "+kindOf(left).String(), help))
	}
	what, ok := right.(string)
	if !ok {
		panic(m.fail(n.args[1], quote(binaryNames[n.op])+" looks for a string, and this is "+kindOf(right).String(), ""))
	}
	m.step(n, len(where)/16)
	switch n.op {
	case opContains:
		return strings.Contains(where, what)
	case opStarts:
		return strings.HasPrefix(where, what)
	case opEnds:
		return strings.HasSuffix(where, what)
	}
	return m.match(n, where, what)
}

// span is the list of the whole numbers from one to another.
func (m *evaluation) span(n *node, left, right any) any {
	from, ok := integer(left)
	if !ok {
		panic(m.fail(n.args[0], "a range goes from one whole number to another, and this is "+describe(left), ""))
	}
	to, ok := integer(right)
	if !ok {
		panic(m.fail(n.args[1], "a range goes from one whole number to another, and this is "+describe(right), ""))
	}
	if to < from {
		return []any{}
	}
	size := to - from + 1
	m.grow(n, listItem*size)
	out := make([]any, size)
	for i := range out {
		out[i] = float64(from + i)
	}
	return out
}
