package rules

import (
	"github.com/obelus-dev/obelus/analyzer/internal/analysis"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/effects"
	"github.com/obelus-dev/obelus/compiler/plan"
)

var _ = Register(Rule{
	Rule: &diag.Rule{Code: "OB607", Name: "unsafe-retry", Default: diag.Warning},
	Call: unsafeRetry,
})

// unsafeRetry reports retries of calls that aren't known to be safe to repeat. Expressions and a
// model's answers have no effect and are safe. A delegate is as unsafe as its calls.
func unsafeRetry(p *Pass, call *plan.Call) {
	if call.Retry.Attempts <= 1 || call.Tool == nil || call.Latent() || effects.Declared(p.Plan, call).Idempotent {
		return
	}
	at := call.Node.Get("_retry").Span()
	if path := call.Plan(); path != "" {
		if first := unsafeIn(p, p.Plan, path); first.call != nil {
			p.Report(at,
				"%q is attempted up to %d times, and each attempt starts the plan %q again, in which %q isn't "+
					"declared idempotent", call.Name, call.Retry.Attempts, path, first.name).About(call.Label()).
				Advise(
					"put \"_retry\" on the calls of that plan that are safe to repeat, or declare annotations: "+
						"{idempotentHint: true} in their tools").
				Show(first.call.Node.Span(), "%q is repeated", first.name)
		}
		return
	}
	who, how := call.ToolName, "isn't declared idempotent"
	switch h := call.Tool.Hints; {
	case h.Idempotent != nil && !*h.Idempotent:
		how = "is declared not idempotent"
	case !effects.MayRun(call.Tool, call.Activity):
		who = call.Activity
	}
	p.Report(at, "%q is attempted up to %d times, and %q %s: a failed attempt may already have had its effect",
		call.Name, call.Retry.Attempts, who, how).About(call.Label()).
		Advise("remove \"_retry\", or declare annotations: {idempotentHint: true} if the tool is safe to repeat").
		Show(call.Tool.NameNode.Span(), "%q is declared here", call.ToolName)
}

// An unsafeCall is one of a plan that is run as a call, and its name there: behind those of the calls that it is below.
type unsafeCall struct {
	call *plan.Call
	name string
}

// unsafeIn is the first call of a delegate, or of its delegates, that isn't known to be safe to repeat.
func unsafeIn(p *Pass, above *plan.Plan, path string) unsafeCall {
	compiled := above.Delegates[path]
	if compiled == nil {
		return unsafeCall{}
	}
	unsafe := analysis.Table[*plan.Plan, unsafeCall](p.Store)
	if known, ok := unsafe[compiled]; ok {
		return known
	}
	unsafe[compiled] = unsafeCall{} // and of one that reaches itself, which is an error
	for _, call := range compiled.Calls {
		if call.Latent() || effects.Declared(compiled, call).Idempotent {
			continue
		}
		first := unsafeCall{call, call.Name}
		if below := call.Plan(); below != "" {
			if first = unsafeIn(p, compiled, below); first.call == nil {
				continue
			}
			first.name = call.Name + "/" + first.name
		}
		unsafe[compiled] = first
		break
	}
	return unsafe[compiled]
}
