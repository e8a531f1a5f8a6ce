package plan

import (
	"iter"
	"slices"

	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/source"
)

// An After is a call that another comes after, for order without data.
type After struct {
	Call    int          // its index
	Settled bool         // that it has settled is enough; else it must be done, or the other is skipped
	ByTool  bool         // it is named by its tool, which no other call has
	Node    *source.Node // where it is named
}

// ComesAfter is how a call names another in its "_after", or nil.
func (c *Call) ComesAfter(other int) *After {
	if at := slices.IndexFunc(c.After, func(a After) bool { return a.Call == other }); at >= 0 {
		return &c.After[at]
	}
	return nil
}

// Expressions gives the expressions in the template, in the order of the text; of nil none.
func (t *Template) Expressions() iter.Seq[*Template] {
	return func(yield func(*Template) bool) { t.expressions(yield) }
}

func (t *Template) expressions(yield func(*Template) bool) bool {
	switch {
	case t == nil || !t.Live:
		return true
	case t.Expr != nil:
		return yield(t)
	}
	for i := range t.Fields {
		if !t.Fields[i].Value.expressions(yield) {
			return false
		}
	}
	for _, item := range t.Items {
		if !item.expressions(yield) {
			return false
		}
	}
	return true
}

// Expressions gives the expressions of the call, in the order in which they are resolved:
// of its list, its parameters, and its condition.
func (c *Call) Expressions() iter.Seq[*Template] {
	return func(yield func(*Template) bool) {
		_ = (c.Each == nil || c.Each.List.expressions(yield)) && c.Params.expressions(yield) &&
			c.When.expressions(yield)
	}
}

// A Link of a chain of delegates: a plan, and where it is named; nowhere for the plan that all begins with.
type Link struct {
	Path string
	At   *source.Node
}

// Latent reports whether nothing carries the call out, so that a model must produce
// its result, unless it stands there already.
func (c *Call) Latent() bool { return c.Activity == "" && c.Delegate == "" }

// AllDelegates are the plans that are run as calls of this one, and as calls of those, by path.
func (p *Plan) AllDelegates() map[string]*Plan {
	all := map[string]*Plan{}
	waiting := []*Plan{p}
	for len(waiting) > 0 {
		next := waiting[0]
		waiting = waiting[1:]
		for path, plan := range next.Delegates {
			if all[path] == nil {
				all[path] = plan
				waiting = append(waiting, plan)
			}
		}
	}
	return all
}

// An Each is how a call runs once for every item of a list. The call stays one: it is bound as a whole, and what it
// gives is the list of results, which is what the "_output" of its tool describes then.
type Each struct {
	List    *Template // what gives the list
	Collect bool      // a failure takes the item's place, and the others go on
	Tool    *Tool     // the tool of one item; nil when no such tool is defined
}

// Text is what gives the list, as it is written.
func (e *Each) Text() string {
	if n := e.List.Node; n.Kind == source.String {
		return n.Text
	}
	return e.List.Node.Span().Text()
}

// Single is the tool of what a call runs once, or of one of the items that it runs for.
func (c *Call) Single() *Tool {
	if c.Each != nil {
		return c.Each.Tool
	}
	return c.Tool
}

// PerItem reports whether something in a template is about one item of those that its
// call runs for, so that it has no value of its own. Nil has nothing.
func (t *Template) PerItem() bool { return t != nil && t.ItemDependent }

// A Scope is a part of the context that is handed on: to the activity of a call, to the plan that is run as one. Those
// of an advisor only say what it looks at.
type Scope struct {
	Kind string               // input, state, data, error, advice or a kind that a message declares
	Read int                  // the read that it is, as an index of Plan.Reads; -1 for an advisor's
	Ref  expression.Reference // where in the text it stands, and what it names
	Node *source.Node         // the string
}
