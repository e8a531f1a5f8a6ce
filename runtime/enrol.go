package runtime

import (
	"slices"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler"
)

// enrol takes up the calls of the plan that the machine doesn't know yet. The
// draft tells which of them must wait for the whole; nil is a whole plan.
func (m *Machine) enrol(d *analyzer.Draft) {
	first := len(m.calls)
	n := len(m.plan.Calls)
	m.calls = slices.Grow(m.calls, n-first)[:n]
	m.reads = slices.Grow(m.reads, max(0, len(m.plan.Reads)-len(m.reads)))[:len(m.plan.Reads)]
	m.boundBy.reach(n)
	m.orderedBy.reach(n)
	m.unsettled += n - first
	m.log.expect(n - first)
	edges := 0
	for i := range m.plan.Reads {
		edges += len(m.plan.Reads[i].Writers)
	}
	m.boundBy.grow(edges)
	for i := first; i < n; i++ {
		if m.calls[i].held = d != nil && d.Held(i); !m.calls[i].held {
			m.connect(i)
		}
	}
}

// connect notes what a call waits for.
func (m *Machine) connect(i int) {
	call, state := m.plan.Calls[i], &m.calls[i]
	for _, r := range call.Reads {
		read := &m.reads[r]
		for _, w := range m.plan.Reads[r].Writers {
			if !m.calls[w].status.Settled() {
				read.open++
				m.boundBy.add(w, int32(r))
			}
		}
		if read.open > 0 {
			state.open++
		}
	}
	state.partial = call.When != nil || !plain(call.Params)
	for _, first := range firsts(call) {
		if !m.calls[first].status.Settled() {
			state.order++
			m.orderedBy.add(first, int32(i))
		}
	}
}

// firsts are the calls that must have settled before one starts, whether or not
// it reads what they write.
func firsts(call *compiler.Call) []int32 {
	if len(call.After) == 0 && len(call.Choices) == 0 {
		return call.Waits
	}
	list := slices.Concat(call.Choices, call.Waits)
	for _, a := range call.After {
		list = append(list, int32(a))
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// plain tells whether every expression in a template is a reference and nothing
// more: then each of its reads is needed, and decides alone.
func plain(t *compiler.Template) bool {
	switch {
	case !t.Live():
		return true
	case t.Expr != nil:
		return t.Expr.Plain()
	}
	for _, f := range t.Fields {
		if !plain(f.Value) {
			return false
		}
	}
	return !slices.ContainsFunc(t.Items, func(item *compiler.Template) bool { return !plain(item) })
}
