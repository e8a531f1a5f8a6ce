package branch

import (
	"slices"
	"strconv"
	"strings"

	"github.com/obelus-dev/obelus/analyzer/internal/logic"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/plan"
)

// An atom is a part of conditions that is evaluated as a unit: a boolean, a comparison, a question
// about a list. See [subject] for the values that it is evaluated with.
type atom struct {
	expr     *expression.Expr
	term     *expression.Node
	shape    string     // what it says, with its subjects by their place among these
	subjects []*subject // what it is about
	refs     []int      // by the expression's references: which of the subjects it is
	outcomes []outcome  // by the states of its subjects, filled on demand
	free     truth      // what it is where its subjects have values that weren't tried; see [Conditions.open]
}

// An outcome is what an atom comes out as: true, false, or neither, where it has no value or goes wrong.
type outcome uint8

const (
	unasked outcome = iota
	isTrue
	isFalse
	isNeither
)

// The states of a subject are its cells and, before these, that there is nothing and that there is null.
const (
	stateAbsent = iota
	stateNull
	stateCells
)

const (
	maxStates      = 5_000       // of the subjects of one atom together
	evaluationWork = 4_000_000   // steps that evaluating atoms may take, for all conditions of a plan
	evaluationRoom = 256_000_000 // bytes that it may make
)

// findAtoms collects the atoms of the conditions of calls. The samples of a value depend on all atoms about it.
func (e *Conditions) findAtoms(calls []*plan.Call) {
	for _, call := range calls {
		if when := call.When; when != nil && when.Expr != nil {
			e.whens[call.Index] = when.Expr.Root()
			e.atomsIn(when, e.whens[call.Index])
		}
		findChoices(e, call.Params)
	}
}

// findChoices collects the atoms of conditions in a template on which it depends whether an operand of a fallback
// is null.
func findChoices(e *Conditions, t *plan.Template) {
	for one := range t.Expressions() {
		for n := range one.Expr.Root().All() {
			if n.Op != expression.OpFallback || n.Open() {
				continue
			}
			for _, operand := range n.Args {
				if operand.Op == expression.OpCond && !operand.Constant {
					e.terms[templateNode{one, operand}] = nil
					e.atomsIn(one, operand.Args[0])
				}
			}
		}
	}
}

func (e *Conditions) atomsIn(t *plan.Template, term *expression.Node) {
	if term.Constant {
		return
	}
	switch term.Op {
	case expression.OpNot, expression.OpAnd, expression.OpChain, expression.OpOr, expression.OpFallback, expression.OpGate,
		expression.OpCond:
		for _, a := range term.Args {
			e.atomsIn(t, a)
		}
	default:
		e.atom(t, term)
	}
}

// A templateNode is a part of an expression as one template uses it.
type templateNode struct {
	template *plan.Template
	node     *expression.Node
}

// atom is the atom that a term is, the same one for terms that are written alike and are about the same values.
func (e *Conditions) atom(t *plan.Template, term *expression.Node) *atom {
	use := templateNode{t, term}
	if known := e.terms[use]; known != nil {
		return known
	}
	a := &atom{expr: t.Expr, term: term, refs: make([]int, len(t.Reads))}
	referring(term, func(ref int) {
		s := e.subject(t.Reads[ref])
		at := slices.Index(a.subjects, s)
		if at < 0 {
			at, a.subjects = len(a.subjects), append(a.subjects, s)
		}
		a.refs[ref] = at
	})
	a.shape = t.Expr.Print(term, func(ref int) string { return "{" + strconv.Itoa(a.refs[ref]) + "}" })
	key := a.key(a.shape)
	if known := e.atoms[key]; known != nil {
		e.terms[use] = known
		return known
	}
	e.terms[use], e.atoms[key] = a, a
	for _, s := range a.subjects {
		s.atoms = append(s.atoms, a)
	}
	return a
}

// key tells what is written in some way about the atom's subjects from what is written so about others.
func (a *atom) key(text string) string {
	var b strings.Builder
	b.WriteString(text)
	for _, s := range a.subjects {
		b.WriteString(" " + strconv.Itoa(s.number))
	}
	return b.String()
}

// referring calls f for every reference in a node.
func referring(term *expression.Node, f func(ref int)) {
	for n := range term.All() {
		if n.Op == expression.OpRef {
			f(n.Index)
		}
	}
}

// atom is the truth of a term that isn't looked into: over what its subjects may be.
func (f *formula) atom(t *expression.Node) truth {
	e := f.Conditions
	a := e.atom(f.template, t)
	states := 1
	for _, s := range a.subjects {
		e.divide(s)
		if states *= stateCells + len(s.cells); states > maxStates {
			return e.open(a)
		}
	}
	if a.outcomes == nil {
		a.outcomes = make([]outcome, states)
	}
	reads := make([]int, len(a.subjects))
	referring(t, func(ref int) {
		read := f.template.Reads[ref]
		reads[slices.Index(a.subjects, e.subject(read))] = read
	})
	return f.over(a, reads, 0, 0)
}

