package label

import (
	"github.com/obelus-dev/obelus/compiler/effects"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/policy"
)

// Meets reports whether a subject of a policy speaks of a call. A call counts under the name of its tool and under that
// of the activity that carries it out, so that no other name gets round a rule.
func Meets(s policy.Subject, plan *plan.Plan, call *plan.Call) bool {
	if s.Tool != "" {
		return Carries(call, s.Tool)
	}
	r := rules(plan.Policies)
	gives, _ := r.output(plan, call)
	return s.Meets(policy.Step{Effects: r.effects(plan, call), Label: gives})
}

// IsIdempotent reports whether another attempt of a call does no more than the first.
func IsIdempotent(p *plan.Plan, call *plan.Call) bool {
	// Whether a tool takes the call's parameters isn't asked, so that what is known of a
	// call's effects is the same before a run and in it.
	return call.Delegate == "" && effects.Of(p, call, func(*plan.Tool) bool { return false }).Idempotent
}

// Unlisted is the name of a call, its tool's or that of an activity that its tool doesn't
// name, which isn't among the tools that there may be; "" when there is none.
func Unlisted(o *policy.Only, call *plan.Call) string {
	tool := call.Single()
	switch {
	case tool != nil && tool.Builtin:
	case !o.Allows(call.ToolName):
		return call.ToolName
	case call.Activity != "" && call.Activity != call.ToolName &&
		(tool == nil || !effects.MayRun(tool, call.Activity)) && !o.Allows(call.Activity):
		return call.Activity
	}
	return ""
}
