package resolve

import (
	"fmt"
	"maps"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/runtime/state"
)

// An Item is what the call for an item of a list is run with, worked out for all before the first starts: a structural
// error is found before a call has done anything.
type Item struct {
	Params  map[string]any
	Skip    string         // why it isn't run; "" where it is
	Failure *state.Failure // why it can't be run, where such failures are collected
	Before  bool           // an earlier tick has done it
	Output  any            // what it gave then
}

// Items are those of a call's list.
type Items struct {
	list []any
	Of   []Item
}

// Enumerate works out what each item of a call's list is run with, once all that it may
// read has settled. It gives the call's parameters, which are those of its items.
func (r *Resolver) Enumerate(call *plan.Call, own map[string]any, given any) (*Items, map[string]any, *state.Failure) {
	list, isList := given.([]any)
	if !isList {
		return nil, nil, &state.Failure{Code: "expression-type",
			Message: fmt.Sprintf("\"_each\" must be a list, and %s is none", call.Each.Text())}
	}
	if len(list) > compiler.MaxItems {
		return nil, nil, &state.Failure{Code: CodeLimit,
			Message: fmt.Sprintf("\"_each\" has %d items; the limit is %d", len(list), compiler.MaxItems)}
	}
	all, params := &Items{list, make([]Item, len(list))}, make([]any, len(list))
	for at := range list {
		r.TurnTo(call, all, at)
		one := r.item(call, own)
		if one.Failure != nil && !call.Each.Collect {
			return nil, nil, OfItem(one.Failure, at)
		}
		if all.Of[at] = one; one.Params != nil {
			params[at] = one.Params
		}
	}
	return all, map[string]any{"_each": params}, nil
}

// OfItem is the failure of a call for which an item failed.
func OfItem(failure *state.Failure, index int) *state.Failure {
	details := maps.Clone(Mapping(failure.Details))
	if details == nil && failure.Details != nil {
		details = map[string]any{"details": failure.Details}
	}
	details = state.Over(details, map[string]any{"index": float64(index)})
	return &state.Failure{Code: failure.Code, Message: fmt.Sprintf("item %d: %s", index, failure.Message),
		Details: details}
}

// TurnTo lets what a call reads of an item be that of one item.
func (r *Resolver) TurnTo(call *plan.Call, all *Items, at int) {
	for _, number := range call.Reads {
		read := &r.Plan.Reads[number]
		if !compiler.ReadsItem(r.Plan, read) {
			continue
		}
		of := all.list[at]
		if read.Ref.Kind == "index" {
			of = float64(at)
		}
		walk := pathtree.Walk
		if r.Budget.Samples != nil {
			walk = r.Budget.Samples.Below
		}
		r.Reads[number].Set(walk(of, read.Ref.Path))
	}
}

// item is what the item at hand is run with; own are the parameters that are the same for all.
func (r *Resolver) item(call *plan.Call, own map[string]any) Item {
	var v Readiness
	r.ofItem = true
	defer func() { r.ofItem = false }()
	if call.When.PerItem() {
		r.meets(call, &v)
	}
	params := make(map[string]any, len(own))
	for i := 0; i < len(call.Params.Fields) && v.Skip == ""; i++ {
		field := &call.Params.Fields[i]
		if params[field.Key] = own[field.Key]; field.Value.PerItem() {
			params[field.Key], _ = r.value(field.Value, &v)
		}
	}
	switch {
	case v.Skip != "":
		return Item{Skip: v.Skip}
	case v.Failure == nil && !r.Budget.IsExhausted(): // else nothing starts any more
		v.Failure = r.Invalid(call, params)
	}
	return Item{Params: params, Failure: v.Failure}
}

// Mapping is a value that is an object; nil for any other.
func Mapping(value any) map[string]any {
	o, _ := value.(map[string]any)
	return o
}
