package runtime

import (
	"encoding/json"
	"slices"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
)

// doneCalls is what a frame knows of the calls that it has done, where a carried plan may list them again.
type doneCalls struct {
	completed []completedCall    // by earlier ticks
	done      []completedCall    // by this one
	byKey     map[string][]int32 // their numbers, from 0, in order
	keys      []string           // of the calls of the tick
	counts    map[string]int     // how many of the tick's calls have a key
	owners    map[int32]int32    // by number of a completed call: the one of the tick that lists it again

	items   map[string][]any // by parameters and identity of the call: what items gave that earlier ticks have done
	ofItems map[string]bool  // by identity: whether there are any
	taken   map[string]int   // by parameters and identity: how many of these the tick's calls repeat
}

func (l *doneCalls) nextTick() {
	if l != nil {
		l.keys, l.counts, l.owners, l.taken = nil, map[string]int{}, map[int32]int32{}, map[string]int{}
	}
}

// A completedCall is one that is done. A carried plan may list it again, and it isn't run again then.
type completedCall struct {
	key    string // tool, activity, instance, method and path
	params string // resolved, as canonical JSON
	call   int32  // in the plan of its tick
	output any
}

// dedupeKey is what a call has in common with one that repeats it, its resolved
// parameters aside; "" for one that is never taken for a repetition.
func dedupeKey(p *plan.Plan, call *plan.Call) string {
	if call.Tool != nil && call.Tool.Volatile {
		return ""
	}
	return compiler.PlanIdentity(p, call)
}

func canonical(params map[string]any) string {
	text, err := json.Marshal(params) // objects by key
	if err != nil {
		panic("parameters that aren't JSON: " + err.Error())
	}
	return string(text)
}

// list takes up the next call of the tick, and reports whether it repeats a done one, the nth of an identity the nth.
func (l *doneCalls) list(plan *plan.Plan, call *plan.Call) bool {
	id, i := dedupeKey(plan, call), int32(len(l.keys))
	l.keys = append(l.keys, id)
	if id == "" {
		return false
	}
	nth, numbers := l.counts[id], l.byKey[id]
	if l.counts[id]++; nth >= len(numbers) {
		return false
	}
	l.owners[numbers[nth]] = i
	return true
}

// rematchCompleted takes up the calls of the tick's whole plan that haven't been, and
// reports whether more done calls are repeated.
func (l *loop) rematchCompleted(plan *plan.Plan) bool {
	grown := false
	for _, f := range l.roots() {
		if l := f.doneCalls; l != nil && countCalls(f, plan) > len(l.keys) {
			view := viewOf(f, plan)
			for _, call := range view.Calls[len(l.keys):] {
				grown = l.list(view, call) || grown
			}
		}
	}
	return grown
}

// numberDone numbers what the tick has done as it is listed, whenever it ended, and gives the numbers, from 1, by call.
func numberDone(f *frame) map[int]int32 {
	l, numbers := f.doneCalls, map[int]int32{}
	if l == nil {
		return numbers
	}
	slices.SortFunc(l.done, func(a, b completedCall) int { return int(a.call - b.call) })
	for _, one := range l.done {
		numbers[int(one.call)] = l.add(one)
	}
	l.done = nil
	for i := len(f.log.Messages()) - 1; i >= 0 && f.log.Messages()[i].Tick == f.machine.tick; i-- {
		m := &f.log.Messages()[i]
		m.Completed = numbers[m.Call]
	}
	return numbers
}

// isListed reports whether a message was written by a done call for which one of the plan stands.
func (l *doneCalls) isListed(message *Message) bool {
	if message.Completed == 0 {
		return false
	}
	_, yes := l.owners[message.Completed-1]
	return yes
}

// stands reports whether a message of an earlier tick counts for a read: one of a
// call that is listed again counts only for those who are bound to that call.
func (r *resolver) stands(message *Message, sees func(call int) bool) bool {
	if r.doneCalls == nil || message.Completed == 0 {
		return true
	}
	owner, listed := r.doneCalls.owners[message.Completed-1]
	return !listed || sees(int(owner)) || r.repeater(message.Completed, sees)
}

// repeater reports whether one of the calls that are seen lists a completed one again.
func (r *resolver) repeater(completed int32, sees func(call int) bool) bool {
	id := r.doneCalls.completed[completed-1].key
	for i, other := range r.doneCalls.keys {
		if other == id && i < len(r.calls) && r.calls[i].more != nil &&
			r.calls[i].more.repeats == completed && sees(i) {
			return true
		}
	}
	return false
}

