package analyzer

import (
	"slices"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/source"
)

// unusedOutputs reports results that nothing reads, where the plan has an output
// and the state itself is therefore not the result. An alternative that nothing
// reads is another matter.
func unusedOutputs(p *Pass) {
	if p.Plan.Output == nil || p.gaps.reads {
		return
	}
	seen := p.seen()
	for _, call := range p.Plan.Calls {
		if slices.ContainsFunc(call.Output, func(route compiler.Route) bool {
			return len(call.Output) > 1 && slices.ContainsFunc(route, func(path compiler.Path) bool { return seen[call.Index] && p.isRead(path.ID) })
		}) {
			continue
		}
		for i, route := range call.Output {
			if i > 0 && i == call.FailureRoute() {
				continue
			}
			for _, path := range route {
				if (!seen[call.Index] || !p.isRead(path.ID)) && !p.meantPaths[path.ID] {
					p.report(path.Span(), "nothing reads %q, and the plan's output doesn't hold it", p.path(path.ID)).of(call).
						help("read it, add it to \"output\", or leave \"_outputPath\" out if the call is made for its effect")
				}
			}
		}
	}
}

// seen tells by call whether some read is bound to it.
func (p *Pass) seen() []bool {
	seen := make([]bool, len(p.Plan.Calls))
	for i := range p.Plan.Reads {
		for _, w := range p.Plan.Reads[i].Writers {
			seen[w] = true
		}
	}
	return seen
}

// isRead tells whether anything reads a path, something above it or below it.
func (p *Pass) isRead(id compiler.PathID) bool {
	r := p.reading()
	if r.ofOutput(id) {
		return true
	}
	found := false
	r.overlapping(id, func([]int32) bool { found = true; return false })
	return found
}

// unusedInputs reports what a plan file declares as its input and never reads.
// In the other forms the input is there for a model to see as well.
func unusedInputs(p *Pass) {
	plan := p.Plan
	if plan.Form != compiler.PlanFile || len(plan.Calls) == 0 || p.gaps.reads || p.gaps.input {
		return
	}
	used := map[string]bool{}
	for i := range plan.Reads {
		ref := &plan.Reads[i].Ref
		if ref.Kind != "input" {
			continue
		}
		if len(ref.Path) == 0 {
			return // all of it is read
		}
		used[ref.Path[0].Key] = true
	}
	reported := map[string]bool{}
	declares := func(n *source.Node) {
		if n == nil {
			return
		}
		for _, f := range n.Fields {
			if name := f.Key.Text; !used[name] && !reported[name] && !p.meantInputs[name] {
				reported[name] = true
				p.report(f.Key.Span(), "nothing reads the input %q", name).help("read it as †input.%s, or take it out", name)
			}
		}
	}
	declares(plan.Root.Get("input"))
	declares(plan.Root.Get("inputSchema").Get("properties"))
}

// lateWriters reports reads that are bound to calls listed before the reader
// (S6.2) while a call listed after it writes more of the same path. A later call
// that waits for the reader is meant to come after it, and isn't reported.
func lateWriters(p *Pass) {
	plan := p.Plan
	if plan.Writes == compiler.Once || p.gaps.order {
		return
	}
	search := search{graph: &plan.Graph, budget: 5_000_000}
	for i := range plan.Reads {
		r := &plan.Reads[i]
		if r.Bound != compiler.Earlier || r.Call < 0 || r.Path == compiler.RootPath {
			continue
		}
		writers := plan.Writers(r.Path)
		from, _ := slices.BinarySearchFunc(writers, int32(r.Call)+1, func(w compiler.Writer, call int32) int { return int(w.Call - call) })
		for _, w := range writers[from:] {
			if search.budget--; search.budget < 0 {
				return
			}
			if w.Failure || search.waitsFor(w.Call, int32(r.Call)) {
				continue
			}
			late := plan.Calls[w.Call]
			path, _ := p.outputOver(late, w.Path)
			p.report(r.Span(), "this reads %q as the calls before it leave it; %q, listed later, writes more of it", r.Ref.String(), late.Name).of(p.caller(r)).
				note(path.Span(), "%q writes %q here", late.Name, p.path(path.ID)).
				help("list the reader after %q if it should see that, or let %q wait for the reader with \"_after\"", late.Name, late.Name)
			break
		}
	}
}

// A search asks whether one call waits for another, within a budget of steps.
type search struct {
	graph  *compiler.Graph
	budget int
	stamp  int32
	seen   []int32
	queue  []int32
}

// waitsFor tells whether a call depends, directly or not, on another. It says
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
