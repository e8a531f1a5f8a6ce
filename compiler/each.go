package compiler

import (
	"slices"
	"strconv"

	"github.com/obelus-dev/obelus/compiler/dag"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/reference"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
)

// MaxItems bounds a list that a call runs for.
const MaxItems = 100_000

// The kinds that only what a call with "_each" says of one item can name.
const (
	itemKind  = "item"
	indexKind = "index"
)

// FailureRecord is the schema of a failure in the place of a result.
var FailureRecord = schema.ObjectOf(map[string]*schema.Schema{
	"code": schema.OfKinds(schema.String), "message": schema.OfKinds(schema.String), "details": nil,
}, []string{"code", "message"})

// each reads what a call runs for each item of.
func (c *callReader) each(n *source.Node) {
	if n.Kind != source.Array && (n.Kind != source.String || !reference.IsExpression(n.Text)) {
		unmarked(c.Expects(n, "\"_each\"", "an expression that gives a list"), n)
		return
	}
	if len(n.Items) > MaxItems {
		c.Report(diag.Limit, n.Items[MaxItems].Span(), "\"_each\" has %d items; the limit is %d",
			len(n.Items), MaxItems)
		return
	}
	c.Each = &plan.Each{List: c.template(n)}
}

// eachGives makes the result of a call that runs for each item the list of what its tool gives for one.
func (c *callReader) eachGives() {
	each := c.Each
	each.Tool = c.Tool
	if each.Tool == nil {
		return
	}
	skips := skipsItems(c.Call)
	key := [3]any{each.Tool, each.Collect, skips}
	if c.made[key] == nil {
		t, all := *each.Tool, []*schema.Schema{each.Tool.Output}
		if skips {
			all = append(all, schema.OfKinds(schema.Null))
		}
		if each.Collect {
			all = append(all, FailureRecord)
		}
		result := all[0]
		if result != nil && len(all) > 1 {
			result = schema.AnyOf(all...)
		}
		t.Output = schema.ListOf(result, 0, MaxItems)
		c.made[key] = &t
	}
	c.Tool = c.made[key]
}

// skipsItems reports whether the plan says that an item may be skipped, in whose place
// there is null then: by its condition, by an expression that may find nothing, or by an
// index into an item. A property that a schema leaves optional doesn't count.
func skipsItems(c *plan.Call) bool {
	if c.When.PerItem() {
		return true
	}
	for t := range c.Params.Expressions() {
		if !t.PerItem() {
			continue
		}
		switch full := t.Expr.Root(); full.Op {
		case expression.OpFallback:
			if !full.Args[len(full.Args)-1].Constant &&
				slices.ContainsFunc(t.Expr.References(), func(r expression.Reference) bool {
					return r.Kind != itemKind || intoItem(r)
				}) {
				return true
			}
			continue // which of several parts an item may lack its schema tells
		case expression.OpGate:
			return true
		}
		if slices.ContainsFunc(t.Expr.References(), intoItem) {
			return true
		}
	}
	return false
}

// intoItem reports whether a reference is to an item of an item's list.
func intoItem(r expression.Reference) bool {
	return r.Kind == itemKind && slices.ContainsFunc(r.Path, func(s expression.Segment) bool { return s.IsIndex })
}

// Condition is the condition on which a call runs: its "_when", unless that is about each
// item by itself; nil where it has none.
func Condition(c *plan.Call) *plan.Template {
	if c.When.PerItem() {
		return nil
	}
	return c.When
}

// WithoutItems is a call that runs for each item of a list as one that runs once, with all that
// doesn't depend on an item: what it gives is the list at once. Any other stays as it is.
func WithoutItems(c *plan.Call) *plan.Call {
	if c.Each == nil {
		return c
	}
	one, params := *c, *c.Params
	one.Each, one.When, one.Params = nil, Condition(c), &params
	params.Fields = append(slices.DeleteFunc(slices.Clone(params.Fields), func(f plan.TemplateField) bool {
		return f.Value.PerItem()
	}), plan.TemplateField{Key: "_each", Value: c.Each.List})
	params.Live, params.ItemDependent = true, false
	if one.Tool != nil {
		tool := *one.Tool
		tool.Parameters, one.Tool = nil, &tool
	}
	return &one
}

// RepeatedCall is the call whose output takes what a call gives: of one for an item the call that
// runs it, of any other itself.
func RepeatedCall(c *plan.Call) *plan.Call {
	if c.ItemOf != nil {
		return c.ItemOf
	}
	return c
}

// ReadsItem reports whether a read is of an item that its call runs for, or of the item's place in the list.
func ReadsItem(p *plan.Plan, r *plan.Read) bool {
	return r.Path != pathtree.Root && IsItemKind(p.Paths.Kind(r.Path))
}

// IsItemKind reports whether references of a kind are to the item of a list, or its index.
func IsItemKind(kind string) bool { return kind == itemKind || kind == indexKind }

// Items is the plan of the calls that a call with "_each" runs, for so many items: they wait for nothing, write nothing
// and are numbered from 0. Their reads are those of the call.
func Items(p *plan.Plan, call *plan.Call, count int) *plan.Plan {
	items := *p
	items.Calls, items.Output, items.Unordered, items.Targets = make([]*plan.Call, count), nil, nil, nil
	deps := dag.NewBuilder(count, 0)
	all := make([]plan.Call, count)
	for i := range all {
		one := &all[i]
		*one = *call
		one.Index, one.Name, one.ID = i, call.Name+"["+strconv.Itoa(i)+"]", ""
		one.Tool, one.Each, one.ItemOf = call.Each.Tool, nil, call
		one.When, one.Output, one.OutputNode, one.Method = nil, nil, nil, plan.Set
		one.After, one.Ordered, one.Choices, one.Waits = nil, nil, nil, nil
		items.Calls[i] = one
		deps.Next()
	}
	items.Graph = deps.Graph(nil)
	return &items
}