// mayBeListedLater reports whether one of the messages of earlier ticks on some paths may be the work of a done call
// that is listed again only after a call of the tick.
func (s *schedule) mayBeListedLater(paths []pathtree.ID, call *plan.Call) bool {
	if s.doneCalls == nil {
		return false
	}
	for _, path := range paths {
		for _, m := range s.log.On(path) {
			if m.Completed == 0 || s.doneCalls.completed[m.Completed-1].key == "" {
				continue
			}
			if owner, listed := s.doneCalls.owners[m.Completed-1]; !listed || int(owner) > call.Index {
				return true
			}
		}
	}
	return false
}

type dedupeResult uint8

const (
	fresh     dedupeResult = iota
	duplicate              // it is done already
	undecided              // another call, ahead of it, may be the one that is
)

// dedupe reports whether a call whose parameters are resolved is done already. Of
// several that are alike the nth, in the graph's order, repeats the nth.
func (s *schedule) dedupe(i int32, params map[string]any) dedupeResult {
	l := s.doneCalls
	if !l.knows(l.keys[i]) {
		return fresh
	}
	id, own := l.keys[i], canonical(params)
	nth := 0
	for j, other := range l.keys[:len(s.calls)] {
		if other != id || s.log.Place(int32(j)) >= s.log.Place(i) {
			continue
		}
		switch state := &s.calls[j]; {
		case state.status == Waiting:
			return undecided
		case state.more != nil && state.more.resolved == own:
			nth++
		}
	}
	s.calls[i].details().resolved = own
	for _, number := range l.byKey[id] {
		if l.completed[number].params != own {
			continue
		}
		if nth == 0 {
			s.calls[i].more.repeats = number + 1
			return duplicate
		}
		nth--
	}
	if s.plan.Calls[i].Each != nil {
		l.repeatItems(id, s.calls[i].more.items.of)
	}
	return fresh
}

// knows reports whether earlier ticks have done a call of an identity, or items of one.
func (l *doneCalls) knows(identity string) bool {
	return len(l.byKey[identity]) > 0 || l.ofItems[identity]
}

// repeatItems finds those items of a call that are done already, though the call as a whole
// isn't: another one of it has failed, or its list was another.
func (l *doneCalls) repeatItems(identity string, items []item) {
	for at := range items {
		if one := &items[at]; one.params != nil && one.failure == nil {
			own := canonical(one.params) + identity
			if nth := l.taken[own]; nth < len(l.items[own]) {
				one.before, one.output = true, l.items[own][nth]
				l.taken[own]++
			}
		}
	}
}

func (l *doneCalls) keepItem(identity string, params map[string]any, output any) {
	if identity != "" {
		own := canonical(params) + identity
		l.ofItems[identity] = true
		l.items[own] = append(l.items[own], output)
	}
}

// lookAgain notes that those may be decided that waited for a call of their kind.
func (f *frame) lookAgain(i int32) {
	l := f.doneCalls
	if int(i) >= len(l.keys) || !l.knows(l.keys[i]) {
		return
	}
	for j, other := range l.keys[:len(f.calls)] {
		if other == l.keys[i] && j != int(i) {
			f.look(int32(j))
		}
	}
}

func doneBefore(output any) Settlement {
	return Settlement{Status: Done, Output: output, Reason: "done before", before: true}
}

// settleContinued settles the calls that were done before this run began: those of whose output the frame's initial
// state holds one alternative, the failure route included.
func settleContinued(f *frame) {
	for i, call := range f.plan.Calls {
		for _, route := range call.Output {
			if output, there := f.initialOutput(route); there {
				f.orders.Started(f.plan, call, nil, false) // and not done, for which a state is no evidence
				f.settle(int32(i), doneBefore(output))
				break
			}
		}
	}
}

// initialOutput reports whether the initial state holds a value, not null, at all paths
// of an alternative, and gives the one at the first.
func (s *store) initialOutput(route plan.Route) (first any, there bool) {
	for _, path := range slices.Backward(route) {
		if first, _ = s.log.Initial(path.ID); first == nil {
			return nil, false
		}
	}
	return first, true
}

func (l *doneCalls) add(one completedCall) int32 {
	number := int32(len(l.completed))
	l.completed = append(l.completed, one)
	if one.key != "" {
		l.byKey[one.key] = append(l.byKey[one.key], number)
	}
	return number + 1
}

// resolvedParams are what the plan resolved a call's parameters to, whatever a person made of them.
func (r *resolver) resolvedParams(i int32) map[string]any {
	params, v := r.evaluate(r.plan.Calls[i])
	if r.plan.Calls[i].Each != nil {
		params, _ = r.enumerate(i, params, v.list)
	}
	return params
}
