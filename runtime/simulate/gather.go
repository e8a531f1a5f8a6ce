package simulate

import (
	"math/rand/v2"
	"slices"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
)

// MadeUp are the keys of what a run is given that were made up, and may be others.
type MadeUp struct{ Input, State []string }

type gathering struct {
	*explorer
	of   *ending
	plan *plan.Plan
	name string // of the value, or of the part of it that is asked for
	all  []*part
}

func (g *gathering) part(name string, steps []expression.Segment, reference string) *part {
	key := g.of.prefix + name
	if at := slices.IndexFunc(g.all, func(p *part) bool { return p.key == key }); at >= 0 {
		return g.all[at]
	}
	p := &part{key: key, steps: steps}
	if now, ok := pathtree.Walk(g.of.value, steps); ok {
		p.add(reference, now)
	} else {
		p.add(reference, missing)
	}
	g.all = append(g.all, p)
	return p
}

// parts are those with more than one value, the deepest first.
func (g *gathering) parts() (all []part) {
	for _, p := range g.all {
		if len(p.values) > 1 {
			all = append(all, *p)
		}
	}
	slices.SortStableFunc(all, func(a, b part) int { return len(b.steps) - len(a.steps) })
	return all
}

// turn adds the values for which conditions evaluate differently than usual.
func (g *gathering) turn(p *part, t *analyzer.Turn) {
	for _, v := range t.Values {
		if !t.Alike(v, p.values[0]) && (len(p.values) < mostValues || t.Alike(v, v)) {
			g.admit(p, t.Read.Ref.String(), v, mostValues)
		}
	}
}

// presence takes up that what is read is missing, or is null, or that it is where it usually isn't.
func (g *gathering) presence(p *part, read *plan.Read) {
	for _, v := range g.of.alternatives(p.steps) {
		g.admit(p, read.Ref.String(), v, mostValues+2)
	}
}

func (g *gathering) lists(p *part, list *list) {
	for _, v := range list.tried(g, p) {
		if g.of.accepts(planted(g.of.value, p.steps, v)) {
			g.take(p, list.read.Ref.String(), v, mostLists)
		}
	}
}

// admit takes up a value that is tried of a part. Where that doesn't fit what is around it,
// as the name of a variant doesn't fit another, what is around it is another, too.
func (g *gathering) admit(p *part, name string, v any, most int) {
	depth, now, ok := g.with(g.of, p.steps, v)
	if !ok {
		return
	}
	if depth < len(p.steps) {
		name = pathtree.Below(g.name, p.steps[:depth])
		p = g.part(name, p.steps[:depth], name)
	}
	g.take(p, name, now, most)
}

func (g *gathering) take(p *part, name string, v any, most int) {
	if g.varying -= stepsOfCall; len(p.values) >= most || g.varying <= 0 {
		g.out.ValuesLeft = true
		return
	}
	p.add(name, v)
}

var present = new(any)

// alternatives are what a schema allows a part to be besides what it usually is: [missing], null
// or [present]; none where it says nothing of it.
func (e *ending) alternatives(steps []expression.Segment) (all []any) {
	if e.schema == nil {
		return nil
	}
	at := e.schema.At(compiler.SchemaPath(steps))
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
func (x *explorer) with(e *ending, steps []expression.Segment, v any) (depth int, part any, ok bool) {
	if v != present && e.accepts(planted(e.value, steps, v)) {
		return len(steps), v, true
	}
	if e.schema == nil || v == missing {
		return 0, nil, false
	}
	if at := e.schema.At(compiler.SchemaPath(steps)); !at.Possible ||
		v != present && at.Schema != nil && !at.Schema.Accepts(v) {
		return 0, nil, false
	}
	left := min(schema.SampleSteps, x.varying)
	defer func(before int) { x.varying -= before - left }(left)
	for depth = len(steps); depth >= min(1, len(e.made)) && left > 0; depth-- {
		at := e.schema.At(compiler.SchemaPath(steps[:depth]))
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