// over is the truth of an atom. The number encodes the states of its first subjects.
func (f *formula) over(a *atom, reads []int, subject, states int) truth {
	e := f.Conditions
	if subject == len(a.subjects) {
		o := e.comesOut(a, states)
		return truth{logic.Constant(o == isTrue), logic.Constant(o == isFalse)}
	}
	s := a.subjects[subject]
	v := f.valueOf(reads[subject])
	type group struct {
		of truth
		in logic.Literal
	}
	var groups []group
	add := func(of truth, in logic.Literal) {
		if in == logic.False || of == (truth{logic.False, logic.False}) {
			return
		}
		for i := range groups {
			if groups[i].of == of {
				groups[i].in = e.Or(groups[i].in, in)
				return
			}
		}
		groups = append(groups, group{of, in})
	}
	for state := range stateCells + len(s.cells) {
		var in logic.Literal
		switch state {
		case stateAbsent:
			in = v.there.Not()
		case stateNull:
			in = e.And(v.there, v.solid.Not())
		default:
			in = e.And(v.solid, s.in[state-stateCells])
		}
		switch {
		case in == logic.False:
		case state >= stateCells && s.cells[state-stateCells].untried:
			add(e.open(a), in)
		default:
			add(f.over(a, reads, subject+1, states*(stateCells+len(s.cells))+state), in)
		}
	}
	h := truth{logic.False, logic.False}
	for _, g := range groups {
		h.yes = e.Or(h.yes, e.And(g.in, g.of.yes))
		h.no = e.Or(h.no, e.And(g.in, g.of.no))
	}
	return h
}

// comesOut evaluates an atom in encoded states of its subjects.
func (e *Conditions) comesOut(a *atom, states int) outcome {
	if a.outcomes[states] != unasked {
		return a.outcomes[states]
	}
	var chosen [8]int // more subjects have more than maxStates together
	for i, rest := len(a.subjects)-1, states; i >= 0; i-- {
		n := stateCells + len(a.subjects[i].cells)
		chosen[i], rest = rest%n, rest/n
	}
	o := e.evaluate(a, func(subject int) (any, expression.Presence) {
		switch state := chosen[subject]; state {
		case stateAbsent:
			return nil, expression.Absent
		case stateNull:
			return nil, expression.There
		default:
			return a.subjects[subject].cells[state-stateCells].value, expression.There
		}
	})
	a.outcomes[states] = o
	return o
}

// evaluate returns the outcome of an atom for the values of its subjects.
func (e *Conditions) evaluate(a *atom, value func(subject int) (any, expression.Presence)) outcome {
	yes, no := a.expr.Holds(a.term, func(ref int) (any, expression.Presence) { return value(a.refs[ref]) }, &e.evaluations)
	switch {
	case e.evaluations.Passed():
		e.Exhaust()
	case yes:
		return isTrue
	case no:
		return isFalse
	}
	return isNeither
}

// open is the truth of an atom about values that weren't tried: it may be either, but what is written the same way is
// the same, and of less, equal and more one is so. A question is first asked without such values, see
// [logic.Circuit.Untried], unless none was found with which no condition goes wrong.
func (e *Conditions) open(a *atom) truth {
	if a.free != (truth{}) {
		return a.free
	}
	counts := logic.True
	if !slices.ContainsFunc(a.subjects, func(s *subject) bool { return s.opaque }) {
		counts = e.Untried()
	}
	t := a.term
	if !t.Op.Compares() {
		l := e.freely(a, a.expr.Print(t, nil))
		a.free = truth{e.And(counts, l), e.And(counts, l.Not())}
		return a.free
	}
	left, right := a.expr.Print(t.Args[0], nil), a.expr.Print(t.Args[1], nil)
	op := t.Op
	if left > right {
		left, right, op = right, left, turned(op)
	}
	equal := e.freely(a, left+" == "+right)
	below := e.freely(a, left+" < "+right)
	if value, constant := sides(t); isLength(value) {
		if number, ok := constant.Value.(float64); ok && number <= 0 { // no length is below it
			below = logic.Constant(a.expr.Print(value, nil) == right)
		}
	}
	less := e.And(equal.Not(), below)
	more := e.And(equal.Not(), less.Not())
	holds := map[expression.Op]logic.Literal{
		expression.OpEqual: equal, expression.OpUnequal: equal.Not(), expression.OpLess: less, expression.OpMore: more,
		expression.OpLessEqual: more.Not(), expression.OpMoreEqual: less.Not(),
	}[op]
	a.free = truth{e.And(counts, holds), e.And(counts, holds.Not())}
	return a.free
}

// freely is the variable of what is written some way about the subjects of an atom.
func (e *Conditions) freely(a *atom, text string) logic.Literal {
	subjects := slices.Clone(a.subjects)
	slices.SortFunc(subjects, func(a, b *subject) int { return a.number - b.number })
	key := (&atom{subjects: subjects}).key(text)
	l, ok := e.free[key]
	if !ok {
		l = e.Variable(true, true, aboutAtom{text})
		e.free[key] = l
	}
	return l
}

// turned is a comparison with its sides changed.
func turned(op expression.Op) expression.Op {
	switch op {
	case expression.OpLess:
		return expression.OpMore
	case expression.OpLessEqual:
		return expression.OpMoreEqual
	case expression.OpMore:
		return expression.OpLess
	case expression.OpMoreEqual:
		return expression.OpLessEqual
	}
	return op
}
