package expression

import (
	"errors"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// A Lookup tells what is known of the value of the expression's reference with
// this index in References. The value is plain JSON (nil, bool, float64,
// string, []any, map[string]any) and only read when the presence is There.
type Lookup func(ref int) (value any, p Presence)

// Eval evaluates the expression with what look tells of its references.
//
// The result is There with a value, Absent, or Pending when what was looked up
// doesn't yet decide it; once it isn't Pending, references that were still
// pending can't change it any more. An error is an *Error with a place in Text;
// it is never the result of something that is only pending.
//
// Values are data and nothing in them is evaluated (S4.8). None that look gives
// is changed. A value that is picked (by a plain reference, a fallback or a
// gate) is the very value that look gave; a computed one is a copy of its own.
func (e *Expr) Eval(look Lookup) (value any, p Presence, err error) {
	if e.Plain() {
		value, p = look(0)
		return value, p, nil
	}
	m := &evaluation{expr: e, look: look}
	m.refs = m.few[:]
	if len(e.refs) > len(m.few) {
		m.refs = make([]slot, len(e.refs))
	}
	return m.result()
}

// EvalCode evaluates the code of an activity over the parameters of a call,
// which are plain JSON and aren't changed. A parameter that isn't there is
// null, and so is the result when no operand of an outermost fallback is there.
func (e *Expr) EvalCode(params map[string]any) (any, error) {
	m := &evaluation{expr: e, params: params}
	value, _, err := m.result()
	return value, err
}

// An evaluation is one run over an expression's tree. Everything it does is
// paid for in steps, and everything it makes in memory.
type evaluation struct {
	expr   *Expr
	look   Lookup
	params map[string]any

	refs     []slot // what look said, by reference
	kept     []slot // fallbacks and gates that are settled beforehand
	locals   []any
	scopes   []scope
	stack    []any // arguments of the calls under way
	steps    int   // taken
	memory   int   // taken, in bytes
	computed bool  // the result may hold something made here
	few      [4]slot

	lastPattern *pattern // the last one compiled at run time
}

type slot struct {
	value    any
	presence Presence
	known    bool
	err      error // of a fallback or gate: it fails once its value is asked for
}

// A scope is one turn of a loop.
type scope struct {
	item  any
	index int
	acc   any
}

// errPending and errAbsent leave an operand whose reference isn't there; they
// never leave an evaluation.
var (
	errPending = errors.New("pending")
	errAbsent  = errors.New("absent")
)

func (m *evaluation) result() (any, Presence, error) {
	if n := m.expr.slots; n > 0 {
		m.kept = make([]slot, n)
	}
	if n := m.expr.locals; n > 0 {
		m.locals = make([]any, n)
	}
	value, p, err := m.present(m.expr.root)
	if err != nil || p != There {
		return nil, p, err
	}
	if m.computed {
		if value, err = m.export(m.expr.root, value, 0); err != nil {
			return nil, Absent, err
		}
	}
	return value, There, nil
}

// present evaluates where presence matters (S4.3).
func (m *evaluation) present(n *node) (any, Presence, error) {
	switch {
	case n.op == opLiteral:
		return n.value, There, nil
	case n.op == opRef:
		s := m.reference(n)
		if s.presence == Absent && n.soft {
			return nil, There, nil
		}
		return s.value, s.presence, nil
	case n.open():
	case n.op == opFallback:
		for _, a := range n.args {
			value, p, err := m.present(a)
			if err != nil || p == Pending {
				return nil, p, err
			}
			if p == There && (value != nil || a.op == opLiteral) {
				return value, There, nil
			}
		}
		return nil, Absent, nil
	case n.op == opGate:
		return m.together(n.args, false)
	}
	if len(n.atoms) > 0 {
		if _, p, err := m.together(n.atoms, true); err != nil || p != There {
			return nil, p, err
		}
	}
	m.computed = true
	value, err := m.run(n)
	switch err {
	case nil:
		return value, There, nil
	case errPending:
		return nil, Pending, nil
	case errAbsent:
		return nil, Absent, nil
	}
	return nil, Absent, err
}

// together evaluates nodes that are all needed: one that is absent decides, else
// one that is pending, else one that fails, so that the outcome doesn't depend
// on which of them is known first. As atoms of a larger expression they may be
// null, and fail only where they are used, which may be a branch that isn't
// taken; as operands of a gate a null is absent. The value is the last one's.
func (m *evaluation) together(nodes []*node, atoms bool) (last any, p Presence, err error) {
	pending := false
	for _, a := range nodes {
		value, p, failure := m.present(a)
		switch {
		case failure != nil && !atoms:
			if err == nil {
				err = failure
			}
			continue
		case failure != nil:
		case p == Absent || p == There && value == nil && !atoms:
			return nil, Absent, nil
		case p == Pending:
			pending = true
		}
		if a.slot >= 0 {
			m.kept[a.slot] = slot{value, p, true, failure}
		}
		last = value
	}
	if pending {
		return nil, Pending, nil
	}
	if err != nil {
		return nil, Absent, err
	}
	return last, There, nil
}

func (m *evaluation) reference(n *node) slot {
	s := &m.refs[n.index]
	if !s.known {
		s.known = true
		s.value, s.presence = m.look(n.index)
		if s.presence != There {
			s.value = nil
		}
	}
	return *s
}

func (m *evaluation) fail(n *node, message, help string) error {
	return fail(n.start, n.end, message, help)
}

// step pays for work.
func (m *evaluation) step(n *node, steps int) error {
	m.steps += steps
	if m.steps > m.expr.limits.Steps {
		return m.fail(n, "the expression takes more than "+itoa(m.expr.limits.Steps)+" steps", "do less in it, or do it in an activity")
	}
	return nil
}

// grow pays for memory, and for the work of filling it.
func (m *evaluation) grow(n *node, bytes int) error {
	m.memory += bytes
	if bytes < 0 || m.memory > m.expr.limits.Memory {
		return m.fail(n, "the expression makes more than "+itoa(m.expr.limits.Memory>>20)+" MiB of values", "do less in it, or do it in an activity")
	}
	return m.step(n, bytes/64)
}

// What a value of each kind takes, roughly.
const (
	listItem    = 24
	objectField = 64
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
			characters := []rune(base)
			if err := m.step(n, len(base)/16); err != nil {
				return nil, err
			}
			if i < 0 {
				i += len(characters)
			}
			if i < 0 || i >= len(characters) {
				return nil, m.fail(n, "the string has "+itoa(len(characters))+" characters, and no index "+itoa(i), "")
			}
			return string(characters[i]), nil
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
	var characters []rune
	length := 0
	switch base := base.(type) {
	case []any:
		length = len(base)
	case string:
		if err := m.grow(n, len(base)); err != nil {
			return nil, err
		}
		characters = []rune(base)
		length = len(characters)
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
	if characters != nil {
		return string(characters[from:to]), nil
	}
	if base, ok := base.([]any); ok {
		return base[from:to:to], nil
	}
	return "", nil
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
	if size > math.MaxInt/listItem {
		size = math.MaxInt / listItem
	}
	if err := m.grow(n, listItem*size); err != nil {
		return nil, err
	}
	out := make([]any, size)
	for i := range out {
		out[i] = float64(from + i)
	}
	return out, nil
}

// export copies a result into plain JSON of its own. A value that is there
// twice is copied twice, so that what leaves is a tree, and paid for as one.
func (m *evaluation) export(n *node, value any, depth int) (any, error) {
	if depth > maxResultDepth {
		return nil, m.fail(n, "the result is nested more than "+itoa(maxResultDepth)+" deep", "")
	}
	switch v := value.(type) {
	case nil, bool:
		return v, nil
	case string:
		if !utf8.ValidString(v) {
			return nil, m.fail(n, "the result holds a string that isn't valid Unicode", "")
		}
		return v, nil
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, m.fail(n, "the result isn't a finite number", "")
		}
		return v, nil
	case []any:
		if err := m.grow(n, listItem*len(v)); err != nil {
			return nil, err
		}
		out := make([]any, len(v))
		for i := range v {
			item, err := m.export(n, v[i], depth+1)
			if err != nil {
				return nil, err
			}
			out[i] = item
		}
		return out, nil
	case map[string]any:
		if err := m.grow(n, objectField*len(v)); err != nil {
			return nil, err
		}
		out := make(map[string]any, len(v))
		for _, key := range sortedKeys(v) {
			field, err := m.export(n, v[key], depth+1)
			if err != nil {
				return nil, err
			}
			out[key] = field
		}
		return out, nil
	}
	if text, ok := timeText(value); ok {
		return text, nil
	}
	return nil, m.fail(n, "the result isn't plain data", "")
}

// maxResultDepth bounds the nesting of a result, as of a document (S18);
// maxValueDepth that of what is compared or written on the way there.
const (
	maxResultDepth = 100
	maxValueDepth  = 1000
)

func sortedKeys(v map[string]any) []string {
	keys := make([]string, 0, len(v))
	for key := range v {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
