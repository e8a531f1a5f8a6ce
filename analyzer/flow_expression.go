package analyzer

import (
	"slices"

	"github.com/obelus-dev/obelus/analyzer/internal/branch"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
)

// maxFlows limits the flows of one target.
const maxFlows = 64

// flowsOf are the flows out of an expression: those into what it hands on, and
// for what it works out what its types say. They stand there until the next
// expression is asked for its own.
func (p *Pass) flowsOf(t *plan.Template) []flow {
	var flows []flow
	if t.Expr.Plain() {
		flows = p.flowsOfRead(t.Reads[0])
	} else {
		flows = p.flowsOfPart(p.flowing().outOf[:0], t, t.Expr.Outline())
		p.flows.outOf = flows
	}
	if len(flows) == 0 || len(flows) > maxFlows {
		return unknown
	}
	return flows
}

// flowsOfPart puts the flows out of a part of an expression to others.
func (p *Pass) flowsOfPart(flows []flow, t *plan.Template, part expression.Part) []flow {
	before := len(flows)
	switch part.Kind {
	case expression.Referred:
		flows = append(flows, p.flowsOfRead(t.Reads[part.Ref])...)
		if part.Soft {
			flows = append(flows, flow{schema: schema.OfKinds(schema.Null), exceptional: true, external: true})
		}
	case expression.Written:
		flows = append(flows, flow{schema: p.literalSchema(part.Value), external: true, operand: operand{t.Node, part.Start, part.End}})
	case expression.Fallback:
		for _, operand := range part.Parts {
			before = len(flows)
			flows = p.flowsOfPart(flows, t, operand)
			if operand.Kind == expression.Written {
				return flows
			}
			flows = p.lessNull(flows, before)
		}
	case expression.Gate:
		flows = p.lessNull(p.flowsOfPart(flows, t, part.Parts[len(part.Parts)-1]), before)
	case expression.Choice:
		for i, operand := range part.Parts {
			from := len(flows)
			flows = p.flowsOfPart(flows, t, operand)
			for k := range flows[from:] {
				f := &flows[from+k]
				f.overApproximate, f.schema = f.overApproximate || p.looksAt(t, f), p.implied(f, t, part.Condition, part.Start, i == 0)
			}
		}
		return p.lessImpossible(flows, before)
	case expression.Least, expression.Most:
		number := p.numberWithin(part)
		for _, operand := range part.Parts {
			flows = p.flowsOfPart(flows, t, operand)
		}
		for i := range flows[before:] {
			f := &flows[before+i]
			if f.sample {
				f.schema = f.like
			}
			if f.schema.Kinds()&schema.Array != 0 {
				f.schema = number // of one of its items
				f.read, f.operand = nil, operand{t.Node, part.Start, part.End}
			}
			f.schema = p.meet(f.schema, number)
			f.overApproximate, f.sample, f.computed = true, false, true
		}
		return p.lessImpossible(flows, before)
	case expression.Text:
		flows = append(flows, p.flowOfText(t, part))
	default:
		like := p.counted(p.likeness(p.typeOfPart(t, part)), t, part)
		flows = append(flows, flow{schema: like, overApproximate: true, computed: true, operand: operand{t.Node, part.Start, part.End}})
	}
	return flows
}

// implied is the schema of a flow where a condition of a template has an outcome.
func (p *Pass) implied(f *flow, t *plan.Template, condition func() *expression.Term, at int, holds bool) *schema.Schema {
	if f.read == nil || f.sample {
		return f.schema
	}
	paths := p.Plan.Paths
	return p.meet(f.schema, once(p.flowing().implied, implication{t, at, holds, f.read.Path}, func() *schema.Schema {
		return branch.Implied(condition(), holds, func(ref int) ([]schema.Step, bool) {
			r := &p.Plan.Reads[t.Reads[ref]]
			if !paths.IsAbove(f.read.Path, r.Path) || !slices.Equal(r.Writers, f.read.Writers) {
				return nil, false
			}
			return compiler.SchemaPath(paths.Segments(r.Path)[paths.Depth(f.read.Path):]), true
		})
	}))
}

// lessImpossible drops flows without possible values, from an index on.
func (p *Pass) lessImpossible(flows []flow, from int) []flow {
	return append(flows[:from], slices.DeleteFunc(flows[from:], func(f flow) bool {
		return f.schema != nil && p.contains(f.schema, schema.AnyOf()).Relation == schema.Fits
	})...)
}

