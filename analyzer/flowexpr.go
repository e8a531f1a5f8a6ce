package analyzer

import (
	"slices"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/schema"
)

// maxFlows bounds how many flows into one place are told apart.
const maxFlows = 64

// flowsOf are the flows out of an expression: those into what it hands on, and
// for what it works out what its types say.
func (p *Pass) flowsOf(t *compiler.Template) []flow {
	flows := p.flowsOfPart(t, t.Expr.Outline())
	if len(flows) == 0 || len(flows) > maxFlows {
		return unknown
	}
	return flows
}

func (p *Pass) flowsOfPart(t *compiler.Template, part expression.Part) []flow {
	switch part.Kind {
	case expression.Referred:
		flows := p.flowsOfRead(t.Reads[part.Ref])
		if part.Soft {
			flows = append(slices.Clone(flows), flow{schema: schema.OfKinds(schema.Null), rare: true})
		}
		return flows
	case expression.Written:
		return []flow{{
			schema: schema.Const(part.Value), operand: operand{t.Node, part.Start, part.End},
		}}
	case expression.Fallback:
		var all []flow
		for _, operand := range part.Parts {
			flows := p.flowsOfPart(t, operand)
			if operand.Kind == expression.Written {
				return append(all, flows...)
			}
			all = append(all, p.lessNull(flows)...)
		}
		return all
	case expression.Gate:
		return p.lessNull(p.flowsOfPart(t, part.Parts[len(part.Parts)-1]))
	case expression.Choice:
		return slices.Concat(p.flowsOfPart(t, part.Parts[0]), p.flowsOfPart(t, part.Parts[1]))
	}
	return []flow{{schema: p.likeness(p.typeOfPart(t, part)), loose: true, computed: true, operand: operand{t.Node, part.Start, part.End}}}
}

// lessNull is what of some flows counts as there: null doesn't (S4.3).
func (p *Pass) lessNull(flows []flow) []flow {
	var there []flow
	for _, f := range flows {
		if f.schema = p.notNull(f.schema); f.schema != nil && f.schema.Kinds() == 0 {
			continue
		}
		there = append(there, f)
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
	var all []*expression.Type
	for _, f := range flows {
		switch s := f.schema; {
		case s == nil:
			return nil
		case f.sample:
			value, _ := s.Raw().(map[string]any)["enum"].([]any)
			all = append(all, typeOfValue(value[0], typeDepth))
		default:
			all = append(all, typeOfSchema(s, typeDepth))
		}
	}
	if len(all) == 0 {
		return nil
	}
	return join(all)
}

// likeness is the schema of what a type describes; nil where it says nothing.
func (p *Pass) likeness(t *expression.Type) *schema.Schema {
	if t == nil {
		return nil
	}
	table := p.flowing()
	s, ok := table.likes[t]
	if !ok {
		s = schemaOfType(t, typeDepth)
		table.likes[t] = s
	}
	return s
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
func (p *Pass) typeOfPart(t *compiler.Template, part expression.Part) *expression.Type {
	if part.Kind == expression.Referred && !part.Soft {
		return p.typeOf(t.Reads[part.Ref])
	}
	return part.Check(func(i int) *expression.Type { return p.typeOf(t.Reads[i]) })
}
