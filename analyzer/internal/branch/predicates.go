package branch

import (
	"slices"
	"strconv"
	"strings"

	"github.com/obelus-dev/obelus/analyzer/internal/logic"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/plan"
)

// A predicate is a part of conditions that is evaluated as a unit: a boolean, a comparison, a question
// about a list. See [variable] for the values that it is evaluated with.
type predicate struct {
	expr      *expression.Expr
	term      *expression.Node
	shape     string      // what it says, with its variables by their place among these
	variables []*variable // what it is about
	refs      []int       // by the expression's references: which of the variables it is
	outcomes  []outcome   // by the states of its variables, filled on demand
	free      truth       // what it is where its variables have values that weren't tried; see [Conditions.open]
}

// An outcome is what a predicate comes out as: true, false, or neither, where it has no value or goes wrong.
type outcome uint8

const (
	unasked outcome = iota
	isTrue
	isFalse
	isNeither
)

// The states of a variable are its points and, before these, that there is nothing and that there is null.
const (
	stateAbsent = iota
	stateNull
	statePoints
)

const (
	maxStates      = 5_000       // of the variables of one predicate together
	evaluationWork = 4_000_000   // steps that evaluating predicates may take, for all conditions of a plan
	evaluationRoom = 256_000_000 // bytes that it may make
)

// findPredicates collects the predicates of expressions: of conditions, and of choices between values. The samples of
// a value depend on all predicates about it.
func (e *variables) findPredicates(calls []*plan.Call) {
	for _, call := range calls {
		for t := range call.Expressions() {
			for n := range t.Expr.Root().All() {
				if t != call.When && n.Op == expression.OpCond && !n.Constant && !n.Open() {
					e.terms[templateNode{t, n}] = nil
					e.predicatesIn(t, n.Args[0])
				}
			}
		}
		if when := call.When; when != nil && when.Expr != nil {
			e.predicatesIn(when, when.Expr.Root())
		}
	}
}

func (e *variables) predicatesIn(t *plan.Template, term *expression.Node) {
	if term.Constant {
		return
	}
	switch term.Op {
	case expression.OpNot, expression.OpAnd, expression.OpOr, expression.OpFallback, expression.OpGate,
		expression.OpCond:
		for _, a := range term.Args {
			e.predicatesIn(t, a)
		}
	default:
		e.predicate(t, term)
	}
}

// A templateNode is a part of an expression as one template uses it.
type templateNode struct {
	template *plan.Template
	node     *expression.Node
}

// predicate is the predicate that a term is: one for terms that are written alike and are about the same values.
func (e *variables) predicate(t *plan.Template, term *expression.Node) *predicate {
	use := templateNode{t, term}
	if known := e.terms[use]; known != nil {
		return known
	}
	a := &predicate{expr: t.Expr, term: term, refs: make([]int, len(t.Reads))}
	referring(term, func(ref int) {
		s := e.variable(t.Reads[ref])
		at := slices.Index(a.variables, s)
		if at < 0 {
			at, a.variables = len(a.variables), append(a.variables, s)
		}
		a.refs[ref] = at
	})
	a.shape = t.Expr.Shape(term, func(ref int) string { return "{" + strconv.Itoa(a.refs[ref]) + "}" })
	key := a.key(a.shape)
	if known := e.predicates[key]; known != nil {
		e.terms[use] = known
		return known
	}
	e.terms[use], e.predicates[key] = a, a
	for _, s := range a.variables {
		s.predicates = append(s.predicates, a)
	}
	return a
}

