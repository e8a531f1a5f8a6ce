// Package kinds has the kinds of activities: how each is read from its definition, and what it makes of a call's
// parameters, such as the arguments of a program or a request. Package activity of the runtime registers under the same
// names how that is carried out. Nothing here starts or sends anything.
package kinds

import (
	"maps"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/decode"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
)

// A Kind is a way in which activities carry calls out.
type Kind struct {
	Name  string
	About string // what its part of a definition holds, for the published schema
	Keys  any    // a struct whose tags declare the keys of that part; nil where it is a text
	// Pure reports that it changes nothing, brings nothing in, and needs nothing but the call's parameters.
	Pure bool
	read func(r *Reader, a *plan.Activity, n *source.Node, what string)
}

// Kinds are the kinds that a document can define, by name.
var Kinds = map[string]Kind{}

func register(k Kind) bool {
	Kinds[k.Name] = k
	return true
}

// Names are the names of all kinds, sorted.
func Names() []string { return slices.Sorted(maps.Keys(Kinds)) }

// IsPure reports whether an activity is of a pure kind; see [Kind]. Nil isn't.
func IsPure(a *plan.Activity) bool { return a != nil && Kinds[a.Kind].Pure }

// A Reader reads definitions and collects what is wrong with them.
type Reader struct {
	*decode.Reader
	// Delegate is the path of the plan that a text names, as seen from a folder; "" when it can be none.
	Delegate func(n *source.Node, dir string) string
}

// Keys are structs whose tags declare the keys of parts of definitions, for the published schema.
var Keys = map[string]any{"activity": activityKeys{}, "server": serverKeys{}, "httpField": httpFieldKeys{}}

type activityKeys struct {
	Hints       *source.Node `key:"annotations"`
	Description *source.Node `key:"description"`
}

// Activity reads the definition of an activity, and reports whether it is of one kind.
func (r *Reader) Activity(a *plan.Activity) bool {
	what := "the activity \"" + a.Name + "\""
	var keys activityKeys
	handlers, kinds := map[string]func(source.Field){}, 0
	for name, kind := range Kinds {
		handlers[name] = func(f source.Field) {
			kinds++
			a.Kind = name
			kind.read(r, a, f.Value, what+"'s \""+name+"\"")
		}
	}
	isMapping := r.Mapping(a.Node, what, &keys, handlers)
	if keys.Hints != nil {
		r.Mapping(keys.Hints, "the \"annotations\" of "+what, &a.Hints, map[string]func(source.Field){"title": nil})
	}
	if isMapping && kinds != 1 {
		r.Report(diag.WrongType, a.Node.Span(), "%s needs exactly one of %s; it has %d", what,
			strings.Join(Names(), ", "), kinds)
		return false
	}
	return true
}

var _ = register(Kind{
	Name: "expr", Pure: true,
	About: "An expression with the call's parameters as its variables, such as price * count.",
	read: func(r *Reader, a *plan.Activity, n *source.Node, what string) {
		if n.Kind != source.String {
			r.Expects(n, what, "an expression over the parameters, as a string")
			return
		}
		e, err := expression.ParseCode(n.Text)
		if a.Expression = e; err != nil {
			r.BadExpression(n, err)
		}
	},
})

var _ = register(Kind{
	Name: "plan", About: "A plan file that is run as this activity, by its path from this file.",
	read: func(r *Reader, a *plan.Activity, n *source.Node, _ string) {
		a.PlanNode, a.Plan = n, r.Delegate(n, a.Dir)
	},
})

// Ignores reports whether nothing that a call passes under a name reaches the program that is run, or the request that
// is sent.
func Ignores(a *plan.Activity, parameter string) bool {
	if slices.ContainsFunc(a.Parameters, func(p plan.Variable) bool { return p.Name == parameter }) {
		return false
	}
	if h := a.HTTP; h != nil {
		return h.Host != "" && (h.Sends == plan.StreamNone || h.Body != nil)
	}
	return len(a.Argv) > 0 && !a.Worker && a.Stdin != "" && a.Stdin != plan.StreamJSON
}

// CheckArguments is why an activity can't be given these parameters: an [*UnfitArgument], or nil.
func CheckArguments(a *plan.Activity, params map[string]any) (err error) {
	switch {
	case a.HTTP != nil:
		_, err = ShownRequest(a.HTTP, params)
	case len(a.Parameters) > 0:
		_, err = Arguments(a, params, AsWritten)
	}
	return err
}
