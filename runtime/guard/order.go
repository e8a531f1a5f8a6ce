package guard

import (
	"fmt"

	"github.com/obelus-dev/obelus/compiler/label"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/policy"
)

// Order refuses what an order rule of a policy forbids. It finds the counts of a call's instance: each has its own, for
// its delegates and items as well, over ticks and resumed runs.
type Order func(*Call) *policy.Counts

// Arrives allows every call: the rules about plans have judged it.
func (Order) Arrives(*Call) Verdict { return Verdict{} }

// Starts refuses a call that would break a rule if it started now.
func (o Order) Starts(c *Call) Verdict {
	if c.Of.Each != nil { // its items start, one by one
		return Verdict{}
	}
	if broken := o(c).Forbids(label.IsMet(c.Plan, c.Of), c.Params, isRepeat(c)); broken != nil {
		why := fmt.Sprintf("the policy's rule %q says that %s", broken.Name, broken.Says())
		return Verdict{Kind: Refuse, Code: "forbidden-order", Reason: why}
	}
	return Verdict{}
}

// Settled counts what has started, and what is done.
func (o Order) Settled(c *Call, stage Stage) {
	switch {
	case stage <= Continued:
		o(c).Started(label.IsMet(c.Plan, c.Of), c.Params, isRepeat(c))
	case stage == Done && c.Of.Each == nil:
		o(c).Done(label.IsMet(c.Plan, c.Of), c.Params)
	}
}

// isRepeat reports whether a call is one more attempt that does no more than the first.
func isRepeat(c *Call) bool { return c.IsFurther && label.IsIdempotent(c.Plan, c.Of) }

// Remember counts what a document says of earlier ticks: the calls that wrote something or failed may have started.
// That one of them is done is more than a document can prove.
func Remember(counts *policy.Counts, p *plan.Plan, history []plan.Written, failures []any) {
	started := func(tool, activity string, params map[string]any) {
		call := &plan.Call{Use: plan.Use{ToolName: tool, Tool: p.Tool(tool), Activity: activity}}
		each := []any{params}
		if items, ok := params["_each"].([]any); ok {
			each = items
		}
		for _, one := range each {
			own, _ := one.(map[string]any)
			counts.Started(label.IsMet(p, call), own, false)
		}
	}
	known := map[[2]any]bool{}
	for i := range history {
		w := &history[i]
		if id := [2]any{w.Call.Get("_tick").Float(), w.Call.Get("_id").AsText()}; !known[id] {
			known[id] = true
			started(w.Tool, w.Activity, w.Params())
		}
	}
	for _, failure := range failures {
		of, _ := failure.(map[string]any)
		call, _ := of["call"].(map[string]any)
		tool, _ := call["_tool"].(string)
		activity, _ := call["_activity"].(string)
		started(tool, activity, nil) // the values of its expressions aren't known
	}
}
