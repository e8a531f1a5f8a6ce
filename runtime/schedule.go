package runtime

import (
	"slices"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler"
)

// schedule takes up the calls of the plan that the machine doesn't know yet. The
// draft tells which of them must wait for the whole; nil is a whole plan.
func (f *frame) schedule(d *analyzer.Draft) {
	first := len(f.calls)
	n, known := len(f.plan.Calls), len(f.reads)
	f.calls = slices.Grow(f.calls, n-first)[:n]
	f.reads = slices.Grow(f.reads, max(0, len(f.plan.Reads)-len(f.reads)))[:len(f.plan.Reads)]
	f.boundBy.reach(n)
	f.orderedBy.reach(n)
	f.unsettled += n - first
	f.machine.unsettled += n - first
	f.log.messages = slices.Grow(f.log.messages, n-first) // few write more than one
	edges := 0
	for i := known; i < len(f.plan.Reads); i++ {
		edges += len(f.plan.Reads[i].Writers)
	}
	f.boundBy.grow(edges)
	f.program.takeUp()
	for i := first; i < n; i++ {
		if f.calls[i].held = d != nil && d.Held(i); !f.calls[i].held {
			f.connect(i)
		}
	}
}

// connect notes what a call waits for.
func (f *frame) connect(i int) {
	call, state := f.plan.Calls[i], &f.calls[i]
	for _, r := range call.Reads {
		read := &f.reads[r]
		for _, w := range f.plan.Reads[r].Writers {
			if !f.calls[w].status.Settled() {
				read.open++
				f.boundBy.add(w, int32(r))
			}
		}
		if read.open > 0 {
			state.open++
		}
	}
	state.partial = call.When != nil || !plain(call.Params)
	for _, first := range firsts(call) {
		if !f.calls[first].status.Settled() {
			state.order++
			f.orderedBy.add(first, int32(i))
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

// plain reports whether every expression in a template is a reference and nothing
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
