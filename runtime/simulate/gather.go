package simulate

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/reference"
	"github.com/obelus-dev/obelus/compiler/schema"
)

// MadeUp are the keys of what a run is given that were made up, and may be others.
type MadeUp struct{ Input, State []string }

// A part of a value may be another than it usually is.
type part struct {
	key     string // of the choice
	call    string // that runs for the items whose part it is; "" for a part of the value itself
	root    string // the name of what it is a part of
	steps   []expression.Segment
	values  []any // the first is the usual one
	options []analyzer.BranchChoice
}

func (p *part) name() string { return reference.Below(p.root, p.steps) }

// holds reports whether some steps lead into a part.
func (p *part) holds(steps []expression.Segment) bool {
	return len(p.steps) < len(steps) && slices.Equal(p.steps, steps[:len(p.steps)])
}

// add takes up a value, once.
func (p *part) add(v any) {
	if slices.ContainsFunc(p.values, func(known any) bool { return reflect.DeepEqual(known, v) }) {
		return
	}
	as := analyzer.BranchChoice{Call: p.call, Reference: p.name(), Value: &v}
	if v == missing {
		as.Value, as.Absent = nil, true
	}
	text := analyzer.InWords(as)
	if slices.ContainsFunc(p.options,
		func(known analyzer.BranchChoice) bool { return analyzer.InWords(known) == text }) {
		as.Apart = fmt.Sprintf(" (value %d)", len(p.values)+1) // long values may begin alike
	}
	p.values, p.options = append(p.values, v), append(p.options, as)
}

// A turned is what the conditions and lists of a plan turn on.
type turned struct {
	turns []*analyzer.Turn
	lists map[int]*list // by call
	all   []*list
}

// A list is what a call runs for, where a read gives it as it is.
type list struct {
	read  *plan.Read
	turns []*analyzer.Turn // values of one item, or its place, on which conditions of the call turn
	reads []*plan.Read     // of an item
}

// turns are the values on which conditions of a plan turn, and the lists that its calls run for.
func (x *Explorer) turns(plan *plan.Plan) *turned {
	if known := x.turned[plan]; known != nil {
		return known
	}
	known := &turned{lists: map[int]*list{}}
	x.turned[plan] = known
	for _, call := range plan.Calls {
		if call.Each != nil && call.Each.List.Expr != nil && call.Each.List.Expr.Plain() {
			l := &list{read: &plan.Reads[call.Each.List.Reads[0]]}
			known.lists[call.Index], known.all = l, append(known.all, l)
		}
	}
	turns := analyzer.Turns(plan)
	for i := range turns {
		t := &turns[i]
		known.turns = append(known.turns, t)
		if l := known.lists[t.Read.Call]; l != nil && compiler.ReadsItem(plan, t.Read) {
			l.turns = append(l.turns, t)
		}
	}
	for i := range plan.Reads {
		read := &plan.Reads[i]
		if l := known.lists[read.Call]; l != nil && read.Ref.Kind == "item" && compiler.ReadsItem(plan, read) {
			l.reads = append(l.reads, read)
		}
	}
	return known
}

// mostValues bounds how many values are tried of one part of a result, mostLists how many lists, and longestList their
// items.
const (
	mostValues  = 6
	mostLists   = 8
	longestList = 20
)

// A gathering collects what is tried of the parts of a value.
type gathering struct {
	*Explorer
	of   *ending
	plan *plan.Plan
	all  []*part
}

func (g *gathering) part(call, root string, steps []expression.Segment) *part {
	p := &part{call: call, root: root, steps: steps}
	p.key = g.of.prefix + call + p.name()
	if at := slices.IndexFunc(g.all, func(known *part) bool { return known.key == p.key }); at >= 0 {
		return g.all[at]
	}
	now, ok := pathtree.Walk(g.of.value, steps)
	if !ok {
		now = missing
	}
	p.add(now)
	g.all = append(g.all, p)
	return p
}

// vary gives the parts with more than one value, the deepest first: the values for which conditions evaluate
// differently than usual, other lists, and, of what is read, that it is missing, is null, or is where it usually isn't.
// at is the part that a read sees, nil for none.
func (g *gathering) vary(turns []*analyzer.Turn, lists []*list, reads []*plan.Read,
	at func(*plan.Read) *part) (all []part) {
	for _, t := range turns {
		p := at(t.Read)
		for _, v := range t.Values {
			if p != nil && !t.Alike(v, p.values[0]) && (len(p.values) < mostValues || t.Alike(v, v)) {
				g.admit(p, v, mostValues)
			}
		}
	}
	for _, l := range lists {
		if p := at(l.read); p != nil {
			for _, v := range g.lists(p, l) {
				if g.of.accepts(planted(g.of.value, p.steps, v)) {
					g.take(p, v, mostLists)
				}
			}
		}
	}
	for _, read := range reads {
		if p := at(read); p != nil {
			for _, v := range g.of.alternatives(p.steps) {
				g.admit(p, v, mostValues+2)
			}
		}
	}
	for _, p := range g.all {
		if len(p.values) > 1 {
			all = append(all, *p)
		}
	}
	slices.SortStableFunc(all, func(a, b part) int { return len(b.steps) - len(a.steps) })
	return all
}

