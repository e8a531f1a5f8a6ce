package runtime

import (
	"slices"

	"github.com/obelus-dev/obelus/analyzer/facts"
	"github.com/obelus-dev/obelus/analyzer/permit"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/effects"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/runtime/guard"
)

// codeMisfit is the code of an output that its schema rejects: that of the rule that finds it beforehand.
const codeMisfit = "output-mismatch"

// guardedCall is a call as the guards see it, until the next one.
func guardedCall(f *frame, i int32) *guard.Call {
	c, state, call := &f.machine.guarded, &f.calls[i], f.call(i)
	*c = guard.Call{
		Try: f.tryOf(i).OfCall(), Instance: f.site.Instance, Orders: &f.root().orders,
		Plan: f.Plan, Of: call, Params: state.params, IsFurther: state.attempt > 0,
	}
	return c
}

// checkStart is what the guards make of the next attempt of a call: the first that doesn't allow it decides.
func checkStart(f *frame, i int32) guard.Verdict {
	c, m := guardedCall(f, i), f.machine
	for _, g := range m.guards {
		if v := g.Starts(c); v.Kind != guard.Allow {
			return v
		}
	}
	isDecided := f.calls[i].approved || c.Of.Each != nil || c.Of.Latent() && c.Of.Produced != nil
	asksOnDoubt := m.base().Advice.Enforce == "ask"
	if !isDecided && (isConfirmed(f, i) || asksOnDoubt && uncertainty(f, c.Of) != "") {
		return guard.Verdict{Kind: guard.Ask}
	}
	for _, decide := range guard.Others {
		if v := decide(c); v.Kind != guard.Allow {
			return v
		}
	}
	if why := limitOf(f, i); why != "" {
		return guard.Verdict{Kind: guard.Stop, Reason: string(why)}
	}
	return guard.Verdict{}
}

// isConfirmed reports whether a person is asked about a call: where what runs isn't known to be read-only (of a plan,
// its calls are judged), and about what a person put in the place of another; or about every call.
func isConfirmed(f *frame, i int32) bool {
	policy := f.machine.options.Confirm.Policy
	return policy == Always || needsReviewer(f, i) || len(f.machine.answers) > 0 && hasAnswer(f, i) ||
		policy == Effects && (f.replacement(i) != nil || f.call(i).Delegate == "" &&
			f.effect(i).Kind != effects.ReadOnly)
}

// tellGuards tells what became of a call.
func tellGuards(f *frame, i int32, stage guard.Stage) {
	c := guardedCall(f, i)
	for _, g := range f.machine.guards {
		g.Settled(c, stage)
	}
}

// forbidden is why no order rule of a policy lets a call start now with parameters; nil when it may.
func forbidden(f *frame, i int32, call *plan.Call, params map[string]any) *Failure {
	c := guardedCall(f, i)
	c.Of, c.Params = call, params
	v := guard.Order{}.Starts(c)
	if v.Kind != guard.Refuse {
		return nil
	}
	return &Failure{Code: v.Code, Message: v.Reason}
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

func (c *callState) asks() bool {
	return c.status == Asking || c.status == Waiting && c.more != nil && c.more.early
}

// checkArrival asks a reviewer about a call of a planner that leaves the permit as it is written.
func checkArrival(f *frame, i int32) {
	m, state := f.machine, &f.calls[i]
	for _, g := range m.guards {
		if state.status != Waiting || state.asks() {
			return
		}
		if v := g.Arrives(guardedCall(f, i)); v.Outside != nil {
			state.details().early = true
			m.asked++
			state.params = map[string]any{} // as they are written
			for _, field := range f.Plan.Calls[i].Params.Fields {
				state.params[field.Key] = field.Value.Node.Value()
			}
			askOutside(f, i, v.Outside)
			state.params = nil
		}
	}
}

func askOutside(f *frame, i int32, differences []permit.Difference) {
	q := questionOf(f, i)
	q.Outside, q.Beyond = differences, permit.Digest(differences)
	f.calls[i].details().question = q
	f.put(i, "")
}

// decidedOutside takes the answer to a question about what leaves the permit, and reports whether that was all.
func decidedOutside(f *frame, i int32, d *Decision) bool {
	more := f.calls[i].more
	q := more.question
	switch {
	case d.Verdict == Approve && d.Beyond != q.Beyond:
		f.put(i, "it leaves what was approved, and an approval of that names what it is about: \"beyond\": \""+
			q.Beyond+"\"")
		return true
	case d.Verdict == Approve && f.machine.options.Signed && d.Signed == "":
		f.put(i, "the approval that it leaves is signed, and so has to be an approval of that, by people whose "+
			"signatures count: \"obelus decide\" signs one")
		return true
	case d.Verdict == Approve:
		more.approvedOutside = append(more.approvedOutside, q.Outside...)
	case more.early && d.Verdict != Reject:
		f.put(i, "its values aren't known yet: approve it as it is written, or reject it")
		return true
	}
	if !more.early {
		return false
	}
	closeEarly(f, i)
	if d.Verdict == Reject {
		f.transition(i, Queued)
		f.transition(i, Asking)
		return false
	}
	more.decide(d)
	more.question = nil
	f.look(i)
	return true
}

// closeEarly notes that a reviewer isn't asked any more about a call as it arrived.
func closeEarly(f *frame, i int32) {
	f.calls[i].more.early = false
	f.machine.asked--
}

// detailsOf is a call as the permit compares it.
func detailsOf(f *frame, i int32, of *guard.Call) *guard.Details {
	state, p := &f.calls[i], f.reader().Plan
	c := &guard.Details{
		Call: of, IsOwn: f.machine.loop != nil && f.parent == nil,
		Find: func(name string) *facts.Call {
			at := slices.IndexFunc(p.Calls, func(c *plan.Call) bool { return c.Name == name })
			if at < 0 {
				return nil
			}
			return f.machine.program(p).Facts(p.Calls[at])
		},
	}
	c.Cost, _ = compiler.CostOf(f.call(i).Tool)
	c.In, c.Subject.Call, c.Values, c.Wrote = f.site.Delegate, factsOfCall(f, i), state.params,
		writersByPath(f.reader(), listedCall(f, i))
	if c.IsReplacement = f.replacement(i) != nil; state.more != nil {
		c.IsAgain, c.Approved = state.more.isAgain, state.more.approvedOutside
	}
	return c
}

// factsOfCall are those of what runs in a place of the plan.
func factsOfCall(f *frame, i int32) *facts.Call {
	one, more := *f.machine.program(f.reader().Plan).Facts(listedCall(f, i)), f.calls[i].more
	if more != nil && more.facts != nil {
		one = *more.facts
	}
	one.Name = f.Plan.Calls[i].Name
	if f.calls[i].status != Waiting { // its parameters are known
		effect := f.effect(i)
		one.Effect.Kind, one.Effect.OpenWorld = effect.Kind, effect.OpenWorld
	}
	return &one
}

// writersByPath are those of what a call reads, by path.
func writersByPath(f *frame, call *plan.Call) map[string][]permit.Writer {
	all := map[string][]permit.Writer{}
	for _, r := range call.Reads {
		read := &f.Plan.Reads[r]
		if compiler.ReadsItem(f.Plan, read) {
			continue
		}
		path := read.Ref.String()
		writers := all[path]
		for _, message := range f.Log.Over(read.Path) {
			// else it is of a record that the run was begun with
			if w, known := message.By.(permit.Writer); known && f.Sees(read, message) {
				writers = append(writers, w)
			}
		}
		all[path] = writers
	}
	return all
}
