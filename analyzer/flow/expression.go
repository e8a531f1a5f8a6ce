package flow

import (
	"regexp"
	"slices"

	"github.com/obelus-dev/obelus/analyzer/internal/branch"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
)

// Eval is what a template may give a call, or none.
func (f *Facts) Eval(call *plan.Call, t *plan.Template) []Variant {
	if t.Expr != nil {
		return f.Expression(t)
	}
	if container, ok := f.ofTemplate(call, t); ok {
		return []Variant{container}
	}
	return unknown()
}

// ofTemplate is a value put together from its parts, for a call or for none. It is false where a part may be left
// out, or nothing is known of any.
func (f *Facts) ofTemplate(call *plan.Call, t *plan.Template) (Variant, bool) {
	if !t.Live {
		return Variant{Schema: schema.Const(t.Value), External: true}, true
	}
	if t.Expr != nil {
		return f.oneOf(call, f.Expression(t)), true
	}
	container, ok := Variant{External: true}, true
	part := func(of *plan.Template) *schema.Schema {
		if !ok {
			return nil
		}
		var v Variant
		v, ok = f.ofTemplate(call, of)
		container.join(&v)
		return v.Schema
	}
	switch {
	case t.Items != nil:
		items := make([]*schema.Schema, len(t.Items))
		for i, item := range t.Items {
			items[i] = part(item)
		}
		container.Schema = schema.TupleOf(items...)
	case t.Fields != nil:
		parts := make(map[string]*schema.Schema, len(t.Fields))
		names := make([]string, len(t.Fields))
		for i, field := range t.Fields {
			names[i], parts[field.Key] = field.Key, part(field.Value)
		}
		container.Schema = schema.ObjectOf(parts, names)
	default:
		return Variant{}, false
	}
	return container, ok
}

// join takes up what is known of a part.
func (v *Variant) join(part *Variant) {
	v.Wide, v.Rare = v.Wide || part.Wide || part.Schema == nil, v.Rare || part.Rare
	v.External, v.Uncertain = v.External && part.External, v.Uncertain || part.Uncertain
}

// oneOf joins variants. Examples are joined by the type of the value.
func (f *Facts) oneOf(call *plan.Call, variants []Variant) Variant {
	joined := Variant{External: true}
	var all []*schema.Schema
	for _, v := range variants {
		joined.External, joined.Uncertain = joined.External && v.External, joined.Uncertain || v.Uncertain
		s := f.letThrough(&v, call)
		if v.Sample {
			s = v.Like
		}
		joined.Wide = joined.Wide || v.Wide || v.Rare || v.Uncounted || v.Sample
		if s == nil {
			return Variant{Wide: true}
		}
		all = append(all, s)
	}
	joined.Schema = schema.AnyOf(all...)
	return joined
}

// Expression is what an expression may give: what it passes on, and for what it works out what its types say.
func (f *Facts) Expression(t *plan.Template) []Variant {
	var variants []Variant
	if t.Expr.Plain() {
		variants = f.Read(t.Reads[0])
	} else {
		variants = f.part(nil, t, t.Expr.Root())
	}
	if len(variants) == 0 || len(variants) > maxVariants {
		return unknown()
	}
	return variants
}

