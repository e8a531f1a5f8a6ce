package analyzer

import (
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
)

var _ = register(Rule{
	Rule: &diag.Rule{Code: "OB607", Name: "unsafe-retry", Default: diag.Warning},
	Call: unsafeRetry,
})

// unsafeRetry reports retries of calls that aren't known to be safe to repeat. Expressions and a
// model's answers have no effect and are safe. A delegate is as unsafe as its calls.
func unsafeRetry(p *Pass, call *plan.Call) {
	if call.Retry.Attempts <= 1 || call.Tool == nil || call.Latent() || compiler.DeclaredEffect(p.Plan, call).Idempotent {
		return
	}
	at := call.Node.Get("_retry").Span()
	if path := call.Plan(); path != "" {
		if first := p.unsafeIn(p.Plan, path); first.call != nil {
			p.Report(at, "%q is tried up to %d times, and with each try the plan %q begins anew, in which %q isn't said to be idempotent: what it did is done again", call.Name, call.Retry.Attempts, path, first.name).About(call.Label()).
				Advise("give \"_retry\" to those calls of the plan that may be made twice, or say annotations: {idempotentHint: true} where a tool may be").
				Show(first.call.Node.Span(), "%q is made again", first.name)
		}
		return
	}
	who, how := call.ToolName, "isn't said to be idempotent"
	switch h := call.Tool.Hints; {
	case h.Idempotent != nil && !*h.Idempotent:
		how = "says that it isn't idempotent"
	case !compiler.MayRun(call.Tool, call.Activity):
		who = call.Activity
	}
	p.Report(at, "%q is tried up to %d times, and %q %s: a try that failed late may have had its effect", call.Name, call.Retry.Attempts, who, how).About(call.Label()).
		Advise("leave \"_retry\" out, or say annotations: {idempotentHint: true} if the tool may be run twice").
		Show(call.Tool.NameNode.Span(), "%q is declared here", call.ToolName)
}

// An unsafeCall is one of a plan that is run as a call, and its name there: behind those of the
// calls that it is below.
type unsafeCall struct {
	call *plan.Call
	name string
}

// unsafeIn is the first call of a delegate, or of its delegates, that isn't known to be safe to repeat.
func (p *Pass) unsafeIn(above *plan.Plan, path string) unsafeCall {
	compiled := above.Delegates[path]
	if compiled == nil {
		return unsafeCall{}
	}
	if known, ok := p.unsafe[compiled]; ok {
		return known
	}
	if p.unsafe == nil {
		p.unsafe = map[*plan.Plan]unsafeCall{}
	}
	p.unsafe[compiled] = unsafeCall{} // and of one that reaches itself, which is an error
	for _, call := range compiled.Calls {
		if call.Latent() || compiler.DeclaredEffect(compiled, call).Idempotent {
			continue
		}
		first := unsafeCall{call, call.Name}
		if below := call.Plan(); below != "" {
			if first = p.unsafeIn(compiled, below); first.call == nil {
				continue
			}
			first.name = call.Name + "/" + first.name
		}
		p.unsafe[compiled] = first
		break
	}
	return p.unsafe[compiled]
}
