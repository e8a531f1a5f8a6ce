package rules

import (
	"fmt"
	"maps"
	"slices"

	"github.com/obelus-dev/obelus/analyzer/flow"
	"github.com/obelus-dev/obelus/analyzer/internal/analysis"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/compiler/wording"
)

var _ = Register(Rule{Rule: diag.BadDelegate, Scope: document, Run: badDelegates})

// badDelegates reports delegates that have errors of their own, and those whose output isn't what the tool of a call
// gives. A solution's were judged with the plan that it is a solution of.
func badDelegates(p *Pass) {
	if p.Plan.Form == plan.Replan || p.Delegates == nil {
		return
	}
	for _, path := range slices.Sorted(maps.Keys(p.Plan.Delegates)) {
		judged := p.Delegates.Judge(p.Plan.Delegates[path])
		if len(judged.Errors) > 0 {
			reportUnsound(p, path, judged.Errors, "can't be run", diag.Error)
			continue
		}
		if warnings := diag.AtLeast(diag.Warning, judged.Findings); len(warnings) > 0 {
			reportUnsound(p, path, warnings, "may fail", diag.Warning)
		}
	}
	type outcome struct {
		tool     *plan.Tool
		delegate string
	}
	judged := map[outcome]bool{}
	for _, call := range p.Plan.Calls {
		handsOver(p, call)
		if key := (outcome{call.Single(), call.Delegate}); key.delegate != "" && key.tool != nil && !judged[key] {
			judged[key] = true
			delegateOutput(p, call)
		}
	}
}

// reportUnsound reports a delegate with errors or warnings of its own, where it is first named.
func reportUnsound(p *Pass, path string, found []diag.Diagnostic, what string, severity diag.Severity) {
	call, at := delegateNode(p, path)
	if len(found) > 1 {
		what += fmt.Sprintf(": it has %s, the first", wording.Count(len(found), severity.String()))
	}
	p.ReportCall(call, at.Span(), "the delegate %q %s: %s", path, what, found[0].Message).As(severity).
		Advise("run \"obelus check %s\"", wording.ShellWord(path)).
		Note(found[0].Span, "%s %s is found here", found[0].Rule.Code, found[0].Rule.Name)
}

// delegateNode is where a delegate is named, and the call that is the first to use it; nil where none does.
func delegateNode(p *Pass, path string) (*plan.Call, *source.Node) {
	for _, call := range p.Plan.Calls {
		if call.Delegate != path {
			continue
		}
		if own := call.Node.Get("_delegate"); own != nil {
			return call, own
		}
		return call, call.ToolNode
	}
	for _, name := range slices.Sorted(maps.Keys(p.Plan.Activities)) {
		if a := p.Plan.Activities[name]; a.Plan == path {
			return nil, a.PlanNode
		}
	}
	for _, tool := range p.Plan.Tools {
		if tool.DelegateNode != nil && (tool.Delegate == path || tool.Delegate == "") { // or it is chosen
			return nil, tool.DelegateNode
		}
	}
	return nil, p.Plan.Root
}

// delegateOutput holds what a delegate gives against what the tool says that it
// gives: both hold for the result of the call.
func delegateOutput(p *Pass, call *plan.Call) {
	d := p.Plan.Delegates[call.Delegate]
	face, tool := compiler.Interface(d), call.Single()
	if face == nil || tool.Output == nil || face.Output == tool.Output {
		return
	}
	j := &judgement{To: target{Call: call, Schema: tool.Output}}
	node := face.OutputNode
	switch judged := p.Delegates.Judge(d); {
	case face.Output != nil:
		j = analysis.Compare(p, call, face.Output, tool.Output)
	case judged.Sound && d.Output != nil: // samples show what may not fit
		inner := flow.New(judged.Plan, 0, p.Flow.Schemas)
		if j.Fit = inner.Accepts(nil, inner.Eval(nil, d.Output), tool.Output); j.Relation != schema.Never {
			return
		}
		node = d.Output.Node
	}
	if j.Relation != schema.MayNotFit && j.Relation != schema.Never {
		return
	}
	analysis.Mismatch(p, p.Rule, call.ToolNode.Span(), "the output of the delegate "+quote(face.Name), j,
		"the \"_output\" of "+quote(tool.Name)).
		Advise("make the two schemas agree, or remove the tool's \"_output\" to use the delegate's \"outputSchema\"").
		Note(node.Span().Head(), "the delegate's output is described here").
		Note(tool.OutputNode.Span().Head(), "the tool's output is described here")
}

// misfitScopes reports scopes with values that the "stateSchema" of a call's delegate doesn't accept.
func misfitScopes(p *Pass, call *plan.Call, accepts *schema.Schema) {
	for _, s := range call.Scopes {
		if s.Kind != "state" || len(s.Ref.Path) == 0 {
			continue
		}
		at := accepts.At(s.Ref.Path).Schema
		to := target{Call: call, Taker: &parameters{}, Schema: at, Node: p.Plan.Reads[s.Read].Node}
		j := judgement{Fit: p.Flow.Accepts(nil, p.Flow.Read(s.Read), at), To: to}
		if j.Relation != schema.Never && j.Relation != schema.MayNotFit {
			continue
		}
		into := "the \"stateSchema\" of the delegate " + quote(call.Delegate)
		analysis.Misfit(p, p.Rule, &j, into).Advise("%s", help(&j))
	}
}

// handsOver reports a delegate that doesn't receive a required part of its state.
func handsOver(p *Pass, call *plan.Call) {
	d := p.Plan.Delegates[call.Delegate]
	if d == nil || len(p.Delegates.Judge(d).Errors) > 0 {
		return
	}
	misfitScopes(p, call, d.StateSchema)
	for _, r := range analysis.MissingState(p, call) {
		if d.StateSchema.At(d.Paths.Segments(r.Path)[1:]).Required {
			p.ReportCall(call, call.ToolNode.Span(), "the delegate %q needs %q, which this call doesn't pass",
				call.Delegate, r.Ref.String()).
				Advise("pass it in \"_scopes\", use a parameter, or give the delegate its own \"state\"").
				Note(r.Span(), "it is read here").
				Note(d.StateSchemaNode.Span().Head(), "it is required here")
			return
		}
	}
}
