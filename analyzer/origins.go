package analyzer

import (
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/plan"
)

// maxWriters bounds how many writers of one read are looked at for its type; of
// a value with more nothing is concluded.
const maxWriters = 16

// An origin is one output path of a call that a read is bound to.
type origin struct {
	call    *plan.Call
	path    *plan.Path
	failure bool                 // it is the call's failure route
	below   bool                 // it stands below what is read
	rest    []expression.Segment // what is read of it, when it stands above
}

// origins goes over the output paths that a read is bound to, until f returns
// false; it returns false then, and true otherwise.
func (p *Pass) origins(r *plan.Read, f func(origin) bool) bool {
	paths := p.Plan.Paths
	above := paths.Depth(r.Path) - len(r.Ref.Path) // the kind, and for kinds of data "data" above it
	for _, w := range r.Writers {
		call := p.Plan.Calls[w]
		failure := call.FailureRoute()
		for i, route := range call.Output {
			for k := range route {
				path := &route[k]
				if !paths.Overlap(path.ID, r.Path) {
					continue
				}
				s := origin{call: call, path: path, failure: i == failure}
				if depth := paths.Depth(path.ID) - above; depth <= len(r.Ref.Path) {
					s.rest = r.Ref.Path[max(0, depth):]
				} else {
					s.below = true
				}
				if !f(s) {
					return false
				}
			}
		}
	}
	return true
}

// A resultPlace is a place in the results of a tool.
type resultPlace struct {
	tool *plan.Tool
	step expression.Segment // the first, which mostly is all
	rest string
}

func placeIn(tool *plan.Tool, path []expression.Segment) resultPlace {
	at := resultPlace{tool: tool}
	if len(path) > 0 {
		at.step = path[0]
	}
	if len(path) > 1 {
		at.rest = expression.Reference{Path: path[1:]}.String()
	}
	return at
}
