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
	key string // of the choice
	place
	values  []any // the first is the usual one
	options []analyzer.BranchChoice
}

// A place is where a part of a value is.
type place struct {
	call  string // that runs for the items whose part it is; "" for a part of the value itself
	root  string // the name of what it is a part of
	steps []expression.Segment
}

func (p *place) name() string { return reference.Below(p.root, p.steps) }

// missing is the usual value of what is usually missing.
var missing = new(any)

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

// mostValues bounds how many values are tried of one part of a result.
const mostValues = 6

// A gathering collects what is tried of the parts of a value.
type gathering struct {
	*Explorer
	of  *ending
	all []*part
}

func (g *gathering) part(at place) *part {
	p := &part{place: at, key: g.of.prefix + at.call + at.name()}
	if known := slices.IndexFunc(g.all, func(known *part) bool { return known.key == p.key }); known >= 0 {
		return g.all[known]
	}
	now, ok := pathtree.Walk(g.of.value, at.steps)
	if !ok {
		now = missing
	}
	p.add(now)
	g.all = append(g.all, p)
	return p
}

// vary gives the parts of an ending's value with more than one value, the deepest first: the values for which
// conditions of a plan evaluate differently than usual. at is the place of what a read sees, if it sees any.
func (x *Explorer) vary(p *plan.Plan, of *ending, at func(*plan.Read) (place, bool)) (all []part) {
	if x.turned[p] == nil {
		x.turned[p] = analyzer.Turns(p)
	}
	g := &gathering{Explorer: x, of: of}
	for i := range x.turned[p] {
		t := &x.turned[p][i]
		to, sees := at(t.Read)
		if !sees {
			continue
		}
		one := g.part(to)
		for _, v := range t.Values {
			if !t.Alike(v, one.values[0]) && (len(one.values) < mostValues || t.Alike(v, v)) {
				g.admit(one, v)
			}
		}
	}
	for _, one := range g.all {
		if len(one.values) > 1 {
			all = append(all, *one)
		}
	}
	slices.SortStableFunc(all, func(a, b part) int { return len(b.steps) - len(a.steps) })
	return all
}

// firstOf is what a read sees: it or, of an item, the list and the steps into its first item.
func firstOf(p *plan.Plan, read *plan.Read) (from *plan.Read, below []expression.Segment, ok bool) {
	if !compiler.ReadsItem(p, read) {
		return read, nil, true
	}
	list := p.Calls[read.Call].Each.List
	if read.Ref.Kind != "item" || list.Expr == nil || !list.Expr.Plain() {
		return nil, nil, false
	}
	below = append([]expression.Segment{schema.Index(0)}, p.Paths.Segments(read.Path)[1:]...)
	return &p.Reads[list.Reads[0]], below, true
}

// admit takes up a value that is tried of a part. Where that doesn't fit what is around it,
// as the name of a variant doesn't fit another, what is around it is another, too.
func (g *gathering) admit(p *part, v any) {
	depth, now, ok := g.with(g.of, p.steps, v)
	if !ok {
		return
	}
	if depth < len(p.steps) {
		p = g.part(place{p.call, p.root, p.steps[:depth]})
	}
	if g.varying -= stepsOfCall; len(p.values) >= mostValues || g.varying <= 0 {
		g.ValuesLeft = true
		return
	}
	p.add(now)
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
