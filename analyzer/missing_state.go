package analyzer

import (
	"slices"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
)

// A delegate has a state of its own: what its plan gives it, what its calls write, and what
// the scopes of the call hand over, and nothing else is there.

// neededState returns the reads of a plan's state that only its caller can provide and that calls require.
func neededState(d *plan.Plan) (needed []*plan.Read) {
	scopes := map[int]bool{} // missing values are left out
	for _, call := range d.Calls {
		for _, s := range call.Scopes {
			scopes[s.Read] = true
		}
	}
	for i := range d.Reads {
		r := &d.Reads[i]
		if scopes[i] || len(r.Writers) > 0 || !r.Ref.Required || r.Path == pathtree.Root || d.Paths.Depth(r.Path) < 2 || d.Paths.Kind(r.Path) != "state" {
			continue
		}
		if _, own := d.Paths.Walk(d.State, r.Path); !own {
			needed = append(needed, r)
		}
	}
	return needed
}

// missingState are the needed reads that a call doesn't provide.
func missingState(p *Pass, call *plan.Call) (missing []*plan.Read) {
	d := p.Plan.Delegates[call.Plan()]
	if d == nil || p.delegates == nil {
		return nil
	}
	for _, r := range once(p.delegates.store, d, func() []*plan.Read { return neededState(d) }) {
		path := d.Paths.Segments(r.Path)
		if !slices.ContainsFunc(call.Scopes, func(s plan.Scope) bool {
			n := min(len(s.Ref.Path), len(path)-1)
			return s.Kind == "state" && slices.Equal(s.Ref.Path[:n], path[1:1+n])
		}) {
			missing = append(missing, r)
		}
	}
	return missing
}

// handsOver reports a delegate that doesn't receive a required part of its state, or has no output without it.
func handsOver(p *Pass, call *plan.Call) {
	d, missing := p.Plan.Delegates[call.Plan()], missingState(p, call)
	if d == nil || len(p.delegates.judge(d).errors) > 0 {
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
				Advise(help).Note(r.Span(), "it is read here").Show(headOf(d.StateSchemaNode.Span()), "it is required here")
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
		to := target{call: call, taker: &parameters{}, schema: at, node: p.Plan.Reads[s.Read].Node}
		j := judgement{p.flow.Accepts(nil, p.flow.Read(s.Read), at), to}
		if j.Relation != schema.Never && j.Relation != schema.MayNotFit {
			continue
		}
		f := misfit(p, p.rule, &j, "the \"stateSchema\" of the delegate "+quote(call.Plan())).Advise("%s", help(&j))
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
