package runtime

import (
	"maps"
	"slices"
	"time"

	"github.com/obelus-dev/obelus/analyzer/envelope"
	"github.com/obelus-dev/obelus/analyzer/facts"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/runtime/statelog"
)

// A run under an approval is held to its envelope (S16.2) twice. A call that a model has
// written is judged by its text as it arrives: while a person is asked about one that
// leaves the envelope, nothing starts. And every call is judged just before a try of it
// starts, by its values, by who wrote what it reads and by what is left of the budget,
// whatever brought it there: a model, a person who changed or replaced it, a list that
// turned out longer, a resumed run.

// enclosure is what a machine has that is held to an envelope.
type enclosure struct {
	*envelope.Account
	facts  map[*compiler.Call]*facts.Call // of the calls of the tick
	asked  int                            // calls that a person is asked about as they arrived
	next   *envelope.Start                // what was admitted last, and starts now
	models float64                        // what models have cost
}

// admission is what an envelope has to do with a call.
type admission struct {
	early bool // a person is asked about it, as it arrived outside of the envelope
	again bool // a person has it run again that was cut short, however often that is then
	// Approved are the differences that a person has approved.
	approved []envelope.Difference
	changed  []string         // the parameters that a person gave other values
	charged  *envelope.Start  // its last try
	wrote    *replacementView // of what a person put in its place
}

// A replacementView is what a replacement was judged by when it was written.
type replacementView struct {
	facts   *facts.Call
	writers map[string][]string
}

// asks reports whether a person is being asked about a call.
func (c *callState) asks() bool {
	return c.status == Asking || c.status == Waiting && c.more != nil && c.more.admission.early
}

// isGated reports whether nothing may start, since a solution has left the envelope and
// nobody has decided about that yet.
func (m *Machine) isGated() bool { return m.enclosure != nil && m.enclosure.asked > 0 }

// screen asks about a call that arrives outside of the envelope.
func (f *frame) screen(i int32) {
	e := f.machine.enclosure
	if e == nil || f.calls[i].status != Waiting {
		return
	}
	_, amiss := e.Judge(f.site.Delegate, f.factsOf(i), envelope.Given{Live: true, Later: true, Instance: f.site.Instance})
	if len(amiss) == 0 {
		return
	}
	more := f.calls[i].rare()
	more.admission.early = true
	e.asked++
	more.question = f.question(i)
	more.question.Params = map[string]any{}
	for _, field := range f.plan.Calls[i].Params.Fields {
		more.question.Params[field.Key] = field.Value.Node.Value()
	}
	effect := f.plan.Effect(f.plan.Calls[i], nil) // its parameters aren't known yet
	more.question.Effects, more.question.EffectsBy, more.question.Claimed, more.question.OpenWorld = effect.Kind, effect.By, effect.Claimed, effect.OpenWorld
	more.question.outside(amiss)
	f.put(i, "")
}

// outside says that a question is about what leaves the envelope.
func (q *Question) outside(amiss []envelope.Difference) {
	q.Outside, q.Beyond, q.Within = amiss, envelope.Digest(amiss), 0
}

// admit reports whether a try of a call may start. If it may not, a person is asked.
func (f *frame) admit(i int32) bool {
	e, state := f.machine.enclosure, &f.calls[i]
	if e == nil {
		return true
	}
	call := f.call(i)
	cost, _ := call.Tool.Cost()
	s := &envelope.Start{In: f.site.Delegate, Call: f.factsOf(i), Further: state.attempt > 0, Cost: cost}
	s.Given = envelope.Given{Live: true, Writers: f.writers(i), Values: state.params, Instance: f.site.Instance}
	e.next = s
	amiss := e.Admit(s)
	if more := state.more; more != nil && len(amiss) > 0 {
		if amiss = envelope.Without(amiss, more.admission.approved); more.admission.again {
			amiss = slices.DeleteFunc(amiss, func(d envelope.Difference) bool { return d.What == envelope.Times })
		}
	}
	if len(amiss) == 0 {
		return true
	}
	state.rare().question = f.question(i)
	state.more.question.outside(amiss)
	f.put(i, "")
	return false
}

// charge takes a try that starts off what is left of the envelope.
func (f *frame) charge(i int32) {
	if e := f.machine.enclosure; e != nil && e.next != nil {
		e.Charge(e.next)
		f.calls[i].rare().admission.charged, e.next = e.next, nil
	}
}

// refund gives back a try that was cut short and does nothing more when it is made again.
func (f *frame) refund(i int32) {
	if more := f.calls[i].more; more != nil && more.admission.charged != nil && f.repeatable(i) {
		f.machine.enclosure.Refund(more.admission.charged)
		more.admission.charged = nil
	}
}

// factsOf are those of what runs in a place of the plan.
func (f *frame) factsOf(i int32) *facts.Call {
	e, plan, call := f.machine.enclosure, f.plan, f.plan.Calls[i]
	if f.items != nil {
		plan, call = f.parent.plan, f.parent.plan.Calls[f.under]
	}
	var one facts.Call
	if more := f.calls[i].more; more != nil && more.replacement != nil {
		one = *more.admission.wrote.facts
	} else {
		known := e.facts[call]
		if known == nil {
			known = facts.OfCall(plan, call)
			e.facts[call] = known
		}
		one = *known
	}
	one.Name = f.plan.Calls[i].Name
	if f.calls[i].status != Waiting { // its parameters are known
		effect := f.effect(i)
		one.Effect.Kind, one.Effect.OpenWorld = effect.Kind, effect.OpenWorld
	}
	if more := f.calls[i].more; more != nil && len(more.admission.changed) > 0 {
		return envelope.Changed(&one, f.calls[i].params, more.admission.changed)
	}
	return &one
}

