package analyzer

import (
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
)

var _ = register(Rule{
	Rule: &diag.Rule{Code: "OB607", Name: "unsafe-retry", Default: diag.Warning},
	Call: unsafeRetry,
})

// unsafeRetry reports calls that are tried again although what carries them out
// isn't known to do no harm twice, by the plan's own word or another's. What has no effect by itself
// is safe: an expression, a model's answer.
func unsafeRetry(p *Pass, call *compiler.Call) {
	if call.Retry.Attempts <= 1 || call.Tool == nil || call.Activity == "" {
		return
	}
	if p.Plan.Said(call).Idempotent {
		return
	}
	who, how := call.ToolName, "isn't said to be idempotent"
	switch h := call.Tool.Hints; {
	case h.Idempotent != nil && !*h.Idempotent:
		how = "says that it isn't idempotent"
	case !call.Tool.Runs(call.Activity):
		who = call.Activity
	}
	p.Report(call.Node.Get("_retry").Span(), "%q is tried up to %d times, and %q %s: a try that failed late may have had its effect", call.Name, call.Retry.Attempts, who, how).About(call.Label()).
		Advise("leave \"_retry\" out, or say annotations: {idempotentHint: true} if the tool may be run twice").
		Show(call.Tool.NameNode.Span(), "%q is declared here", call.ToolName)
}
