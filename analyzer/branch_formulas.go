package analyzer

import (
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

// valueOf is what is known of the value of a read.
func (f *formula) valueOf(r int) valued {
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
		v = f.valueOf(f.template.Reads[t.Ref])
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
	default:
		h = f.atom(t)
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