// change notes which parameters a person gives other values.
func (f *frame) change(i int32, params map[string]any) {
	if f.machine.enclosure == nil {
		return
	}
	was, more := f.calls[i].params, f.calls[i].rare()
	for _, name := range slices.Sorted(maps.Keys(was)) {
		if v, there := params[name]; (!there || !schema.Equal(v, was[name])) && !slices.Contains(more.admission.changed, name) {
			more.admission.changed = append(more.admission.changed, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(params)) {
		if _, there := was[name]; !there && !slices.Contains(more.admission.changed, name) {
			more.admission.changed = append(more.admission.changed, name)
		}
	}
}

// writers are the tools that have written what a call reads, by path.
func (f *frame) writers(i int32) map[string][]string {
	if f.replacement(i) != nil {
		return f.calls[i].more.admission.wrote.writers
	}
	reader, call := f.reader(), f.plan.Calls[i]
	if f.items != nil {
		call = f.parent.plan.Calls[f.under]
	}
	return reader.writersFor(reader.plan, call, func(read *compiler.Read) func(*Message) bool {
		return func(message *Message) bool { return reader.sees(read, message) }
	})
}

func (f *frame) writersFor(plan *compiler.Plan, call *compiler.Call, seen func(*compiler.Read) func(*Message) bool) map[string][]string {
	all := map[string][]string{}
	for _, r := range call.Reads {
		read := &plan.Reads[r]
		if plan.OfItem(read) {
			continue
		}
		path, counts := read.Ref.String(), seen(read)
		tools := all[path]
		for _, message := range f.log.Over(read.Path) {
			tool, known := f.wrote[writing{message.Tick, message.Call}]
			if known && counts(message) && !slices.Contains(tools, tool) { // else it is of a record that the run was begun with
				tools = append(tools, tool)
			}
		}
		slices.Sort(tools)
		all[path] = tools
	}
	return all
}

// writing is the call that wrote a message of a frame's log.
type writing struct{ tick, call int }

// viewed is what a replacement is judged by: what is there now.
func (f *frame) viewed(plan *compiler.Plan, by *compiler.Call) *replacementView {
	if f.machine.enclosure == nil {
		return nil
	}
	return &replacementView{facts.OfCall(plan, by), f.writersFor(plan, by, func(*compiler.Read) func(*Message) bool { return statelog.Anyone })}
}

// decidedOutside takes the answer to a question about what leaves the envelope, and
// reports whether that was all. An approval is of what was shown: it names it.
func (f *frame) decidedOutside(i int32, d *Decision) bool {
	state := &f.calls[i]
	q, a := state.more.question, &state.more.admission
	switch {
	case d.Verdict == Approve && d.Beyond != q.Beyond:
		f.askAgain(i, "it leaves what was approved, and an approval of that names what it is about: \"beyond\": \""+q.Beyond+"\"")
		return true
	case d.Verdict == Approve && !a.early:
		a.approved = append(a.approved, q.Outside...)
		return false
	case d.Verdict == Approve:
		f.closeEarly(i)
		a.approved = append(a.approved, q.Outside...)
		state.more.decide(d)
		state.more.question = nil
		f.look(i)
		return true
	case a.early && d.Verdict != Reject:
		f.askAgain(i, "its values aren't known yet: approve it as it is written, or reject it")
		return true
	case a.early:
		f.closeEarly(i)
		return !f.transition(i, Queued) || !f.transition(i, Asking)
	}
	return false
}

// closeEarly notes that a person isn't asked any more about a call that arrived outside of
// the envelope.
func (f *frame) closeEarly(i int32) {
	f.calls[i].more.admission.early = false
	f.machine.enclosure.asked--
}

// checkEnvelope stops a run that has used up what its envelope allows as a whole.
func (m *Machine) checkEnvelope() {
	if !m.over && m.overspends(m.tick) {
		m.drain(ReasonEnvelope)
	}
}

// overspends reports whether a run that has come to a tick leaves the budget of its
// envelope as a whole.
func (m *Machine) overspends(tick int) bool {
	e := m.enclosure
	if e == nil {
		return false
	}
	e.Spend(m.usage.Cost - e.models)
	e.models = m.usage.Cost
	why := e.Overspent(tick, m.now.Seconds())
	if why != "" {
		m.why = why
	}
	return why != ""
}

// deadline is how long the run may still take by its own limit and by its envelope; 0 is
// for ever.
func (m *Machine) deadline() time.Duration {
	var left time.Duration
	if limit := m.plan.Limits.Time; limit > 0 {
		left = max(limit-(m.now-m.spent.time), time.Nanosecond)
	}
	if e := m.enclosure; e != nil && e.Budget.Time != nil {
		own := max(time.Duration(*e.Budget.Time*float64(time.Second))+time.Nanosecond-m.now, time.Nanosecond)
		if left == 0 || own < left {
			left = own
		}
	}
	return left
}

// outOfTime stops a run whose time is up.
func (m *Machine) outOfTime() {
	if m.overspends(m.tick) {
		m.stop(ReasonEnvelope)
	} else {
		m.stop(ReasonTime)
	}
}
