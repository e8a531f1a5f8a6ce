package runtime

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/obelus-dev/obelus/analyzer/permit"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/effects"
	"github.com/obelus-dev/obelus/compiler/label"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/runtime/review"
)

// Confirm is whom the run asks, as it stands.
func (m *Machine) Confirm() Confirm { return m.options.Confirm }

// hasAnswer reports whether an answer waits for a call to be asked about, as it was when the
// run stopped, or as who decided could see that it would be.
func hasAnswer(f *frame, i int32) bool {
	if len(f.machine.answers) == 0 {
		return false
	}
	ids := f.machine.answers[keptFor(f, i)]
	if more := f.calls[i].more; len(ids) == 0 || more != nil && more.question != nil || slices.Contains(ids, "") {
		return len(ids) > 0
	}
	q := questionOf(f, i)
	q.At = f.tryOf(i)
	q.Identify()
	return slices.ContainsFunc(ids, func(id string) bool { return review.SameQuestion(id, q.ID) })
}

func keptFor(f *frame, i int32) KeptAnswer {
	return KeptAnswer{Call: Path(f.site.Under, f.call(i).Name), Instance: f.site.Instance}
}

func (f *frame) tryOf(i int32) Try {
	return Try{Tick: f.machine.tick, Frame: f.number, Call: int(i), Attempt: int(f.calls[i].attempt)}
}

// needsReviewer reports whether the plan has a person asked about a call. A model can't do without by leaving the key
// out: its calls are held to those of the plan that was given, by their tools.
func needsReviewer(f *frame, i int32) bool {
	call := f.Plan.Calls[i]
	if l := f.machine.loop; l != nil && (l.wanted[call.ToolName] || l.wanted[f.call(i).ToolName]) {
		return true
	}
	return call.Confirm || label.Shown(f.Plan, f.call(i))
}

// effect is what the activity may do that carries a call out with its resolved parameters, and who says so.
func (s *schedule) effect(i int32) effects.Effect {
	if s.calls[i].status == Waiting { // its parameters aren't known yet
		return effects.Of(s.Plan, s.call(i), nil)
	}
	return effects.Of(s.Plan, s.call(i), func(t *plan.Tool) bool {
		return t.Parameters == nil || s.Budget.Validate(t.Parameters, s.calls[i].params) == nil
	})
}

func (f *frame) ask(i int32, problem string) {
	f.put(i, problem)
	if q := f.calls[i].more.question; q.Within > 0 {
		f.pause(i, q.Within).Question = q
	}
}

// put puts a question, or puts it anew where its answer can't be taken; the time for the first answer still runs then.
func (f *frame) put(i int32, problem string) {
	state := &f.calls[i]
	more := state.details()
	if more.question == nil {
		more.question = questionOf(f, i)
	}
	q := more.question
	q.Problem, q.At = f.redact(problem), f.tryOf(i)
	if q.Identify(); !q.InFlight && len(q.Outside) == 0 {
		q.Within = f.machine.options.Confirm.Timeout
	}
	if !more.permitState.early {
		f.transition(i, Asking)
	}
	c := f.emit(i, Ask)
	c.Params, c.Question = q.Params, q
}

// Questions are those that are open, in the order in which people are asked.
func (m *Machine) Questions() []*Question {
	var open []ready
	for _, f := range m.frames {
		if f == nil {
			continue
		}
		for i := range f.calls {
			if f.calls[i].asks() {
				open = append(open, f.inLine(int32(i)))
			}
		}
	}
	slices.SortStableFunc(open, ready.compare)
	all := make([]*Question, len(open))
	for i, one := range open {
		all[i] = one.frame.calls[one.call].more.question
	}
	return all
}

