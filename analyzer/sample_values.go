package analyzer

import (
	"errors"
	"slices"

	"github.com/obelus-dev/obelus/analyzer/flow"
	"github.com/obelus-dev/obelus/analyzer/internal/analysis"
	"github.com/obelus-dev/obelus/analyzer/internal/samples"
	"github.com/obelus-dev/obelus/analyzer/rules"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/runtime/state"
)

// What a sample run reads and works out.

// read is the value of a read; a hole where nothing is known of it.
func (w *trial) read(r *plan.Read) (value any, there bool) {
	p := w.pass.Plan
	if compiler.ReadsItem(p, r) {
		return below(w.item, append([]expression.Segment{{Key: r.Ref.Kind}}, r.Ref.Path...))
	}
	kind := p.Paths.Kind(r.Path)
	if r.Path == pathtree.Root || p.Paths.Depth(r.Path) < 2 || kind != "input" && kind != "state" && kind != "data" {
		return samples.Hole(), true
	}
	value, there = w.log.Resolve(r.Path, visibleTo(r))
	if kind == "input" && p.InputSchema == nil && !w.fromCall && (value == nil || value == "") {
		return samples.Hole(), true // a blank to be filled in
	}
	for at := r.Path; !there && p.Paths.Depth(at) > 2; {
		at = p.Paths.Parent(at)
		if above, ok := w.log.Resolve(at, visibleTo(r)); ok {
			return below(above, p.Paths.Segments(r.Path)[p.Paths.Depth(at):])
		}
	}
	return value, there
}

// visibleTo is which writes a read sees.
func visibleTo(r *plan.Read) func(m *state.Message) bool {
	return func(m *state.Message) bool {
		_, bound := slices.BinarySearch(r.Writers, int32(m.Call))
		return bound
	}
}

// below is what is at a path in a value: a hole where that may have other keys than are known of.
func below(value any, path []expression.Segment) (any, bool) {
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

// value evaluates an expression; a hole if it depends on unknown values. A fault is reported,
// and counts as absent.
func (w *trial) value(call *plan.Call, t *plan.Template) (value any, there bool) {
	if t.Expr.Plain() {
		return w.read(&w.pass.Plan.Reads[t.Reads[0]])
	}
	open := false // an undescribed object may hold something
	blind := flow.Once(w.blind, t, func() bool { _, blind := rules.EvaluationRisk(w.pass, t); return blind })
	value, presence, err := t.Expr.Eval(func(i int) (any, expression.Presence) {
		v, there := w.read(&w.pass.Plan.Reads[t.Reads[i]])
		if !there {
			return nil, expression.Absent
		}
		v, how := samples.Clear(v)
		if open = open || how != samples.Described; blind || how == samples.Unknown {
			return nil, expression.Pending
		}
		return v, expression.There
	}, &w.budget.Worked)
	if wrong := new(expression.Error); w.budget.Worked.Passed() ||
		errors.As(err, &wrong) && wrong.Cause == expression.OfText {
		return samples.Hole(), true // how a text is written is for its author to know
	}
	switch {
	case err != nil:
		w.goesWrong(call, t, err)
		return nil, false
	case presence == expression.Pending:
		return samples.Hole(), true
	case open && schema.KindOf(value)&(schema.Object|schema.Array) != 0: // it may hold more
		return samples.Hole(), true
	}
	return value, presence == expression.There
}

// resolve is a template of a call with its values, and whether they are all there; of the
// plan's output, for no call, what is absent is left out.
func (w *trial) resolve(call *plan.Call, t *plan.Template) (value any, there bool) {
	switch {
	case !t.Live:
		return t.Value, true
	case t.Expr != nil:
		return w.value(call, t)
	}
	object, list := make(map[string]any, len(t.Fields)), make([]any, 0, len(t.Items))
	for i := range t.Fields {
		v, there := w.resolve(call, t.Fields[i].Value)
		if there {
			object[t.Fields[i].Key] = v
		} else if call != nil {
			return nil, false
		}
	}
	for _, item := range t.Items {
		v, there := w.resolve(call, item)
		if there {
			list = append(list, v)
		} else if call != nil {
			return nil, false
		}
	}
	if t.Fields != nil {
		return object, true
	}
	return list, true
}

// parameters are those of a call, held against what takes them. They are nil where something is absent or isn't
// accepted: another sample run checks the rest.
func (w *trial) parameters(call *plan.Call, guardUnknown bool) map[string]any {
	params := map[string]any{}
	for _, f := range call.Params.Fields {
		value, there := w.resolve(call, f.Value)
		if !there {
			w.ended[call.Index].lacks = f.Value
			return nil
		}
		params[f.Key] = value
	}
	cleared, all := samples.Clear(params)
	together, _ := cleared.(map[string]any)
	accepted := true
	takers := analysis.Takers(w.pass, call)
	for i := range call.Params.Fields {
		f := &call.Params.Fields[i]
		if !f.Value.Live {
			continue
		}
		value, how := samples.Clear(params[f.Key])
		for _, taker := range takers {
			at := taker.Place(f.Key)
			if !at.Possible || at.Schema == nil || guardUnknown && how != samples.Described {
				continue
			}
			if wrong := at.Schema.Validate(value); wrong != nil && samples.IsCertain(params[f.Key], wrong) {
				w.isRefused(call, taker, f, value, at.Schema)
				accepted = false
				break
			}
		}
	}
	for _, taker := range takers {
		accepted = accepted &&
			(all != samples.Described || !taker.Combines() || w.acceptsTogether(taker, call, together))
	}
	if !accepted {
		return nil
	}
	return params
}