// part adds what a part of an expression may give.
func (f *Facts) part(variants []Variant, t *plan.Template, part *expression.Node) []Variant {
	before, op := len(variants), part.Op
	own := Operand{t.Node, part.Start, part.End}
	if part.Open() {
		op = expression.OpItem // computed from an item or a variable, whatever it does
	}
	switch {
	case op == expression.OpRef:
		variants = append(variants, f.Read(t.Reads[part.Index])...)
		if part.Soft {
			variants = append(variants, Variant{Schema: schema.OfKinds(schema.Null), Rare: true, External: true})
		}
	case part.Constant:
		variants = append(variants, Variant{Schema: f.literal(part.Value), External: true, Operand: own})
	case op == expression.OpFallback:
		for _, operand := range part.Args {
			before = len(variants)
			variants = f.part(variants, t, operand)
			if operand.Constant {
				return variants
			}
			variants = f.lessNull(variants, before)
		}
	case op == expression.OpGate:
		variants = f.lessNull(f.part(variants, t, part.Args[len(part.Args)-1]), before)
	case op == expression.OpCond:
		for i, operand := range part.Args[1:] {
			from := len(variants)
			variants = f.part(variants, t, operand)
			for k := range variants[from:] {
				v := &variants[from+k]
				v.Wide = v.Wide || f.looksAt(t, v)
				v.Schema = f.where(v, t, part.Args[0], i == 0)
			}
		}
		return f.lessImpossible(variants, before)
	case op == expression.OpCall && (part.Name == "min" || part.Name == "max"):
		number := f.numberWithin(part)
		for _, operand := range part.Args {
			variants = f.part(variants, t, operand)
		}
		for i := range variants[before:] {
			v := &variants[before+i]
			if v.Sample {
				v.Schema = v.Like
			}
			if v.Schema.Kinds()&schema.Array != 0 {
				v.Schema = number // of one of its items
				v.Read, v.Operand = nil, own
			}
			v.Schema, v.Wide, v.Sample = f.Meet(v.Schema, number), true, false
		}
		return f.lessImpossible(variants, before)
	case op == expression.OpText:
		return append(variants, Variant{Schema: text(part), Wide: true, Operand: own})
	default:
		like := f.counted(f.Likeness(f.TypeOfPart(t, part)), t, part)
		return append(variants, Variant{Schema: like, Wide: true, Operand: own})
	}
	return variants
}

// text is the schema of a text with expressions: strings with its literal parts in their order.
func text(part *expression.Node) *schema.Schema {
	pattern := "^"
	for _, piece := range part.Args {
		literal, ok := piece.Value.(string)
		if !ok {
			pattern += "[^]*"
		}
		pattern += regexp.QuoteMeta(literal)
	}
	return schema.New(map[string]any{"type": "string", "pattern": pattern + "$"}, schema.Options{})
}

// An implication is a condition, its outcome, and the path that it restricts.
type implication struct {
	of         *plan.Template
	start, end int // bytes of its text
	holds      bool
	path       pathtree.ID
}

// where is the schema of a variant where a condition of a template has an outcome.
func (f *Facts) where(v *Variant, t *plan.Template, condition *expression.Node, holds bool) *schema.Schema {
	if v.Read == nil || v.Sample {
		return v.Schema
	}
	paths := f.Plan.Paths
	asked := implication{t, condition.Start, condition.End, holds, v.Read.Path}
	return f.Meet(v.Schema, Once(f.implied, asked, func() *schema.Schema {
		return branch.Implied(condition, holds, func(ref int) ([]schema.Step, bool) {
			r := &f.Plan.Reads[t.Reads[ref]]
			if !paths.IsAbove(v.Read.Path, r.Path) || !slices.Equal(r.Writers, v.Read.Writers) {
				return nil, false
			}
			return paths.Segments(r.Path)[paths.Depth(v.Read.Path):], true
		})
	}))
}

// Guarded is the schema of what a call's condition lets through.
func (f *Facts) Guarded(v *Variant, call *plan.Call) *schema.Schema {
	if call == nil || call.When == nil || call.When.Expr == nil {
		return v.Schema
	}
	return f.where(v, call.When, call.When.Expr.Root(), true)
}

// numberWithin is what the numbers among the operands of a smallest or largest leave of all
// numbers.
func (t *Schemas) numberWithin(part *expression.Node) *schema.Schema {
	number, keyword := schema.OfKinds(schema.Number), "maximum"
	if part.Name == "max" {
		keyword = "minimum"
	}
	for _, operand := range part.Args {
		if limit, ok := operand.Value.(float64); ok {
			number = t.Meet(number, schema.New(map[string]any{keyword: limit}, schema.Options{}))
		}
	}
	return number
}
