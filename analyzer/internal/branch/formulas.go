package branch

import (
	"github.com/obelus-dev/obelus/analyzer/internal/logic"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/plan"
)

// A formula turns the terms of one expression into literals.
type formula struct {
	*Conditions
	template *plan.Template
	values   map[*expression.Node]valued
	truths   map[*expression.Node]truth
	alone    map[int]valued // when set: what reads are is left open, and only the expression counts
}

// A truth is whether a term is true, and whether it is false. It is neither while it is absent, or when it goes wrong.
type truth struct{ yes, no logic.Literal }

func (e *Conditions) formula(t *plan.Template) *formula {
	return &formula{Conditions: e, template: t, values: map[*expression.Node]valued{},
		truths: map[*expression.Node]truth{}}
}

// Condition is whether a call's _when is there and true.
func (e *Conditions) Condition(call *plan.Call) logic.Literal {
	switch t := call.When; {
	case !t.Live:
		return logic.Constant(t.Value == true)
	case t.Expr == nil:
		return e.unknown(true)
	default:
		return e.formula(t).holds(call.When.Expr.Root()).yes
	}
}

// ConditionAlone is whether a call's _when is true and whether it is false, for any values of its references.
func (e *Conditions) ConditionAlone(call *plan.Call) (yes, no logic.Literal) {
	f := e.formula(call.When)
	f.alone = map[int]valued{}
	h := f.holds(call.When.Expr.Root())
	return h.yes, h.no
}

// Operands are, for each operand of a fallback in an expression, whether it has a value
// other than null, so that it decides if it is its turn. One that is written out does.
func (e *Conditions) Operands(t *plan.Template, fallback *expression.Node) []logic.Literal {
	f, all := e.formula(t), make([]logic.Literal, len(fallback.Args))
	for i, a := range fallback.Args {
		if all[i] = logic.True; !a.Constant {
			all[i] = f.value(a).solid
		}
	}
	return all
}

// holds is the truth of a whole expression.
func (f *formula) holds(t *expression.Node) truth {
	h := f.truth(t)
	for _, n := range t.Needs {
		there := f.value(n).there
		h = truth{f.And(h.yes, there), f.And(h.no, there)}
	}
	return h
}

// valueOf is what is known of the value of a read. Of one that stands alone that is whether
// it may be null; and where the expression reads the same again, it is the same.
func (f *formula) valueOf(r int) valued {
	if f.alone == nil {
		return f.read(r)
	}
	v, ok := f.alone[r]
	if ok {
		return v
	}
	key := keyOf(f.plan, r)
	for other, one := range f.alone {
		if keyOf(f.plan, other) == key {
			f.alone[r] = one
			return one
		}
	}
	v.there = f.unknown(true)
	read := &f.plan.Reads[r] // that schemas say is always there, and never null
	if v.solid = v.there; compiler.ReadsItem(f.plan, read) || !f.facts.Domain(read).Sure ||
		f.read(r) != (valued{logic.True, logic.True}) {
		v.solid = f.And(v.there, f.unknown(true))
	}
	f.alone[r] = v
	return v
}

// value is whether a term has a value where presence counts.
func (f *formula) value(t *expression.Node) valued {
	if v, ok := f.values[t]; ok {
		return v
	}
	v := valued{logic.True, logic.True}
	switch {
	case t.Constant:
		if t.Value == nil {
			v.solid = logic.False
		}
	case t.Op == expression.OpRef:
		v = f.valueOf(f.template.Reads[t.Index])
		if t.Soft {
			v.there = logic.True
		}
	case t.Op == expression.OpFallback:
		v = valued{logic.False, logic.False}
		for _, a := range t.Args {
			one := f.value(a)
			if a.Constant {
				v = valued{logic.True, f.Or(v.solid, one.solid)}
				break
			}
			v = valued{f.Or(v.there, one.solid), f.Or(v.solid, one.solid)}
		}
	case t.Op == expression.OpGate:
		for _, a := range t.Args {
			v.there = f.And(v.there, f.value(a).solid)
		}
		v.solid = v.there
	default:
		for _, n := range t.Needs {
			v.there = f.And(v.there, f.value(n).there)
		}
		v.solid = v.there
		if _, looked := f.terms[templateNode{f.template, t}]; looked && t.Op == expression.OpCond {
			asked, one, other := f.truth(t.Args[0]), f.value(t.Args[1]), f.value(t.Args[2])
			v.solid = f.And(v.there, f.Or(f.And(asked.yes, one.solid), f.And(asked.no, other.solid)))
		} else if !isBoolean(t.Op) {
			v.solid = f.And(v.there, f.unknown(true)) // it may be null
		}
	}
	f.values[t] = v
	return v
}

// isBoolean reports whether an operation that is no predicate on a value gives true or false.
func isBoolean(op expression.Op) bool {
	switch op {
	case expression.OpNot, expression.OpAnd, expression.OpOr:
		return true
	}
	return op.Compares()
}

// truth is whether a term is true or false, given that what it needs is there.
func (f *formula) truth(t *expression.Node) truth {
	if h, ok := f.truths[t]; ok {
		return h
	}
	h := truth{logic.False, logic.False}
	switch {
	case t.Constant:
		h = truth{logic.Constant(t.Value == true), logic.Constant(t.Value == false)}
	case t.Op == expression.OpFallback:
		before := logic.False
		for _, a := range t.Args {
			one, v := f.truth(a), f.value(a)
			reached := f.And(before.Not(), v.solid)
			h.yes, h.no = f.Or(h.yes, f.And(reached, one.yes)), f.Or(h.no, f.And(reached, one.no))
			before = f.Or(before, v.solid)
		}
	case t.Op == expression.OpGate:
		h = f.truth(t.Args[len(t.Args)-1])
		there := f.value(t).there
		h = truth{f.And(there, h.yes), f.And(there, h.no)}
	case t.Op == expression.OpNot:
		one := f.truth(t.Args[0])
		h = truth{one.no, one.yes}
	// a or b is not (not a and not b)
	case t.Op == expression.OpAnd, t.Op == expression.OpOr:
		or := t.Op == expression.OpOr
		h.yes = logic.True
		for _, a := range t.Args {
			one := f.truth(a)
			if or {
				one.yes, one.no = one.no, one.yes
			}
			h.no = f.Or(h.no, f.And(h.yes, one.no))
			h.yes = f.And(h.yes, one.yes)
		}
		if or {
			h.yes, h.no = h.no, h.yes
		}
	case t.Op == expression.OpCond:
		asked, one, other := f.truth(t.Args[0]), f.truth(t.Args[1]), f.truth(t.Args[2])
		h.yes = f.Or(f.And(asked.yes, one.yes), f.And(asked.no, other.yes))
		h.no = f.Or(f.And(asked.yes, one.no), f.And(asked.no, other.no))
	default:
		h = f.predicate(t)
	}
	f.truths[t] = h
	return h
}
