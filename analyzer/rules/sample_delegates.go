package rules

import (
	"github.com/obelus-dev/obelus/compiler/plan"
)

// Opens reports whether a call runs a plan whose schemas don't describe all parameters and results.
func Opens(p *Pass, call *plan.Call) bool {
	d := p.Plan.Delegates[call.Delegate]
	return d != nil && (d.InputSchema == nil || d.Output != nil && d.OutputSchema == nil || len(call.Scopes) > 0)
}