// lists are the lists that are tried in the place of another: none, one item, each with what is tried of its parts, and
// all of these together; and as many as it takes that one is where conditions turn on its place.
func (g *gathering) lists(p *part, l *list) (all []any) {
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
		at := g.of.schema.At(append(slices.Clip(p.steps), schema.Index(0)))
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
	item := &gathering{Explorer: g.Explorer, of: one, plan: g.plan}
	for _, p := range item.vary(l.turns, nil, l.reads, func(read *plan.Read) *part {
		if read.Ref.Kind == "index" {
			return nil
		}
		return item.part("", "†item", g.plan.Paths.Segments(read.Path)[1:])
	}) {
		for _, v := range p.values[1:] {
			kinds = append(kinds, planted(items[0], p.steps, v))
		}
	}
	for _, t := range l.turns {
		for _, v := range t.Values {
			n, number := v.(float64)
			if number && t.Read.Ref.Kind == "index" && n == float64(int(n)) && n < longestList {
				long = max(long, int(n)+1)
			}
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

// admit takes up a value that is tried of a part. Where that doesn't fit what is around it,
// as the name of a variant doesn't fit another, what is around it is another, too.
func (g *gathering) admit(p *part, v any, most int) {
	depth, now, ok := g.with(g.of, p.steps, v)
	if !ok {
		return
	}
	if depth < len(p.steps) {
		p = g.part(p.call, p.root, p.steps[:depth])
	}
	g.take(p, now, most)
}

func (g *gathering) take(p *part, v any, most int) {
	if g.varying -= stepsOfCall; len(p.values) >= most || g.varying <= 0 {
		g.valuesLeft = true
		return
	}
	p.add(v)
}

var present = new(any)

// alternatives are what a schema allows a part to be besides what it usually is: [missing], null
// or [present]; none where it says nothing of it.
func (e *ending) alternatives(steps []expression.Segment) (all []any) {
	if e.schema == nil {
		return nil
	}
	at := e.schema.At(steps)
	if !at.Possible || at.Schema == nil || at.Schema.Kinds() == schema.Anything {
		return nil
	}
	usual, there := pathtree.Walk(e.value, steps)
	null := at.Schema.Kinds()&schema.Null != 0
	if usual == nil && at.Schema.Kinds() != schema.Null {
		all = append(all, present)
	}
	if there && !at.Required && at.Named {
		all = append(all, missing)
	}
	if (!there || usual != nil) && null {
		all = append(all, nil)
	}
	return all
}

// with is a part of a value with which all of it fits and has v at some steps, or there
// has nothing ([missing]) or anything ([present]): what is so many steps in has to be that
// part. Of what a run is given other keys stay as they are.
func (x *Explorer) with(e *ending, steps []expression.Segment, v any) (depth int, part any, ok bool) {
	if v != present && e.accepts(planted(e.value, steps, v)) {
		return len(steps), v, true
	}
	if e.schema == nil || v == missing {
		return 0, nil, false
	}
	if at := e.schema.At(steps); !at.Possible ||
		v != present && at.Schema != nil && !at.Schema.Accepts(v) {
		return 0, nil, false
	}
	left := min(schema.SampleSteps, x.varying)
	defer func(before int) { x.varying -= before - left }(left)
	for depth = len(steps); depth >= min(1, len(e.made)) && left > 0; depth-- {
		at := e.schema.At(steps[:depth])
		if at.Schema == nil || depth == len(steps) && v != present {
			continue
		}
		part, ok = schema.AllOf(at.Schema, having(steps[depth:], v)).FullWithin(rand.New(rand.NewPCG(1, 1)), &left)
		if ok && e.accepts(planted(e.value, steps[:depth], part)) {
			return depth, part, true
		}
	}
	return 0, nil, false
}

// having is the schema of what has some value at some steps, or anything.
func having(steps []expression.Segment, v any) *schema.Schema {
	raw := map[string]any{"const": v}
	if v == present {
		raw = map[string]any{"type": []any{"string", "number", "boolean", "object", "array"}}
	}
	for _, s := range slices.Backward(steps) {
		if s.IsIndex {
			before := slices.Repeat([]any{true}, s.Index)
			raw = map[string]any{"type": "array", "minItems": float64(s.Index + 1),
				"prefixItems": append(before, any(raw))}
		} else {
			raw = map[string]any{"type": "object", "required": []any{s.Key}, "properties": map[string]any{s.Key: raw}}
		}
	}
	return schema.New(raw, schema.Options{})
}
