package branch

import (
	"github.com/obelus-dev/obelus/analyzer/internal/logic"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/expression"
)

// Before is, for every call, whether something has happened in every order that the
// machine may take (S8.2): a call waits for what decides about it, and no longer.
type Before struct {
	Starts  []logic.Literal // before it starts, if it does
	Settles []logic.Literal // before it settles, whatever becomes of it
	e       *Conditions
	happens []logic.Literal
}

// Before follows something through the plan that has happened once some calls have
// settled: happens says under which condition it has with each.
func (e *Conditions) Before(happens []logic.Literal) *Before {
	n := len(e.plan.Calls)
	b := &Before{make([]logic.Literal, n), make([]logic.Literal, n), e, happens}
	for i := range n {
		b.Starts[i], b.Settles[i] = logic.False, logic.False
	}
	for _, i := range e.plan.Graph.Order() {
		call := e.plan.Calls[i]
		if b.concerns(call) {
			e.within(int(i), func() { b.follow(call) })
		}
	}
	return b
}

// with is whether it has happened once one of some calls has settled.
func (b *Before) with(calls []int32) logic.Literal {
	all := logic.False
	for _, w := range calls {
		all = b.e.Or(all, b.e.Or(b.happens[w], b.Settles[w]))
	}
	return all
}

// concerns reports whether a call waits for something with which it may have happened.
func (b *Before) concerns(call *compiler.Call) bool {
	for _, d := range b.e.plan.Graph.Deps(call.Index) {
		if b.happens[d] != logic.False || b.Settles[d] != logic.False {
			return true
		}
	}
	return false
}

func (b *Before) follow(call *compiler.Call) {
	e := b.e
	starts := e.Or(b.with(call.Waits), b.with(call.Choices))
	skipped := logic.True // whatever it may be skipped for
	for _, a := range call.After {
		settled := b.with([]int32{int32(a.Call)})
		if starts = e.Or(starts, settled); !a.Settled {
			skipped = e.And(skipped, e.Or(e.Done(e.plan.Calls[a.Call]), settled))
		}
	}
	expressions := func(whole *compiler.Template) {
		for t := range whole.Expressions() {
			if !t.PerItem() { // it has one value for the whole call
				isThere, f := e.There(t), e.formula(t)
				starts = e.Or(starts, b.decided(f, nil, true))
				skipped = e.And(skipped, e.Or(isThere, b.decided(f, nil, false)))
			}
		}
	}
	if when := call.When; when != nil && when.Expr != nil && !when.PerItem() {
		expressions(when)
		// One that is there and not true needs all that it is there by.
		skipped = e.And(skipped, e.Or(e.Or(e.There(when).Not(), e.Condition(call)), b.decided(e.formula(when), nil, true)))
	}
	if call.Each != nil {
		expressions(call.Each.List)
		for _, r := range call.Reads {
			starts = e.Or(starts, b.with(e.plan.Reads[r].Writers))
		}
	}
	for _, s := range call.Scopes {
		starts = e.Or(starts, b.with(e.plan.Reads[s.Read].Writers))
	}
	expressions(call.Params)
	if e.plan.Writes == compiler.Once {
		skipped = e.And(skipped, e.Or(e.taken(call).Not(), starts))
	}
	b.Starts[call.Index] = starts
	b.Settles[call.Index] = e.IfThenElse(e.runs[call.Index], starts, skipped)
}

// decided is whether it has happened before a term is known to have a value, or to have
// none. Without a term it is the whole expression.
func (b *Before) decided(f *formula, t *expression.Term, there bool) logic.Literal {
	e := b.e
	if t == nil {
		if f.template.Expr.Plain() {
			return b.with(e.plan.Reads[f.template.Reads[0]].Writers)
		}
		t = f.template.Expr.Logic()
	}
	known := func(a *expression.Term) logic.Literal {
		return e.IfThenElse(f.value(a).there, b.decided(f, a, true), b.decided(f, a, false))
	}
	switch t.Op {
	case expression.TermLiteral:
		return logic.False
	case expression.TermReference:
		return b.with(e.plan.Reads[f.template.Reads[t.Ref]].Writers)
	case expression.TermFallback: // one operand after the other, up to the one that is there
		all, reached := logic.False, logic.True
		for _, a := range t.Args {
			all = e.Or(all, e.And(reached, known(a)))
			if a.Op == expression.TermLiteral {
				break
			}
			reached = e.And(reached, f.value(a).solid.Not())
		}
		return all
	}
	needs, missing := t.Needs, func(n *expression.Term) logic.Literal { return f.value(n).there.Not() }
	if t.Op == expression.TermGate {
		needs, missing = t.Args, func(n *expression.Term) logic.Literal { return f.value(n).solid.Not() }
	}
	if there { // all that it needs is known
		all := logic.False
		for _, n := range needs {
			all = e.Or(all, b.decided(f, n, true))
		}
		return all
	}
	// The first that is known to be missing decides, and which that is isn't known.
	all, some := logic.True, logic.False
	for _, n := range needs {
		all, some = e.And(all, e.Or(missing(n).Not(), known(n))), e.Or(some, missing(n))
	}
	return e.And(all, some)
}
