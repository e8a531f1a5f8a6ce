package rules

import (
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/analyzer/flow"
	"github.com/obelus-dev/obelus/analyzer/internal/analysis"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
)

var _ = Register(Rule{Rule: diag.Cycle, Run: cycles})

// cycles reports calls that wait for each other, one cycle a group, and calls that wait for themselves.
func cycles(p *Pass) {
	for _, i := range p.Plan.Graph.SelfCycles() {
		selfCycle(p, p.Plan.Calls[i])
	}
	for _, call := range p.Plan.Calls {
		if itself := call.ComesAfter(call.Index); itself != nil {
			p.ReportCall(call, itself.Node.Span(), "%q waits for itself: its \"_after\" names it", call.Name).
				Advise("name another call there, or none")
		}
	}
	for _, cycle := range p.Plan.Graph.Cycles() {
		reportCycle(p, cycle)
	}
}

func selfCycle(p *Pass, call *plan.Call) {
	for _, i := range call.Reads {
		r := &p.Plan.Reads[i]
		if !r.Ref.Required || r.Start || len(r.Writers) > 0 {
			continue
		}
		own, yes := flow.OutputOver(p.Plan, call, r.Path)
		if !yes {
			continue
		}
		p.ReportCall(call, r.Span(), "%q waits for itself: it reads %q, which only it writes", call.Name,
			r.Ref.String()).
			Note(own.Span(), "its own result goes to %q", p.Path(own.ID)).
			Advise("read the result of another call, or give the path an initial value under \"state\"")
	}
}

func reportCycle(p *Pass, calls []int32) {
	var chain []string
	shown := calls[:min(len(calls), analysis.MaxShown)]
	for _, c := range shown {
		chain = append(chain, quote(p.Plan.Calls[c].Name))
	}
	if len(calls) > len(shown) {
		chain = append(chain, "…")
	}
	// The list begins with the call that stands first in the plan, so its edge is
	// the one that reaches forward in the text and closes the cycle.
	next := func(i int) *plan.Call { return p.Plan.Calls[calls[(i+1)%len(calls)]] }
	at, _ := waitsAt(p, p.Plan.Calls[calls[0]], next(0))
	f := p.ReportCall(p.Plan.Calls[calls[0]], at, "%d calls wait for each other: %s → %s", len(calls),
		strings.Join(chain, " → "), chain[0]).
		Advise("remove one of these references, or read a path that none of the calls writes")
	for i, c := range shown {
		from := p.Plan.Calls[c]
		at, what := waitsAt(p, from, next(i))
		f.Note(at, "%q waits here for %s of %q", from.Name, what, next(i).Name)
	}
}

// waitsAt is where and for what one call waits for another.
func waitsAt(p *Pass, from, to *plan.Call) (source.Span, string) {
	for _, i := range from.Reads {
		r := &p.Plan.Reads[i]
		if path, writes := flow.OutputOver(p.Plan, to, r.Path); writes && slices.Contains(r.Writers, int32(to.Index)) {
			return r.Span(), quote(p.Path(path.ID))
		}
	}
	if after := from.ComesAfter(to.Index); after != nil {
		return after.Node.Span(), "the end"
	}
	for _, path := range from.Paths() { // a choice under once
		if other, ok := flow.OutputOver(p.Plan, to, path.ID); ok {
			return path.Span(), quote(p.Path(other.ID))
		}
	}
	return from.ToolNode.Span(), "the end"
}
