package runtime

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler"
)

// A memory is what a frame knows of the calls that it has done, where a carried
// plan may list them again.
type memory struct {
	deeds      []deed
	byIdentity map[string][]int32 // their numbers, from 0, in order
	before     int32              // how many of them earlier ticks have done
	identities []string           // of the calls of the tick
	owners     map[int32]int32    // by number of a deed: the call of the tick that stands for it
	latest     int32              // the number, from 1, of the deed whose messages are being written
}

// nextTick forgets what the plan of a tick was.
func (l *memory) nextTick() {
	if l != nil {
		l.identities, l.owners, l.before = nil, map[int32]int32{}, int32(len(l.deeds))
	}
}

// A deed is a call that is done. A carried plan may list it again, and it isn't
// run again then (S11.5).
type deed struct {
	identity string // tool, activity, instance, method and path
	params   string // resolved, as canonical JSON
	call     int32  // in the plan of its tick
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
func (f *frame) own(plan *compiler.Plan) {
	l := f.memory
	if l == nil {
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

// reown finds what stands for what in a longer version of the tick's plan, and tells
// whether more of what is done has somebody to stand for it.
func (m *Machine) reown(plan *compiler.Plan) bool {
	grown := false
	for _, f := range m.roots() {
		if f.memory != nil && f.runs(plan) > len(f.memory.identities) {
			owned := len(f.memory.owners)
			f.own(f.view(plan))
			grown = grown || len(f.memory.owners) > owned
		}
	}
	return grown
}

// sortDeeds numbers what the tick has done as it is listed, whenever it ended.
func (f *frame) sortDeeds() {
	l := f.memory
	if l == nil {
		return
	}
	of := l.deeds[l.before:]
	places := make([]int32, len(of)) // by new number: the old one
	for i := range places {
		places[i] = int32(i)
	}
	slices.SortFunc(places, func(a, b int32) int { return int(of[a].call - of[b].call) })
	sorted, renumbered := make([]deed, len(of)), make([]int32, len(of))
	for at, old := range places {
		sorted[at], renumbered[old] = of[old], int32(at)
	}
	copy(of, sorted)
	for i := len(f.log.messages) - 1; i >= 0 && f.log.messages[i].Tick == f.machine.tick; i-- {
		if m := &f.log.messages[i]; m.deed > l.before {
			m.deed = l.before + renumbered[m.deed-1-l.before] + 1
		}
	}
	for _, identity := range slices.Sorted(maps.Keys(l.byIdentity)) {
		numbers := l.byIdentity[identity]
		for i, number := range numbers {
			if number >= l.before {
				numbers[i] = l.before + renumbered[number-l.before]
			}
		}
		slices.Sort(numbers)
	}
}

// done are the calls of an identity that earlier ticks have done, by number. What
// the tick itself does, it doesn't repeat.
func (l *memory) done(identity string) []int32 {
	numbers := l.byIdentity[identity]
	before, _ := slices.BinarySearch(numbers, l.before)
	return numbers[:before]
}

// owned tells whether a message was written by a done call for which one of the
// plan stands.
func (l *memory) owned(message *Message) bool {
	if message.deed == 0 {
		return false
	}
	_, yes := l.owners[message.deed-1]
	return yes
}

// stands tells whether a message of an earlier tick counts for a read: one of a
// call that is listed again counts only for those who are bound to that call
// (S11.5).
func (f *frame) stands(message *Message, sees func(call int) bool) bool {
	if f.memory == nil || message.deed == 0 {
		return true
	}
	owner, listed := f.memory.owners[message.deed-1]
	return !listed || sees(int(owner)) || f.repeater(message.deed, sees)
}

// repeater tells whether one of the calls that are seen repeats a deed.
func (f *frame) repeater(deed int32, sees func(call int) bool) bool {
	id := f.memory.deeds[deed-1].identity
	for i, other := range f.memory.identities {
		if other == id && i < len(f.calls) && f.calls[i].more != nil && f.calls[i].more.deed == deed && sees(i) {
			return true
		}
	}
	return false
}

// isUnownedDeed reports whether one of the messages of earlier ticks on some paths
// may be the work of a done call that is listed again only after a call of the
// tick.
func (f *frame) isUnownedDeed(paths []compiler.PathID, call *compiler.Call) bool {
	if f.memory == nil {
		return false
	}
	for _, path := range paths {
		for _, message := range f.log.on(path) {
			if message.Tick == f.machine.tick || message.deed == 0 || f.memory.deeds[message.deed-1].identity == "" {
				continue
			}
			if owner, listed := f.memory.owners[message.deed-1]; !listed || int(owner) > call.Index {
				return true
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
func (f *frame) repeats(i int32, params map[string]any) repetition {
	l := f.memory
	if len(l.done(l.identities[i])) == 0 {
		return fresh
	}
	id, own := l.identities[i], canonical(params)
	nth := 0
	for j, other := range l.identities[:len(f.calls)] {
		if other != id || f.log.place(&Message{Tick: f.machine.tick, Call: j}) >= f.log.place(&Message{Tick: f.machine.tick, Call: int(i)}) {
			continue
		}
		switch state := &f.calls[j]; {
		case state.status == Waiting:
			return undecided
		case state.more != nil && state.more.resolved == own:
			nth++
		}
	}
	f.calls[i].particular().resolved = own
	for _, number := range l.done(id) {
		if l.deeds[number].params != own {
			continue
		}
		if nth == 0 {
			f.calls[i].more.deed = number + 1
			return repeated
		}
		nth--
	}
	return fresh
}

// lookAgain notes that those may be decided that waited for a call of their kind.
func (f *frame) lookAgain(i int32) {
	l := f.memory
	if int(i) >= len(l.identities) || len(l.done(l.identities[i])) == 0 {
		return
	}
	for j, other := range l.identities[:len(f.calls)] {
		if other == l.identities[i] && j != int(i) {
			f.look(int32(j))
		}
	}
}

// repeat settles a call that is done already, without a word to the world.
func (f *frame) repeat(i int32) {
	d := &f.memory.deeds[f.calls[i].more.deed-1]
	f.settle(i, doneBefore(d.output))
}

// doneBefore is how a call settles that isn't run because it was done already.
func doneBefore(output any) Settlement {
	return Settlement{Status: Done, Output: output, Reason: "done before", before: true}
}

// takeUp settles the calls that were done before this run began: those of whose
// output the frame's initial state holds one alternative, the failure route
// included (S12.5).
func (f *frame) takeUp() {
	for i, call := range f.plan.Calls {
		for _, route := range call.Output {
			if output, there := f.begunWith(route); there {
				f.settle(int32(i), doneBefore(output))
				break
			}
		}
	}
}

// begunWith tells whether the initial state holds a value, not null, at all paths
// of an alternative, and gives the one at the first.
func (f *frame) begunWith(route compiler.Route) (first any, there bool) {
	for at, path := range route {
		value, ok := compiler.Walk(any(f.log.initial), f.plan.Paths.Segments(path.ID))
		if !ok || value == nil {
			return nil, false
		}
		if at == 0 {
			first = value
		}
	}
	return first, true
}

// accomplish notes a call that is done, so that a later plan may repeat it as it
// stands there, whatever a person made of it. What it writes next carries its
// number.
func (f *frame) accomplish(i int32, output any) {
	l := f.memory
	number := int32(len(l.deeds))
	id := l.identities[i]
	l.deeds = append(l.deeds, deed{id, canonical(f.resolvedParams(i)), i, output})
	l.latest = number + 1
	if id != "" {
		l.byIdentity[id] = append(l.byIdentity[id], number)
	}
}

// resolvedParams are what the plan resolved a call's parameters to, whatever a
// person made of them.
func (f *frame) resolvedParams(i int32) map[string]any {
	params, _ := f.weigh(f.plan.Calls[i])
	return params
}
