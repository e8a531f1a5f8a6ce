package runtime

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/obelus-dev/obelus/compiler/bind"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/policy"
	"github.com/obelus-dev/obelus/runtime/guard"
	"github.com/obelus-dev/obelus/runtime/resolve"
	"github.com/obelus-dev/obelus/runtime/state"
)

// An Instance is one of several states that a plan runs over: its own values lie over the shared ones, at any depth.
type Instance struct {
	ID    string         `json:"id"`
	Input map[string]any `json:"input,omitempty"`
	State map[string]any `json:"state,omitempty"`
	Data  map[string]any `json:"data,omitempty"` // by kind
}

// An InstanceEnd is how a run went for one instance, in JSON a line of results. The values are nobody's to change.
type InstanceEnd struct {
	ID     string         `json:"id"`
	Status RunStatus      `json:"status"`
	Input  map[string]any `json:"input,omitempty"` // its own
	State  any            `json:"state"`
	Output any            `json:"output"`
	Errors []CallError    `json:"errors"`
}

// An instancePool is the instances of a run. Only so many are at work at once: what waits is no more than its values,
// and what has ended no more than its result, so that memory goes with the states and not with the plan.
type instancePool struct {
	waiting []Instance // that haven't begun, in their order
	asked   bool       // for more
	closed  bool       // no more will come
	known   map[string]bool
	roots   []*frame // of a planned run, where all are at work until its end
	working int
	started int32
	ends    []InstanceEnd // in the order in which they ended
}

func newInstancePool(p *plan.Plan, o Options, recalling bool) *instancePool {
	c := &instancePool{closed: !o.Joining, known: map[string]bool{}}
	for _, one := range p.Instances {
		c.known[one.ID] = true
		began := plan.Before{State: one.State, Data: one.Data}
		if recalling && one.Before != nil {
			began = *one.Before
		}
		c.waiting = append(c.waiting,
			Instance{one.ID, resolve.Mapping(one.Input), resolve.Mapping(began.State), began.Data})
	}
	return c
}

const maxJoined = 1024

// admitInstances begins instances while there is room, and asks for more before the last has begun. It reports whether
// anything has changed. As many are at work as keep every place busy, or where nothing bounds activities many.
func admitInstances(m *Machine) (opened bool) {
	c, most := m.instances, maxJoined
	if c == nil || !m.opened {
		return false
	}
	if limit := cmp.Or(m.options.Parallel, m.plan.Limits.Parallel); m.loop != nil {
		most = 1 << 30 // a request reports all
	} else if limit > 0 {
		most = max(64, 2*limit)
	}
	for ; len(c.waiting) > 0 && c.working < most; opened = true {
		one := c.waiting[0]
		c.waiting = c.waiting[1:]
		m.open(&one)
	}
	if ahead := c.working + len(c.waiting); !c.closed && !c.asked && ahead < most+most/2 {
		c.asked = true
		m.emitRun(Join).Count = min(2*most-ahead, maxJoined)
	}
	return opened
}

func addInstances(m *Machine, e Event) {
	c := m.instances
	if c == nil || c.closed {
		return
	}
	c.asked, c.closed = false, e.Last
	for _, one := range e.Instances {
		if c.known[one.ID] {
			m.stop(Reason(fmt.Sprintf("the instance %q is there twice", one.ID)))
			return
		}
		c.known[one.ID] = true
		c.waiting = append(c.waiting, one)
	}
}

func (c *instancePool) more() bool { return c != nil && (len(c.waiting) > 0 || !c.closed) }

