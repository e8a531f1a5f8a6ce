package runtime

import (
	"slices"
	"time"

	"github.com/obelus-dev/obelus/analyzer/facts"
	"github.com/obelus-dev/obelus/analyzer/permit"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/runtime/guard"
)

// permitState is what the permit has to do with a call.
type permitState struct {
	early      bool                // a reviewer is asked about it, as it arrived
	again      bool                // a reviewer has it run again that was cut short, however often that is then
	approved   []permit.Difference // by a reviewer
	own        *facts.Call         // of what a reviewer made of it
	isReplaced bool                // by a reviewer
}

func (c *callState) asks() bool {
	return c.status == Asking || c.status == Waiting && c.more != nil && c.more.permitState.early
}

// detailsOf is a call as the permit compares it.
func detailsOf(f *frame, i int32, of *guard.Call) *guard.Details {
	state, reader := &f.calls[i], f.reader()
	c := &guard.Details{
		Call: of, IsOwn: f.machine.loop != nil && f.parent == nil,
		Find: func(name string) *facts.Call {
			at := slices.IndexFunc(reader.Plan.Calls, func(c *plan.Call) bool { return c.Name == name })
			if at < 0 {
				return nil
			}
			return f.machine.program(reader.Plan).Facts(reader.Plan.Calls[at])
		},
	}
	c.Cost, _ = compiler.CostOf(f.call(i).Tool)
	c.In, c.Subject.Call, c.Values, c.Wrote = f.site.Delegate, factsOfCall(f, i), state.params,
		writersByPath(reader, listedCall(f, i))
	if more := state.more; more != nil {
		c.Subject.IsReplacement = more.permitState.isReplaced
		c.IsAgain, c.Approved = more.permitState.again, more.permitState.approved
	}
	return c
}

// checkArrival asks a reviewer about a call of a planner that leaves the permit as it is written.
func checkArrival(f *frame, i int32) {
	m, state := f.machine, &f.calls[i]
	for _, g := range m.guards {
		if state.status != Waiting || state.asks() {
			return
		}
		if v := g.Arrives(guardedCall(f, i)); v.Outside != nil {
			asWritten := map[string]any{}
			for _, field := range f.Plan.Calls[i].Params.Fields {
				asWritten[field.Key] = field.Value.Node.Value()
			}
			state.details().permitState.early = true
			m.asked++
			state.params = asWritten
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

// factsOfCall are those of what runs in a place of the plan.
func factsOfCall(f *frame, i int32) *facts.Call {
	one, more := *f.machine.program(f.reader().Plan).Facts(listedCall(f, i)), f.calls[i].more
	if more != nil && more.permitState.own != nil {
		one = *more.permitState.own
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

// decidedOutside accepts the answer to a question about what leaves the permit, and reports whether that was all. An
// approval is of what was shown: it names it.
func decidedOutside(f *frame, i int32, d *Decision) bool {
	state := &f.calls[i]
	q, a := state.more.question, &state.more.permitState
	switch {
	case d.Verdict == Approve && d.Beyond != q.Beyond:
		f.put(i, "it leaves what was approved, and an approval of that names what it is about: \"beyond\": \""+
			q.Beyond+"\"")
		return true
	case d.Verdict == Approve && f.machine.options.Signed && d.Signed == "":
		f.put(i,
			"the approval that it leaves is signed, and so has to be an approval of that, by people whose "+
				"signatures count: "+
				"\"obelus decide\" signs one")
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
	closeEarly(f, i)
	if d.Verdict == Reject {
		f.transition(i, Queued)
		f.transition(i, Asking)
		return false
	}
	state.more.decide(d)
	state.more.question = nil
	f.look(i)
	return true
}

// closeEarly notes that a reviewer isn't asked any more about a call as it arrived.
func closeEarly(f *frame, i int32) {
	f.calls[i].more.permitState.early = false
	f.machine.asked--
}

// overspends reports whether a run exceeds the budget of its permit as a whole; further are the requests that its
// planner is about to get.
func overspends(m *Machine, further int) bool {
	if m.permit == nil {
		return false
	}
	if m.loop != nil {
		further += m.tick - m.loop.unasked
	}
	why := m.permit.Overspent(further, m.usage.Cost, m.now.Seconds())
	if why != "" {
		m.why = why
	}
	return why != ""
}

// deadline is how long the run may still take by its own limit and by its permit; 0 is for ever.
func deadline(m *Machine) time.Duration {
	var left time.Duration
	if limit := m.plan.Limits.Time; limit > 0 {
		left = max(limit-(m.now-m.spent.time), time.Nanosecond)
	}
	if m.permit == nil {
		return left
	}
	if seconds, bounded := m.permit.Budget["time"]; bounded {
		own := max(time.Duration(seconds*float64(time.Second))+time.Nanosecond-m.now, time.Nanosecond)
		if left == 0 || own < left {
			left = own
		}
	}
	return left
}
