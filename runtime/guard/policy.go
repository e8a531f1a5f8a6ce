package guard

import (
	"fmt"

	"github.com/obelus-dev/obelus/compiler/label"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/policy"
	"github.com/obelus-dev/obelus/compiler/schema"
)

// Order refuses what an order rule of a policy forbids.
type Order struct{}

// Arrives allows every call: the rules about plans have judged it.
func (Order) Arrives(*Call) Verdict { return Verdict{} }

// Starts refuses a call that would break a rule if it started now.
func (Order) Starts(c *Call) Verdict {
	if c.Of.Each != nil { // its items start, one by one
		return Verdict{}
	}
	if broken := c.Orders.Forbids(label.IsMet(c.Plan, c.Of), c.Params, isRepeat(c)); broken != nil {
		why := fmt.Sprintf("the policy's rule %q says that %s", broken.Name, broken.Says())
		return Verdict{Kind: Refuse, Code: "forbidden-order", Reason: why}
	}
	return Verdict{}
}

// Settled counts what has started, and what is done.
func (Order) Settled(c *Call, stage Stage) {
	switch {
	case stage <= Continued:
		c.Orders.Started(label.IsMet(c.Plan, c.Of), c.Params, isRepeat(c))
	case stage == Done && c.Of.Each == nil:
		c.Orders.Done(label.IsMet(c.Plan, c.Of), c.Params)
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

// Outside is why the policies of a plan don't let a call have parameters, or "". Patterns take off an allowance.
func Outside(plan *plan.Plan, call *plan.Call, params map[string]any, a *schema.Allowance) string {
	for _, p := range plan.Policies {
		for i := range p.Only {
			if name := label.Unlisted(&p.Only[i], call); name != "" {
				return fmt.Sprintf("%q isn't among the tools that there may be, by the policy's rule %q", name,
					p.Only[i].Name)
			}
		}
		for i := range p.Bounds {
			b := &p.Bounds[i]
			if !label.Carries(call, b.Tool) {
				continue
			}
			if v := b.Refuses(params, a); v != nil {
				return fmt.Sprintf("the policy's rule %q doesn't let %q of %q be this: %s", b.Name,
					b.Parameter+v.Where(), b.Tool, v.Message)
			}
		}
	}
	return ""
}
