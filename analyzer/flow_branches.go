package analyzer

import (
	"slices"

	"github.com/obelus-dev/obelus/analyzer/internal/logic"
	"github.com/obelus-dev/obelus/compiler/plan"
)

// certain reports whether a call runs in every run in which nothing fails.
func (p *Pass) certain(call *plan.Call) bool {
	if !p.hasBranches() {
		return true
	}
	t := p.flowing()
	is, known := t.certain[call]
	if !known {
		e := p.conditions()
		is = e.SolveOne(e.Runs(call).Not(), true).Impossible
		t.certain[call] = is
	}
	return is
}

// comes reports whether there is a branch on which the writer takes a flow's alternative, nothing writes over the
// value, and the reader runs; false where that isn't known.
func (p *Pass) comes(f *flow) bool {
	writer, r := f.from.call, f.read
	if writer == nil || r == nil || !p.hasBranches() {
		return true
	}
	e := p.conditions()
	goal := logic.False
	for i, route := range writer.Output {
		if slices.ContainsFunc(route, func(path plan.Path) bool { return path.ID == f.from.path.ID }) {
			goal = e.Or(goal, e.Writes(writer, i))
		}
	}
	if reader := p.caller(r); reader != nil {
		goal = e.And(goal, e.Runs(reader))
	}
	for _, w := range r.Writers {
		later := p.Plan.Calls[w]
		if !p.waits(later, writer) || later.Method != plan.Set {
			continue
		}
		for i, route := range later.Output {
			if slices.ContainsFunc(route, func(path plan.Path) bool { return p.Plan.Paths.IsAbove(path.ID, r.Path) }) {
				goal = e.And(goal, e.Writes(later, i).Not())
			}
		}
	}
	return e.SolveOne(goal, true).Possible
}
