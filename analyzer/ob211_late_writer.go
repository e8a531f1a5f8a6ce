package analyzer

import (
	"slices"

	"github.com/obelus-dev/obelus/analyzer/flow"
	"github.com/obelus-dev/obelus/compiler/dag"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
)

var _ = register(Rule{
	Rule:  &diag.Rule{Code: "OB211", Name: "late-writer", Default: diag.Warning},
	Needs: diag.Order,
	Run:   lateWriters,
})

// lateWriters reports reads that are bound to calls listed before the reader while a call listed after it, which
// doesn't wait for the reader and may run when it does, writes more of the same path.
func lateWriters(p *Pass) {
	compiled := p.Plan
	if compiled.Writes == plan.Once {
		return
	}
	search := search{graph: &compiled.Graph, budget: 5_000_000}
	for i := range compiled.Reads {
		r := &compiled.Reads[i]
		if r.Bound != plan.Earlier || r.Call < 0 || r.Path == pathtree.Root {
			continue
		}
		writers := compiled.Writers(r.Path)
		from, _ := slices.BinarySearchFunc(writers, int32(r.Call)+1, func(w plan.Writer, call int32) int { return int(w.Call - call) })
		for _, w := range writers[from:] {
			if search.budget--; search.budget < 0 {
				return
			}
			if w.Failure || search.waitsFor(w.Call, int32(r.Call)) {
				continue
			}
			late := compiled.Calls[w.Call]
			if p.neverBoth(late, p.flow.Caller(r)) {
				continue
			}
			path, _ := flow.OutputOver(p.Plan, late, w.Path)
			p.Report(r.Span(), "this reads %q as the earlier calls wrote it; %q, listed later, writes it as well", r.Ref.String(), late.Name).About(p.flow.Caller(r).Label()).
				Note(path.Span(), "%q writes %q here", late.Name, p.path(path.ID)).
				Advise("list the reader after %q, or let %q wait for the reader with \"_after\"", late.Name, late.Name)
			break
		}
	}
}

// neverBoth reports whether of two calls at most one runs.
func (p *Pass) neverBoth(a, b *plan.Call) bool {
	if !p.flow.HasBranches() {
		return false
	}
	e := p.flow.Conditions()
	return e.SolveOne(e.And(e.Runs(a), e.Runs(b)), false).Impossible
}

// A search asks whether one call waits for another, within a budget of steps.
type search struct {
	graph  *dag.Graph
	budget int
	stamp  int32
	seen   []int32
	queue  []int32
}

// waitsFor reports whether a call depends, directly or not, on another. It says
// yes when the budget doesn't last.
func (s *search) waitsFor(call, other int32) bool {
	if _, direct := slices.BinarySearch(s.graph.Deps(int(call)), other); direct {
		return true
	}
	if s.seen == nil {
		s.seen = make([]int32, s.graph.Len())
	}
	s.stamp++
	// A call that comes before the other in the graph's order can't wait for it.
	rank := s.graph.Rank(int(other))
	s.queue = append(s.queue[:0], call)
	for len(s.queue) > 0 {
		at := s.queue[len(s.queue)-1]
		s.queue = s.queue[:len(s.queue)-1]
		for _, d := range s.graph.Deps(int(at)) {
			if d == other {
				return true
			}
			if s.budget--; s.budget < 0 {
				return true
			}
			if s.seen[d] != s.stamp && s.graph.Rank(int(d)) > rank {
				s.seen[d] = s.stamp
				s.queue = append(s.queue, d)
			}
		}
	}
	return false
}
