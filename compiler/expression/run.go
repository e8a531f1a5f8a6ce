package expression

import (
	"unicode/utf8"

	"github.com/obelus-dev/obelus/compiler/reference"
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
		if m.operand(n, 0).(bool) {
			return m.run(n.Args[1])
		}
		return m.run(n.Args[2])
	case OpAnd:
		return m.operand(n, 0).(bool) && m.operand(n, 1).(bool)
	case OpOr:
		return m.operand(n, 0).(bool) || m.operand(n, 1).(bool)
	case OpList:
		m.grow(n, listItem*len(n.Args))
		out := make([]any, len(n.Args))
		for i, a := range n.Args {
			out[i] = m.run(a)
		}
		return out
	case OpObject:
		return m.object(n)
	case OpMember:
		return m.member(n)
	}
	base := len(m.stack)
	for i, a := range n.Args {
		if a == nil || n.fn.param(i).perItem { // a bound that is left out, or not yet
			m.stack = append(m.stack, nil)
		} else {
			m.stack = append(m.stack, m.operand(n, i))
		}
		if n.Op == OpSlice && m.stack[base] == nil { // it is soft
			m.stack = m.stack[:base]
			return nil
		}
	}
	if n.fn.perItem {
		m.scopes = append(m.scopes, scope{})
	}
	value := m.apply(n, m.stack[base:len(m.stack):len(m.stack)])
	m.stack = m.stack[:base]
	if n.fn.perItem {
		m.scopes = m.scopes[:len(m.scopes)-1]
	}
	return value
}

// operand evaluates an operand, which is of a kind that is accepted unless that depends on the others.
func (m *evaluation) operand(n *Node, i int) any {
	v := m.run(n.Args[i])
	if len(n.fn.forms) > 1 {
		return v
	}
	p, got := n.fn.param(i), KindOf(v)
	if got&p.kinds == 0 && !(v == nil && n.Soft && i == 0) {
		panic(abandoned{n.mismatch(i, p.kinds, got, nil)})
	}
	if p.integer {
		number, ok := integer(v)
		if !ok {
			panic(abandoned{n.wrong(i, n.fn.words()+" wants a whole number here, and got "+describe(v),
				"round(…), floor(…) or int(…) make one")})
		}
		return number
	}
	return v
}

// apply is what a node results in, of its operands' values.
func (m *evaluation) apply(n *Node, args []any) any {
	if len(n.fn.forms) > 1 {
		kinds := []KindSet{KindOf(args[0]), KindOf(args[1])} // what has several forms has two operands
		if _, problem := n.accept(kinds); problem != nil {
			panic(abandoned{problem})
		}
	}
	c := invocation{m, n, args}
	c.charge()
	return n.fn.run(c)
}

// An invocation is one call of a function, its arguments being of the kinds that it wants.
type invocation struct {
	m    *evaluation
	n    *Node
	args []any
}

func (c invocation) text(i int) string    { return c.args[i].(string) }
func (c invocation) number(i int) float64 { return c.args[i].(float64) }
func (c invocation) list(i int) []any     { return c.args[i].([]any) }
func (c invocation) given(i int) bool     { return i < len(c.args) }
func (c invocation) grow(bytes int)       { c.m.grow(c.n, bytes) }
func (c invocation) work(steps int)       { c.m.step(c.n, steps) }

// integer is an argument that is a whole number, or another number where there is none.
func (c invocation) integer(i, otherwise int) int {
	if c.given(i) && c.args[i] != nil {
		return c.args[i].(int)
	}
	return otherwise
}

func (c invocation) fail(argument int, message, help string) abandoned {
	return abandoned{c.n.wrong(argument, message, help)}
}

// misread fails for a text that isn't written as the function reads it.
func (c invocation) misread(message, help string) abandoned {
	return c.fail(0, message, help).of(OfText)
}

// of is a failure for a cause.
func (a abandoned) of(cause Cause) abandoned {
	a.error.(*Error).Cause = cause
	return a
}

// charge pays for what the arguments decide.
func (c invocation) charge() {
	f, size := c.n.fn, 0
	if len(c.args) == 0 { // as of an empty text
		return
	}
	switch v := c.args[0].(type) {
	case string:
		if size = len(v); f.scan > 0 {
			c.work(size / f.scan)
		}
	case []any:
		size = len(v)
	case map[string]any:
		size = len(v)
	}
	if f.grow > 0 {
		c.grow(f.grow * size)
	}
	if f.cost != nil {
		f.cost(c)
	}
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

func (m *evaluation) object(n *Node) any {
	m.grow(n, objectField*len(n.Args))
	out := make(map[string]any, len(n.Args)/2)
	for i := 0; i < len(n.Args); i += 2 {
		k := m.run(n.Args[i])
		key, ok := k.(string)
		if !ok {
			panic(abandoned{unwanted(n.Args[i], aKey, "", String, KindOf(k))})
		}
		out[key] = m.run(n.Args[i+1])
	}
	return out
}

const aKey = "a key" // in messages

func (m *evaluation) member(n *Node) any {
	base := m.run(n.Args[0])
	if base == nil && n.Soft {
		return nil
	}
	if name, named := n.key(); named {
		object, ok := base.(map[string]any)
		if !ok {
			panic(abandoned{n.noKey(name, KindOf(base))})
		}
		return object[name]
	}
	return m.apply(n, []any{base, m.run(n.Args[1])})
}

// member reads a computed key of an object or an item of a list or a character of a string.
func member(c invocation) any {
	if object, ok := c.args[0].(map[string]any); ok {
		return object[c.text(1)]
	}
	at, ok := integer(c.args[1])
	if !ok {
		panic(c.fail(1, "an index is a whole number, and this is "+describe(c.args[1]), ""))
	}
	list, isList := c.args[0].([]any)
	if isList {
		return list[c.bounded(at, len(list), "list", "item")]
	}
	at = c.bounded(at, c.characters(c.text(0)), "string", "character")
	return cut(c.text(0), at, at+1)
}

func slice(c invocation) any {
	length := 0
	switch base := c.args[0].(type) {
	case []any:
		length = len(base)
	case string:
		length = c.characters(base)
	}
	bound := func(i, otherwise int) int {
		at := c.integer(i, otherwise)
		if at < 0 {
			at += length
		}
		return max(0, min(at, length))
	}
	to := bound(2, length)
	from := min(bound(1, 0), to)
	if text, ok := c.args[0].(string); ok {
		return cut(text, from, to)
	}
	return c.list(0)[from:to:to]
}

// characters is the length of a string.
func (c invocation) characters(s string) int {
	c.work(len(s) / 4) // counted here, and found when it is cut
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

// bounded is an index, counted from the end where it is below 0, that must be below a length.
func (c invocation) bounded(i, length int, what, of string) int {
	at := i
	if at < 0 {
		at += length
	}
	if at < 0 || at >= length {
		message := "the " + what + " has " + wording.Count(length, of) + ", and no index " + itoa(i)
		panic(failure(c.n, message, "get(…) is null instead").of(OfValue))
	}
	return at
}

// noKey is the error of reading a key that is written out of a value of some kinds, none of them an object.
func (n *Node) noKey(name string, base KindSet) *Error {
	message, help := base.String()+" has no key "+quote(name), ""
	switch {
	case base&Array != 0:
		message = "a list has no key " + quote(name)
		help = "read one item with [0], all with map(." + reference.BareStart(name) + ")"
	case base == Null:
		help = "write ?." + reference.BareStart(name) + " to have null instead"
	}
	return fail(n.Start, n.End, message, help)
}
