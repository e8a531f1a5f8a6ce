package rules

import (
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
)

var FailureJoinsRule = &diag.Rule{Code: "OB409", Name: "failure-joins-branch", Default: diag.Warning}

var _ = Register(Rule{Rule: FailureJoinsRule, Needs: diag.Reads | diag.Writes | diag.State, Run: failuresJoinBranches})

// failuresJoinBranches reports last alternatives whose readers take them for ordinary
// values, although a record of the failure goes there as well.
func failuresJoinBranches(p *Pass) {
	readers := map[*plan.Call][]*plan.Read{} // of the candidates
	for _, call := range p.Plan.Calls {
		last := call.FailureRoute()
		if last >= 0 && (call.Activity != "" || call.Delegate != "") && !TellsFailures(p, call.Output[last]) {
			readers[call] = nil
		}
	}
	if len(readers) == 0 {
		return
	}
	p.Expressions(func(reader *plan.Call, t *plan.Template) {
		for _, i := range t.Reads {
			r := &p.Plan.Reads[i]
			for _, w := range r.Writers {
				call := p.Plan.Calls[w]
				known, may := readers[call]
				if !may || !call.Output[call.FailureRoute()].Overlaps(p.Plan.Paths, r.Path) {
					continue
				}
				if looksAtFailure(p, call, t, r) {
					delete(readers, call)
				} else if reader != nil {
					readers[call] = append(known, r)
				}
			}
		}
	})
	for _, call := range p.Plan.Calls {
		if len(readers[call]) == 0 {
			continue
		}
		first, last := readers[call][0], call.FailureRoute()
		p.ReportCall(call, call.Output[last][0].Span(),
			"if %q fails, its failure record is written to %q, and %q reads it as a result", call.Name,
			compiler.Offered(p.Plan, call)[last], p.Flow.Caller(first).Name).
			Note(first.Span(), "%q reads it here", p.Flow.Caller(first).Name).
			Advise("add an alternative for failures, such as || †state.error, or test its \"code\" in the reader")
	}
}

// looksAtFailure reports whether an expression that reads a failure route can tell a failure record from a result.
func looksAtFailure(p *Pass, call *plan.Call, t *plan.Template, r *plan.Read) bool {
	for _, path := range call.Output[call.FailureRoute()] {
		if depth := p.Plan.Paths.Depth(path.ID); p.Plan.Paths.Depth(r.Path) > depth &&
			slices.Contains(failureFields, p.Plan.Paths.Segments(r.Path)[depth].Key) {
			return true
		}
	}
	return !t.Expr.Plain() && slices.ContainsFunc([]string{".code", ".message", ".details", "type("},
		func(part string) bool { return strings.Contains(t.Expr.Text, part) })
}
