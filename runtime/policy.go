package runtime

import (
	"github.com/obelus-dev/obelus/compiler/effects"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/policy"
	"github.com/obelus-dev/obelus/runtime/guard"
)

// codeMisfit is the code of an output that its schema rejects: that of the rule that finds it beforehand.
const codeMisfit = "output-mismatch"

// forbidden is why a call can't start now with parameters; nil when it can.
func forbidden(f *frame, i int32, call *plan.Call, params map[string]any) *Failure {
	c := guardedCall(f, i)
	c.Of, c.Params = call, params
	return failureOf(f.machine.orders().Starts(c))
}

// failureOf is that of a call that a guard refuses.
func failureOf(v guard.Verdict) *Failure {
	if v.Kind != guard.Refuse {
		return nil
	}
	return &Failure{Code: v.Code, Message: v.Reason}
}

// guardedCall is a call as the guards see it, until the next one.
func guardedCall(f *frame, i int32) *guard.Call {
	c, state, call := &f.machine.guarded, &f.calls[i], f.call(i)
	*c = guard.Call{
		Try: f.tryOf(i).OfCall(), Instance: f.site.Instance,
		Plan: f.Plan, Of: call, Params: state.params, IsFurther: state.attempt > 0,
		IsReplacement: f.replacement(i) != nil,
		IsDecided:     state.approved || call.Each != nil || call.Latent() && call.Produced != nil,
	}
	return c
}

// judgeStart is what the guards make of the next attempt of a call: the first that doesn't allow it decides.
func judgeStart(f *frame, i int32) guard.Verdict {
	c := guardedCall(f, i)
	for _, g := range f.machine.guards {
		if v := g.Starts(c); v.Kind != guard.Allow {
			return v
		}
	}
	return guard.Verdict{}
}

// tellGuards tells what became of a call.
func tellGuards(f *frame, i int32, stage guard.Stage) {
	c := guardedCall(f, i)
	for _, g := range f.machine.guards {
		g.Settled(c, stage)
	}
}

// place is where a call of the guards is.
func (m *Machine) place(c *guard.Call) (*frame, int32) { return m.frames[c.Frame], int32(c.Call) }

// orders refuses what an order rule forbids.
func (m *Machine) orders() guard.Order {
	return func(c *guard.Call) *policy.Counts { return &m.frames[c.Frame].root().orders }
}

// setGuards gives the machine its guards, in their order.
func (m *Machine) setGuards() {
	if len(policy.Checks(m.base().Policies)) > 0 {
		m.guards = append(m.guards, m.orders())
	}
	if o := m.options.Permit; o != nil {
		look := func(c *guard.Call) *guard.Details {
			f, i := m.place(c)
			return detailsOf(f, i, c)
		}
		m.permit = guard.PermitOf(o, look)
		m.guards = append(m.guards, m.permit)
	}
	ask := func(asks func(f *frame, i int32, c *guard.Call) bool) {
		m.guards = append(m.guards, guard.Start(func(c *guard.Call) (v guard.Verdict) {
			if f, i := m.place(c); !c.IsDecided && asks(f, i, c) {
				v.Kind = guard.Ask
			}
			return v
		}))
	}
	// where what runs isn't known to be read-only (of a plan, its calls are judged), and about what a person put in the
	// place of another; or about every call
	ask(func(f *frame, i int32, c *guard.Call) bool {
		policy := m.options.Confirm.Policy
		return policy == Always || hasAnswer(f, i) || needsReviewer(f, i) || policy == Effects &&
			(c.IsReplacement || c.Of.Delegate == "" && f.effect(i).Kind != effects.ReadOnly)
	})
	if m.base().Advice.Enforce == "ask" {
		ask(func(f *frame, _ int32, c *guard.Call) bool { return uncertainty(f, c.Of) != "" })
	}
	m.guards = append(m.guards, guard.Others...)
	m.guards = append(m.guards, guard.Start(func(c *guard.Call) (v guard.Verdict) {
		if why := limitOf(m.place(c)); why != "" {
			v.Kind, v.Reason = guard.Stop, string(why)
		}
		return v
	}))
}

func uncertainty(f *frame, call *plan.Call) string {
	return guard.Uncertainty(&f.machine.base().Advice, f.root().ranking, call)
}

func (f *frame) root() *frame {
	for f.parent != nil {
		f = f.parent
	}
	return f
}
