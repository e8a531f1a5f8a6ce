package rules

import (
	"slices"

	"github.com/obelus-dev/obelus/analyzer/internal/analysis"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
)

// handsOver reports a delegate that doesn't receive a required part of its state, or has no output without it.
func handsOver(p *Pass, call *plan.Call) {
	d, missing := p.Plan.Delegates[call.Plan()], analysis.MissingState(p, call)
	if d == nil || len(p.Delegates.Judge(d).Errors) > 0 {
		return
	}
	misfitScopes(p, call, d.StateSchema)
	if len(missing) == 0 {
		return
	}
	const help = "pass it in \"_scopes\", use a parameter, or give the delegate its own \"state\""
	for _, r := range missing {
		if s := d.StateSchema; s != nil && s.At(compiler.SchemaPath(d.Paths.Segments(r.Path)[1:])).Required {
			p.Report(call.ToolNode.Span(), "the delegate %q needs %q, which this call doesn't pass", call.Plan(), r.Ref.String()).About(call.Label()).
				Advise(help).Note(r.Span(), "it is read here").Show(d.StateSchemaNode.Span().Head(), "it is required here")
			return
		}
	}
	if !comesToNothing(d, missing) {
		return
	}
	p.Report(call.ToolNode.Span(), "the delegate %q has no output without %q, which this call doesn't pass", call.Plan(), missing[0].Ref.String()).About(call.Label()).As(diag.Warning).
		Advise(help).Note(missing[0].Span(), "it is read here")
}

// misfitScopes reports scopes with values that the "stateSchema" of a call's delegate doesn't accept.
func misfitScopes(p *Pass, call *plan.Call, accepts *schema.Schema) {
	for _, s := range call.Scopes {
		if accepts == nil || s.Kind != "state" || len(s.Ref.Path) == 0 {
			continue
		}
		at := accepts.At(compiler.SchemaPath(s.Ref.Path)).Schema
		to := target{Call: call, Taker: &parameters{}, Schema: at, Node: p.Plan.Reads[s.Read].Node}
		j := judgement{Fit: p.Flow.Accepts(nil, p.Flow.Read(s.Read), at), To: to}
		if j.Relation != schema.Never && j.Relation != schema.MayNotFit {
			continue
		}
		into := "the \"stateSchema\" of the delegate " + quote(call.Plan())
		f := analysis.Misfit(p, p.Rule, &j, into).Advise("%s", help(&j))
		if j.Relation == schema.MayNotFit {
			f.As(diag.Warning)
		}
	}
}

// comesToNothing reports whether a plan's output is never there without some of what it reads.
func comesToNothing(d *plan.Plan, missing []*plan.Read) bool {
	if d.Output == nil || !d.Output.Live() || !d.Graph.Acyclic() {
		return false
	}
	skipped := make([]bool, len(d.Calls))
	gone := func(r *plan.Read) bool {
		return slices.Contains(missing, r) || r.Ref.Required && !r.Start && len(r.Writers) > 0 && !slices.ContainsFunc(r.Writers, func(w int32) bool { return !skipped[w] })
	}
	for _, i := range d.Graph.Order() {
		call := d.Calls[i]
		for t := range call.Expressions() {
			skipped[i] = skipped[i] || !t.PerItem() && slices.ContainsFunc(t.Reads, func(read int) bool { return gone(&d.Reads[read]) })
		}
	}
	var empty func(t *plan.Template) bool
	empty = func(t *plan.Template) bool {
		switch {
		case !t.Live():
			return t.Value == nil
		case t.Expr != nil:
			return slices.ContainsFunc(t.Reads, func(read int) bool { return gone(&d.Reads[read]) })
		}
		return !slices.ContainsFunc(t.Items, func(item *plan.Template) bool { return !empty(item) }) &&
			!slices.ContainsFunc(t.Fields, func(f plan.TemplateField) bool { return !empty(f.Value) })
	}
	return empty(d.Output)
}
