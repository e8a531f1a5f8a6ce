package expression

import (
	"errors"
	"maps"
	"math"
	"slices"
	"unicode/utf8"
)

// A Lookup gives what is known about the value of the expression's reference with
// this index in References. The value is plain JSON (nil, bool, float64,
// string, []any, map[string]any) and only read when the presence is There.
type Lookup func(ref int) (value any, p Presence)

// Eval evaluates the expression with the values of its references from look. Its steps and memory are taken from the
// meter, which may be nil.
//
// The result is There with a value, Absent, or Pending when what was looked up doesn't yet decide it; once it isn't
// Pending, references that were still pending can't change it any more. An error is an *Error with a place in Text; it
// is never the result of something that is only pending.
//
// Values are data and nothing in them is evaluated. None that look gives is changed. A value that is picked (by a plain
// reference, a fallback or a gate) is the very value that look gave; a computed one is a copy of its own.
func (e *Expr) Eval(look Lookup, left *Meter) (value any, p Presence, err error) {
	if e.Plain() {
		if value, p = look(0); p != There {
			value = nil
		}
		return value, p, nil
	}
	m := e.evaluation(look, left)
	defer m.settle(left)
	return m.result()
}

// EvalCode evaluates the code of an activity over the parameters of a call, which are plain JSON and aren't changed. A
// missing parameter is null, and so is the result when no operand of an outermost fallback is there. Its steps and
// memory are taken from the meter, which may be nil.
func (e *Expr) EvalCode(params map[string]any, left *Meter) (any, error) {
	m := e.evaluation(nil, left)
	m.params = params
	defer m.settle(left)
	value, _, err := m.result()
	return value, err
}

// Holds evaluates a part of the expression that is true or false, over the values of its references from look; none may
// be pending. It is neither where the part has no value or fails, or is open.
func (e *Expr) Holds(n *Node, look Lookup, left *Meter) (yes, no bool) {
	if n.Open() {
		return false, false
	}
	m := e.evaluation(look, left)
	defer m.settle(left)
	for below := range n.All() {
		if below.slot >= 0 && !m.kept[below.slot].known {
			value, p, err := m.present(below)
			m.kept[below.slot] = slot{value, p, true, err}
		}
	}
	value, err := m.attempt(n)
	return err == nil && value == true, err == nil && value == false
}

// evaluation begins an evaluation of the expression, or of a part of it, within its limits and what is left.
func (e *Expr) evaluation(look Lookup, left *Meter) *evaluation {
	m := &evaluation{expr: e, look: look, most: Meter{maxSteps, maxMemory}}
	if m.refs = m.few[:]; len(e.refs) > len(m.few) {
		m.refs = make([]slot, len(e.refs))
	}
	if e.slots > 0 {
		m.kept = make([]slot, e.slots)
	}
	if e.locals > 0 {
		m.locals = make([]any, e.locals)
	}
	if left != nil {
		m.most = Meter{min(maxSteps, max(0, left.Steps)), min(maxMemory, max(0, left.Memory))}
	}
	return m
}

// settle takes what the evaluation cost from a meter.
func (m *evaluation) settle(left *Meter) {
	if left != nil {
		left.Steps -= m.steps
		left.Memory -= m.memory
	}
}

// A Meter is what several evaluations may still take together, beside the
// limits that each has for itself. The evaluation that passes it fails, and so does
// any after it that takes anything.
type Meter struct{ Steps, Memory int }

// Passed reports whether more was wanted than there was.
func (m *Meter) Passed() bool { return m.Steps < 0 || m.Memory < 0 }

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
	most     Meter // that may be taken
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

// errPending and errAbsent leave an operand whose reference is missing; they never leave an evaluation.
var (
	errPending = errors.New("pending")
	errAbsent  = errors.New("absent")
)

// An abandoned is what an evaluation panics with where it can't go on: most of what
// it does can fail, hardly anything has to be tidied up then, and the first failure is
// the result.
type abandoned struct{ error }

// attempt is run for callers that continue after a failure.
func (m *evaluation) attempt(n *Node) (value any, err error) {
	scopes, stack := len(m.scopes), len(m.stack)
	defer func() { m.scopes, m.stack = m.scopes[:scopes], m.stack[:stack] }()
	defer catch(&value, &err)
	return m.run(n), nil
}

// catch, deferred, makes an error of what was abandoned. Other panics go on.
func catch(value *any, err *error) {
	switch r := recover().(type) {
	case nil:
	case abandoned:
		*value, *err = nil, r.error
	default:
		panic(r)
	}
}

