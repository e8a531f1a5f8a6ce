package analyzer

import (
	"fmt"

	"github.com/obelus-dev/obelus/analyzer/internal/analysis"
	"github.com/obelus-dev/obelus/analyzer/rules"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
)

// A delegate is checked by itself. If its schemas leave parameters or results open, it is sampled with
// the values of its calls as well, and faults are reported at the call.

// maxInside bounds how deep trials follow delegates.
const maxInside = 4

// inside is what tries the delegate of a call; nil where that shows nothing, or it isn't sound by itself.
func (t *sampler) inside(call *plan.Call) *sampler {
	p := t.pass
	if !rules.Opens(p, call) || p.Delegates == nil || t.depth > maxInside || len(analysis.MissingState(p, call)) > 0 ||
		call.ScopesNode != nil && rules.IsReported(p, call.ScopesNode) {
		return nil
	}
	judged := p.Delegates.Judge(p.Plan.Delegates[call.Delegate])
	if !judged.Sound || len(diag.AtLeast(diag.Warning, judged.Findings)) > 0 {
		return nil
	}
	sub := newSampler(p.Inner(judged.Plan), t)
	sub.prepare(true)
	t.delegates[sub.plan] = sub
	return sub
}

// within is what tries the delegate of a call, or nil.
func (t *sampler) within(call *plan.Call) *sampler { return t.delegates[t.plan.Delegates[call.Name]] }

// delegateFailed reports what went wrong in the delegate of a call, or with its output.
func (w *trial) delegateFailed(t *sampler, call *plan.Call, sub *sampler) {
	p := sub.pass
	w.reportFaults(nil, p.Plan.Output.Expressions())
	if len(p.Found) > sub.handled {
		found := &p.Found[sub.handled]
		sub.handled = len(p.Found)
		if f := t.ofDelegate(call, "the delegate %q may go wrong with what this call hands over: %s", call.Delegate,
			found.Message); f != nil {
			f.Witness = found.Witness
			f.Note(found.Span, "%s %s is found here", found.Rule.Code, found.Rule.Name).
				Advise("hand over what it can take, or let its \"inputSchema\" and \"stateSchema\" say what it needs")
		}
		return
	}
	says, what, at := p.Plan.OutputSchema, "its \"outputSchema\"", p.Plan.Root.Get("outputSchema")
	if tool := call.Single(); says == nil && tool != nil {
		says, what, at = tool.Output, fmt.Sprintf("the \"_output\" of %q", tool.Name), tool.OutputNode
	}
	if says == nil || w.refusing != says {
		return
	}
	if f := t.ofDelegate(call, "the output of the delegate %q may not fit %s: for instance %s: %v", call.Delegate, what,
		analysis.Brief(w.refused), says.Validate(w.refused)); f != nil {
		f.Witness = w.refused
		f.Advise(
			"hand over what the delegate can do with, let its output be there whatever comes (\"… || null\"), " +
				"or widen what is said of it")
		f.Note(at.Span().Head(), "what it is said to give is here")
	}
}

// ofDelegate reports what goes wrong in a delegate with what a call hands over, once.
func (t *sampler) ofDelegate(call *plan.Call, format string, args ...any) *diag.Diagnostic {
	if !t.first(call, "delegate", call.ToolNode) {
		return nil
	}
	return t.report(diag.BadDelegate, call, call.ToolNode.Span(), format, args...)
}
