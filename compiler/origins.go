package compiler

import (
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/plan"
)

// An Origin is one output path of a call that a read is bound to.
type Origin struct {
	Call    *plan.Call
	Path    *plan.Path
	Failure bool                 // it is the call's failure route
	Below   bool                 // the path is below what is read
	Rest    []expression.Segment // what is read of it, when the path is above
}

// Origins are the output paths that a read is bound to.
func Origins(p *plan.Plan, r *plan.Read) (all []Origin) {
	above := p.Paths.Depth(r.Path) - len(r.Ref.Path) // the kind, and for kinds of data "data" above it
	for _, w := range r.Writers {
		call := p.Calls[w]
		for i, route := range call.Output {
			for k := range route {
				path := &route[k]
				if !p.Paths.Overlap(path.ID, r.Path) {
					continue
				}
				o := Origin{Call: call, Path: path, Failure: i == call.FailureRoute()}
				if depth := p.Paths.Depth(path.ID) - above; depth <= len(r.Ref.Path) {
					o.Rest = r.Ref.Path[max(0, depth):]
				} else {
					o.Below = true
				}
				all = append(all, o)
			}
		}
	}
	return all
}
