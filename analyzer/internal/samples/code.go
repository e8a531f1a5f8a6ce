package samples

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
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

// TryCode works the code of a tool's activity out with parameters that the tool accepts: what goes wrong, and what
// isn't a result of the tool, is reported with them. It is given the types of the variables and of the result.
func TryCode(p *analysis.Pass, tool *plan.Tool, variable func(string) *expression.Type,
	result *expression.Type) (reported bool) {
	activity := p.Plan.Activities[tool.Activity]
	code := activity.Expression
	risky, blind := code.CodeMayFail(variable)
	known, budget := analysis.ParametersOf(p, tool), BudgetOf(p)
	budget.OpenCode[tool], _ = code.CodeMayFail(func(name string) *expression.Type {
		at := known.Place(name)
		if !at.Possible || !at.Required { // a call may leave it out
			return nil
		}
		return p.Flow.TypeOf(at.Schema, true)
	})
	gives := p.Flow.Likeness(result)
	fits := schema.Fits
	if tool.Output != nil {
		if fits = schema.MayNotFit; gives != nil {
			fits = p.Flow.Contains(gives, tool.Output).Relation
		}
	}
	routed := !slices.ContainsFunc(p.Plan.Calls,
		func(call *plan.Call) bool { return call.Single() == tool && call.FailureRoute() < 0 })
	if blind || routed || !risky && fits == schema.Fits {
		return false
	}
	var targets Targets
	targets.AtBounds(tool.Output)
	targets.AtConstants(code)
	const most = 64 // parameters
	accepted, steps := schema.AllOf(known.Schema, schema.OfKinds(schema.Object)), RunWork/4
	for n := 0; n < most && steps > 0; n++ {
		steps -= 60
		g := NewGenerator(p, targets, n, rand.New(rand.NewPCG(uint64(n), 72)), &steps)
		drawn, _ := g.Value(accepted, false)
		marked, isObject := drawn.(map[string]any)
		if !isObject || IsHole(drawn) {
			return false
		}
		unknown := false
		for n := range code.Root().All() {
			value, passed := marked[n.Name]
			_, how := Clear(value)
			unknown = unknown || n.Op == expression.OpVar &&
				(how == Unknown || !passed && (IsOpen(marked) || known.Open && !known.Declares(n.Name)))
		}
		if unknown {
			budget.OpenCode[tool] = true
			continue
		}
		cleared, _ := Clear(marked)
		params, _ := cleared.(map[string]any)
		value, err := ResultOfCode(p, tool, activity, params, &steps)
		if budget.Worked.Passed() {
			return false
		}
		if refused := new(schema.Violation); errors.As(err, &refused) && !isTyped(result, refused.Path) {
			continue
		}
		if f := ReportCode(p, tool, nil, activity, params, value, err); f != nil {
			if fits == schema.Never && value != nil {
				f.As(diag.Error)
			}
			return true
		}
	}
	return false
}

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

// ReportCode reports why code fails with some parameters: those that a call passes, or that its tool accepts. Of the
// latter only the kinds count.
func ReportCode(p *analysis.Pass, tool *plan.Tool, call *plan.Call, activity *plan.Activity, params map[string]any,
	value any, err error) (f *diag.Diagnostic) {
	node, wrong, refused := activity.Node.Get("expr"), new(expression.Error), new(schema.Violation)
	switch {
	case call != nil && tool != nil && tool.Parameters != nil && !tool.Parameters.Accepts(params):
		return nil // what its tool doesn't accept is reported where the call passes it
	case errors.As(err, &wrong):
		if wrong.Cause == expression.OfText || call == nil && wrong.Cause == expression.OfValue {
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
		Show(tool.NameNode.Span(), "%q is declared here", tool.Name)
}

// isTyped reports whether anything is known of the type of a part of a value.
func isTyped(t *expression.Type, path []any) bool {
	for i := 0; i < len(path) && t != nil; i++ {
		if key, isKey := path[i].(string); isKey {
			t = t.Fields[key]
		} else {
			t = t.Elem
		}
	}
	return t != nil && t.Kinds != 0
}