func (m *evaluation) result() (value any, p Presence, err error) {
	root := m.expr.Root()
	if value, p, err = m.present(root); err != nil || p != There {
		return nil, p, err
	}
	if m.computed {
		p = Absent
		defer catch(&value, &err)
		value = m.export(root, value, 0, 0)
	}
	return value, There, nil
}

// present evaluates where presence matters.
func (m *evaluation) present(n *Node) (any, Presence, error) {
	switch {
	case n.Op == OpLiteral:
		return n.Value, There, nil
	case n.Op == OpRef:
		s := m.reference(n)
		if s.presence == Absent && n.Soft {
			return nil, There, nil
		}
		return s.value, s.presence, nil
	case n.Open():
	case n.Op == OpFallback:
		for _, a := range n.Args {
			value, p, err := m.present(a)
			if err != nil || p == Pending {
				return nil, p, err
			}
			if p == There && (value != nil || a.Op == OpLiteral) {
				return value, There, nil
			}
		}
		return nil, Absent, nil
	case n.Op == OpGate:
		return m.together(n.Args, false)
	}
	if len(n.Needs) > 0 {
		if _, p, err := m.together(n.Needs, true); err != nil || p != There {
			return nil, p, err
		}
	}
	m.computed = true
	value, err := m.attempt(n)
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
func (m *evaluation) together(nodes []*Node, atoms bool) (last any, p Presence, err error) {
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

func (m *evaluation) reference(n *Node) slot {
	s := &m.refs[n.Index]
	if !s.known {
		s.known = true
		s.value, s.presence = m.look(n.Index)
		if s.presence != There {
			s.value = nil
		}
	}
	return *s
}

// failure is what an evaluation panics with where a node can't be evaluated.
func failure(n *Node, message, help string) abandoned {
	return abandoned{fail(n.Start, n.End, message, help)}
}

// step pays for work.
func (m *evaluation) step(n *Node, steps int) {
	if m.steps += steps; m.steps > m.most.Steps {
		m.exceed(n, m.most.Steps < maxSteps, "take more steps", "takes", maxSteps, " steps")
	}
}

// grow pays for memory, and for the work of filling it.
func (m *evaluation) grow(n *Node, bytes int) {
	if m.memory += bytes; bytes < 0 {
		m.memory = math.MaxInt / 2
	}
	if m.memory > m.most.Memory {
		m.exceed(n, m.most.Memory < maxMemory, "make more values", "makes", maxMemory>>20, " MiB of values")
	}
	m.step(n, bytes/64)
}

// exceed fails for what is more than the expression may take, or all of a run together.
func (m *evaluation) exceed(n *Node, together bool, they, it string, most int, unit string) {
	if together {
		panic(failure(n, "the expressions of the run "+they+" than they may together",
			"do less in them, or do it in an activity that is a program"))
	}
	panic(failure(n, "the expression "+it+" more than "+itoa(most)+unit, "do less in it, or do it in an activity"))
}

// export copies a value into plain JSON of its own. A value that occurs twice is copied twice, so that the copy is a
// tree, and paid for as one. The copy is written as text so many times.
func (m *evaluation) export(n *Node, value any, depth, texts int) any {
	if depth > maxResultDepth {
		panic(failure(n, "the result is nested more than "+itoa(maxResultDepth)+" deep", ""))
	}
	line := 2*depth + listItem // of an indented text
	switch v := value.(type) {
	case nil, bool:
		return v
	case string:
		if !utf8.ValidString(v) {
			panic(failure(n, "the result holds a string that isn't valid Unicode", ""))
		}
		m.grow(n, texts*len(v))
		return v
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			panic(failure(n, "the result isn't a finite number", ""))
		}
		if v == 0 {
			return 0.0 // also -0
		}
		return v
	case []any:
		m.grow(n, (listItem+texts*line)*len(v))
		out := make([]any, len(v))
		for i := range v {
			out[i] = m.export(n, v[i], depth+1, texts)
		}
		return out
	case map[string]any:
		m.grow(n, (objectField+texts*line)*len(v))
		out := make(map[string]any, len(v))
		for _, key := range sortedKeys(v) {
			m.grow(n, texts*len(key))
			out[key] = m.export(n, v[key], depth+1, texts)
		}
		return out
	}
	if text, ok := timeText(value); ok {
		return text
	}
	panic(failure(n, "the result isn't plain data", ""))
}

// maxResultDepth bounds the nesting of a result, as of a document;
// maxValueDepth that of what is compared or written on the way there.
const (
	maxResultDepth = 100
	maxValueDepth  = 1000
)

// sortedKeys makes room for all keys at once, as there are many small objects.
func sortedKeys(v map[string]any) []string {
	keys := slices.AppendSeq(make([]string, 0, len(v)), maps.Keys(v))
	slices.Sort(keys)
	return keys
}
