package flow

import (
	"slices"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
)

// What a call with "_each" reads of one item is judged by what its list may hold: whatever fits there fits for every
// item. The result of such a call is a list of its tool's results: as long as its list, with null for each item that
// lacks a part that the call needs.

// AList accepts any list.
var AList = schema.OfKinds(schema.Array)

// OfItem is what may be at a read of an item, or of its index.
func (f *Facts) OfItem(r *plan.Read) []Variant {
	call := f.Caller(r)
	if call == nil || call.Each == nil {
		return unknown()
	}
	if r.Ref.Kind == "index" {
		list := call.Each.List.Expr
		if len(r.Ref.Path) > 0 || list != nil && list.Root().IsCut() || compiler.Condition(call) != nil {
			return unknown() // a condition may be about how many items there are
		}
		_, most := f.Lengths(call)
		return []Variant{{Schema: Once[any](f.made, most, func() *schema.Schema {
			raw := map[string]any{"type": "integer", "minimum": 0.0, "maximum": float64(max(0, most-1))}
			return schema.New(raw, schema.Options{})
		})}}
	}
	items := f.Elements(call.Each.List)
	for i := range items {
		if v := &items[i]; v.Schema != nil && len(r.Ref.Path) > 0 {
			if at := f.At(v.Schema, r.Ref.Path); at.Possible {
				v.Schema = at.Schema
			} else {
				v.Schema = nil // which is a finding of its own
			}
		}
	}
	return items
}

// Elements are what the items of a list may be. An example in the document may have other items.
func (f *Facts) Elements(list *plan.Template) []Variant {
	switch {
	case !list.Live:
		const most = 1000 // with more the items aren't compared
		values, _ := list.Value.([]any)
		if len(values) == 0 || len(values) > most {
			return unknown()
		}
		return []Variant{{Schema: schema.New(map[string]any{"enum": values}, schema.Options{})}}
	case list.Expr == nil:
		var all []Variant
		for _, item := range list.Items {
			v, ok := f.ofTemplate(nil, item)
			if !ok {
				return unknown()
			}
			all = append(all, Variant{Schema: v.Schema, Wide: true})
		}
		return all
	}
	all := slices.Clone(f.Expression(list))
	for i, v := range all {
		s := v.Schema
		if v.Sample {
			s = v.Like
		}
		all[i] = Variant{Wide: v.Wide || v.Sample, Uncertain: v.Uncertain, Rare: v.Rare, External: v.External}
		if s != nil && Uniform(s) {
			all[i].Schema = s.Item().Schema
		}
	}
	return all
}

// A Listing is what is known of the list that a call gives.
type Listing struct {
	Output    *schema.Schema
	Uncertain bool // items may lack something; only a sample run decides
	Uncounted bool // the number of items is unknown
}

// A listed is how the list that calls of a tool give differs from any other.
type listed struct {
	of          *schema.Schema
	least, most int
}

// maxListings bounds how many lists are looked through for what is in one.
const maxListings = 50

// Gives is the schema of a call's result.
func (f *Facts) Gives(call *plan.Call) *schema.Schema {
	if call.Tool != nil && call.Each == nil {
		return call.Tool.Output
	}
	return f.Listing(call).Output
}

// Listing is what is known of the list that a call with "_each" gives.
func (f *Facts) Listing(call *plan.Call) Listing {
	if known, ok := f.listings[call]; ok {
		return known
	}
	if call.Tool == nil {
		return Listing{}
	}
	how := listed{of: call.Tool.Output}
	made := Listing{Output: how.of}
	if f.listing == maxListings {
		return made
	}
	f.listings[call] = made // for recursive questions
	f.listing++
	how.least, how.most = f.Lengths(call)
	unbounded := how.least == 0 && how.most == compiler.MaxItems
	if expr := call.Each.List.Expr; expr != nil {
		isUnknown := func(read int) bool {
			return slices.ContainsFunc(f.Read(read), func(v Variant) bool {
				return v.Schema == nil || v.Schema.Kinds() == schema.Anything
			})
		}
		made.Uncounted = expr.Root().IsCut() || compiler.Condition(call) != nil ||
			unbounded && slices.ContainsFunc(call.Each.List.Reads, isUnknown)
	}
	made.Uncertain = f.mayLack(call)
	if !unbounded {
		made.Output = Once[any](f.made, how, func() *schema.Schema {
			return schema.ListOf(how.of.Item().Schema, how.least, how.most)
		})
	}
	f.listing--
	f.listings[call] = made
	return made
}

// Lengths are how many items the list of a call may have.
func (f *Facts) Lengths(call *plan.Call) (least, most int) {
	switch list := call.Each.List; {
	case list.Items != nil:
		return len(list.Items), len(list.Items)
	case !list.Live:
		items, _ := list.Value.([]any)
		return len(items), len(items)
	case list.Expr == nil:
		return 0, compiler.MaxItems
	default:
		items := lengthsAmong(f.part(nil, list, list.Expr.Root()))
		most = min(items.Most, compiler.MaxItems)
		return min(items.Least, most), most
	}
}

// lengthsAmong is how many items lists of some variants may have.
func lengthsAmong(variants []Variant) expression.Interval {
	all, some := expression.AnyItems, false
	for i := range variants {
		v := &variants[i]
		if v.Schema == nil || v.Sample || len(variants) > maxVariants {
			return expression.AnyItems
		}
		if v.Schema.Kinds()&schema.Array == 0 {
			continue
		}
		least, most := v.Schema.Lengths()
		if most < 0 || most > expression.AnyLength {
			most = expression.AnyLength
		}
		one := expression.Interval{Least: least, Most: most}
		if some {
			one = one.With(all)
		}
		all, some = one, true
	}
	return all
}

// counted is the schema of what a part of an expression works out, with how many items it has.
func (f *Facts) counted(like *schema.Schema, t *plan.Template, part *expression.Node) *schema.Schema {
	if like == nil || like.Kinds()&schema.Array == 0 {
		return like
	}
	items := part.Items(func(i int) expression.Interval { return lengthsAmong(f.Read(t.Reads[i])) })
	if items == expression.AnyItems {
		return like
	}
	return f.Meet(like, f.ofLengths(items.Least, items.Most))
}

// mayLack reports whether an item of the call's list may lack something without which the item is skipped.
func (f *Facts) mayLack(call *plan.Call) bool {
	var elements []Variant
	for t := range call.Params.Expressions() {
		if !t.PerItem() {
			continue
		}
		for _, read := range t.Reads {
			r := &f.Plan.Reads[read]
			if r.Ref.Kind != "item" || len(r.Ref.Path) == 0 {
				continue
			}
			if elements == nil {
				elements = f.Elements(call.Each.List)
			}
			for _, v := range elements {
				if at := f.At(v.Schema, r.Ref.Path); !at.Required || at.Schema.Kinds()&schema.Null != 0 {
					return true
				}
			}
		}
	}
	return false
}
