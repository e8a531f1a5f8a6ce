package analyzer

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/obelus-dev/obelus/analyzer/internal/logic"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/expression"
)

// A formula turns the terms of one expression into literals.
type formula struct {
	conditions *branchConditions
	circuit    *logic.Circuit
	template   *compiler.Template
	values     map[*expression.Term]valued
	truths     map[*expression.Term]truth
	alone      map[int]valued // when set: what reads are is left open, and only the expression counts
}

// A truth is whether a term is true, and whether it is false. It is neither
// while it is absent, or when it goes wrong.
type truth struct{ yes, no logic.Literal }

func (e *branchConditions) formula(t *compiler.Template) *formula {
	return &formula{conditions: e, circuit: e.circuit, template: t, values: map[*expression.Term]valued{}, truths: map[*expression.Term]truth{}}
}

// condition is whether a call's _when is there and true.
func (e *branchConditions) condition(call *compiler.Call) logic.Literal {
	t := call.When
	if !t.Live() {
		if t.Value == true {
			return logic.True
		}
		return logic.False
	}
	if t.Expr == nil {
		return e.unknown(true)
	}
	return e.formula(t).holds(e.whens[call.Index]).yes
}

// holds is the truth of a whole expression.
func (f *formula) holds(t *expression.Term) truth {
	h := f.truth(t)
	for _, n := range t.Needs {
		there := f.value(n).there
		h = truth{f.circuit.And(h.yes, there), f.circuit.And(h.no, there)}
	}
	return h
}

func (f *formula) reference(t *expression.Term) valued {
	r := f.template.Reads[t.Ref]
	if f.alone == nil {
		return f.conditions.read(r)
	}
	v, ok := f.alone[r]
	if !ok {
		v.there = f.conditions.unknown(true)
		v.solid = f.circuit.And(v.there, f.conditions.unknown(true))
		f.alone[r] = v
	}
	return v
}

// value is whether a term has a value where presence counts (S4.3).
func (f *formula) value(t *expression.Term) valued {
	if v, ok := f.values[t]; ok {
		return v
	}
	v := valued{logic.True, logic.True}
	switch t.Op {
	case expression.TermLiteral:
		if t.Value == nil {
			v.solid = logic.False
		}
	case expression.TermReference:
		v = f.reference(t)
		if t.Soft {
			v.there = logic.True
		}
	case expression.TermFallback:
		v = valued{logic.False, logic.False}
		for _, a := range t.Args {
			one := f.value(a)
			if a.Op == expression.TermLiteral {
				v = valued{logic.True, f.circuit.Or(v.solid, one.solid)}
				break
			}
			v = valued{f.circuit.Or(v.there, one.solid), f.circuit.Or(v.solid, one.solid)}
		}
	case expression.TermGate:
		for _, a := range t.Args {
			v.there = f.circuit.And(v.there, f.value(a).solid)
		}
		v.solid = v.there
	default:
		for _, n := range t.Needs {
			v.there = f.circuit.And(v.there, f.value(n).there)
		}
		v.solid = v.there
		if t.Op == expression.TermOther {
			v.solid = f.circuit.And(v.there, f.conditions.unknown(true)) // it may come to null
		}
	}
	f.values[t] = v
	return v
}

// truth is whether a term is true or false, given that what it needs is there.
func (f *formula) truth(t *expression.Term) truth {
	if h, ok := f.truths[t]; ok {
		return h
	}
	h := truth{logic.False, logic.False}
	switch t.Op {
	case expression.TermLiteral:
		h = truth{constant(t.Value == true), constant(t.Value == false)}
	case expression.TermReference:
		h = f.among(t, func(c cell) bool { return c.kind == cellTrue }, func(c cell) bool { return c.kind == cellFalse })
	case expression.TermFallback:
		before := logic.False
		for _, a := range t.Args {
			one, v := f.truth(a), f.value(a)
			reached := f.circuit.And(before.Not(), v.solid)
			h.yes, h.no = f.circuit.Or(h.yes, f.circuit.And(reached, one.yes)), f.circuit.Or(h.no, f.circuit.And(reached, one.no))
			before = f.circuit.Or(before, v.solid)
		}
	case expression.TermGate:
		h = f.truth(t.Args[len(t.Args)-1])
		there := f.value(t).there
		h = truth{f.circuit.And(there, h.yes), f.circuit.And(there, h.no)}
	case expression.TermNot:
		one := f.truth(t.Args[0])
		h = truth{one.no, one.yes}
	case expression.TermAnd:
		h.yes = logic.True
		for _, a := range t.Args {
			one := f.truth(a)
			h.no = f.circuit.Or(h.no, f.circuit.And(h.yes, one.no))
			h.yes = f.circuit.And(h.yes, one.yes)
		}
	case expression.TermOr:
		h.no = logic.True
		for _, a := range t.Args {
			one := f.truth(a)
			h.yes = f.circuit.Or(h.yes, f.circuit.And(h.no, one.yes))
			h.no = f.circuit.And(h.no, one.no)
		}
	case expression.TermOther:
		h = f.atom(t)
	default:
		h = f.compare(t)
	}
	f.truths[t] = h
	return h
}

