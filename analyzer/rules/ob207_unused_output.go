package rules

import (
	"slices"

	"github.com/obelus-dev/obelus/analyzer/internal/analysis"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
)

var _ = Register(Rule{Scope: idle, Needs: diag.Reads, Run: unusedOutputs}.As("OB207", "unused-output", diag.Info))

// unusedOutputs reports results that nothing reads, where the plan has an output and the state itself is therefore not
// the result. An alternative that nothing reads is another matter.
func unusedOutputs(p *Pass) {
	if p.Plan.Output == nil || analysis.IsAstray(p) {
		return
	}
	bound := analysis.Bound(p)
	if bound == nil {
		return
	}
	for _, call := range p.Plan.Calls {
		read := func(route plan.Route) bool { return isRead(p, bound[call.Index], route) }
		if len(call.Output) > 1 && slices.ContainsFunc(call.Output, read) {
			continue
		}
		for i, route := range call.Output {
			if i > 0 && i == call.FailureRoute() {
				continue
			}
			for _, path := range route {
				if !read(plan.Route{path}) {
					p.ReportCall(call, path.Span(), "nothing reads %q, and it isn't part of the plan's output",
						p.Path(path.ID)).
						Advise(
							"read it, add it to \"output\", or remove \"_outputPath\" if the call is made for " +
								"its effect")
				}
			}
		}
	}
}

// isRead reports whether one of some reads looks at a path of a route, or at something above or below it.
func isRead(p *Pass, reads []int32, route plan.Route) bool {
	return slices.ContainsFunc(reads, func(r int32) bool { return route.Overlaps(p.Plan.Paths, p.Plan.Reads[r].Path) })
}