// questionOf is what a person has to know of a call: what runs, with all that it is given.
func questionOf(f *frame, i int32) *Question {
	call, effect := f.call(i), f.effect(i)
	q := &Question{
		Call: call.Name, Tool: call.ToolName, Activity: call.Activity, Site: f.site, Reason: call.Reason,
		Params: f.calls[i].params, Runs: review.ExecutionOf(f.Plan, call, f.calls[i].params), Context: f.context(i),
		Effects: effect.Kind, EffectsBy: effect.By, Claimed: effect.Claimed, ClaimedBy: effect.ClaimedBy,
		Untrusted: effect.Untrusted, OpenWorld: effect.OpenWorld,
		Writes: compiler.Offered(f.Plan, compiler.RepeatedCall(call)),
		Occasion: review.Occasion{Advice: f.root().ranking, Uncertainty: uncertainty(f, call),
			Wanted: needsReviewer(f, i)},
		Subject: review.Subject{Plan: f.Plan, Of: call},
	}
	q.Cost, _ = compiler.CostOf(call.Tool)
	if call.Retry.Attempts > 1 {
		q.Attempts = call.Retry.Attempts
	}
	if method := compiler.RepeatedCall(call).Method; method != plan.Set {
		q.Method = method.String()
	}
	if r := f.replacement(i); r != nil {
		q.Replaces, q.Sources, q.Scopes = f.Plan.Calls[i].ToolName, r.sources, r.scopes
	} else {
		q.Sources, q.Scopes = review.Provenance(f.Plan, call,
			func(read *plan.Read) []string { return originsOf(f.reader(), f.reader().Plan, read) })
	}
	if more := f.calls[i].more; more != nil && more.override != nil && more.override.Params != nil {
		q.Sources = nil
		for _, name := range slices.Sorted(maps.Keys(more.override.Params)) {
			q.Sources = append(q.Sources,
				Source{Param: name, From: []string{}, By: cmp.Or(more.override.By, "a person")})
		}
	}
	return q
}

// originsOf names what a read got its value from: calls that wrote, under a permit those of earlier ticks included,
// or what was there from the start. Of a call that hasn't come so far they are those that may write yet. A replacement,
// whose plan p is, is bound to no call: it reads what has been written.
func originsOf(f *frame, p *plan.Plan, r *plan.Read) (from []string) {
	note := func(name string) {
		if !slices.Contains(from, name) {
			from = append(from, name)
		}
	}
	writers := r.Writers
	switch {
	case p != f.Plan:
		for _, m := range f.Log.Messages() {
			if m.Tick == f.machine.tick && f.Program.Paths.Overlap(m.Path, r.Path) {
				note(f.Plan.Calls[m.Call].Name)
			}
		}
	case compiler.ReadsItem(p, r): // what wrote the list
		for _, of := range p.Calls[r.Call].Each.List.Reads {
			writers = append(writers, p.Reads[of].Writers...)
		}
		fallthrough
	default:
		for _, m := range f.Log.Over(r.Path) {
			if w, known := m.By.(permit.Writer); known && m.Tick < f.machine.tick && f.Sees(r, m) {
				note(fmt.Sprintf("%s in tick %d", w.Tool, m.Tick))
			}
		}
	}
	for _, w := range writers {
		if s := f.calls[w].status; s == Done || s == Failed || !s.Settled() {
			from = append(from, p.Calls[w].Name)
		}
	}
	if len(from) == 0 {
		from = []string{f.Program.Paths.Kind(r.Path)}
	}
	return from
}

// unanswered takes the default when the time for an answer is over.
func unanswered(f *frame, i int32) {
	verdict := cmp.Or(f.machine.options.Confirm.Default, Reject)
	if label.Shown(f.Plan, f.call(i)) {
		verdict = Reject // nobody has seen it
	}
	f.emit(i, Cancel)
	takeDecision(f, Event{Try: f.tryOf(i), Decision: &Decision{Verdict: verdict,
		By: review.ByTimeout, Reason: fmt.Sprintf("nobody answered within %v", f.machine.options.Confirm.Timeout)}})
}
