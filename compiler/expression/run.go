package expression

import (
	"strings"
	"unicode/utf8"
)

// run evaluates a node whose indispensable references are there.
func (m *evaluation) run(n *node) (any, error) {
	if err := m.step(n, 1); err != nil {
		return nil, err
	}
	switch n.op {
	case opLiteral:
		return n.value, nil
	case opRef:
		switch s := m.reference(n); {
		case s.presence == There:
			return s.value, nil
		case s.presence == Pending:
			return nil, errPending
		case n.soft:
			return nil, nil
		}
		return nil, errAbsent
	case opFallback, opGate:
		return m.pick(n)
	case opVar:
		return m.params[n.name], nil
	case opParams:
		if m.params == nil {
			return map[string]any{}, nil
		}
		return m.params, nil
	case opLocal:
		return m.locals[n.index], nil
	case opItem:
		return m.scopes[len(m.scopes)-1].item, nil
	case opIndex:
		return float64(m.scopes[len(m.scopes)-1].index), nil
	case opAcc:
		return m.scopes[len(m.scopes)-1].acc, nil
	case opLet:
		value, err := m.run(n.args[0])
		if err != nil {
			return nil, err
		}
		m.locals[n.index] = value
		return m.run(n.args[1])
	case opCond:
		yes, err := m.truth(n.args[0], "a condition")
		if err != nil {
			return nil, err
		}
		if yes {
			return m.run(n.args[1])
		}
		return m.run(n.args[2])
	case opNot:
		v, err := m.truth(n.args[0], "\"not\"")
		return !v, err
	case opAnd, opOr:
		name := "\"" + binaryNames[n.op] + "\""
		left, err := m.truth(n.args[0], name)
		if err != nil || left == (n.op == opOr) {
			return left, err
		}
		return m.truth(n.args[1], name)
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

// pick evaluates a fallback or gate whose value isn't kept: one that hangs on a
// loop's item or a let. Where it is absent it is null.
func (m *evaluation) pick(n *node) (any, error) {
	if n.slot >= 0 {
		return m.kept[n.slot].value, m.kept[n.slot].err
	}
	var last any
	for _, a := range n.args {
		value, err := m.run(a)
		if err == errAbsent {
			value, err = nil, nil
		}
		if err != nil {
			return nil, err
		}
		there := value != nil
		if n.op == opFallback && (there || a.op == opLiteral) || n.op == opGate && !there {
			return value, nil
		}
		last = value
	}
	return last, nil
}

// truth evaluates a node that must be true or false.
func (m *evaluation) truth(n *node, what string) (bool, error) {
	v, err := m.run(n)
	if err != nil {
		return false, err
	}
	b, ok := v.(bool)
	if !ok {
		return false, m.fail(n, what+" wants true or false, and got "+kindOf(v).String(), helpTruth(n))
	}
	return b, nil
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

func (m *evaluation) list(n *node) (any, error) {
	if err := m.grow(n, listItem*len(n.args)); err != nil {
		return nil, err
	}
	out := make([]any, len(n.args))
	for i, a := range n.args {
		v, err := m.run(a)
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}

func (m *evaluation) object(n *node) (any, error) {
	if err := m.grow(n, objectField*len(n.args)); err != nil {
		return nil, err
	}
	out := make(map[string]any, len(n.args)/2)
	for i := 0; i < len(n.args); i += 2 {
		k, err := m.run(n.args[i])
		if err != nil {
			return nil, err
		}
		key, ok := k.(string)
		if !ok {
			return nil, m.fail(n.args[i], "a key is a string, and this is "+kindOf(k).String(), "write string(…)")
		}
		if out[key], err = m.run(n.args[i+1]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// member reads a key of an object or an item of a list.
func (m *evaluation) member(n *node) (any, error) {
	base, err := m.run(n.args[0])
	if err != nil {
		return nil, err
	}
	if base == nil && n.soft {
		return nil, nil
	}
	var key any = n.name
	at := n
	if n.op == opAt {
		at = n.args[1]
		if key, err = m.run(at); err != nil {
			return nil, err
		}
	}
	switch base := base.(type) {
	case map[string]any:
		if name, ok := key.(string); ok {
			return base[name], nil
		}
		return nil, m.fail(at, "the key of an object is a string, and this is "+kindOf(key).String(), "")
	case []any:
		if i, ok := whole(key); ok {
			return m.item(n, base, i)
		}
		if name, ok := key.(string); ok {
			return nil, m.fail(n, "a list has no key "+quote(name), "one item is had by [0], all by map(."+bareStart(name)+")")
		}
		return nil, m.fail(at, "the index of a list is a whole number, and this is "+describe(key), "")
	case string:
		if i, ok := whole(key); ok {
			length, err := m.characters(n, base)
			if err != nil {
				return nil, err
			}
			at := i
			if at < 0 {
				at += length
			}
			if at < 0 || at >= length {
				return nil, m.fail(n, "the string has "+count(length, "character")+", and no index "+itoa(i), "")
			}
			return cut(base, at, at+1), nil
		}
	case nil:
		if n.op == opMember {
			return nil, m.fail(n, "null has no key "+quote(n.name), "write ?."+bareStart(n.name)+" to have null instead")
		}
		return nil, m.fail(n, "null has no items", "write ?.[ … ] to have null instead")
	}
	return nil, m.fail(n, kindOf(base).String()+" has no keys or items", "")
}

func (m *evaluation) item(n *node, list []any, i int) (any, error) {
	at := i
	if at < 0 {
		at += len(list)
	}
	if at < 0 || at >= len(list) {
		return nil, m.fail(n, "the list has "+count(len(list), "item")+", and no index "+itoa(i), "get(…) gives null instead")
	}
	return list[at], nil
}

func (m *evaluation) slice(n *node) (any, error) {
	base, err := m.run(n.args[0])
	if err != nil {
		return nil, err
	}
	length := 0
	switch base := base.(type) {
	case []any:
		length = len(base)
	case string:
		if length, err = m.characters(n, base); err != nil {
			return nil, err
		}
	case nil:
		if n.soft {
			return nil, nil
		}
		return nil, m.fail(n, "null can't be sliced", "write … || [] to have an empty list instead")
	default:
		return nil, m.fail(n, kindOf(base).String()+" can't be sliced", "lists and strings can")
	}
	bounds := [2]int{0, length}
	for i, b := range n.args[1:] {
		if b == nil {
			continue
		}
		v, err := m.run(b)
		if err != nil {
			return nil, err
		}
		at, ok := whole(v)
		if !ok {
			return nil, m.fail(b, "a slice is cut at whole numbers, and this is "+describe(v), "")
		}
		if at < 0 {
			at += length
		}
		bounds[i] = max(0, min(at, length))
	}
	from, to := min(bounds[0], bounds[1]), bounds[1]
	if text, ok := base.(string); ok {
		return cut(text, from, to), nil
	}
	return base.([]any)[from:to:to], nil
}

// characters is the length of a string.
func (m *evaluation) characters(n *node, s string) (int, error) {
	return utf8.RuneCountInString(s), m.step(n, len(s)/4) // counted here, and found when it is cut
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

func (m *evaluation) chain(n *node) (any, error) {
	left, err := m.run(n.args[0])
	if err != nil {
		return nil, err
	}
	for i, o := range n.ops {
		right, err := m.run(n.args[i+1])
		if err != nil {
			return nil, err
		}
		holds, err := m.less(o, n.args[i], n.args[i+1], left, right)
		if err != nil || !holds {
			return false, err
		}
		left = right
	}
	return true, nil
}

// operator evaluates the operators whose operands are all needed.
func (m *evaluation) operator(n *node) (any, error) {
	left, err := m.run(n.args[0])
	if err != nil {
		return nil, err
	}
	if len(n.args) == 1 {
		switch v := left.(type) {
		case float64:
			if n.op == opNegate {
				return -v, nil
			}
			return v, nil
		default:
			return nil, m.fail(n.args[0], "a sign wants a number, and got "+kindOf(v).String(), "")
		}
	}
	right, err := m.run(n.args[1])
	if err != nil {
		return nil, err
	}
	switch n.op {
	case opEqual, opUnequal:
		same, err := m.equal(n, left, right, 0)
		return same == (n.op == opEqual), err
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

func (m *evaluation) in(n *node, needle, haystack any) (any, error) {
	switch h := haystack.(type) {
	case nil:
		return false, nil
	case []any:
		for _, v := range h {
			same, err := m.equal(n, v, needle, 0)
			if err != nil || same {
				return same, err
			}
		}
		return false, nil
	case map[string]any:
		key, ok := needle.(string)
		if !ok {
			return nil, m.fail(n.args[0], "the key of an object is a string, and this is "+kindOf(needle).String(), "")
		}
		_, ok = h[key]
		return ok, nil
	}
	help := ""
	if _, ok := haystack.(string); ok {
		help = "a piece of a string is found by contains"
	}
	return nil, m.fail(n.args[1], "\"in\" wants a list or an object, and got "+kindOf(haystack).String(), help)
}

func (m *evaluation) search(n *node, left, right any) (any, error) {
	if left == nil || right == nil {
		return false, nil
	}
	where, ok := left.(string)
	if !ok {
		help := ""
		if _, ok := left.([]any); ok && n.op == opContains {
			help = "an item of a list is found by in: item in list"
		}
		return nil, m.fail(n.args[0], quote(binaryNames[n.op])+" looks into a string, and this is "+kindOf(left).String(), help)
	}
	what, ok := right.(string)
	if !ok {
		return nil, m.fail(n.args[1], quote(binaryNames[n.op])+" looks for a string, and this is "+kindOf(right).String(), "")
	}
	if err := m.step(n, len(where)/16); err != nil {
		return nil, err
	}
	switch n.op {
	case opContains:
		return strings.Contains(where, what), nil
	case opStarts:
		return strings.HasPrefix(where, what), nil
	case opEnds:
		return strings.HasSuffix(where, what), nil
	}
	return m.match(n, where, what)
}

// span is the list of the whole numbers from one to another.
func (m *evaluation) span(n *node, left, right any) (any, error) {
	from, ok := whole(left)
	if !ok {
		return nil, m.fail(n.args[0], "a range goes from one whole number to another, and this is "+describe(left), "")
	}
	to, ok := whole(right)
	if !ok {
		return nil, m.fail(n.args[1], "a range goes from one whole number to another, and this is "+describe(right), "")
	}
	if to < from {
		return []any{}, nil
	}
	size := to - from + 1
	if err := m.grow(n, listItem*size); err != nil {
		return nil, err
	}
	out := make([]any, size)
	for i := range out {
		out[i] = float64(from + i)
	}
	return out, nil
}
