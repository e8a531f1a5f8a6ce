package analyzer

import (
	"errors"
	"slices"

	"github.com/obelus-dev/obelus/analyzer/flow"
	"github.com/obelus-dev/obelus/analyzer/internal/analysis"
	"github.com/obelus-dev/obelus/analyzer/internal/samples"
	"github.com/obelus-dev/obelus/analyzer/rules"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/runtime/state"
)

// What a sample run reads and works out.

// Read is the value of a read; a hole where nothing is known of it.
func (w *trial) Read(p *plan.Plan, read *plan.Read, at func(pathtree.ID) (any, bool)) (value any, there bool) {
	kind, paths, isInner := p.Paths.Kind(read.Path), p.Paths, w.delegates[p] != nil
	if read.Path == pathtree.Root || paths.Depth(read.Path) < 2 ||
		kind != "input" && kind != "state" && kind != "data" {
		return samples.Hole(), true
	}
	value, there = at(read.Path)
	if kind == "input" && p.InputSchema == nil && !isInner && (value == nil || value == "") {
		return samples.Hole(), true // a blank to be filled in
	}
	up := read.Path
	for !there && paths.Depth(up) > 2 {
		up = paths.Parent(up)
		if above, ok := at(up); ok {
			if !isInner {
				w.above[read] = w.holds(up, above)
			}
			return w.Below(above, paths.Segments(read.Path)[paths.Depth(up):])
		}
	}
	if !there && kind == "input" && !isInner && !w.pass.Within { // else what a call passes is known at the call
		w.above[read] = w.holds(paths.Parent(up), p.Input)
	}
	return value, there
}

// Below is what is at a path in a value: a hole where that may have other keys than are known of.
func (w *trial) Below(value any, path []expression.Segment) (any, bool) {
	for _, step := range path {
		next, there := pathtree.Step(value, step)
		if !there {
			if samples.IsOpen(value) {
				return samples.Hole(), true
			}
			return nil, false
		}
		value = next
	}
	return value, true
}

// Refuses says why a schema rejects a value whatever is in its holes.
func (w *trial) Refuses(s *schema.Schema, v any) *schema.Violation {
	cleared, _ := samples.Clear(v)
	wrong := s.Validate(cleared)
	if wrong == nil || !samples.IsCertain(v, wrong) {
		return nil
	}
	w.refusing, w.refused = s, cleared
	return wrong
}

// Evaluate evaluates an expression of what runs. An unknown condition holds or doesn't, and an unknown list is as long
// as for other calls with the same list.
func (w *trial) Evaluate(p *plan.Plan, t *plan.Template, read expression.Lookup) (value any,
	presence expression.Presence, failure *state.Failure) {
	w.look = read
	of, call := w.sampler, (*plan.Call)(nil)
	if sub := w.delegates[p]; sub != nil {
		of = sub
	}
	if len(t.Reads) > 0 && p.Reads[t.Reads[0]].Call >= 0 {
		call = of.pass.Plan.Calls[p.Reads[t.Reads[0]].Call]
	}
	value, presence, err := w.evaluate(of, t)
	isHole := samples.IsHole(value)
	isList := presence == expression.There && call != nil && call.Each != nil && t == call.Each.List
	if isList && !isHole && schema.KindOf(value) != schema.Array {
		err = &expression.Error{End: len(t.Node.Text), Message: "\"_each\" must be a list"}
	}
	switch {
	case err != nil:
		w.note(of, t, err)
		return nil, presence, &state.Failure{Code: "expression-type"}
	case isList && isHole:
		w.assumed[t] = true
		least, most := of.pass.Flow.Lengths(call)
		if of.pass.Flow.Listing(call).Uncounted {
			least = max(1, least)
		}
		value = slices.Repeat([]any{value},
			flow.Once(w.counts, call.Each.Text(), func() int { return min(least+w.random.IntN(3), most) }))
	case call == nil || t != call.When:
	case isHole:
		value = flow.Once(w.assumed, t, func() bool { return w.random.IntN(2) == 0 })
	default:
		delete(w.assumed, t)
	}
	return value, presence, nil
}

