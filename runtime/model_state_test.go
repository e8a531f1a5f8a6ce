package runtime_test

import (
	"reflect"
	"slices"
)

// How the model puts values together from messages.

// An entry is a message of the log, and whether a reader sees it.
type entry struct {
	message
	tick int
	seen bool
}

// entries are all messages in the order in which they count, those of each tick in
// its topological order. Whoever sees these calls sees what they wrote.
func (m *model) entries(of func(call int) bool) []entry {
	all := m.carried.entries(of)
	for _, i := range m.plan.topology {
		for _, msg := range m.log {
			if msg.call == i {
				all = append(all, entry{msg, m.carried.tick(), of(i)})
			}
		}
	}
	return all
}

// yields reports whether a failure record gives way to one that counts before it, of
// a call listed before its own.
func (e entry) yields(before []entry) bool {
	return e.record && slices.ContainsFunc(before, func(o entry) bool {
		return o.seen && o.record && o.tick == e.tick && o.call < e.call && o.path.equal(e.path)
	})
}

// made is the value at a path, put together from newest to oldest: the newest set
// that covers the path ends the search, and what comes after it is applied to its
// value.
func (m *model) made(p statePath, entries []entry) (any, bool) {
	top := p
	for _, e := range entries {
		if e.seen && e.method != "set" && len(e.path) < len(top) && overlap(e.path, p) {
			top = e.path
		}
	}
	if len(top) < len(p) { // what is patched above the path needs the whole
		whole, there := m.made(top, entries)
		if !there {
			return nil, false
		}
		return valueAt(whole, p[len(top):])
	}
	base, there := valueAt(m.plan.state, p)
	begin := 0
	for i, e := range slices.Backward(entries) {
		if e.seen && e.method == "set" && len(e.path) <= len(p) && overlap(e.path, p) && !e.yields(entries[:i]) {
			base, there = valueAt(e.value, p[len(e.path):])
			begin = i + 1
			break
		}
	}
	for i := begin; i < len(entries); i++ {
		e := entries[i]
		if !e.seen || !overlap(e.path, p) || e.yields(entries[:i]) {
			continue
		}
		next, ok := written(base, e.path[len(p):], e.method, e.value)
		if !ok && m.hasty {
			continue
		}
		if !ok {
			return m.made(p, withBase(entries, i))
		}
		base, there = next, true
	}
	return base, there
}

// withBase lets a reader see what counts before a message and has to do with its
// place.
func withBase(entries []entry, at int) []entry {
	wider := slices.Clone(entries)
	for i := range wider[:at] {
		if overlap(wider[i].path.toList(), wider[at].path.toList()) {
			wider[i].seen = true
		}
	}
	if reflect.DeepEqual(wider, entries) {
		panic("model: what was written has no place in the state any more")
	}
	return wider
}
