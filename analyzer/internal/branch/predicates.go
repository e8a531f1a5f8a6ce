package branch

import (
	"slices"
	"strconv"

	"github.com/obelus-dev/obelus/analyzer/internal/logic"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/plan"
)

// A predicate is a part of conditions that is evaluated as a unit: a boolean, a comparison, a question
// about a list. See [variable] for the values that it is evaluated with.
type predicate struct {
	expr     *expression.Expr
	term     *expression.Node
	shape    string        // what it says, without what it is about
	of       *variable     // what it is about; nil where that are several values, or none
	outcomes []outcome     // by the states of the variable, filled on demand
	free     logic.Literal // that it is true of values that weren't tried; see [variables.open]
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
	a := &predicate{expr: t.Expr, term: term, free: -1}
	var about []*variable
	for n := range term.All() {
		if n.Op == expression.OpRef {
			if s := e.variable(t.Reads[n.Index]); !slices.Contains(about, s) {
				about = append(about, s)
			}
		}
	}
	a.shape = t.Expr.Shape(term, func(int) string { return "{}" })
	key := e.key(t, term)
	if known := e.predicates[key]; known != nil {
		e.terms[use] = known
		return known
	}
	e.terms[use], e.predicates[key] = a, a
	if len(about) == 1 {
		a.of = about[0]
		a.of.predicates = append(a.of.predicates, a)
		return a
	}
	for _, s := range about {
		s.with = append(s.with, about...)
	}
	a.free = e.open(t, term)
	return a
}

// key is a term with the numbers of the variables that it is about.
func (e *variables) key(t *plan.Template, term *expression.Node) string {
	return t.Expr.Shape(term, func(ref int) string {
		return "{" + strconv.Itoa(e.variable(t.Reads[ref]).number) + "}"
	})
}

// predicate is the truth of a term that isn't looked into: over what its variable may be.
func (f *formula) predicate(t *expression.Node) truth {
	a := f.variables.predicate(f.template, t)
	if a.of == nil {
		return truth{a.free, a.free.Not()}
	}
	s := a.of
	f.divide(s)
	if a.outcomes == nil {
		a.outcomes = make([]outcome, statePoints+len(s.points))
	}
	var v valued
	for n := range t.All() {
		if n.Op == expression.OpRef {
			v = f.valueOf(f.template.Reads[n.Index])
			break
		}
	}
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
		if state >= statePoints && s.points[state-statePoints].untried {
			if a.free < 0 {
				a.free = f.open(f.template, t)
			}
			counts := logic.True
			if len(s.points) > 1 {
				counts = f.Untried()
			}
			h.yes = f.Or(h.yes, f.And(in, f.And(counts, a.free)))
			h.no = f.Or(h.no, f.And(in, f.And(counts, a.free.Not())))
			continue
		}
		switch f.comesOut(a, state) {
		case isTrue:
			h.yes = f.Or(h.yes, in)
		case isFalse:
			h.no = f.Or(h.no, in)
		}
	}
	return h
}

// comesOut evaluates a predicate in a state of its variable.
func (e *variables) comesOut(a *predicate, state int) outcome {
	if a.outcomes[state] == unasked {
		var value any
		presence := expression.There
		if state == stateAbsent {
			presence = expression.Absent
		} else if state >= statePoints {
			value = a.of.points[state-statePoints].value
		}
		a.outcomes[state] = e.evaluate(a, value, presence)
	}
	return a.outcomes[state]
}

// evaluate returns the outcome of a predicate for a value of its variable.
func (e *variables) evaluate(a *predicate, value any, presence expression.Presence) outcome {
	yes, no := a.expr.Holds(a.term, func(int) (any, expression.Presence) { return value, presence }, &e.evaluations)
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

// open is whether a predicate holds of values that weren't tried: it may or may not, but what is written the same way
// is the same. A question is first asked without such values, see [logic.Circuit.Untried], unless none was tried.
func (e *variables) open(t *plan.Template, term *expression.Node) logic.Literal {
	says, isOpposite := e.key(t, term), false
	if op := term.Op; op.Compares() {
		left, right := e.key(t, term.Args[0]), e.key(t, term.Args[1])
		if left > right {
			left, right, op = right, left, turned(op)
		}
		switch op {
		case expression.OpUnequal, expression.OpLessEqual, expression.OpMoreEqual:
			op, isOpposite = opposite[op], true
		}
		says = left + " " + strconv.Itoa(int(op)) + " " + right
	}
	l, known := e.free[says]
	if !known {
		l = e.Variable(true, true, aboutPredicate{t.Expr.Text[term.Start:term.End]})
		e.free[says] = l
	}
	if isOpposite {
		return l.Not()
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