// read is the value of a read, if it is there.
func (w *trial) read(at int) (any, bool) {
	value, presence := w.look(at)
	return value, presence == expression.There
}

// value is that of an expression, if it is there. A fault counts as absent.
func (w *trial) value(t *plan.Template) (value any, there bool) {
	value, presence, err := w.evaluate(w.sampler, t)
	return value, err == nil && presence == expression.There
}

// isAssumed reports whether a condition or a list isn't known.
func (w *trial) isAssumed(t *plan.Template) bool {
	_, assumed := w.assumed[t]
	return assumed
}

// evaluate evaluates an expression; it gives a hole if that depends on unknown values.
func (w *trial) evaluate(of *sampler, t *plan.Template) (value any, presence expression.Presence, err error) {
	if t.Expr.Plain() {
		value, presence = w.look(t.Reads[0])
		return value, presence, nil
	}
	open, waits := false, false // an undescribed object may hold something; a call hasn't settled
	blind := flow.Once(of.blind, t, func() bool { _, blind := rules.EvaluationRisk(of.pass, t); return blind })
	value, presence, err = t.Expr.Eval(func(i int) (any, expression.Presence) {
		v, presence := w.look(t.Reads[i])
		if presence != expression.There {
			waits = waits || presence == expression.Pending
			return nil, presence
		}
		if w.isLarge(v) {
			return nil, expression.Pending
		}
		v, how := samples.Clear(v)
		if open = open || how != samples.Described; blind || how == samples.Unknown {
			return nil, expression.Pending
		}
		return v, expression.There
	}, &w.budget.Worked)
	if wrong := new(expression.Error); w.budget.Worked.Passed() ||
		errors.As(err, &wrong) && wrong.Cause == expression.OfText {
		return samples.Hole(), expression.There, nil // how a text is written is for its author to know
	}
	switch {
	case err != nil || presence == expression.Pending && waits:
	case presence == expression.Pending,
		open && schema.KindOf(value)&(schema.Object|schema.Array) != 0: // it may hold more
		return samples.Hole(), expression.There, nil
	}
	return value, presence, err
}

// isLarge reports whether there is no work left for another look at a value.
func (w *trial) isLarge(v any) bool {
	if !w.budget.Worked.Passed() {
		w.budget.Worked.Steps -= samples.Size(v)
	}
	return w.budget.Worked.Passed()
}

// Invalid holds the parameters of a call against what takes them. Where they aren't accepted another sample run checks
// the rest.
func (w *trial) Invalid(running *plan.Call, params map[string]any) *state.Failure {
	t, call, _ := w.of(running)
	if w.isLarge(params) {
		return nil
	}
	guardUnknown := w.isAssumed(call.When)
	if sub := t.within(call); sub != nil {
		w.budget.Runs -= callWork * len(sub.pass.Plan.Calls)
	}
	if t.erring[call.Label()] {
		return nil
	}
	cleared, all := samples.Clear(params)
	together, _ := cleared.(map[string]any)
	accepted := true
	for _, taker := range analysis.Takers(t.pass, call) {
		for i := range call.Params.Fields {
			f := &call.Params.Fields[i]
			at, known := taker.Place(f.Key), params[f.Key]
			value, how := samples.Clear(known)
			if !f.Value.Live || !at.Possible || at.Schema == nil || guardUnknown && how != samples.Described {
				continue
			}
			if wrong := at.Schema.Validate(value); wrong != nil && samples.IsCertain(known, wrong) {
				t.isRefused(call, taker, f, value, at.Schema)
				accepted = false
			}
		}
		accepted = accepted &&
			(all != samples.Described || !taker.Combines() || t.acceptsTogether(taker, call, together))
	}
	if !accepted {
		return &state.Failure{Code: "bad-parameter"}
	}
	return nil
}
