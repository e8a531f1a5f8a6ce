package guard

import (
	"fmt"

	"github.com/obelus-dev/obelus/compiler/label"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/policy"
)

// Orders counts what has started and finished where the order rules of policies
// depend on it. Each instance of a run has one, for its delegates and items as well, over
// ticks and resumed runs: it follows from the events of the run like everything else.
type Orders struct {
	checks []policy.Check
	counts []orderCount // by check
}

// An orderCount is how many of the calls that a check depends on are done, or have started.
type orderCount struct {
	byKey  map[string]int // see [policy.Order.Key]
	anyKey int            // those whose key isn't known
	all    int
}

// Order refuses what an order rule of a policy forbids. It finds the counts of a call's instance.
type Order func(*Call) *Orders

// Arrives allows every call: the rules about plans have judged it.
func (Order) Arrives(*Call) Verdict { return Verdict{} }

// Starts refuses a call that would break a rule if it started now.
func (o Order) Starts(c *Call) Verdict {
	if c.Of.Each != nil { // its items start, one by one
		return Verdict{}
	}
	if broken := o(c).forbids(c.Plan, c.Of, c.Params, isRepeat(c)); broken != nil {
		why := fmt.Sprintf("the policy's rule %q says that %s", broken.Name, broken.Says())
		return Verdict{Kind: Refuse, Code: "forbidden-order", Reason: why}
	}
	return Verdict{}
}

// Settled counts what has started, and what is done.
func (o Order) Settled(c *Call, stage Stage) {
	switch {
	case stage <= Continued:
		o(c).Started(c.Plan, c.Of, c.Params, isRepeat(c))
	case stage == Done && c.Of.Each == nil:
		o(c).count(c.Plan, c.Of, c.Params, func(rule *policy.Check) bool { return rule.Kind == policy.OnlyAfter })
	}
}

// isRepeat reports whether a call is one more attempt that does no more than the first.
func isRepeat(c *Call) bool { return c.IsFurther && label.IsIdempotent(c.Plan, c.Of) }

// NewOrders begins with nothing counted.
func NewOrders(policies []*policy.Policy) Orders {
	l := Orders{checks: policy.Checks(policies)}
	l.counts = make([]orderCount, len(l.checks))
	for i := range l.counts {
		l.counts[i].byKey = map[string]int{}
	}
	return l
}

// forbids is the first check that a call would break if it started now; nil when it may.
// Again says that it is one more attempt of a call that does no more than the first.
func (l *Orders) forbids(plan *plan.Plan, call *plan.Call, params map[string]any, again bool) *policy.Check {
	for i := range l.checks {
		c, count := &l.checks[i], &l.counts[i]
		if !label.Meets(c.Subject, plan, call) || again && c.Kind == policy.AtMost {
			continue
		}
		n := count.byKey[c.Key(params)]
		if c.Kind != policy.OnlyAfter || c.Per == "" {
			n += count.anyKey
		}
		if c.Forbids(n) {
			return c
		}
	}
	return nil
}

// Started counts a call that starts.
func (l *Orders) Started(plan *plan.Plan, call *plan.Call, params map[string]any, again bool) {
	l.count(plan, call, params, func(rule *policy.Check) bool {
		return rule.Kind == policy.NeverAfter || rule.Kind == policy.AtMost && !again
	})
}

// count counts a call where a rule depends on it, of some rules.
func (l *Orders) count(plan *plan.Plan, call *plan.Call, params map[string]any, of func(*policy.Check) bool) {
	for i := range l.checks {
		c, count := &l.checks[i], &l.counts[i]
		if !of(c) || !label.Meets(c.Other, plan, call) {
			continue
		}
		if count.all++; params == nil {
			count.anyKey++
		} else {
			count.byKey[c.Key(params)]++
		}
	}
}

// Remember counts what a document says of earlier ticks: the calls that wrote something or
// failed may have started. That one of them is done is more than a document can prove.
func (l *Orders) Remember(plan *plan.Plan, history []plan.Written, failures []any) {
	if len(l.checks) == 0 {
		return
	}
	known := map[string]bool{}
	for i := range history {
		w := &history[i]
		if id := w.ID(); !known[id] {
			known[id] = true
			l.startedBefore(plan, w.Tool(), w.Activity(), w.Params())
		}
	}
	for _, failure := range failures {
		of, _ := failure.(map[string]any)
		call, _ := of["call"].(map[string]any)
		tool, _ := call["_tool"].(string)
		activity, _ := call["_activity"].(string)
		l.startedBefore(plan, tool, activity, nil) // the values of its expressions aren't known
	}
}

func (l *Orders) startedBefore(p *plan.Plan, tool, activity string, params map[string]any) {
	call := &plan.Call{Use: plan.Use{ToolName: tool, Tool: p.Tool(tool), Activity: activity}}
	each := []any{params}
	if items, ok := params["_each"].([]any); ok {
		each = items
	}
	for _, one := range each {
		own, _ := one.(map[string]any)
		l.Started(p, call, own, false)
	}
}

// Totals are, by check, how many calls count, whatever their keys are.
func (l *Orders) Totals() []int {
	all := make([]int, len(l.counts))
	for i, count := range l.counts {
		all[i] = count.all
	}
	return all
}
