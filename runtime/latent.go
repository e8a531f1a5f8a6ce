package runtime

import (
	"slices"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/runtime/request"
	"github.com/obelus-dev/obelus/runtime/resolve"
)

func composeRequest(m *Machine) *Request {
	l := m.loop
	s := request.Context{Plan: l.base, Tick: m.tick, Carries: l.carries, Carried: l.carried, Recorded: l.recorded,
		PlanOnly: l.options.PlanOnly, Past: l.past, Said: l.opinions.Recorded()}
	s.Started = request.Started{Input: declared(m.shared.input, l.base.Input),
		State: declared(m.shared.state, l.base.State), Data: m.shared.data}
	s.Input, s.State, s.Data, s.Advisors = l.setting.Input, l.setting.State, l.setting.Data, l.opinions.Speakers()
	if m.instances == nil {
		s.Errors, s.History = m.frames[0].readable, m.frames[0].history
		return request.Compose(s)
	}
	s.Input, s.State = m.shared.input, m.shared.state // and the data of the setting is shared, too
	for at, f := range m.roots() {
		one := &l.setting.Instances[at]
		s.Instances = append(s.Instances, request.Instance{
			ID: f.site.Instance, Input: resolve.Mapping(one.Input), State: resolve.Mapping(one.State), Data: one.Data,
			Errors:  f.readable,
			Started: request.Started{Input: f.instance.Input, State: f.instance.State, Data: f.instance.Data},
			History: f.history,
		})
	}
	return request.Compose(s)
}

// latentRequest composes the request for the result of a latent call. It sees the state as its tick began, and what its
// own reads are bound to; or, if it has scopes, what these hand on.
func latentRequest(f *frame, i int32) *Request {
	call, params := f.call(i), f.calls[i].params
	s := request.Context{Plan: f.Plan, Tick: f.machine.tick, Input: f.Log.Given("input"), Only: f.context(i),
		Offered: compiler.Offered(f.Plan, call)}
	seen := func(message *Message) bool {
		return message.Tick < f.machine.tick || slices.ContainsFunc(call.Reads, func(r int) bool {
			_, binds := slices.BinarySearch(f.Plan.Reads[r].Writers, int32(message.Call))
			return binds && f.Plan.Reads[r].Sees(message.Call)
		})
	}
	s.State = f.Log.SeenBy("state", seen)
	s.Data = resolve.Mapping(f.Log.SeenBy("data", seen))
	if f.machine.loop != nil && f.reader().parent == nil {
		s.Plan = f.machine.loop.base
	}
	return request.ComposeLatent(s, call, params)
}

// declared are values, or none where there are none and the document says nothing of any.
func declared(values map[string]any, said any) map[string]any {
	if len(values) == 0 && said == nil {
		return nil
	}
	return values
}
