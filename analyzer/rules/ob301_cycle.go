package rules

import (
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/analyzer/flow"
	"github.com/obelus-dev/obelus/analyzer/internal/analysis"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/compiler/wording"
)

var _ = Register(Rule{Rule: diag.Cycle, Run: cycles})

// An edge is why one call depends on another, and where the text says so.
type edge struct {
	from, to *plan.Call  // from waits for to
	why      string      // the path; "" when from names to in its "_after"
	choice   bool        // both may write the path, and only one does
	at       source.Span // in from
	other    source.Span // in to
}

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
	cycles, together := p.Plan.Graph.Cycles(), map[int]int{}
	if len(cycles) == 0 {
		return
	}
	for i := range p.Plan.Calls {
		together[p.Plan.Graph.Component(i)]++
	}
	for _, cycle := range cycles {
		reportCycle(p, cycle, together[p.Plan.Graph.Component(int(cycle[0]))])
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

// reportCycle reports a cycle, and how many calls wait for each other together with its own.
func reportCycle(p *Pass, calls []int32, together int) {
	edges := make([]edge, len(calls))
	for i, c := range calls {
		edges[i] = edgeBetween(p, p.Plan.Calls[c], p.Plan.Calls[calls[(i+1)%len(calls)]])
	}
	// The list begins with the call that stands first in the plan, so its edge is
	// the one that reaches forward in the text and closes the cycle.
	closing := edges[0]
	var chain []string
	for _, e := range edges[:min(len(edges), analysis.MaxShown)] {
		chain = append(chain, quote(e.from.Name))
	}
	if len(edges) > analysis.MaxShown {
		chain = append(chain, "…")
	}
	chain = append(chain, quote(closing.from.Name))
	f := p.ReportCall(closing.from, closing.at, "%d calls wait for each other: %s", len(calls),
		strings.Join(chain, " → "))
	if more := together - len(calls); more > 0 {
		f.Message += "; " + wording.Counted(more, "more call is", "more calls are") + " in a circle with them"
	}
	for _, e := range edges[:min(len(edges), analysis.MaxShown)] {
		if e.why == "" {
			f.Note(e.at, "%q names %q in its \"_after\"", e.from.Name, e.to.Name).Note(e.other, "which is this call")
			continue
		}
		what := "waits here for"
		if e.choice {
			what = "may only write after"
		}
		f.Note(e.at, "%q %s %q of %q", e.from.Name, what, e.why, e.to.Name).
			Note(e.other, "%q writes %q here", e.to.Name, e.why)
	}
	f.Advise("remove one of these references, or read a path that none of the calls writes")
}

// edgeBetween finds what makes one call wait for another.
func edgeBetween(p *Pass, from, to *plan.Call) edge {
	e := edge{from: from, to: to, at: from.ToolNode.Span(), other: to.ToolNode.Span()}
	for _, i := range from.Reads {
		r := &p.Plan.Reads[i]
		if _, bound := slices.BinarySearch(r.Writers, int32(to.Index)); !bound {
			continue
		}
		if path, ok := flow.OutputOver(p.Plan, to, r.Path); ok {
			e.why, e.at, e.other = p.Path(path.ID), r.Span(), path.Span()
			return e
		}
	}
	if after := from.ComesAfter(to.Index); after != nil {
		e.at = after.Node.Span()
		if n := to.Node.Get("_id"); n != nil {
			e.other = n.Span()
		}
		return e
	}
	for _, route := range from.Output { // a choice under once
		for _, path := range route {
			if other, ok := flow.OutputOver(p.Plan, to, path.ID); ok {
				e.why, e.choice, e.at, e.other = p.Path(other.ID), true, path.Span(), other.Span()
				return e
			}
		}
	}
	return e
}
