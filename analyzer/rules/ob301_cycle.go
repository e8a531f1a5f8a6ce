package rules

import (
	"fmt"
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

// An edge is why one call waits for another: what each of the two does, and where.
type edge struct {
	at, other    source.Span
	waits, gives string
}

func reportCycle(p *Pass, calls []int32) {
	var edges []edge
	var chain []string
	for i, c := range calls[:min(len(calls), analysis.MaxShown)] {
		from, to := p.Plan.Calls[c], p.Plan.Calls[calls[(i+1)%len(calls)]]
		edges, chain = append(edges, edgeBetween(p, from, to)), append(chain, quote(from.Name))
	}
	if len(calls) > len(edges) {
		chain = append(chain, "…")
	}
	// The list begins with the call that stands first in the plan, so its edge is
	// the one that reaches forward in the text and closes the cycle.
	f := p.ReportCall(p.Plan.Calls[calls[0]], edges[0].at, "%d calls wait for each other: %s → %s", len(calls),
		strings.Join(chain, " → "), chain[0]).
		Advise("remove one of these references, or read a path that none of the calls writes")
	for _, e := range edges {
		f.Note(e.at, "%s", e.waits).Note(e.other, "%s", e.gives)
	}
}

// edgeBetween finds what makes one call wait for another.
func edgeBetween(p *Pass, from, to *plan.Call) edge {
	because := func(at source.Span, waits string, path plan.Path) edge {
		return edge{at, path.Span(),
			fmt.Sprintf("%q %s %q of %q", from.Name, waits, p.Path(path.ID), to.Name),
			fmt.Sprintf("%q writes %q here", to.Name, p.Path(path.ID))}
	}
	for _, i := range from.Reads {
		r := &p.Plan.Reads[i]
		path, writes := flow.OutputOver(p.Plan, to, r.Path)
		if _, bound := slices.BinarySearch(r.Writers, int32(to.Index)); bound && writes {
			return because(r.Span(), "waits here for", path)
		}
	}
	if after := from.ComesAfter(to.Index); after != nil {
		return edge{after.Node.Span(), to.ToolNode.Span(),
			fmt.Sprintf("%q names %q in its \"_after\"", from.Name, to.Name), "which is this call"}
	}
	for _, path := range from.Paths() { // a choice under once
		if other, ok := flow.OutputOver(p.Plan, to, path.ID); ok {
			return because(path.Span(), "may only write after", other)
		}
	}
	return edge{at: from.ToolNode.Span(), other: to.ToolNode.Span()}
}
