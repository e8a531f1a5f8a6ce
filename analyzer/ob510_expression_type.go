package analyzer

import (
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/expression"
)

var _ = register(Rule{
	Rule: &diag.Rule{Code: "OB510", Name: "expression-type", Default: diag.Error},
	Run:  expressionTypes,
})

// expressionTypes holds every expression against what is known of the types of
// its references (S4.5), and every _when against being a boolean.
func expressionTypes(p *Pass) {
	if p.from == 0 {
		p.activityCode()
	}
	p.calculations(func(call *compiler.Call, t *compiler.Template) {
		when := call != nil && t == call.When
		result, err := t.Expr.Check(func(i int) *expression.Type { return p.typeOf(t.Reads[i]) })
		if err != nil {
			f := p.Report(t.Node.Within(err.Start, err.End), "%s", err.Message).About(call.Label())
			if f.Help = err.Help; f.Help == "" {
				f.Advise("the types come from the values and schemas of the input and the state, and from the tools' \"_output\"")
			}
			return
		}
		if when && result != nil && result.Kinds != 0 && result.Kinds&expression.Bool == 0 {
			p.Report(t.Node.Span(), "\"_when\" must be true or false; this is %s", result.Kinds).About(call.Label()).
				Advise("compare it with something: †state.total > 100")
		}
	})
}

// activityCode holds the expressions of activities against the parameters of the
// tools that they carry out (S4.5).
func (p *Pass) activityCode() {
	reported := map[string]bool{}
	for _, tool := range p.Plan.Tools {
		activity := p.Plan.Activities[tool.Activity]
		known := p.parametersOf(tool)
		if activity == nil || activity.Expression == nil || known == nil || reported[tool.Activity] {
			continue
		}
		_, err := activity.Expression.CheckCode(func(name string) *expression.Type {
			if at := known.place(name); at.Possible {
				return typeOfSchema(at.Schema, typeDepth)
			}
			return nil
		})
		if err == nil {
			continue
		}
		reported[tool.Activity] = true
		f := p.Report(activity.Node.Get("expr").Within(err.Start, err.End), "%s", err.Message)
		if f.Help = err.Help; f.Help == "" {
			f.Advise("the types come from the parameters of %q, which the activity carries out", tool.Name)
		}
		if tool.NameNode != nil {
			f.Note(tool.NameNode.Span(), "%q is declared here", tool.Name)
		}
	}
}
