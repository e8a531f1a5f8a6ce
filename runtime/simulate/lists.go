package simulate

import (
	"math/rand/v2"
	"reflect"
	"slices"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
)

type turned struct {
	turns []analyzer.Turn
	lists []*list
}

type list struct {
	call  *plan.Call
	read  *plan.Read
	turns []*analyzer.Turn // values of one item, or its place, on which conditions of the call turn
	reads []*plan.Read     // of an item
}

// mostLists bounds how many lists are tried for a call, and longestList their items.
const (
	mostLists   = 8
	longestList = 20
)

// listsOf are the lists that calls of a plan run for, where a read gives them as they are.
func listsOf(plan *plan.Plan, turns []analyzer.Turn) (all []*list) {
	of := map[int]*list{}
	for _, call := range plan.Calls {
		if call.Each != nil && call.Each.List.Expr != nil && call.Each.List.Expr.Plain() {
			of[call.Index] = &list{call: call, read: &plan.Reads[call.Each.List.Reads[0]]}
			all = append(all, of[call.Index])
		}
	}
	for i := range turns {
		if l := of[turns[i].Read.Call]; l != nil && compiler.ReadsItem(plan, turns[i].Read) {
			l.turns = append(l.turns, &turns[i])
		}
	}
	for i := range plan.Reads {
		if read := &plan.Reads[i]; of[read.Call] != nil && compiler.ReadsItem(plan, read) && read.Ref.Kind == "item" {
			of[read.Call].reads = append(of[read.Call].reads, read)
		}
	}
	return all
}

// tried are the lists that are tried in the place of another: none, one item, each with the values for which conditions
// of the call hold or don't, and without what is read of it and needn't be there, and all of these together; and as
// many as it takes that one is where they turn on its place.
func (l *list) tried(g *gathering, p *part) (all []any) {
	usual := p.values[0]
	items, _ := usual.([]any)
	add := func(items ...any) {
		if !reflect.DeepEqual(usual, any(items)) {
			all = append(all, items)
		}
	}
	add([]any{}...)
	one := &ending{accepts: func(any) bool { return true }}
	if g.of.schema != nil {
		at := g.of.schema.At(append(compiler.SchemaPath(p.steps), schema.Index(0)))
		if at.Schema != nil && at.Possible {
			one.schema, one.accepts = at.Schema, at.Schema.Accepts
		}
		if len(items) == 0 && at.Schema != nil {
			if item, ok := at.Schema.Sample(rand.New(rand.NewPCG(1, 1))); ok {
				items = []any{item}
			}
		}
	}
	if len(items) == 0 {
		return all
	}
	one.value = items[0]
	kinds, long := []any{items[0]}, 2
	kind := func(read *plan.Read, v any) {
		steps := g.plan.Paths.Segments(read.Path)[1:]
		if depth, part, ok := g.with(one, steps, v); ok {
			item := planted(items[0], steps[:depth], part)
			if !slices.ContainsFunc(kinds, func(v any) bool { return reflect.DeepEqual(v, item) }) {
				kinds = append(kinds, item)
			}
		}
	}
	for _, t := range l.turns {
		for _, v := range t.Values {
			if n, number := v.(float64); t.Read.Ref.Kind != "index" {
				kind(t.Read, v)
			} else if number && n == float64(int(n)) && n < longestList {
				long = max(long, int(n)+1)
			}
		}
	}
	for _, read := range l.reads {
		for _, v := range one.alternatives(g.plan.Paths.Segments(read.Path)[1:]) {
			kind(read, v)
		}
	}
	for _, item := range kinds {
		add(item)
	}
	for len(kinds) < long {
		kinds = append(kinds, kinds[len(kinds)-1])
	}
	add(kinds[:min(len(kinds), longestList)]...)
	return all
}
