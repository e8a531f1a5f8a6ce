// Package orders is what the orders of a policy (S17.6) say of the calls of a plan: which
// of them they speak of, and which may not begin after what has been begun and done. The
// analysis asks it before a run, of every order that there may be, and the machine in one,
// of the order that there is.
package orders

import (
	"fmt"
	"slices"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/label"
	"github.com/obelus-dev/obelus/compiler/policy"
	"github.com/obelus-dev/obelus/compiler/schema"
)

// The kinds of checks.
const (
	OnlyAfter  = policy.OnlyAfter
	NeverAfter = policy.NeverAfter
	AtMost     = policy.AtMost
)

// A Check is what an order asks for of the calls of plans.
type Check struct{ policy.Check }

// Of lists the checks of policies.
func Of(policies []*policy.Policy) (all []Check) {
	for _, p := range policies {
		for i := range p.Orders {
			for _, c := range p.Orders[i].Checks() {
				all = append(all, Check{c})
			}
		}
	}
	return all
}

// Role is what a call is to a check: the one that may be refused, the one that it hangs
// on, both or neither.
type Role uint8

// The roles of a call.
const (
	Subject Role = 1 << iota
	Other
)

// Role is that of a call of a plan. It counts under the name of its tool and under that of
// the activity that carries it out, so that no other name gets round a rule.
func (c *Check) Role(plan *compiler.Plan, call *compiler.Call) (role Role) {
	if meets(c.Subject, plan, call) {
		role |= Subject
	}
	if meets(c.Other, plan, call) {
		role |= Other
	}
	return role
}

func meets(s policy.Subject, plan *compiler.Plan, call *compiler.Call) bool {
	switch {
	case s.Any:
		return true
	case s.Tool != "":
		return label.Carries(call, s.Tool)
	case s.Effects != 0:
		return s.Effects&label.Effects(plan, call) != 0
	}
	return s.Label.Within(label.Gives(plan, call))
}

// Idempotent reports whether a further try of a call does no more than the first.
func Idempotent(plan *compiler.Plan, call *compiler.Call) bool {
	return call.Plan() == "" && plan.Effect(call, none).Idempotent
}

// none says of no tool that a call's parameters are such as it takes, so that what is known
// of a call's effects is the same before a run and in it.
func none(*compiler.Tool) bool { return false }

// Outside is why a call with parameters may not be, by the policies of its plan (S17.5),
// and the rule that says so; "" when it may. What patterns cost is taken off an allowance.
func Outside(plan *compiler.Plan, call *compiler.Call, params map[string]any, a *schema.Allowance) string {
	for _, p := range plan.Policies {
		for i := range p.Only {
			if name := Unlisted(&p.Only[i], call); name != "" {
				return fmt.Sprintf("%q isn't among the tools that there may be, by the policy's rule %q", name, p.Only[i].Name)
			}
		}
		for _, b := range p.Bounds {
			for _, t := range b.Tools {
				if !label.Carries(call, t.Name) {
					continue
				}
				for _, bound := range t.Parameters {
					value, given := params[bound.Name]
					if !given {
						continue
					}
					if v := bound.Schema.ValidateWithin(value, a); v != nil {
						return fmt.Sprintf("the policy's rule %q doesn't let %q of %q be this: %s", b.Name, bound.Name+v.Where(), t.Name, v.Message)
					}
				}
			}
		}
	}
	return ""
}

// Unlisted is the name of a call, its tool's or that of an activity that its tool doesn't
// name, which isn't among the tools that there may be; "" when there is none.
func Unlisted(o *policy.Only, call *compiler.Call) string {
	tool := call.Single()
	switch {
	case tool != nil && tool.Builtin:
	case !o.Allows(call.ToolName):
		return call.ToolName
	case call.Activity != "" && call.Activity != call.ToolName && (tool == nil || !tool.Runs(call.Activity)) && !o.Allows(call.Activity):
		return call.Activity
	}
	return ""
}

// A Log is what has been begun and done in a run so far, as far as checks hang on it.
type Log struct {
	checks []Check
	count  []map[string]int // by check: of its others, those done or begun, by key
	every  []int            // those whose key isn't known
	all    []int            // in all
}

// NewLog begins with nothing; nil where there is nothing to check.
func NewLog(checks []Check) *Log {
	if len(checks) == 0 {
		return nil
	}
	l := &Log{checks, make([]map[string]int, len(checks)), make([]int, len(checks)), make([]int, len(checks))}
	for i := range l.count {
		l.count[i] = map[string]int{}
	}
	return l
}

// Forbids is the first check that a call would break if it began now; nil when it may.
// Again says that it is one more try of a call that does no more than the first.
func (l *Log) Forbids(plan *compiler.Plan, call *compiler.Call, params map[string]any, again bool) *Check {
	if l == nil {
		return nil
	}
	for i := range l.checks {
		c := &l.checks[i]
		if c.Role(plan, call)&Subject == 0 {
			continue
		}
		came := l.count[i][c.Key(params)]
		if c.Kind != OnlyAfter || c.Per == "" {
			came += l.every[i]
		}
		if c.Forbids(came) && !(again && c.Kind == AtMost) {
			return c
		}
	}
	return nil
}

// Begun notes that a call begins.
func (l *Log) Begun(plan *compiler.Plan, call *compiler.Call, params map[string]any, again bool) {
	if l == nil {
		return
	}
	for i := range l.checks {
		c := &l.checks[i]
		if c.Kind == NeverAfter || c.Kind == AtMost && !again {
			l.note(i, plan, call, params)
		}
	}
}

// Done notes that a call is done.
func (l *Log) Done(plan *compiler.Plan, call *compiler.Call, params map[string]any) {
	if l == nil {
		return
	}
	for i := range l.checks {
		if l.checks[i].Kind == OnlyAfter {
			l.note(i, plan, call, params)
		}
	}
}

// note counts a call under its key, or where its parameters aren't known under any.
func (l *Log) note(i int, plan *compiler.Plan, call *compiler.Call, params map[string]any) {
	c := &l.checks[i]
	switch {
	case c.Role(plan, call)&Other == 0:
		return
	case params == nil:
		l.every[i]++
	default:
		l.count[i][c.Key(params)]++
	}
	l.all[i]++
}

// Remember takes up what a document says of earlier ticks: the calls that wrote something or
// came to an error may have begun. That one of them is done is more than a document can
// vouch for (S1.9).
func (l *Log) Remember(plan *compiler.Plan, history []compiler.Written, failures []any) {
	if l == nil {
		return
	}
	known := map[string]bool{}
	for i := range history {
		w := &history[i]
		if id := w.ID(); !known[id] {
			known[id] = true
			l.remember(plan, w.Tool(), w.Activity(), w.Params())
		}
	}
	for _, failure := range failures {
		of, _ := failure.(map[string]any)
		call, _ := of["call"].(map[string]any)
		tool, _ := call["_tool"].(string)
		activity, _ := call["_activity"].(string)
		l.remember(plan, tool, activity, nil) // what its expressions came to isn't told
	}
}

func (l *Log) remember(plan *compiler.Plan, tool, activity string, params map[string]any) {
	call := &compiler.Call{ToolName: tool, Tool: plan.Tool(tool), Activity: activity}
	each := []any{params}
	if items, ok := params["_each"].([]any); ok {
		each = items
	}
	for _, one := range each {
		own, _ := one.(map[string]any)
		l.Begun(plan, call, own, false)
	}
}

// Standing is, by check, how much counts already, whatever its keys are.
func (l *Log) Standing() []int {
	if l == nil {
		return nil
	}
	return slices.Clone(l.all)
}