// key tells what is written in some way about the predicate's variables from what is written so about others.
func (a *predicate) key(text string) string {
	var b strings.Builder
	b.WriteString(text)
	for _, s := range a.variables {
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

// predicate is the truth of a term that isn't looked into: over what its variables may be.
func (f *formula) predicate(t *expression.Node) truth {
	a := f.variables.predicate(f.template, t)
	states := 1
	for _, s := range a.variables {
		if !s.divided {
			f.divide(s, f.variantsOf(s))
		}
		if states *= statePoints + len(s.points); states > maxStates {
			return f.open(a)
		}
	}
	if a.outcomes == nil {
		a.outcomes = make([]outcome, states)
	}
	reads := make([]int, len(a.variables))
	referring(t, func(ref int) {
		read := f.template.Reads[ref]
		reads[slices.Index(a.variables, f.variable(read))] = read
	})
	return f.over(a, reads, nil)
}

// over is the truth of a predicate in some states of its first variables.
func (f *formula) over(a *predicate, reads, states []int) truth {
	if len(states) == len(a.variables) {
		o := f.comesOut(a, states)
		return truth{logic.Constant(o == isTrue), logic.Constant(o == isFalse)}
	}
	s, v := a.variables[len(states)], f.valueOf(reads[len(states)])
	h := truth{logic.False, logic.False}
	for state := range statePoints + len(s.points) {
		in := v.there.Not()
		if state == stateNull {
			in = f.And(v.there, v.solid.Not())
		} else if state >= statePoints {
			in = f.And(v.solid, s.in[state-statePoints])
		}
		if in == logic.False {
			continue
		}
		var of truth
		if state >= statePoints && s.points[state-statePoints].untried {
			of = f.open(a)
		} else {
			of = f.over(a, reads, append(states, state))
		}
		h = truth{f.Or(h.yes, f.And(in, of.yes)), f.Or(h.no, f.And(in, of.no))}
	}
	return h
}

// comesOut evaluates a predicate in states of its variables.
func (e *variables) comesOut(a *predicate, states []int) outcome {
	at := 0
	for i, s := range a.variables {
		at = at*(statePoints+len(s.points)) + states[i]
	}
	if a.outcomes[at] == unasked {
		a.outcomes[at] = e.evaluate(a, func(variable int) (any, expression.Presence) {
			switch state := states[variable]; state {
			case stateAbsent:
				return nil, expression.Absent
			case stateNull:
				return nil, expression.There
			default:
				return a.variables[variable].points[state-statePoints].value, expression.There
			}
		})
	}
	return a.outcomes[at]
}

// evaluate returns the outcome of a predicate for the values of its variables.
func (e *variables) evaluate(a *predicate, value func(variable int) (any, expression.Presence)) outcome {
	yes, no := a.expr.Holds(a.term,
		func(ref int) (any, expression.Presence) { return value(a.refs[ref]) }, &e.evaluations)
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

// open is the truth of a predicate about values that weren't tried: it may be either, but what is written the same way
// is the same, and of less, equal and more one is so. A question is first asked without such values, see
// [logic.Circuit.Untried], unless none was found with which no condition goes wrong.
func (e *variables) open(a *predicate) truth {
	if a.free != (truth{}) {
		return a.free
	}
	counts := logic.True
	if !slices.ContainsFunc(a.variables, func(s *variable) bool { return s.opaque }) {
		counts = e.Untried()
	}
	t := a.term
	if !t.Op.Compares() {
		l := e.freely(a, a.expr.Shape(t, nil), a.written(t))
		a.free = truth{e.And(counts, l), e.And(counts, l.Not())}
		return a.free
	}
	x, y, op := t.Args[0], t.Args[1], t.Op
	left, right := a.expr.Shape(x, nil), a.expr.Shape(y, nil)
	if left > right {
		left, right, x, y, op = right, left, y, x, turned[op]
	}
	equal := e.freely(a, left+" == "+right, a.written(x)+" == "+a.written(y))
	below := e.freely(a, left+" < "+right, a.written(x)+" < "+a.written(y))
	less := e.And(equal.Not(), below)
	more := e.And(equal.Not(), less.Not())
	holds := map[expression.Op]logic.Literal{
		expression.OpEqual: equal, expression.OpUnequal: equal.Not(), expression.OpLess: less, expression.OpMore: more,
		expression.OpLessEqual: more.Not(), expression.OpMoreEqual: less.Not(),
	}[op]
	a.free = truth{e.And(counts, holds), e.And(counts, holds.Not())}
	return a.free
}

// written is a part of the predicate as the plan has it.
func (a *predicate) written(n *expression.Node) string { return a.expr.Text[n.Start:n.End] }

// freely is the variable of what has some shape about the variables of a predicate.
func (e *variables) freely(a *predicate, shape, text string) logic.Literal {
	variables := slices.Clone(a.variables)
	slices.SortStableFunc(variables, func(a, b *variable) int { return a.number - b.number })
	key := (&predicate{variables: variables}).key(shape)
	l, ok := e.free[key]
	if !ok {
		l = e.Variable(true, true, aboutPredicate{text})
		e.free[key] = l
	}
	return l
}

// turned is a comparison with its sides changed.
var turned = map[expression.Op]expression.Op{
	expression.OpEqual: expression.OpEqual, expression.OpUnequal: expression.OpUnequal,
	expression.OpLess: expression.OpMore, expression.OpLessEqual: expression.OpMoreEqual,
	expression.OpMore: expression.OpLess, expression.OpMoreEqual: expression.OpLessEqual,
}
