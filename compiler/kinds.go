package compiler

import (
	"maps"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/naming"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
)

// A Kind is a way in which activities carry calls out. Package activity of the runtime registers under the same name
// how it does that.
type Kind struct {
	Name  string
	About string // what its part of a definition holds, for the published schema
	Keys  any    // a struct whose tags declare the keys of that part; nil where it is a text
	// Pure reports that it changes nothing, brings nothing in, and needs nothing but the call's parameters.
	Pure bool
	read func(c *compilation, a *plan.Activity, n *source.Node, what string)
}

// Kinds are the kinds that a document can define, by name.
var Kinds = map[string]Kind{}

func register(k Kind) bool {
	Kinds[k.Name] = k
	return true
}

// KindNames are the names of all kinds, sorted.
func KindNames() []string { return slices.Sorted(maps.Keys(Kinds)) }

// IsPure reports whether an activity is of a pure kind; see [Kind]. Nil isn't.
func IsPure(a *plan.Activity) bool { return a != nil && Kinds[a.Kind].Pure }

var _ = register(Kind{
	Name: "expr", Pure: true, About: "An expression with the call's parameters as its variables, such as price * count.",
	read: func(c *compilation, a *plan.Activity, n *source.Node, what string) {
		if n.Kind != source.String {
			c.Expects(n, what, "an expression over the parameters, as a string")
			return
		}
		e, err := expression.ParseCode(n.Text, expression.DefaultLimits())
		if a.Expression = e; err != nil {
			c.badExpression(n, err)
		}
	},
})

var _ = register(Kind{
	Name: "plan", About: "A plan file that is run as this activity, by its path from this file.",
	read: func(c *compilation, a *plan.Activity, n *source.Node, _ string) {
		a.PlanNode, a.Plan = n, c.delegatePath(n, a.Dir, nil)
	},
})

// Keys are structs whose tags declare the keys of parts of definitions, for the published schema.
var Keys = map[string]any{"activity": activityKeys{}, "server": serverKeys{}, "httpField": httpFieldKeys{}}

type activityKeys struct {
	Hints       *source.Node `key:"annotations"`
	Description *source.Node `key:"description"`
}

// collectActivities reads an "activities" mapping.
func (c *compilation) collectActivities(n *source.Node, dir string) {
	if n.Kind != source.Object {
		c.Expects(n, "\"activities\"", "a mapping from names to activities")
		return
	}
	for _, f := range n.Fields {
		if a := c.activity(definition{f.Key.Text, f.Key, f.Value, dir}); a != nil {
			c.plan.Activities[a.Name] = a
		}
	}
}

func (c *compilation) activity(d definition) *plan.Activity {
	a := c.activityOf(d)
	what := "the activity \"" + d.name + "\""
	var keys activityKeys
	handlers, kinds := map[string]func(source.Field){}, 0
	for name, kind := range Kinds {
		handlers[name] = func(f source.Field) {
			kinds++
			a.Kind = name
			kind.read(c, a, f.Value, what+"'s \""+name+"\"")
		}
	}
	c.Mapping(d.node, what, &keys, handlers)
	if keys.Hints != nil {
		c.Mapping(keys.Hints, "the \"annotations\" of "+what, &a.Hints, map[string]func(source.Field){"title": nil})
	}
	if d.node.Kind == source.Object && kinds != 1 {
		c.Report(diag.WrongType, d.node.Span(), "%s needs exactly one of %s; it has %d", what, strings.Join(KindNames(), ", "), kinds)
		return nil
	}
	return a
}

// activityOf is an activity, or the program of a server, of which only is known where it is defined.
func (c *compilation) activityOf(d definition) *plan.Activity {
	return &plan.Activity{Name: d.name, Node: d.node, NameNode: d.key, Dir: c.folderOf(d), Origin: c.originOf(d.node.File)}
}

func (c *compilation) noActivity(n *source.Node, name string) *diag.Diagnostic {
	f := c.Report(diag.NoActivity, n.Span(), "no activity %q is registered", name)
	names := naming.NewSuggester(slices.Sorted(maps.Keys(c.plan.Activities)))
	if near, ok := names.Nearest(name); ok && n.Kind == source.String {
		return c.typo(f, n, near, names)
	}
	return f.Advise("define it under \"activities\", or add a file of activities")
}

// Ignores reports whether nothing that a call passes under a name reaches the program that is run, or the request that
// is sent.
func Ignores(a *plan.Activity, parameter string) bool {
	if slices.ContainsFunc(a.Parameters, func(p plan.Variable) bool { return p.Name == parameter }) {
		return false
	}
	if h := a.HTTP; h != nil {
		return h.Host != "" && (h.Sends == StreamNone || h.Body != nil)
	}
	return len(a.Argv) > 0 && !a.Worker && a.Stdin != "" && a.Stdin != StreamJSON
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
