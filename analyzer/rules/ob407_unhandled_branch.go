package rules

import (
	"github.com/obelus-dev/obelus/analyzer/internal/analysis"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
)

var UnhandledBranch = Register(Rule{Scope: idle, Needs: diag.Reads | diag.Writes, Run: unhandledBranches}.
	As("OB407", "unhandled-branch", diag.Warning))

// unhandledBranches finds alternatives that nothing reads. Where a plan has no
// output its state is the result, and a first alternative may be it.
func unhandledBranches(p *Pass) {
	bound := analysis.Bound(p)
	if bound == nil {
		return
	}
	tried := triedNext(p)
	for _, call := range p.Plan.Calls {
		if len(call.Output) < 2 {
			continue
		}
		for i, route := range call.Output {
			if isRead(p, bound[call.Index], route) || i == 0 && p.Plan.Output == nil ||
				i == call.FailureRoute() && tried[call.Output[0][0].ID] > call.Index {
				continue
			}
			when := "chooses this alternative"
			if i == call.FailureRoute() {
				when = "fails"
			}
			f := p.ReportCall(call, route[0].Span(), "nothing reads %q, which is written if the call %s",
				compiler.Offered(p.Plan, call)[i], when).
				Advise("read it in a call, a fallback or the plan's \"output\", or remove the alternative")
			if p.Plan.Form == plan.Solution || p.Plan.Form == plan.ProcessRecord {
				f.As(diag.Info).Advise("the next solution may handle it; else let a call or the \"output\" read it")
			}
			f.Witness = evidence{Branch: []choice{{Call: call.Name, Takes: compiler.Offered(p.Plan, call)[i]}}}
		}
	}
}

// triedNext is, under "writes: once", the last call that offers a value at a path first:
// when one before it fails, its value comes in that one's place.
func triedNext(p *Pass) map[pathtree.ID]int {
	if p.Plan.Writes != plan.Once {
		return nil
	}
	last := map[pathtree.ID]int{}
	for _, call := range p.Plan.Calls {
		if len(call.Output) > 0 {
			last[call.Output[0][0].ID] = call.Index
		}
	}
	return last
}
