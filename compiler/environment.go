package compiler

import (
	"regexp"
	"slices"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/compiler/workspace"
)

// variable is how an activity takes a value of the environment: {$NAME}.
var variable = regexp.MustCompile(`\{\$([A-Za-z_][A-Za-z0-9_]*)\}`)

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// takes notes the variables that a text of an activity takes.
func takes(a *plan.Activity, n *source.Node) {
	if n.Kind != source.String {
		return
	}
	for _, found := range variable.FindAllStringSubmatch(n.Text, -1) {
		a.Variables = append(a.Variables, plan.Variable{Name: found[1], Node: n})
	}
}

// Filled is a text of an activity with what the environment holds in the place of
// each {$NAME}.
func Filled(text string, lookup func(name string) string) string {
	return variable.ReplaceAllStringFunc(text, func(found string) string { return lookup(found[2 : len(found)-1]) })
}

// envOf reads the variables that a program is given.
func (c *compilation) envOf(a *plan.Activity, n *source.Node) {
	if n.Kind != source.Object {
		c.Expects(n, "\"env\"", "a mapping from names of variables to texts")
		return
	}
	for _, f := range n.Fields {
		c.variableName(f.Key)
		if f.Value.Kind != source.String {
			c.Expects(f.Value, "the variable \""+f.Key.Text+"\"", "a text").Advise("write it in quotes")
			continue
		}
		a.Env = append(a.Env, plan.EnvSetting{Name: f.Key.Text, Value: f.Value.Text})
		takes(a, f.Value)
	}
}

// inherited reads the names of variables that a program gets of our environment.
func (c *compilation) inherited(a *plan.Activity, n *source.Node) {
	if n.Kind != source.Array {
		c.Expects(n, "\"inherit\"", "a list of names of variables")
		return
	}
	for _, item := range n.Items {
		if name := c.Text(item, "an item of \"inherit\""); name != "" {
			c.variableName(item)
			a.Inherit = append(a.Inherit, name)
		}
	}
}

// filesOf reads patterns of the files that a program uses.
func (c *compilation) filesOf(a *plan.Activity, n *source.Node) {
	if n.Kind != source.Array {
		c.Expects(n, "\"files\"", "a list of patterns of files of the workspace, such as [lib/**/*.py]")
		return
	}
	for _, item := range n.Items {
		text := c.Text(item, "an item of \"files\"")
		switch _, problem, help := workspace.Path("pattern", ".", text); {
		case text == "":
		case problem != "":
			c.Report(diag.WrongType, item.Span(), "%s", problem).Advise("%s", help)
		default:
			a.Files = append(a.Files, item)
		}
	}
}

func (c *compilation) variableName(n *source.Node) {
	if n.Text != "" && !variableName.MatchString(n.Text) {
		c.Report(diag.WrongType, n.Span(), "%q can't be the name of a variable of the environment", n.Text).
			Advise("a name is made of letters, digits and _, and doesn't begin with a digit")
	}
}

// SentVariables are the fields of headers and query that take something from the environment, by their
// names and that of the variable: Authorization with {$KEY}.
func SentVariables(h *plan.HTTP) (sent []string) {
	for _, f := range slices.Concat(h.Headers, h.Query) {
		texts := []*source.Node{f.Value}
		if len(f.Value.Items) > 0 {
			texts = f.Value.Items
		}
		for _, text := range texts {
			for _, name := range variable.FindAllString(text.Text, -1) {
				sent = append(sent, f.Name+" with "+name)
			}
		}
	}
	return slices.Compact(sent)
}
