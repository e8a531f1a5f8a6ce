package rules

import (
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
)

var _ = Register(Rule{Run: rewrites}.As("OB403", "rewrite", diag.Error))

// rewrites reports, under once, calls that need a value at a path before they may write it: by then it is taken.
func rewrites(p *Pass) {
	if p.Plan.Writes != plan.Once {
		return
	}
	for _, call := range p.Plan.Calls {
		failure := call.FailureRoute()
		for _, i := range call.Reads {
			r := &p.Plan.Reads[i]
			if !r.Ref.Required || len(r.Writers) == 0 && !r.Start {
				continue
			}
			if path, ok := claims(p, call, failure, r.Path); ok {
				p.ReportCall(call, r.Span(),
					"%q can't write %q: it first needs a value there, and under \"writes: once\" no path is "+
						"written twice", call.Name, p.Path(path.ID)).
					Note(path.Span(), "it would write the path here").
					Advise("write the result to another path, or leave \"writes: once\" out")
				break
			}
		}
	}
}

// claims is the first path that a call writes, other than as its failure route, and that overlaps another.
func claims(p *Pass, call *plan.Call, failure int, id pathtree.ID) (plan.Path, bool) {
	for i, path := range call.Paths() {
		if i != failure && p.Plan.Paths.Overlap(path.ID, id) {
			return path, true
		}
	}
	return plan.Path{}, false
}
