package analyzer

import (
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
)

var _ = register(Rule{
	Rule: &diag.Rule{Code: "OB607", Name: "unsafe-retry", Default: diag.Warning},
	Call: unsafeRetry,
})

// unsafeRetry reports calls that are tried again although their tool isn't
// known to do no harm when it is carried out twice. What has no effect by itself
// is safe: an expression, a model's answer.
func unsafeRetry(p *Pass, call *compiler.Call) {
	if call.Retry.Attempts <= 1 || call.Tool == nil || call.Activity == "" {
		return
	}
	if activity := p.Plan.Activities[call.Activity]; activity != nil && activity.Kind == "expr" {
		return
	}
	h := call.Tool.Hints
	if h.Idempotent != nil && *h.Idempotent || h.ReadOnly != nil && *h.ReadOnly {
		return
	}
	how := "isn't said to be idempotent"
	if h.Idempotent != nil {
		how = "says that it isn't idempotent"
	}
	f := p.Report(call.Node.Get("_retry").Span(), "%q is tried up to %d times, and %q %s: a try that failed late may have had its effect", call.Name, call.Retry.Attempts, call.ToolName, how).About(call.Label()).
		Advise("leave \"_retry\" out, or say annotations: {idempotentHint: true} if the tool may be run twice")
	if call.Tool.NameNode != nil {
		f.Note(call.Tool.NameNode.Span(), "%q is declared here", call.ToolName)
	}
}
