package samples

import (
	"errors"
	"fmt"
	"strings"

	"github.com/obelus-dev/obelus/analyzer/internal/analysis"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
)

// ExpressionType is the rule of findings about what code gives.
var ExpressionType = &diag.Rule{Code: "OB510", Name: "expression-type", Default: diag.Error}

// ResultOfCode is what the code of an activity gives. The error says why it fails, or that the tool's "_output"
// refuses the result.
func ResultOfCode(p *analysis.Pass, tool *plan.Tool, activity *plan.Activity, params map[string]any,
	steps *int) (value any, err error) {
	if value, err = activity.Expression.EvalCode(params, &BudgetOf(p).Worked); err != nil {
		return nil, err
	}
	if o, ok := value.(map[string]any); ok && len(o) == 2 && o["_outputPath"] != nil {
		if of, ok := o["_output"]; ok { // it names the alternative that it takes
			value = of
		}
	}
	if tool == nil || tool.Output == nil {
		return value, nil
	}
	decided := false
	_, accepted := Affordable(steps, func(steps *int) (_ any, accepted bool) {
		accepted, decided = tool.Output.AcceptsWithin(value, steps)
		return nil, accepted
	})
	if !decided {
		return nil, errors.New("there is no time to hold it against a schema")
	}
	if refused := tool.Output.Validate(value); !accepted && refused != nil {
		return value, refused
	}
	return value, nil
}

// ReportCode reports why code fails with the parameters that a call passes.
func ReportCode(p *analysis.Pass, tool *plan.Tool, call *plan.Call, activity *plan.Activity, params map[string]any,
	value any, err error) (f *diag.Diagnostic) {
	node, wrong, refused := activity.Node.Get("expr"), new(expression.Error), new(schema.Violation)
	switch {
	case tool != nil && tool.Parameters != nil && !tool.Parameters.Accepts(params):
		return nil // what its tool doesn't accept is reported where the call passes it
	case errors.As(err, &wrong):
		if wrong.Cause == expression.OfText {
			return nil
		}
		f = CodeFault(p, tool, node.Within(wrong.Start, wrong.End),
			fmt.Sprintf("this fails when the parameters are %s: %s", analysis.Brief(params), wrong.Message)).
			Advise("narrow the tool's parameters, or handle that case in the expression")
	case errors.As(err, &refused):
		f = CodeFault(p, tool, node.Span(), fmt.Sprintf("for %s this returns %s, which isn't a result of %q: %s",
			analysis.Brief(params), analysis.Brief(value), tool.Name, strings.TrimPrefix(refused.Error(), "."))).
			Advise("correct the expression or the tool's \"_output\"")
	default:
		return nil
	}
	f.As(diag.Warning).About(call.Label()).Witness = params
	return f
}

// CodeFault reports a fault in the code of a tool's activity.
func CodeFault(p *analysis.Pass, tool *plan.Tool, at source.Span, message string) *diag.Diagnostic {
	return p.Found.Report(ExpressionType, at, "%s", message).
		Note(tool.NameNode.Span(), "%q is declared here", tool.Name)
}
