package analyzer

import (
	"slices"

	"github.com/obelus-dev/obelus/analyzer/flow"
	"github.com/obelus-dev/obelus/analyzer/internal/analysis"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
)

// isUnspecifiedItem reports whether nothing can be concluded from the value of an item: types don't
// describe it, and its list depends on generated values.
func (w *trial) isUnspecifiedItem(r *plan.Read, strict bool) bool {
	item, there := w.item["item"]
	if there && r.Ref.Kind == "item" && !slices.ContainsFunc(w.pass.Flow.Elements(w.pass.Flow.Caller(r).Each.List), func(v flow.Variant) bool {
		return v.Wide || v.Schema == nil || !isDescribedIn(v.Schema, item, compiler.SchemaPath(r.Ref.Path), strict)
	}) {
		return false
	}
	return slices.ContainsFunc(w.pass.Flow.OfItem(r), func(v flow.Variant) bool { return v.Wide || !isDescribed(v.Schema, strict, 4) }) &&
		w.readsOne(w.pass.Flow.Caller(r).Each.List, func(r *plan.Read) bool { return w.isUnspecified(r, strict) })
}

func (w *trial) readsOne(t *plan.Template, is func(*plan.Read) bool) bool {
	for e := range t.Expressions() {
		if slices.ContainsFunc(e.Reads, func(read int) bool { return is(&w.pass.Plan.Reads[read]) }) {
			return true
		}
	}
	return false
}

// triedItems bounds how many items of a list are gone through in a trial.
const triedItems = 5

// performItems goes through a call for the items of its list.
func (w *trial) performItems(call *plan.Call, guardUnknown bool) {
	own, there, unspecified := w.resolve(call, call.Each.List)
	list, isList := own.([]any)
	if !there && !unspecified {
		w.ended[call.Index].lacks = call.Each.List
		return
	}
	if !unspecified && !isList {
		w.isRefused(call, &analysis.Parameters{Taker: analysis.Quote(call.Name)}, &plan.TemplateField{Key: "_each", Value: call.Each.List}, own, flow.AList)
		return
	}
	if w.fails(call) {
		return
	}
	if !isList {
		var value any
		known := call.Tool != nil && !w.readsOne(call.Each.List, w.isBlank)
		if known {
			value, known = w.several(call)
			known = known && !w.pass.Flow.Listing(call).Uncounted
		}
		w.write(call, value, known)
		return
	}
	for e := range call.Params.Expressions() {
		if !e.PerItem() {
			if _, there, open := w.value(call, e); !there && !open {
				w.ended[call.Index].lacks = e
				return // it is the call that is skipped
			}
		}
	}
	results, known, blank := make([]any, len(list)), true, false
	for at, item := range list {
		if at >= triedItems && at < len(list)-1 {
			results[at] = results[at%triedItems]
			continue
		}
		w.item = map[string]any{"item": item, "index": float64(at)}
		conditionUnknown := guardUnknown || unspecified
		if call.When.PerItem() {
			value, there, open := w.value(call, call.When)
			if conditionUnknown = conditionUnknown || open; open {
				value, there = w.arbitrarily(call.When), true
			}
			if value != true || !there {
				continue
			}
		}
		params, runs, open := w.parameters(call, guardUnknown)
		switch {
		case !runs && params != nil:
			return // a parameter isn't accepted, which is reported
		case !runs:
			known = known && w.describesLack(call, list, at)
			continue
		}
		if call.Each.Collect && w.random.IntN(4) == 0 {
			results[at], w.failed = analysis.ARecord, true
			continue
		}
		value, ok, well := w.carriedOut(call, params, open || conditionUnknown)
		if !well {
			return
		}
		blank = blank || value == nil && !ok // null isn't what it gives: nothing says what does
		results[at], known = value, known && ok
	}
	if blank {
		w.write(call, nil, false)
		return
	}
	w.write(call, results, known)
}

// several makes up what a call gives for the items of a list that isn't known: as many results
// as another call for the same list has.
func (w *trial) several(call *plan.Call) (value any, known bool) {
	output := w.pass.Flow.Gives(call)
	if value, known = w.generator.sample(output, false); !known {
		return nil, false
	}
	results, _ := value.([]any)
	list := call.Each.Text()
	count, again := w.counts[list]
	if !again {
		w.counts[list] = len(results)
		return results, true
	}
	for item := output.At(flow.FirstItem).Schema; len(results) < count; {
		if value, known = w.generator.sample(item, false); !known {
			return nil, false
		}
		results = append(results, value)
	}
	return results[:count], true
}

// describesLack reports whether types describe the part that an item lacks, so that the call skips it.
func (w *trial) describesLack(call *plan.Call, list []any, at int) bool {
	t := call.Each.List
	if t.Expr == nil || !t.Expr.Plain() {
		return true
	}
	for e := range w.ended[call.Index].lacks.Expressions() {
		for _, read := range e.Reads {
			r := &w.pass.Plan.Reads[read]
			path := append([]schema.Step{schema.Index(at)}, compiler.SchemaPath(r.Ref.Path)...)
			if r.Ref.Kind == "item" && slices.ContainsFunc(w.pass.Flow.Read(t.Reads[0]), func(v flow.Variant) bool {
				if v.Schema == nil {
					return false
				}
				place := v.Schema.AtIn(list, path)
				return place.Possible && !isDescribed(place.Schema, false, 4)
			}) {
				return false
			}
		}
	}
	return true
}

// carriedOut is the result of a call or of one item, whether it is known, and whether nothing failed in its delegate.
func (w *trial) carriedOut(call *plan.Call, params map[string]any, unspecified bool) (value any, known, well bool) {
	if sub := w.inside(call); sub != nil && !unspecified {
		return w.delegated(call, sub, params)
	}
	value, known = w.result(call, params, unspecified)
	return value, known, true
}

// ofItem is what a trial reads of the item at hand.
func (w *trial) ofItem(r *plan.Read) (any, expression.Presence) {
	of, ok := w.item[r.Ref.Kind]
	if ok {
		of, ok = pathtree.Walk(of, r.Ref.Path)
	}
	if !ok {
		return nil, expression.Absent
	}
	return of, expression.There
}
