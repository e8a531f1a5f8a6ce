package simulate

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/reference"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/runtime"
)

// A part of a value may be another than it usually is.
type part struct {
	choice
	call   string // that runs for the items whose part it is; "" for a part of the value itself
	root   string // the name of what it is a part of
	steps  []expression.Segment
	values []any // by option
}

func (p *part) name() string { return reference.Below(p.root, p.steps) }

// missing is the usual value of what is usually missing.
var missing = new(any)

// add takes up a value, once, and reports whether it has it now: not where it reads like another.
func (p *part) add(under string, v any) bool {
	as := analyzer.BranchChoice{Call: p.call, Reference: p.name(), Value: &v}
	if under != "" {
		as.Call = strings.TrimSuffix(runtime.Path(under, p.call), "/")
	}
	if v == missing {
		as.Value, as.Absent = nil, true
	}
	text := analyzer.InWords(as)
	alike := func(known analyzer.BranchChoice) bool { return analyzer.InWords(known) == text }
	if at := slices.IndexFunc(p.options, alike); at >= 0 {
		return reflect.DeepEqual(p.values[at], v)
	}
	p.values, p.options = append(p.values, v), append(p.options, as)
	return true
}

// mostValues bounds how many values are tried of one part of a result.
const mostValues = 6

// part is the part of an ending's value at a place, with its usual value.
func (e *ending) part(at part) *part {
	name := at.name()
	for _, known := range e.parts {
		if known.call == at.call && known.name() == name {
			return known
		}
	}
	now, ok := pathtree.Walk(e.value, at.steps)
	if !ok {
		now = missing
	}
	at.add(e.under, now)
	e.parts = append(e.parts, &at)
	return &at
}

// vary finds the parts of an ending's value with more than one value, the deepest first: the values for which
// conditions of a plan evaluate differently than usual. at is the place of what a read sees, if it sees any: of it
// or, of an item, of the list and the steps into its first item.
func (x *Explorer) vary(p *plan.Plan, e *ending,
	at func(read, from *plan.Read, below []expression.Segment) (part, bool)) {
	if x.turned[p] == nil {
		x.turned[p] = analyzer.Turns(p)
	}
	for i := range x.turned[p] {
		t := &x.turned[p][i]
		from, below := firstOf(p, t.Read)
		if from == nil {
			continue
		}
		to, sees := at(t.Read, from, below)
		if !sees {
			continue
		}
		one := e.part(to)
		for _, v := range t.Values {
			if !t.Alike(v, one.values[0]) && (len(one.values) < mostValues || t.Alike(v, v)) {
				x.admit(e, one, v)
			}
		}
	}
	e.parts = slices.DeleteFunc(e.parts, func(p *part) bool { return len(p.values) < 2 })
	slices.SortStableFunc(e.parts, func(a, b *part) int { return len(b.steps) - len(a.steps) })
}

// firstOf is what a read sees: it or, of an item, the list and the steps into its first item; or nil.
func firstOf(p *plan.Plan, read *plan.Read) (from *plan.Read, below []expression.Segment) {
	if !compiler.ReadsItem(p, read) {
		return read, nil
	}
	list := p.Calls[read.Call].Each.List
	if read.Ref.Kind != "item" || list.Expr == nil || !list.Expr.Plain() {
		return nil, nil
	}
	below = append([]expression.Segment{schema.Index(0)}, p.Paths.Segments(read.Path)[1:]...)
	return &p.Reads[list.Reads[0]], below
}

// admit takes up a value that is tried of a part. Where that doesn't fit what is around it,
// as the name of a variant doesn't fit another, what is around it is another, too.
func (x *Explorer) admit(e *ending, p *part, v any) {
	depth, now, ok := x.with(e, p.steps, v)
	if !ok {
		return
	}
	if depth < len(p.steps) {
		p = e.part(part{call: p.call, root: p.root, steps: p.steps[:depth]})
	}
	x.varying -= stepsOfCall
	if len(p.values) >= mostValues || x.varying <= 0 || !p.add(e.under, now) {
		x.ValuesLeft = true
	}
}

// with is a part of a value with which all of it fits and has v at some steps: what is so many steps in has to be that
// part. Of what a run is given other keys stay as they are.
func (x *Explorer) with(e *ending, steps []expression.Segment, v any) (depth int, part any, ok bool) {
	if e.accepts(pathtree.With(e.value, steps, v)) {
		return len(steps), v, true
	}
	if e.schema == nil {
		return 0, nil, false
	}
	if at := e.schema.At(steps); !at.Possible || at.Schema != nil && !at.Schema.Accepts(v) {
		return 0, nil, false
	}
	left := min(schema.SampleSteps, x.varying)
	defer func(before int) { x.varying -= before - left }(left)
	for depth = len(steps) - 1; depth >= min(1, len(e.made)) && left > 0; depth-- {
		at := e.schema.At(steps[:depth])
		if at.Schema == nil {
			continue
		}
		part, ok = schema.AllOf(at.Schema, having(steps[depth:], v)).FullWithin(rand.New(rand.NewPCG(1, 1)), &left)
		if ok && e.accepts(pathtree.With(e.value, steps[:depth], part)) {
			return depth, part, true
		}
	}
	return 0, nil, false
}

// having is the schema of what has some value at some steps.
func having(steps []expression.Segment, v any) *schema.Schema {
	raw := map[string]any{"const": v}
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
