// Package guard decides whether calls of a run may start, by policies and by what was approved, and keeps what advisors
// say of tools; the machine has guards of its own, which ask people and hold it to limits. None changes a run.
package guard

import (
	"fmt"

	"github.com/obelus-dev/obelus/analyzer/permit"
	"github.com/obelus-dev/obelus/compiler/label"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/policy"
	"github.com/obelus-dev/obelus/compiler/schema"
)

// A Guard is asked at two checkpoints, and told at a third. A machine asks in one order: the guards [Order] and
// [Permit], whether a person confirms a call, [Others], limits. The first that doesn't allow a call decides. What it
// decides must follow from the events of the run alone.
type Guard interface {
	// Arrives is asked about a call of a planner as it is written.
	Arrives(*Call) Verdict
	// Starts is asked about every attempt with its values, no matter who wrote the call.
	Starts(*Call) Verdict
	// Settled learns what became of a call or of an attempt.
	Settled(*Call, Stage)
}

// A Call is an attempt that is about to start, or that has ended.
type Call struct {
	Try       // the same for all attempts
	Instance  string
	Orders    *policy.Counts // of the instance, its delegates and items included, over ticks and resumed runs
	Plan      *plan.Plan
	Of        *plan.Call // what runs, be it another call than the plan's
	Params    map[string]any
	IsFurther bool // it isn't the first attempt
}

// A Try is an attempt of a call, as events identify it. Its tick is 0 without a planner. Frames number the states on
// which a plan is at work at the same time: 0 is the run's own, and each instance and each delegate at work has a
// number that no other ever has.
type Try struct {
	Tick    int `json:"tick,omitzero"`
	Frame   int `json:"frame,omitzero"`
	Call    int `json:"call,omitzero"`
	Attempt int `json:"attempt,omitzero"`
}

// OfCall is the same for all attempts of a call.
func (t Try) OfCall() Try {
	t.Attempt = 0
	return t
}

// A Verdict allows a call, asks a person about it, lets it fail, or stops the run.
type Verdict struct {
	Kind    Kind
	Code    string              // of the failure of what is refused
	Reason  string              // of what is refused, or the code of a stop
	Outside []permit.Difference // what of the call wasn't approved
}

// Kind is what a guard decides.
type Kind uint8

// The kinds of verdicts.
const (
	Allow Kind = iota
	Ask
	Refuse
	Stop
)

// Others decide about attempts, too, in every run: a file of this package adds its own.
var Others []func(*Call) Verdict

// Stage is what became of a call.
type Stage uint8

// From Ended on a call has settled.
const (
	Started     Stage = iota
	Continued         // what is left of an attempt that failed runs again
	Interrupted       // a kill cut the attempt short, and it may be repeated
	Ended
	Done
	DoneBefore // in an earlier tick or run
)

// Policy is whom a run asks before a call starts.
type Policy string

// The policies of EXECUTION.md#reviewers.
const (
	Never   Policy = ""        // nobody
	Effects Policy = "effects" // about calls that may change the world
	Always  Policy = "always"  // about every call
)

// Stricter reports whether a policy asks about more calls than another.
func (p Policy) Stricter(than Policy) bool { return p != than && (p == Always || than == Never) }

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
