package runtime

import (
	"maps"
	"slices"
	"time"

	"github.com/obelus-dev/obelus/analyzer/envelope"
	"github.com/obelus-dev/obelus/analyzer/facts"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/runtime/state"
)

// A run under an approval is held to its envelope twice. A call that a model has
// written is compared by its text as it arrives: while a person is asked about one that
// leaves the envelope, nothing starts. And every call is compared just before a try of it
// starts, with its values, who wrote what it reads and what is left of the budget,
// whatever brought it there: a model, a person who changed or replaced it, a list that
// turned out longer, a resumed run.

type permitGuard struct {
	*envelope.Account
	facts map[*plan.Call]*facts.Call // of the calls of the tick
	asked int                        // calls that a person is asked about as they arrived
	next  *envelope.Start            // what was admitted last, and starts now
}

type permitState struct {
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

func (c *callState) asks() bool {
	return c.status == Asking || c.status == Waiting && c.more != nil && c.more.permitState.early
}

func (f *frame) screen(i int32) {
	e := f.machine.permit
	if e == nil || f.calls[i].status != Waiting {
		return
	}
	given := f.circumstances()
	_, differences := e.Account.Judge(f.site.Delegate, f.factsOf(i), &given)
	if len(differences) == 0 {
		return
	}
	state, asWritten := &f.calls[i], map[string]any{}
	for _, field := range f.plan.Calls[i].Params.Fields {
		asWritten[field.Key] = field.Value.Node.Value()
	}
	state.details().permitState.early = true
	e.asked++
	state.params = asWritten
	f.askOutside(i, differences)
	state.params = nil
}

func (f *frame) askOutside(i int32, differences []envelope.Difference) {
	q := f.question(i)
	q.Outside, q.Beyond = differences, envelope.Digest(differences)
	f.calls[i].details().question = q
	f.put(i, "")
}

// admit reports whether a try of a call may start. If it may not, a person is asked.
func (f *frame) admit(i int32) bool {
	e, state := f.machine.permit, &f.calls[i]
	if e == nil {
		return true
	}
	call := f.call(i)
	cost, _ := compiler.CostOf(call.Tool)
	s := &envelope.Start{In: f.site.Delegate, Call: f.factsOf(i), Further: state.attempt > 0, Cost: cost}
	s.Given = f.circumstances()
	s.Given.Writers, s.Given.Values = f.writers(i), state.params
	e.next = s
	differences := e.Admit(s)
	if more := state.more; more != nil && len(differences) > 0 {
		if differences = envelope.Without(differences, more.permitState.approved); more.permitState.again {
			differences = slices.DeleteFunc(differences, func(d envelope.Difference) bool { return d.What == envelope.Times })
		}
	}
	if len(differences) == 0 {
		return true
	}
	f.askOutside(i, differences)
	return false
}

// charge takes a try that starts off what is left of the envelope.
func (f *frame) charge(i int32) {
	if e := f.machine.permit; e != nil && e.next != nil {
		e.Charge(e.next)
		f.reader().writes(f.listed(i), e.next.Call.Tool)
		f.calls[i].details().permitState.charged, e.next = e.next, nil
	}
}

// listed is the call of the plan that runs in a place: of an item the one that runs it.
func (f *frame) listed(i int32) *plan.Call {
	if f.items != nil {
		return f.parent.plan.Calls[f.under]
	}
	return f.plan.Calls[i]
}

// circumstances are what is known of a call for its envelope before its values are.
func (f *frame) circumstances() envelope.Given {
	reader := f.reader()
	return envelope.Given{
		Live: true, Instance: f.site.Instance, Tick: f.machine.tick,
		Beside: func(name string) (*facts.Call, bool) {
			at := slices.IndexFunc(reader.plan.Calls, func(c *plan.Call) bool { return c.Name == name })
			if at < 0 {
				return nil, false
			}
			return reader.judged(int32(at))
		},
	}
}

// judged are the facts of a call as they count for those that come after it, and whether a
// person has approved that it does something else.
func (f *frame) judged(i int32) (c *facts.Call, approved bool) {
	more := f.calls[i].more
	if more == nil || more.replacement == nil && len(more.permitState.changed)+len(more.permitState.approved) == 0 {
		return f.machine.permit.factsOf(f.plan, f.plan.Calls[i]), false
	}
	return f.factsOf(i), len(more.permitState.approved) > 0
}

func (f *frame) refund(i int32) {
	if more := f.calls[i].more; more != nil && more.permitState.charged != nil && f.repeatable(i) {
		f.machine.permit.Refund(more.permitState.charged)
		more.permitState.charged = nil
	}
}

// factsOf are those of what runs in a place of the plan.
func (f *frame) factsOf(i int32) *facts.Call {
	one, more := *f.machine.permit.factsOf(f.reader().plan, f.listed(i)), f.calls[i].more
	if more != nil && more.replacement != nil {
		one = *envelope.InPlace(more.permitState.wrote.facts, &one)
	}
	one.Name = f.plan.Calls[i].Name
	if f.calls[i].status != Waiting { // its parameters are known
		effect := f.effect(i)
		one.Effect.Kind, one.Effect.OpenWorld = effect.Kind, effect.OpenWorld
	}
	if more != nil && len(more.permitState.changed) > 0 {
		return envelope.Changed(&one, f.calls[i].params, more.permitState.changed)
	}
	return &one
}

func (e *permitGuard) factsOf(plan *plan.Plan, call *plan.Call) *facts.Call {
	known := e.facts[call]
	if known == nil {
		known = facts.OfCalls(plan)(call)
		e.facts[call] = known
	}
	return known
}

func (f *frame) change(i int32, params map[string]any) {
	if f.machine.permit == nil {
		return
	}
	was, kept := f.calls[i].params, &f.calls[i].details().permitState
	for _, name := range slices.Sorted(maps.Keys(state.Over(was, params))) {
		before, given := was[name]
		if now, there := params[name]; (given != there || !schema.Equal(now, before)) && !slices.Contains(kept.changed, name) {
			kept.changed = append(kept.changed, name)
		}
	}
}

// writers are the tools that have written what a call reads, by path.
func (f *frame) writers(i int32) map[string][]string {
	reader := f.reader()
	all := reader.writersFor(reader.plan, f.listed(i), reader.sees)
	if f.replacement(i) != nil {
		maps.Copy(all, f.calls[i].more.permitState.wrote.writers)
	}
	return all
}

// writersFor are the tools that have written what a call reads, by path, of the messages that count.
func (f *frame) writersFor(plan *plan.Plan, call *plan.Call, counts func(*plan.Read, *Message) bool) map[string][]string {
	all := map[string][]string{}
	for _, r := range call.Reads {
		read := &plan.Reads[r]
		if compiler.ReadsItem(plan, read) {
			continue
		}
		path := read.Ref.String()
		tools := all[path]
		for _, message := range f.log.Over(read.Path) {
			tool, known := f.wrote[writing{message.Tick, message.Call}]
			if known && counts(read, message) && !slices.Contains(tools, tool) { // else it is of a record that the run was begun with
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

func (f *frame) writes(call *plan.Call, as string) {
	if f.wrote == nil {
		f.wrote = map[writing]string{}
	}
	f.wrote[writing{f.machine.tick, call.Index}] = as
}

// viewed is what a replacement is judged by: what is there now.
func (f *frame) viewed(p *plan.Plan, by *plan.Call) *replacementView {
	if f.machine.permit == nil {
		return nil
	}
	return &replacementView{facts.OfCalls(p)(by), f.writersFor(p, by, func(*plan.Read, *Message) bool { return true })}
}

// decidedOutside takes the answer to a question about what leaves the envelope, and
// reports whether that was all. An approval is of what was shown: it names it.
func (f *frame) decidedOutside(i int32, d *Decision) bool {
	state := &f.calls[i]
	q, a := state.more.question, &state.more.permitState
	switch {
	case d.Verdict == Approve && d.Beyond != q.Beyond:
		f.put(i, "it leaves what was approved, and an approval of that names what it is about: \"beyond\": \""+q.Beyond+"\"")
		return true
	case d.Verdict == Approve && f.machine.options.Signed && d.Signed == "":
		f.put(i, "the approval that it leaves is signed, and so has to be an approval of that, by people whose signatures count: \"obelus decide\" signs one")
		return true
	case d.Verdict == Approve:
		a.approved = append(a.approved, q.Outside...)
	case a.early && d.Verdict != Reject:
		f.put(i, "its values aren't known yet: approve it as it is written, or reject it")
		return true
	}
	if !a.early {
		return false
	}
	f.closeEarly(i)
	if d.Verdict == Reject {
		return !f.transition(i, Queued) || !f.transition(i, Asking)
	}
	state.more.decide(d)
	state.more.question = nil
	f.look(i)
	return true
}

// closeEarly notes that a person isn't asked any more about a call that arrived outside of
// the envelope.
func (f *frame) closeEarly(i int32) {
	f.calls[i].more.permitState.early = false
	f.machine.permit.asked--
}

// overspends reports whether a run exceeds the budget of its envelope as a whole; further are the requests that its
// planner is about to get.
func (m *Machine) overspends(further int) bool {
	e := m.permit
	if e == nil {
		return false
	}
	if m.loop != nil {
		further += m.tick - m.loop.unasked
	}
	e.Asked = m.usage.Cost
	why := e.Overspent(further, m.now.Seconds())
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
	if e := m.permit; e != nil && e.Budget.Time != nil {
		own := max(time.Duration(*e.Budget.Time*float64(time.Second))+time.Nanosecond-m.now, time.Nanosecond)
		if left == 0 || own < left {
			left = own
		}
	}
	return left
}
