package rules

import (
	"slices"

	"github.com/obelus-dev/obelus/analyzer/flow"
	"github.com/obelus-dev/obelus/compiler/dag"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
)

var _ = Register(Rule{Needs: diag.Order, Run: lateWriters}.As("OB211", "late-writer", diag.Warning))

// maxLateWork bounds the writers that are looked at and the dependencies that are followed.
const maxLateWork = 10_000_000

// lateWriters reports reads that are bound to calls listed before the reader while a call listed after it, which
// doesn't wait for the reader and may run when it does, writes more of the same path.
func lateWriters(p *Pass) {
	compiled := p.Plan
	if compiled.Writes == plan.Once {
		return
	}
	var trace dag.Trace // of what the last late writer waits for
	traced, budget := int32(-1), maxLateWork
	for i := range compiled.Reads {
		r := &compiled.Reads[i]
		if r.Bound != plan.Earlier || r.Call < 0 || r.Path == pathtree.Root {
			continue
		}
		writers := compiled.Writers(r.Path)
		from, _ := slices.BinarySearchFunc(writers, int32(r.Call)+1,
			func(w plan.Writer, call int32) int { return int(w.Call - call) })
		for _, w := range writers[from:] {
			budget--
			if _, direct := slices.BinarySearch(compiled.Graph.Deps(int(w.Call)), int32(r.Call)); direct || w.Failure {
				continue
			}
			if traced != w.Call {
				traced, budget = w.Call, budget-compiled.Graph.Edges()
				trace.Follow(&compiled.Graph, w.Call)
			}
			if budget < 0 {
				return
			}
			if trace.Met(int32(r.Call)) {
				continue
			}
			late := compiled.Calls[w.Call]
			if neverBoth(p, late, p.Flow.Caller(r)) {
				continue
			}
			path, _ := flow.OutputOver(p.Plan, late, w.Path)
			p.ReportCall(p.Flow.Caller(r), r.Span(),
				"this reads %q as the earlier calls wrote it; %q, listed later, writes it as well",
				r.Ref.String(), late.Name).
				Note(path.Span(), "%q writes %q here", late.Name, p.Path(path.ID)).
				Advise("list the reader after %q, or let %q wait for the reader with \"_after\"", late.Name, late.Name)
			break
		}
	}
}

// neverBoth reports whether of two calls at most one runs.
func neverBoth(p *Pass, a, b *plan.Call) bool {
	if !p.Flow.HasBranches() {
		return false
	}
	e := p.Flow.Conditions()
	return e.Solve(e.And(e.Runs(a), e.Runs(b)), false).Impossible
}
