package runtime

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler"
)

// A deed is a call that is done. A carried plan may list it again, and it isn't
// run again then (S11.5).
type deed struct {
	identity string // tool, activity, instance, method and path
	params   string // resolved, as canonical JSON
	output   any
}

// identity is what a call has in common with one that repeats it, its resolved
// parameters aside; "" for one that is never taken for a repetition.
func identity(p *compiler.Plan, call *compiler.Call) string {
	if call.Tool != nil && call.Tool.Volatile {
		return ""
	}
	parts := []string{call.ToolName, call.Activity, call.Delegate, call.Instance, call.Method.String()}
	return strings.Join(append(parts, p.Offered(call)...), "\x00")
}

func canonical(params map[string]any) string {
	text, err := json.Marshal(params) // objects by key
	if err != nil {
		panic("parameters that aren't JSON: " + err.Error())
	}
	return string(text)
}

// own finds for every done call the one of the plan that stands for it: the nth
// of an identity for the nth.
func (m *Machine) own(plan *compiler.Plan) {
	l := m.loop
	if !l.carries {
		return
	}
	counts := map[string]int{}
	for i, call := range plan.Calls {
		if i == len(l.identities) {
			l.identities = append(l.identities, identity(plan, call))
		}
		id := l.identities[i]
		if id == "" {
			continue
		}
		if numbers := l.done(id); counts[id] < len(numbers) {
			l.owners[numbers[counts[id]]] = int32(i)
		}
		counts[id]++
	}
}

// done are the calls of an identity that earlier ticks have done, by number. What
// the tick itself does, it doesn't repeat.
func (l *loop) done(identity string) []int32 {
	numbers := l.byIdentity[identity]
	before, _ := slices.BinarySearch(numbers, l.before)
	return numbers[:before]
}

// owned tells whether a message was written by a done call for which one of the
// plan stands.
func (l *loop) owned(message *Message) bool {
	if message.deed == 0 {
		return false
	}
	_, yes := l.owners[message.deed-1]
	return yes
}

// stands tells whether a message of an earlier tick counts for a read: one of a
// call that is listed again counts only for those who are bound to that call
// (S11.5).
func (m *Machine) stands(message *Message, sees func(call int) bool) bool {
	if m.loop == nil || message.deed == 0 {
		return true
	}
	owner, listed := m.loop.owners[message.deed-1]
	return !listed || sees(int(owner)) || m.loop.repeater(m, message.deed, sees)
}

// repeater tells whether one of the calls that are seen repeats a deed.
func (l *loop) repeater(m *Machine, deed int32, sees func(call int) bool) bool {
	id := l.deeds[deed-1].identity
	for i, other := range l.identities {
		if other == id && i < len(m.calls) && m.calls[i].more != nil && m.calls[i].more.deed == deed && sees(i) {
			return true
		}
	}
	return false
}

// overlapsUnownedDeed tells whether what a read finds may be the work of a done
// call that is listed only after the reader.
func (m *Machine) overlapsUnownedDeed(plan *compiler.Plan, read *compiler.Read) bool {
	m.own(plan)
	set := m.log.overlapping(read.Path)
	for _, paths := range [][]compiler.PathID{set.above, set.below} {
		for _, p := range paths {
			for _, at := range m.log.at[p] {
				message := &m.log.messages[at]
				if message.Tick == m.tick || message.deed == 0 || m.loop.deeds[message.deed-1].identity == "" {
					continue
				}
				if owner, listed := m.loop.owners[message.deed-1]; !listed || int(owner) >= read.Call {
					return true
				}
			}
		}
	}
	return false
}

type repetition uint8

const (
	fresh     repetition = iota
	repeated             // it is done already
	undecided            // another call, ahead of it, may be the one that is
)

// repeats tells whether a call whose parameters are resolved is done already. Of
// several that are alike the nth, in the graph's order, repeats the nth.
func (m *Machine) repeats(i int32, params map[string]any) repetition {
	l := m.loop
	if !l.carries || len(l.done(l.identities[i])) == 0 {
		return fresh
	}
	id, own := l.identities[i], canonical(params)
	nth := 0
	for j, other := range l.identities[:len(m.calls)] {
		if other != id || m.log.place(&Message{Tick: m.tick, Call: j}) >= m.log.place(&Message{Tick: m.tick, Call: int(i)}) {
			continue
		}
		switch state := &m.calls[j]; {
		case state.status == Waiting:
			return undecided
		case state.more != nil && state.more.resolved == own:
			nth++
		}
	}
	m.calls[i].particular().resolved = own
	for _, number := range l.done(id) {
		if l.deeds[number].params != own {
			continue
		}
		if nth == 0 {
			m.calls[i].more.deed = number + 1
			return repeated
		}
		nth--
	}
	return fresh
}

// lookAgain notes that those may be decided that waited for a call of their kind.
func (m *Machine) lookAgain(i int32) {
	l := m.loop
	if !l.carries || int(i) >= len(l.identities) || len(l.done(l.identities[i])) == 0 {
		return
	}
	for j, other := range l.identities[:len(m.calls)] {
		if other == l.identities[i] && j != int(i) {
			m.look(int32(j))
		}
	}
}

// repeat settles a call that is done already, without a word to the world.
func (m *Machine) repeat(i int32) {
	d := &m.loop.deeds[m.calls[i].more.deed-1]
	m.settle(i, Settlement{Status: Done, Output: d.output, Reason: "done before"})
}

// accomplish notes a call that is done, so that a later plan may repeat it as it
// stands there, whatever a person made of it. What it writes next carries its
// number.
func (m *Machine) accomplish(i int32, output any) {
	l := m.loop
	l.latest = 0
	if !l.carries {
		return
	}
	number := int32(len(l.deeds))
	id := l.identities[i]
	l.deeds = append(l.deeds, deed{id, canonical(m.resolvedParams(i)), output})
	l.latest = number + 1
	if id != "" {
		l.byIdentity[id] = append(slices.Clip(l.byIdentity[id]), number)
	}
}

// resolvedParams are what the plan resolved a call's parameters to, whatever a
// person made of them.
func (m *Machine) resolvedParams(i int32) map[string]any {
	params, _ := m.weigh(m.plan.Calls[i])
	return params
}
