package analyzer

import (
	"fmt"

	"github.com/obelus-dev/obelus/analyzer/flow"
	"github.com/obelus-dev/obelus/analyzer/internal/analysis"
	"github.com/obelus-dev/obelus/analyzer/internal/samples"
	"github.com/obelus-dev/obelus/analyzer/rules"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/runtime/state"
)

// A delegate is checked by itself. If its schemas leave parameters or results open, it is sampled with
// the values of its calls as well, and faults are reported at the call.

// maxInside bounds how deep trials follow delegates.
const maxInside = 4

// inside is what tries the delegate of a call; nil where that shows nothing, or it isn't sound by itself.
func (t *sampler) inside(call *plan.Call) *sampler {
	p := t.pass
	if !rules.Opens(p, call) || p.Delegates == nil || t.depth >= maxInside || len(analysis.MissingState(p, call)) > 0 ||
		call.ScopesNode != nil && rules.IsReported(p, call.ScopesNode) {
		return nil
	}
	return flow.Once(t.within, call, func() *sampler {
		judged := p.Delegates.Judge(p.Plan.Delegates[call.Delegate])
		if !judged.Sound || len(diag.AtLeast(diag.Warning, judged.Findings)) > 0 {
			return nil
		}
		pass := p.Inner(judged.Plan)
		sub := newSampler(pass, t.budget)
		sub.depth = t.depth + 1
		for i := range pass.Plan.Calls {
			sub.asked[int32(i)] = true
		}
		sub.gather(true)
		return sub
	})
}

// delegated goes through the delegate of a call. It is false where something went wrong in it.
func (w *trial) delegated(call *plan.Call, sub *sampler, params map[string]any) (value any, well bool) {
	all := samples.Described
	given := state.ScopeValues(call, func(index int) (any, expression.Presence) {
		value, there := w.read(&w.pass.Plan.Reads[index])
		if !there {
			return nil, expression.Absent
		}
		cleared, how := samples.Clear(value)
		all = max(all, how)
		return cleared, expression.There
	})
	if all != samples.Described {
		return samples.Hole(), true
	}
	p := sub.pass
	inner := sub.newTrial(w.n, w.random)
	inner.fromCall = true
	before := len(p.Found)
	inner.goThrough(state.Delegated(p.Plan, given, params))
	if p.Plan.Output != nil {
		value, _ = inner.resolve(nil, p.Plan.Output)
	}
	if len(p.Found) > before {
		found := &p.Found[before]
		if f := w.ofDelegate(call, "the delegate %q may go wrong with what this call hands over: %s", call.Delegate,
			found.Message); f != nil {
			f.Witness = found.Witness
			f.Note(found.Span, "%s %s is found here", found.Rule.Code, found.Rule.Name).
				Advise("hand over what it can take, or let its \"inputSchema\" and \"stateSchema\" say what it needs")
		}
		return nil, false
	}
	says, what, at := p.Plan.OutputSchema, "its \"outputSchema\"", p.Plan.Root.Get("outputSchema")
	if tool := call.Single(); says == nil && tool != nil {
		says, what, at = tool.Output, fmt.Sprintf("the \"_output\" of %q", tool.Name), tool.OutputNode
	}
	cleared, _ := samples.Clear(value)
	if says == nil {
		return value, true
	}
	wrong := says.Validate(cleared)
	if wrong == nil || !samples.IsCertain(value, wrong) {
		return value, true
	}
	if f := w.ofDelegate(call, "the output of the delegate %q may not fit %s: for instance %s: %v", call.Delegate, what,
		analysis.Brief(cleared), wrong); f != nil {
		f.Witness = cleared
		f.Advise(
			"hand over what the delegate can do with, let its output be there whatever comes (\"… || null\"), " +
				"or widen what is said of it")
		f.Show(at.Span().Head(), "what it is said to give is here")
	}
	return nil, false
}

// ofDelegate reports what goes wrong in a delegate with what a call hands over, once.
func (w *trial) ofDelegate(call *plan.Call, format string, args ...any) *diag.Diagnostic {
	if !w.first(call, "delegate", call.ToolNode) {
		return nil
	}
	return w.report(diag.BadDelegate, call, call.ToolNode.Span(), format, args...)
}
