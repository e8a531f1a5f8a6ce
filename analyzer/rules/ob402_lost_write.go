package rules

import (
	"slices"

	"github.com/obelus-dev/obelus/analyzer/flow"
	"github.com/obelus-dev/obelus/analyzer/internal/analysis"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
)

var _ = Register(Rule{Scope: idle, Needs: diag.Reads | diag.Order, Run: lostWrites}.
	As("OB402", "lost-write", diag.Warning))

// lostWrites reports values that are replaced before anything can read them: a later call, which waits for the earlier
// one, sets the same path or one above it, and every read that sees the earlier value sees the later one too.
func lostWrites(p *Pass) {
	bound := analysis.Bound(p)
	if p.Plan.Writes == plan.Once || bound == nil {
		return
	}
	lost := map[int32]bool{}
	for _, later := range p.Plan.Calls {
		if len(later.Waits) == 0 || !flow.Sets(later) {
			continue
		}
		for _, i := range later.Waits[max(0, len(later.Waits)-nearWrites):] {
			earlier := p.Plan.Calls[i]
			if lost[i] || i > int32(later.Index) || !flow.Sets(earlier) ||
				slices.ContainsFunc(earlier.Output[0],
					func(path plan.Path) bool { return over(p.Plan, later, path).Node == nil }) ||
				readBetween(p, bound[i], earlier, later) || !p.Flow.AlwaysWith(later, earlier) {
				continue
			}
			lost[i] = true
			path := earlier.Output[0][0]
			by := over(p.Plan, later, path)
			p.ReportCall(earlier, path.Span(),
				"the value that %q writes to %q is replaced by %q before anything reads it", earlier.Name,
				p.Path(path.ID), later.Name).
				Note(by.Span(), "%q writes %q here, after %q", later.Name, p.Path(by.ID), earlier.Name).
				Advise("read the value in between, write one of the two to another path, or remove the first write")
		}
	}
}

// nearWrites is how many of the writes that come before one are looked at, the
// nearest in the list: a value that survives those was meant to.
const nearWrites = 8

// over is the path of a call's output that is, or stands above, another path; its Node is nil when there is none.
func over(p *plan.Plan, c *plan.Call, lost plan.Path) plan.Path {
	for _, path := range c.Output[0] {
		if p.Paths.IsAbove(path.ID, lost.ID) {
			return path
		}
	}
	return plan.Path{}
}

// readBetween reports whether a read sees what one call wrote but not what a later one did.
func readBetween(p *Pass, reads []int32, earlier, later *plan.Call) bool {
	return slices.ContainsFunc(reads, func(i int32) bool {
		r := &p.Plan.Reads[i]
		_, sees := slices.BinarySearch(r.Writers, int32(later.Index))
		return !sees && earlier.Output[0].Overlaps(p.Plan.Paths, r.Path)
	})
}
