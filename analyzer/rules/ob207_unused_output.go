package rules

import (
	"slices"

	"github.com/obelus-dev/obelus/analyzer/internal/analysis"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
)

var _ = Register(Rule{
	Rule:  &diag.Rule{Code: "OB207", Name: "unused-output", Default: diag.Info},
	Scope: idle,
	Needs: diag.Reads,
	Run:   unusedOutputs,
})

// unusedOutputs reports results that nothing reads, where the plan has an output and the state itself is therefore not
// the result. An alternative that nothing reads is another matter.
func unusedOutputs(p *Pass) {
	if p.Plan.Output == nil {
		return
	}
	seen := seen(p)
	for _, call := range p.Plan.Calls {
		if slices.ContainsFunc(call.Output, func(route plan.Route) bool {
			return len(call.Output) > 1 && slices.ContainsFunc(route, func(path plan.Path) bool { return seen[call.Index] && isRead(p, path.ID) })
		}) {
			continue
		}
		for i, route := range call.Output {
			if i > 0 && i == call.FailureRoute() {
				continue
			}
			for _, path := range route {
				if (!seen[call.Index] || !isRead(p, path.ID)) && !p.Suggested.Paths[path.ID] {
					p.Report(path.Span(), "nothing reads %q, and it isn't part of the plan's output", p.Path(path.ID)).About(call.Label()).
						Advise("read it, add it to \"output\", or remove \"_outputPath\" if the call is made for its effect")
				}
			}
		}
	}
}

// seen tells by call whether some read is bound to it.
func seen(p *Pass) []bool {
	seen := make([]bool, len(p.Plan.Calls))
	for i := range p.Plan.Reads {
		for _, w := range p.Plan.Reads[i].Writers {
			seen[w] = true
		}
	}
	return seen
}

// isRead reports whether anything reads a path, something above it or below it.
func isRead(p *Pass, id pathtree.ID) bool {
	found := false
	analysis.Reading(p).Overlapping(id, func([]int32) bool { found = true; return false })
	return found
}