// open begins a frame of the run itself: of an instance, or of the one state that a plan without instances has.
func (m *Machine) open(one *Instance) {
	f := &frame{position: position{number: len(m.frames), place: -1}}
	f.site.Parent = -1
	f.machine, f.Budget = m, &m.budget
	m.frames = append(m.frames, f)
	base, own := m.base(), Instance{}
	if c := m.instances; c != nil {
		own = *one
		f.site.Instance, f.order, f.instance = own.ID, c.started, own
		c.started++
		c.working++
	}
	if m.loop != nil && m.loop.carries {
		f.Memory = resolve.NewMemory()
	}
	input, initial := laid(m.shared.input, own.Input), laid(m.shared.state, own.State)
	f.Log = state.New(map[string]any{"input": input, "state": initial, "data": laid(m.shared.data, own.Data)})
	f.readable = slices.Concat(base.Errors, base.Instance(own.ID).Errors)
	if at, ok := base.InstanceAt[own.ID]; ok && m.loop != nil && bind.IsParticular(base, &base.Instances[at]) {
		f.Judging = bind.ForInstance(base, own.ID) // the plans of ticks don't know
	}
	showFailures(f)
	f.setPlan(viewOf(f, m.plan))
	f.orders = policy.NewCounts(base.Policies...)
	guard.Remember(&f.orders, base, base.History[own.ID], f.readable)
	recall(f, base.History[own.ID])
	if m.loop == nil {
		f.takeUp(nil)
	}
	switch why := m.unfit(f, input, initial); {
	case why != "":
		f.recordError(CallError{Code: "bad-instance", Message: why}, atFirst, nil)
		for i := range f.calls {
			f.settle(int32(i), Settlement{Status: Skipped, Reason: "its instance can't run"})
		}
		leaveRun(f, RunFailed, nil)
	case m.loop == nil && m.opened:
		f.begin()
	case m.loop != nil && m.instances != nil:
		m.instances.roots = append(m.instances.roots, f)
		m.loop.opinions.Instances = append(m.loop.opinions.Instances, own.ID)
	}
}

// unfit says why an instance can't run, or "": none of its calls begins then, and the others aren't concerned.
func (m *Machine) unfit(f *frame, input, initial map[string]any) string {
	if m.instances == nil {
		return ""
	}
	what, v := resolve.Unfit(cmp.Or(f.Judging, f.Plan), input, initial, false)
	_, lacks := resolve.Missing(f.Plan, nil, initial)
	switch {
	case v != nil:
		return "the " + what + " of the instance doesn't fit its schema" + resolve.Misfit(v)
	case m.loop == nil && len(lacks) > 0:
		return fmt.Sprintf("the state of the instance doesn't fit its schema: %q is missing, and no call writes it",
			lacks[0])
	case !f.Plan.Graph.Acyclic(): // of so many instances with calls of their own not all could be judged (OB902)
		return "the plan of the instance has calls that wait for each other"
	}
	return ""
}

// leaveRun takes the result of an instance that has ended, and forgets the rest of it.
func leaveRun(f *frame, status RunStatus, output any) {
	end := instanceEnd(f, status, output)
	f.machine.instances.ends = append(f.machine.instances.ends, end)
	c := f.machine.emitRun(Leave)
	c.Frame, c.Site, c.Left = f.number, &f.site, &end
	f.machine.instances.working--
	if f.left = true; f.machine.keepsFailed && len(failedCalls(f)) > 0 {
		return
	}
	f.machine.errors = append(f.machine.errors, f.errors...)
	f.machine.frames[f.number] = nil
	if own := f.Plan; own.Full() != own && len(own.Instances) == 1 && own.Instances[0].ID == f.site.Instance {
		delete(f.machine.programs, own) // it was nobody else's
	}
}

func (m *Machine) base() *plan.Plan {
	if m.loop != nil {
		return m.loop.base
	}
	return m.plan
}

// shared is the values that every instance has: the plan's own, and over them what the run was given.
type shared struct{ input, state, data map[string]any }

// laid is an instance's own values over the shared ones, as the compiler takes them: objects key by key, at any depth.
func laid(shared, own map[string]any) map[string]any {
	if len(own) == 0 {
		return shared
	}
	return resolve.Mapping(bind.Overlay(shared, own))
}

func instanceEnd(f *frame, status RunStatus, output any) InstanceEnd {
	return InstanceEnd{ID: f.site.Instance, Status: status, Input: f.instance.Input, State: lastState(f),
		Output: output, Errors: sortedErrors(f.errors)}
}