// An implication is a condition, its outcome, and the path that it restricts.
type implication struct {
	of    *plan.Template
	at    int
	holds bool
	path  pathtree.ID
}

// numberWithin is what the numbers among the operands of a smallest or largest leave of all
// numbers.
func (p *Pass) numberWithin(part expression.Part) *schema.Schema {
	number, keyword := schema.OfKinds(schema.Number), "maximum"
	if part.Kind == expression.Most {
		keyword = "minimum"
	}
	for _, operand := range part.Parts {
		if limit, ok := operand.Value.(float64); ok && operand.Kind == expression.Written {
			number = p.meet(number, schema.New(map[string]any{keyword: limit}, schema.Options{}))
		}
	}
	return number
}

// looksAt reports whether an expression looks at more than one place of what a flow
// comes from, or at one more than once: a condition in it may keep some of that away.
func (p *Pass) looksAt(t *plan.Template, f *flow) bool {
	looks := 0
	for _, i := range t.Reads {
		r := &p.Plan.Reads[i]
		if f.read != nil && r.Path == f.read.Path || f.from.call != nil && slices.Contains(r.Writers, int32(f.from.call.Index)) {
			looks++
		}
	}
	return looks > 1
}

// lessNull leaves of the flows from a place on what counts as there: null doesn't.
func (p *Pass) lessNull(flows []flow, from int) []flow {
	there := flows[:from]
	for i := from; i < len(flows); i++ {
		if f := flows[i]; f.schema != nil {
			if f.schema = p.notNull(f.schema); f.schema.Kinds() != 0 {
				there = append(there, f)
			}
			continue
		}
		there = append(there, flows[i])
	}
	return there
}

// typeOf is what is known of the value of a read, for the checking of
// expressions; nil is nothing.
func (p *Pass) typeOf(read int) *expression.Type {
	t := p.flowing()
	if !t.typed[read] {
		t.types[read], t.typed[read] = p.typeOfFlows(p.flowsOfRead(read)), true
	}
	return t.types[read]
}

func (p *Pass) typeOfFlows(flows []flow) *expression.Type {
	var few [2]*expression.Type
	all := few[:0]
	for i := range flows {
		f := &flows[i]
		switch {
		case f.schema == nil:
			return nil
		case f.sample:
			value, _ := f.schema.Raw().(map[string]any)["enum"].([]any)
			all = append(all, typeOfValue(value[0], typeDepth))
		default:
			all = append(all, p.typeOfSchema(f.schema, f.external))
		}
	}
	if len(all) == 0 {
		return nil
	}
	return join(all)
}

func schemaOfType(t *expression.Type, depth int) *schema.Schema {
	if t == nil || t.Kinds == 0 || depth == 0 {
		return nil
	}
	var kinds schema.Kinds
	for _, k := range kindPairs {
		if t.Kinds&k.to != 0 {
			kinds |= k.from
		}
	}
	if kinds&(schema.Array|schema.Object) == 0 {
		return schema.OfKinds(kinds)
	}
	parts := []*schema.Schema{}
	if scalars := kinds &^ (schema.Array | schema.Object); scalars != 0 {
		parts = append(parts, schema.OfKinds(scalars))
	}
	if kinds&schema.Array != 0 {
		parts = append(parts, schema.ListOf(schemaOfType(t.Elem, depth-1), 0, -1))
	}
	if kinds&schema.Object != 0 {
		object := schema.OfKinds(schema.Object)
		if t.Fields != nil && !t.Open {
			fields := make(map[string]*schema.Schema, len(t.Fields))
			for name, field := range t.Fields {
				fields[name] = schemaOfType(field, depth-1)
			}
			object = schema.ObjectOf(fields, nil)
		}
		parts = append(parts, object)
	}
	return schema.AnyOf(parts...)
}

// typeOfPart is what is known of the value of a part of an expression.
func (p *Pass) typeOfPart(t *plan.Template, part expression.Part) *expression.Type {
	if part.Kind == expression.Referred && !part.Soft {
		return p.typeOf(t.Reads[part.Ref])
	}
	return part.Check(func(i int) *expression.Type { return p.typeOf(t.Reads[i]) })
}