func constant(holds bool) logic.Literal {
	if holds {
		return logic.True
	}
	return logic.False
}

// An atomKey tells an expression that isn't looked into from others: its text,
// and the values that it is about.
type atomKey struct {
	text  string
	reads string
}

// atom is an expression that isn't looked into: it may come out either way, but
// the same way wherever it is about the same values.
func (f *formula) atom(t *expression.Term) truth {
	text := f.template.Node.Text[t.Start:t.End]
	var reads strings.Builder
	for i, ref := range f.template.Expr.References() {
		if ref.Start >= t.Start && ref.End <= t.End {
			k := f.conditions.key(&f.conditions.pass.Plan.Reads[f.template.Reads[i]])
			for _, n := range []int{int(k.path), int(k.bound), k.count, int(k.first), int(k.last), k.without} {
				reads.WriteString(" " + strconv.Itoa(n))
			}
		}
	}
	key := atomKey{text, reads.String()}
	l, ok := f.conditions.atoms[key]
	if !ok {
		l = f.circuit.Variable(true, true, aboutAtom{text: text})
		f.conditions.atoms[key] = l
	}
	return truth{l, l.Not()}
}

// A subject is a value that conditions compare with constants: the value is in
// one of few cells, between which no comparison tells a difference.
type subject struct {
	name    string // the reference as a person writes it
	numbers []float64
	texts   []string
	cells   []cell
	in      []logic.Literal // by cell
}

type subjectKey struct {
	readKey
}

// A cell holds one constant, or what lies between two.
type cell struct {
	kind cellKind
	at   int // of numbers and texts: 2i+1 is the constant i, 2i what lies before it
}

type cellKind uint8

const (
	cellTrue cellKind = iota
	cellFalse
	cellNumber
	cellText
	cellOther // a value of another kind
)

// maxConstants bounds what one value may be compared with; beyond it each
// comparison stands alone.
const maxConstants = 100

// findSubjects goes through all conditions for the constants that values are
// compared with.
func (e *branchConditions) findSubjects() {
	for _, call := range e.pass.Plan.Calls {
		if call.When == nil || call.When.Expr == nil {
			continue
		}
		term := call.When.Expr.Logic()
		e.whens[call.Index] = term
		seen := map[*expression.Term]bool{}
		var walk func(t *expression.Term)
		walk = func(t *expression.Term) {
			if seen[t] {
				return
			}
			seen[t] = true
			if ref, value, _, ok := comparison(t); ok {
				e.subject(call.When, ref).compareWith(value)
			} else if t.Op == expression.TermReference {
				e.subject(call.When, t)
			}
			for _, a := range t.Args {
				walk(a)
			}
		}
		walk(term)
	}
}

func (e *branchConditions) subject(t *compiler.Template, ref *expression.Term) *subject {
	read := &e.pass.Plan.Reads[t.Reads[ref.Ref]]
	k := subjectKey{e.key(read)}
	s := e.subjects[k]
	if s == nil {
		s = &subject{name: read.Ref.String()}
		e.subjects[k] = s
	}
	return s
}

func (s *subject) compareWith(value any) {
	switch v := value.(type) {
	case float64:
		s.numbers = insert(s.numbers, v)
	case string:
		s.texts = insert(s.texts, v)
	}
}

func insert[T cmp.Ordered](list []T, v T) []T {
	at, found := slices.BinarySearch(list, v)
	if found || len(list) > maxConstants {
		return list
	}
	return slices.Insert(list, at, v)
}

