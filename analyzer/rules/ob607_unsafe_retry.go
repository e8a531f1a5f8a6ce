package rules

import (
	"github.com/obelus-dev/obelus/analyzer/internal/analysis"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/effects"
	"github.com/obelus-dev/obelus/compiler/plan"
)

var _ = Register(Rule{Call: unsafeRetry}.As("OB607", "unsafe-retry", diag.Warning))

// unsafeRetry reports retries of calls that aren't known to be safe to repeat. Expressions and a
// model's answers have no effect and are safe. A delegate is as unsafe as its calls.
func unsafeRetry(p *Pass, call *plan.Call) {
	if call.Retry.Attempts <= 1 || call.Tool == nil || call.Latent() || effects.Declared(p.Plan, call).Idempotent {
		return
	}
	at := call.Node.Get("_retry").Span()
	if path := call.Delegate; path != "" {
		first := analysis.Once(p.Store, p.Plan.Delegates[path], func() callWithin {
			return firstWithin(p.Plan.Delegates[path], map[*plan.Plan]bool{},
				func(d *plan.Plan, c *plan.Call) bool { return !c.Latent() && !effects.Declared(d, c).Idempotent })
		})
		if first.call != nil {
			p.ReportCall(call, at,
				"%q is attempted up to %d times, and each attempt starts the plan %q again, in which %q isn't "+
					"declared idempotent", call.Name, call.Retry.Attempts, path, first.name).
				Advise(
					"put \"_retry\" on the calls of that plan that are safe to repeat, or declare annotations: "+
						"{idempotentHint: true} in their tools").
				Note(first.call.Node.Span(), "%q is repeated", first.name)
		}
		return
	}
	who := call.ToolName
	if !effects.MayRun(call.Tool, call.Activity) {
		who = call.Activity
	}
	p.ReportCall(call, at,
		"%q is attempted up to %d times, and %q isn't declared idempotent: a failed attempt may already have had its "+
			"effect", call.Name, call.Retry.Attempts, who).
		Advise("remove \"_retry\", or declare annotations: {idempotentHint: true} if the tool is safe to repeat").
		Note(call.Tool.NameNode.Span(), "%q is declared here", call.ToolName)
}
