package rules

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/obelus-dev/obelus/analyzer/internal/analysis"
	"github.com/obelus-dev/obelus/analyzer/internal/samples"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/effects"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
)

var _ = Register(Rule{Rule: samples.ExpressionType, Run: expressionTypes})

// expressionTypes holds every expression against what is known of the types of
// its references, and every _when against being a boolean.
func expressionTypes(p *Pass) {
	activityCode(p)
	analysis.Calculations(p, func(call *plan.Call, t *plan.Template) {
		when := call != nil && t == call.When
		if !when && NeverFails(t.Expr) {
			return
		}
		of := p.Flow.Check(t)
		if err := of.Err; err != nil {
			f := p.ReportCall(call, t.Node.Within(err.Start, err.End), "%s", err.Message)
			if f.Help = err.Help; f.Help == "" {
				f.Advise(
					"the types come from the values and schemas of the input and the state, and from the tools' " +
						"\"_output\"")
			}
			return
		}
		if result := of.Type; when && result != nil && result.Kinds != 0 && result.Kinds&expression.Bool == 0 {
			p.ReportCall(call, t.Node.Span(), "\"_when\" must be true or false; this is %s", result.Kinds).
				Advise("compare it with something: †state.total > 100; or remove it: a call runs only if what its " +
					"parameters read has a value")
		}
	})
}

// activityCode holds the expressions of activities against the parameters of the tools that they carry out.
func activityCode(p *Pass) {
	reported := map[string]bool{}
	for _, tool := range p.Plan.Tools {
		activity := p.Plan.Activities[tool.Activity]
		known := analysis.ParametersOf(p, tool)
		if activity == nil || activity.Expression == nil || known == nil || reported[tool.Activity] {
			continue
		}
		of := activity.Expression.CheckCode(func(name string) *expression.Type {
			if known.Unknown(name) { // nobody passes it, and it is null
				return &expression.Type{Kinds: expression.Null}
			}
			if at := known.Place(name); at.Possible {
				return p.Flow.TypeOf(at.Schema, false)
			}
			return nil
		})
		err := of.Err
		if f := strayName(p, tool.Activity, known, activity); f != nil {
			if reported[tool.Activity] = true; err != nil { // it always goes wrong
				f.As(diag.Error)
			}
			continue
		}
		if err == nil {
			reported[tool.Activity] = codeResult(p, tool, activity, known, of.Type)
			continue
		}
		reported[tool.Activity] = true
		f := samples.CodeFault(p, tool, activity.Node.Get("expr").Within(err.Start, err.End), err.Message)
		if f.Help = err.Help; f.Help == "" {
			f.Advise("the types come from the parameters of %q, which the activity carries out", tool.Name)
		}
	}
}

// codeResult reports code whose result is never one of its tool. Sample runs find the calls with which it is none, or
// with which the code fails, if types leave that open.
func codeResult(p *Pass, tool *plan.Tool, activity *plan.Activity, known *parameters,
	result *expression.Type) (reported bool) {
	if !slices.ContainsFunc(p.Plan.Calls,
		func(call *plan.Call) bool { return call.Single() == tool && call.FailureRoute() < 0 }) {
		return false
	}
	open := activity.Expression.CheckCode(func(name string) *expression.Type {
		at := known.Place(name)
		if !at.Possible || !at.Required { // a call may leave it out
			return nil
		}
		return p.Flow.TypeOf(at.Schema, true)
	}).MayFail
	if tool.Output != nil {
		gives := p.Flow.Likeness(result)
		if gives == nil || result.Fields["_outputPath"] != nil { // code may name the alternative that it takes
			open = true
		} else if j := analysis.Compare(p, nil, gives, tool.Output); j.Relation == schema.Never {
			message := fmt.Sprintf("what this returns isn't a result of %q: %s", tool.Name, j.Because())
			samples.CodeFault(p, tool, activity.Node.Get("expr").Span(), message).
				Advise("correct the expression or the tool's \"_output\"")
			return true
		} else {
			open = open || j.Relation != schema.Fits
		}
	}
	samples.BudgetOf(p).OpenCode[tool] = open
	return false
}

// strayName reports the first name in an activity's code that is none of a parameter, of
// whatever tool that it carries out: it is always null.
func strayName(p *Pass, name string, known *analysis.Parameters, activity *plan.Activity) *diag.Diagnostic {
	var node *expression.Node
	for n := range activity.Expression.Root().All() {
		if n.Op == expression.OpVar && known.Unknown(n.Name) &&
			!slices.ContainsFunc(p.Plan.Tools, func(t *plan.Tool) bool {
				k := analysis.ParametersOf(p, t)
				return effects.MayRun(t, name) && (k == nil || !k.Unknown(n.Name))
			}) {
			node = n
			break
		}
	}
	if node == nil {
		return nil
	}
	first := node.Name
	message := fmt.Sprintf("%q isn't a parameter of the tool %q, so it is always null", first, known.Tool.Name)
	at := activity.Node.Get("expr").Within(node.Start, node.End)
	f := samples.CodeFault(p, known.Tool, at, message).As(diag.Warning)
	f.Advise("the parameters are %s; write a text in quotes", cmp.Or(known.Names.List(), "not declared"))
	if near, ok := known.Names.Nearest(first); ok {
		f.Advise("did you mean %q?", near)
	}
	return f
}
