package runtime

import (
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/runtime/request"
)

// A standing is what has become of a call of a carried plan.
type standing struct {
	call           *source.Node // as it was written
	name, instance string
	status, reason string     // "" for one that hasn't run
	decision       *Decision  // of a person, or nil
	each           []standing // where it isn't the same in all instances: in each of them
}

// standings are they as a request tells them.
func standings(list []standing) []request.Standing {
	all := make([]request.Standing, len(list))
	for i, one := range list {
		all[i] = one.report()
	}
	return all
}

func (one *standing) report() request.Standing {
	return request.Standing{
		Call: one.call, Name: one.name, Instance: one.instance, Status: one.status, Reason: one.reason,
		Decision: one.decision.report(), Each: standings(one.each),
	}
}

// carry makes the solution's calls the next request's plan message, and notes what
// that and the state don't show them.
func (m *Machine) carry() {
	l := m.loop
	if m.plan.CallsNode == nil {
		return // of a solution that couldn't be read, the plan before it stands
	}
	l.recorded = nil
	l.carried = make([]standing, len(m.plan.Calls))
	for i, call := range m.plan.Calls {
		l.carried[i] = standing{call: call.Node, name: call.Name}
	}
	for _, f := range m.roots() {
		for i, call := range f.plan.Calls {
			one := standing{call: call.Node, name: call.Name, instance: f.site.Instance}
			s := f.calls[i].details().settlement
			if s.absent { // of several values that it lacks, timing decided which was seen first
				if _, v := f.evaluate(call); v.skip != "" {
					s.Reason = v.skip
				}
			}
			one.take(s)
			l.carried[call.Place].each = append(l.carried[call.Place].each, one)
			f.tellItems(int32(i))
			if settled, ok := f.reportApart(int32(i), one, s); ok {
				l.past.Add(settled)
			}
		}
	}
	for i := range l.carried {
		l.carried[i].fold()
	}
}

// dropped are the calls of the carried plan that have never run and that the tick's
// solution doesn't list any more: neither one of their id, nor another one of their tool,
// path and instance.
func (m *Machine) dropped() (names []string) {
	if !m.loop.carries || m.plan.CallsNode == nil {
		return nil
	}
	key := func(call *source.Node) string {
		if id := call.Get("_id").AsText(); id != "" {
			return id
		}
		return strings.Join([]string{call.Get("_tool").AsText(), call.Get("_outputPath").AsText(), call.Get("_instance").AsText()}, "\x00")
	}
	listed := map[string]int{}
	for _, call := range m.plan.Calls {
		listed[key(call.Node)]++
	}
	for _, one := range m.loop.carried {
		if listed[key(one.call)]--; listed[key(one.call)] >= 0 || len(one.each) > 0 || one.status != "" && one.status != Skipped.String() {
			continue
		}
		name := one.name
		if name == "" {
			name = one.call.Get("_tool").AsText()
		}
		names = append(names, name)
	}
	return names
}

// reportApart is what the next requests report about a call besides what it wrote and what
// the carried plan says of it: one that did something and wrote nothing, so that it
// isn't done again for want of knowing; and, where no plan is carried, one about which
// a person decided otherwise than to let it run.
func (f *frame) reportApart(i int32, one standing, s *Settlement) (request.Settled, bool) {
	call := f.plan.Calls[i]
	acted := s.Status == Done && !s.before && len(call.Output) == 0
	if !acted && (f.machine.loop.carries || s.Decision == nil || s.Decision.Verdict == Approve) {
		return request.Settled{}, false
	}
	settled := request.Settled{Standing: one.report(), Tool: f.call(i).ToolName, Tick: f.machine.tick, Result: s.Output}
	if acted && f.replacement(i) == nil { // that one is in the decision
		settled.Params = f.resolvedParams(i)
	}
	return settled, true
}

// tellItems reports of a call's items what neither the state nor the plan shows: what people
// decided about them otherwise than to let them run, and, where the call has failed, which
// are done all the same.
func (f *frame) tellItems(i int32) {
	more, past := f.calls[i].more, &f.machine.loop.past
	if more.results != nil {
		for _, one := range more.results.ended {
			if one.decided || one.done && more.settlement.Status == Failed {
				past.Add(one.report)
			}
		}
	}
	if more.settlement.Status == Failed {
		for _, one := range more.within {
			past.Add(one)
		}
	}
}

// take notes how a call has settled.
func (one *standing) take(s *Settlement) {
	one.status, one.reason, one.decision = s.Status.String(), s.Reason, s.Decision
	if s.Failure != nil {
		one.reason = s.Failure.Error()
	}
}

// fold says once what is the same in all instances.
func (one *standing) fold() {
	differs := func(other standing) bool {
		first := one.each[0]
		return other.status != first.status || other.reason != first.reason || other.decision != first.decision
	}
	if len(one.each) > 0 && !slices.ContainsFunc(one.each, differs) {
		first := one.each[0]
		one.status, one.reason, one.decision, one.each = first.status, first.reason, first.decision, nil
	}
}
