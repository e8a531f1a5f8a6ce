package analyzer

import (
	"fmt"
	"slices"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
)

// The result of a call with "_each" is a list of its tool's results: as long as its list, with null for
// each item that lacks a part that the call needs.

// A listing is what is known of the list that a call gives.
type listing struct {
	tool      *plan.Tool // with the list as its output
	hole      *plan.Read // of something that an item may lack; nil where none is known
	item      any        // an item that lacks it
	uncertain bool       // items may lack something; only a sample run decides
	uncounted bool       // the number of items is unknown
}

// A listed is how the list that calls of a tool give differs from any other.
type listed struct {
	tool        *plan.Tool
	least, most int
	holes       bool
}

// maxListings bounds how many lists are looked through for what is in one.
const maxListings = 50

// giving is the tool of a call, with what the call gives as its output.
func (p *Pass) giving(call *plan.Call) *plan.Tool {
	if call.Each == nil || call.Tool == nil {
		return call.Tool
	}
	return p.listing(call).tool
}

func (p *Pass) listing(call *plan.Call) listing {
	t := p.flowing()
	if known, ok := t.listings[call]; ok {
		return known
	}
	made := listing{tool: call.Tool}
	if t.listing == maxListings || call.Tool == nil {
		return made
	}
	t.listings[call] = made // for recursive questions
	t.listing++
	how := listed{tool: call.Tool}
	how.least, how.most = p.lengthsOf(call)
	if how.least == 0 && how.most == compiler.MaxItems && call.Each.List.Expr != nil {
		made.uncounted = slices.ContainsFunc(call.Each.List.Reads, func(read int) bool {
			return slices.ContainsFunc(p.flowsOfRead(read), func(f flow) bool { return f.schema == nil || f.schema.Kinds() == schema.Anything })
		})
	}
	if call.Each.Tool != nil && call.Each.Tool.Output != nil && call.Tool.Output.At(firstItem).Schema.Kinds()&schema.Null == 0 {
		made.hole, made.item, made.uncertain = p.mayLack(call)
		how.holes = made.hole != nil
	}
	made.tool = p.listOf(how)
	t.listing--
	t.listings[call] = made
	return made
}

var firstItem = []schema.Step{schema.Index(0)}

func (p *Pass) listOf(how listed) *plan.Tool {
	if how.least == 0 && how.most == compiler.MaxItems && !how.holes {
		return how.tool
	}
	return once(p.flowing().lists, how, func() *plan.Tool {
		tool, item := *how.tool, how.tool.Output.At(firstItem).Schema
		if how.holes {
			item = schema.AnyOf(item, schema.OfKinds(schema.Null))
		}
		tool.Output = schema.ListOf(item, how.least, how.most)
		return &tool
	})
}

// lengthsOf are how many items the list of a call may have.
func (p *Pass) lengthsOf(call *plan.Call) (least, most int) {
	switch list := call.Each.List; {
	case list.Items != nil:
		return len(list.Items), len(list.Items)
	case !list.Live():
		items, _ := list.Value.([]any)
		return len(items), len(items)
	case list.Expr == nil:
		return 0, compiler.MaxItems
	default:
		least, most = lengthsAmong(p.flowsOfPart(nil, list, list.Expr.Outline()), func(f *flow) *schema.Schema {
			if compiler.Condition(call) == nil {
				return f.schema
			}
			return p.guarded(f, call)
		})
		most = min(most, compiler.MaxItems)
		return min(least, most), most
	}
}

// lengthsAmong are how many items lists may have that come by some flows.
func lengthsAmong(flows []flow, of func(*flow) *schema.Schema) (least, most int) {
	least, some := expression.AnyLength, false
	for i := range flows {
		f := &flows[i]
		if f.schema == nil || f.sample || len(flows) > maxFlows {
			return 0, expression.AnyLength
		}
		s := of(f)
		if s.Kinds()&schema.Array == 0 {
			continue
		}
		a, b := s.Lengths()
		if b < 0 || b > expression.AnyLength {
			b = expression.AnyLength
		}
		least, most, some = min(least, a), max(most, b), true
	}
	if !some {
		return 0, expression.AnyLength
	}
	return least, most
}

// counted is the schema of what a part of an expression works out, with how many items it has.
func (p *Pass) counted(like *schema.Schema, t *plan.Template, part expression.Part) *schema.Schema {
	if like == nil || like.Kinds()&schema.Array == 0 {
		return like
	}
	least, most := part.Lengths(func(i int) (least, most int) {
		return lengthsAmong(p.flowsOfRead(t.Reads[i]), func(f *flow) *schema.Schema { return f.schema })
	})
	if least == 0 && most == expression.AnyLength {
		return like
	}
	return p.meet(like, p.ofLengths(least, most))
}

// ofLengths is the schema of all values but lists of other lengths.
func (p *Pass) ofLengths(least, most int) *schema.Schema {
	return once(p.flowing().counts, [2]int{least, most}, func() *schema.Schema {
		raw := map[string]any{"minItems": float64(least)}
		if most >= 0 && most < expression.AnyLength {
			raw["maxItems"] = float64(most)
		}
		return schema.New(raw, schema.Options{})
	})
}

// mayLack is a reference to something of an item without which the item is skipped, and an
// item of the call's list that hasn't got it; unsure where none is known, and what the items
// are that an expression leaves isn't.
func (p *Pass) mayLack(call *plan.Call) (hole *plan.Read, without any, uncertain bool) {
	var elements []flow
	lacks := func(container *schema.Schema) (item any, yes bool) {
		if elements == nil {
			elements = p.elements(call.Each.List)
		}
		for i := range elements {
			f := &elements[i]
			if f.schema == nil || f.exceptional {
				uncertain = uncertain || !f.exceptional
				continue
			}
			if relation, item := p.relate(f, container); relation == schema.MayNotFit || relation == schema.Never {
				return item, true
			}
			uncertain = uncertain || f.overApproximate && p.contains(f.schema, container).Relation != schema.Fits
		}
		return nil, false
	}
	for t := range call.Params.Expressions() {
		if !t.PerItem() {
			continue
		}
		if references, literal := t.Expr.Alternatives(); references && !literal {
			var any []*schema.Schema // what is null gives way to the next
			for _, read := range t.Reads {
				if r := &p.Plan.Reads[read]; r.Ref.Kind == "item" {
					any = append(any, schema.Containing(compiler.SchemaPath(r.Ref.Path), schema.OfKinds(schema.Anything&^schema.Null)))
				}
			}
			if item, yes := lacks(schema.AnyOf(any...)); yes && len(any) == len(t.Reads) {
				return &p.Plan.Reads[t.Reads[0]], item, false
			}
			continue
		}
		for _, read := range t.Reads {
			r := &p.Plan.Reads[read]
			if r.Ref.Kind != "item" || len(r.Ref.Path) == 0 || !r.Ref.Required {
				continue
			}
			path := compiler.SchemaPath(r.Ref.Path)
			has := func() *schema.Schema { return schema.Containing(path, nil) }
			if item, yes := lacks(once(p.flowing().containing, fmt.Sprint(path), has)); yes {
				return r, item, false
			}
		}
	}
	return nil, nil, uncertain
}
