package runtime

import (
	"slices"
)

// request composes what the planner is asked.
func (m *Machine) request() *Request {
	l := m.loop
	s := situation{plan: l.base, tick: m.tick, carries: l.carries, carried: l.carried, decided: l.decided}
	s.input, s.state, s.data, s.advisors = l.setting.Input, l.setting.State, l.setting.Data, l.speakers()
	if m.instances == nil {
		s.errors = m.frames[0].failures
		return compose(s)
	}
	s.input, s.state = m.shared.input, m.shared.state
	for at, f := range m.roots() {
		one := &l.setting.Instances[at]
		s.instances = append(s.instances, instanceNow{f.site.Instance, mapping(one.Input), mapping(one.State), f.failures})
	}
	return compose(s)
}

// latentRequest composes the request for the result of a latent call (S2.4). It
// sees the state as its tick began, and what its own reads are bound to; or, if it
// has scopes, what these hand on (S14.3).
func (f *frame) latentRequest(i int32) *Request {
	call, params := f.call(i), f.calls[i].params
	s := situation{plan: f.plan, tick: f.machine.tick, input: f.log.initial["input"], only: f.context(i)}
	seen := func(message *Message) bool {
		return message.Tick < f.machine.tick || slices.ContainsFunc(call.Reads, func(r int) bool { return f.plan.Reads[r].Sees(message.Call) && f.binds(r, message.Call) })
	}
	s.state = f.log.seenBy("state", seen)
	s.data, _ = f.log.seenBy("data", seen).(map[string]any)
	if f.machine.loop != nil && f.parent == nil {
		s.plan = f.machine.loop.base
	}
	return composeLatent(s, call, params)
}

// binds tells whether a read is bound to a call.
func (f *frame) binds(r, call int) bool {
	_, ok := slices.BinarySearch(f.plan.Reads[r].Writers, int32(call))
	return ok
}