// comparison takes a comparison of a reference with a constant apart, the
// reference first.
func comparison(t *expression.Term) (ref *expression.Term, value any, op expression.TermOp, ok bool) {
	if t.Op < expression.TermEqual || len(t.Args) != 2 {
		return nil, nil, 0, false
	}
	turned := map[expression.TermOp]expression.TermOp{
		expression.TermLess: expression.TermMore, expression.TermLessEqual: expression.TermMoreEqual,
		expression.TermMore: expression.TermLess, expression.TermMoreEqual: expression.TermLessEqual,
	}
	a, b := t.Args[0], t.Args[1]
	op = t.Op
	if a.Op == expression.TermLiteral {
		a, b = b, a
		if back, ok := turned[op]; ok {
			op = back
		}
	}
	if a.Op != expression.TermReference || b.Op != expression.TermLiteral {
		return nil, nil, 0, false
	}
	switch b.Value.(type) {
	case nil, bool, float64, string:
		return a, b.Value, op, true
	}
	return nil, nil, 0, false
}

// divide makes the cells, once all constants are known.
func (e *branchConditions) divide(s *subject) {
	if s.in != nil {
		return
	}
	// The default comes first: a constant, then what lies above and below; or
	// true, where there is no constant.
	var far []cell
	for _, group := range []struct {
		kind  cellKind
		count int
	}{{cellText, len(s.texts)}, {cellNumber, len(s.numbers)}} {
		if group.count == 0 {
			far = append(far, cell{group.kind, 0})
			continue
		}
		for i := range group.count {
			s.cells = append(s.cells, cell{group.kind, 2*i + 1})
		}
		for i := group.count; i >= 0; i-- {
			s.cells = append(s.cells, cell{group.kind, 2 * i})
		}
	}
	s.cells = append(append(s.cells, cell{kind: cellTrue}, cell{kind: cellFalse}), append(far, cell{kind: cellOther})...)
	s.cells = slices.DeleteFunc(s.cells, func(c cell) bool {
		_, some := s.sample(c)
		return !some
	})
	s.in = make([]logic.Literal, len(s.cells))
	e.split(s.in, 0, len(s.cells), logic.True, true, func(from, middle, to int) any { return aboutSubject{s, from, middle, to} })
}

// among is whether the value of a reference is there and in certain cells.
func (f *formula) among(ref *expression.Term, isTrue, isFalse func(cell) bool) truth {
	s := f.conditions.subject(f.template, ref)
	f.conditions.divide(s)
	h := truth{logic.False, logic.False}
	for i, c := range s.cells {
		if isTrue(c) {
			h.yes = f.circuit.Or(h.yes, s.in[i])
		}
		if isFalse(c) {
			h.no = f.circuit.Or(h.no, s.in[i])
		}
	}
	solid := f.reference(ref).solid
	return truth{f.circuit.And(h.yes, solid), f.circuit.And(h.no, solid)}
}

// compare is the truth of a comparison. Values of different kinds are unequal,
// and aren't ordered: then the expression goes wrong.
func (f *formula) compare(t *expression.Term) truth {
	ref, constant, op, ok := comparison(t)
	if !ok {
		return f.atom(t)
	}
	v := f.reference(ref)
	null := f.circuit.And(v.there, v.solid.Not())
	if ref.Soft {
		null = v.solid.Not()
	}
	equality := op == expression.TermEqual || op == expression.TermUnequal
	var h truth
	if constant == nil {
		if !equality {
			return truth{logic.False, logic.False}
		}
		h = truth{null, v.solid}
	} else {
		s := f.conditions.subject(f.template, ref)
		kind, at, known := s.place(constant)
		if !known {
			return f.atom(t)
		}
		meets := func(c cell) bool {
			if c.kind != kind {
				return false
			}
			switch op {
			case expression.TermLess:
				return c.at < at
			case expression.TermLessEqual:
				return c.at <= at
			case expression.TermMore:
				return c.at > at
			case expression.TermMoreEqual:
				return c.at >= at
			}
			return c.at == at
		}
		h = f.among(ref, meets, func(c cell) bool { return !meets(c) && (equality || c.kind == kind) })
		if equality {
			h.no = f.circuit.Or(h.no, null)
		}
	}
	if op == expression.TermUnequal {
		h = truth{h.no, h.yes}
	}
	return h
}

// place is the cell of a constant.
func (s *subject) place(constant any) (kind cellKind, at int, known bool) {
	switch v := constant.(type) {
	case bool:
		if v {
			return cellTrue, 0, true
		}
		return cellFalse, 0, true
	case float64:
		i, found := slices.BinarySearch(s.numbers, v)
		return cellNumber, 2*i + 1, found
	case string:
		i, found := slices.BinarySearch(s.texts, v)
		return cellText, 2*i + 1, found
	}
	return 0, 0, false
}
