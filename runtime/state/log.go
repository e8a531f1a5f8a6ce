// Package state is the state of a run, as a log: initial values and messages, what they result in for a reader that
// sees some of them, and whether another fits. It knows of a plan which paths its calls may write and in which order
// their messages count, and nothing of how calls run.
package state

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
)

// A Log is the state of a run, or of one instance in it: initial values and messages. No value is changed in place.
type Log struct {
	layout   *Layout
	initial  map[string]any // by kind: input, state, data, error, advice
	messages []Message
	newest   []int32 // by path: the place, from 1, of the newest message written to exactly it
	parts    map[pathtree.ID]*part
	resolved map[pathtree.ID]resolved
}

// A Layout is what a log has to know of the plan whose calls write.
type Layout struct {
	Plan          *plan.Plan
	Paths         *pathtree.Tree // the plan's, and perhaps more
	Tick          int
	Settled       bool    // the plan is whole, so that its graph gives every call its place
	ByTime        bool    // messages count in the order of their writing: a simulation of a plan whose writes conflict
	Inconsistency *string // set where the log can't be what calls wrote
}

// New is a log of initial values, by kind: input, state, data, error, advice. First it has to follow a plan.
func New(initial map[string]any) *Log {
	return &Log{initial: initial, parts: map[pathtree.ID]*part{}, resolved: map[pathtree.ID]resolved{}}
}

// Follow lets messages count as a plan says, or a longer version of it.
func (l *Log) Follow(p *Layout) {
	if l.layout != nil && l.layout.Settled != p.Settled {
		clear(l.parts) // the calls of the tick have other places
	}
	l.layout = p
}

// Given is the initial value of a kind.
func (l *Log) Given(kind string) any { return l.initial[kind] }

// Give sets the initial value of a kind that no call writes; nil takes it away.
func (l *Log) Give(kind string, value any) {
	if l.initial[kind] = value; value == nil {
		delete(l.initial, kind)
	}
}

// Initial is the initial value at a path, and whether there is one.
func (l *Log) Initial(id pathtree.ID) (any, bool) { return l.walk(any(l.initial), pathtree.Root, id) }

// Grow makes room for so many messages.
func (l *Log) Grow(n int) { l.messages = slices.Grow(l.messages, n) }

// Place is where the messages of a call of the tick count among those of others.
func (l *Log) Place(call int32) int32 { return l.place(&Message{Tick: l.layout.Tick, Call: int(call)}) }

// Seal gives the messages of the tick their final places.
func (l *Log) Seal() {
	for i := len(l.messages) - 1; i >= 0 && l.messages[i].Tick == l.layout.Tick; i-- {
		l.messages[i].rank = l.place(&l.messages[i])
	}
}

// place is where a message counts in its tick: at its call's place in the graph, or while the plan arrives as listed.
func (l *Log) place(m *Message) int32 {
	switch {
	case m.Tick != l.layout.Tick:
		return m.rank
	case l.layout.Settled:
		return int32(l.layout.Plan.Graph.Rank(m.Call))
	}
	return int32(m.Call)
}

// order is the order in which messages count, wherever they are in the log.
func (l *Log) order(a, b int32) int {
	if l.layout.ByTime {
		return int(a - b)
	}
	x, y := &l.messages[a], &l.messages[b]
	return cmp.Or(x.Tick-y.Tick, int(l.place(x)-l.place(y)), int(a-b))
}

// Messages are the entries so far, in the order in which they were written.
func (l *Log) Messages() []Message { return l.messages }

// Append adds a message.
func (l *Log) Append(m Message) {
	if missing := int(m.Path) + 1 - len(l.newest); missing > 0 {
		l.newest = append(l.newest, make([]int32, missing)...)
	}
	m.older = l.newest[m.Path]
	l.messages = append(l.messages, m)
	l.newest[m.Path] = int32(len(l.messages))
	l.keepParts(int32(len(l.messages) - 1))
}

// Retract takes the messages of a call of the tick out of the log.
func (l *Log) Retract(call int) {
	all := l.messages
	l.messages, l.newest = nil, nil
	clear(l.parts)
	clear(l.resolved)
	for _, m := range all {
		if m.Tick != l.layout.Tick || m.Call != call {
			l.Append(m)
		}
	}
}

// last is the place, from 1, of the newest message on a path; 0 for none.
func (l *Log) last(id pathtree.ID) int32 {
	if int(id) < len(l.newest) {
		return l.newest[id]
	}
	return 0
}

// IsWritten reports whether a message has been or may be written to exactly a path.
func (l *Log) IsWritten(id pathtree.ID) bool {
	return l.last(id) > 0 || len(l.layout.Plan.WritersAt(id)) > 0
}

// Over goes over the messages on all paths that overlap one.
func (l *Log) Over(id pathtree.ID) iter.Seq2[int32, *Message] {
	return func(yield func(int32, *Message) bool) {
		visit := func(path pathtree.ID) bool {
			at := l.last(path)
			for at > 0 && yield(at-1, &l.messages[at-1]) {
				at = l.messages[at-1].older
			}
			return at == 0
		}
		goesOn := l.layout.Paths.Below(id, visit)
		for up := l.layout.Paths.Parent(id); goesOn && up > pathtree.Root; up = l.layout.Paths.Parent(up) {
			goesOn = visit(up)
		}
	}
}

// walk follows the path from one of its prefixes, at which value stands, down to its end.
func (l *Log) walk(value any, from, id pathtree.ID) (any, bool) {
	if id == from {
		return value, true
	}
	value, ok := l.walk(value, from, l.layout.Paths.Parent(id))
	if !ok {
		return nil, false
	}
	return pathtree.Step(value, l.layout.Paths.Segment(id))
}

// Resolve is the value at a path, made of the initial value and visible messages, and whether there is one.
//
// The messages count in the graph's topological order, whenever they were written: the newest set that covers the path
// ends the search, and what came after it is applied to its value, oldest first. Nothing is left out: every message
// fitted what counted before it when it was written. A message that fits only on messages that the reader doesn't see
// makes these visible as well.
func (l *Log) Resolve(id pathtree.ID, visible func(*Message) bool) (any, bool) {
	var homeless []int32
	for {
		value, there, at := l.fold(id, l.visible(id, visible, homeless), visible)
		if at < 0 {
			return value, there
		}
		if slices.Contains(homeless, at) {
			l.homeless(&l.messages[at])
			return value, there
		}
		homeless = append(homeless, at)
	}
}

// isBase reports whether a message counts before one of others and has to do with its place.
func (l *Log) isBase(m *Message, of []int32) bool {
	return slices.ContainsFunc(of, func(at int32) bool {
		o := &l.messages[at]
		return (m.Tick < o.Tick || m.Tick == o.Tick && l.place(m) <= l.place(o)) &&
			l.layout.Paths.Overlap(l.layout.Paths.List(m.Path), l.layout.Paths.List(o.Path))
	})
}

// A resolved is the value of a path for the messages that were visible last.
type resolved struct {
	seen  []int32
	value any
	there bool
}

// fold puts the value at a path together from messages in their order. It gives the first without a place, or -1.
func (l *Log) fold(id pathtree.ID, seen []int32, visible func(*Message) bool) (value any, there bool, homeless int32) {
	if len(seen) == 0 {
		value, there = l.Initial(id)
		return value, there, -1
	}
	// A message above the path that isn't a set needs the whole value above.
	root := id
	for _, at := range seen {
		if m := &l.messages[at]; m.Method != plan.Set && l.layout.Paths.Depth(m.Path) < l.layout.Paths.Depth(root) {
			root = m.Path
		}
	}
	if root != id {
		above, there := l.Resolve(root, visible)
		if !there {
			return nil, false, -1
		}
		value, there = l.walk(above, root, id)
		return value, there, -1
	}
	if last := l.resolved[id]; slices.Equal(last.seen, seen) {
		return last.value, last.there, -1
	}
	first := 0
	value, there = l.Initial(id)
	for i, at := range slices.Backward(seen) {
		if m := &l.messages[at]; m.Method == plan.Set && l.layout.Paths.IsAbove(m.Path, id) {
			value, there = l.walk(m.Value, m.Path, id)
			first = i + 1
			break
		}
	}
	homeless = -1
	if first == len(seen) {
		return value, there, homeless
	}
	f := fold{paths: l.layout.Paths, root: id, value: value}
	for _, at := range seen[first:] {
		if f.apply(&l.messages[at]) == nil {
			there = true
		} else if homeless < 0 {
			homeless = at
		}
	}
	if homeless < 0 && len(seen) > 1 {
		l.resolved[id] = resolved{seen, f.value, there}
	}
	return f.value, there, homeless
}

// visible gathers the messages on paths that overlap one that may be seen, and those without which others have no
// place, in the order in which they count. Of failure records on one path, that of the call listed first stands: one
// that counts after it gives way.
func (l *Log) visible(id pathtree.ID, visible func(*Message) bool, homeless []int32) []int32 {
	var places []int32
	failures := 0
	for at, m := range l.Over(id) {
		if visible(m) || l.isBase(m, homeless) {
			places = append(places, at)
			if m.Failure {
				failures++
			}
		}
	}
	slices.SortFunc(places, l.order)
	if failures < 2 {
		return places
	}
	return l.standing(places)
}

// OfTick are the messages of the tick in their order, without failure records that give way to others.
func (l *Log) OfTick() (all []*Message) {
	var places []int32
	for i := len(l.messages) - 1; i >= 0 && l.messages[i].Tick == l.layout.Tick; i-- {
		places = append(places, int32(i))
	}
	slices.SortFunc(places, l.order)
	for _, at := range l.standing(places) {
		all = append(all, &l.messages[at])
	}
	return all
}

// standing are the messages, of some in their order, that don't give way to others.
func (l *Log) standing(places []int32) []int32 {
	standing := records{}
	return slices.DeleteFunc(places, func(at int32) bool { return standing.yields(&l.messages[at]) })
}

// records are the failure records that stand so far, by path.
type records map[pathtree.ID]*Message

// yields reports whether a message is a failure record that gives way to that of an earlier call; else it stands.
func (r records) yields(m *Message) bool {
	if !m.Failure {
		return false
	}
	if o := r[m.Path]; o != nil && o.Tick == m.Tick && o.Call < m.Call {
		return true
	}
	r[m.Path] = m
	return false
}

// Anyone sees every message.
func Anyone(*Message) bool { return true }

// Value is the value of a kind, of all messages.
func (l *Log) Value(kind string) any { return l.SeenBy(kind, Anyone) }

// SeenBy is the value of a kind, of the messages that are visible.
func (l *Log) SeenBy(kind string, visible func(*Message) bool) any {
	id, ok := l.layout.Paths.Lookup(pathtree.Root, expression.Segment{Key: kind})
	if !ok {
		return l.initial[kind]
	}
	value, _ := l.Resolve(id, visible)
	return value
}

// A Message is one entry of the state's log.
type Message struct {
	Path    pathtree.ID
	Method  plan.Method
	Failure bool // it is a failure record or, under once, a result that was sent to a failure route
	Value   any
	Tick    int           // in which it was written; 0 without a planner
	Call    int           // who wrote it, of the calls of that tick
	At      time.Duration // since the run began

	By any // what is known of that call, for later ones; nil for nothing
	// Completed is the number, from 1, of the call among those that a plan may repeat; or 0.
	Completed int32

	older int32 // the place, from 1, of the message before it on the same path; or 0
	rank  int32 // the place of its call among those of its tick, once the tick has ended
}

// A Failure is why a call failed. It is also the record that a failure route receives: {code, message, details}.
type Failure struct {
	// "error", "timeout", "bad-output", the activity's own, or the name of the rule that a structural error breaks
	Code    string `json:"code"`
	Message string `json:"message"`
	Details any    `json:"details,omitempty"`
	// After is how long the failed party asks to wait before another try; 0 is nothing.
	After time.Duration `json:"after,omitzero"`
}

func (f *Failure) Error() string { return f.Message }

// Record is what a failure route receives.
func (f *Failure) Record() map[string]any {
	return map[string]any{"code": f.Code, "message": f.Message, "details": f.Details}
}

// Samples make up and judge the values of a sample run; a plan may describe only a part of them.
type Samples interface {
	// Read is the value of a read, by what it sees at a path.
	Read(p *plan.Plan, r *plan.Read, at func(pathtree.ID) (any, bool)) (value any, there bool)
	// Below is what is at a path in a value.
	Below(value any, path []expression.Segment) (any, bool)
	// Evaluate evaluates an expression of a plan by the values of its reads.
	Evaluate(p *plan.Plan, t *plan.Template, read expression.Lookup) (any, expression.Presence, *Failure)
	// Invalid says why a call can't start with some parameters, or nil.
	Invalid(call *plan.Call, params map[string]any) *Failure
	// Refuses says why a schema rejects a value whatever its unknown parts are, or nil.
	Refuses(s *schema.Schema, v any) *schema.Violation
	// Ends makes up how the activity of a call ends, and the alternative that its result takes, or -1.
	Ends(call *plan.Call, params map[string]any) (value any, route int, failure *Failure)
	// Unfit takes note of a value that a call can't write to a path.
	Unfit(call *plan.Call, path plan.Path, value any, why error, log *Log)
	// Settled takes note of how a call has ended; without a failure it is done or was skipped.
	Settled(call *plan.Call, done bool, failure *Failure)
}

// ScopeValues is what the scopes of a call hand over, by kind: nil without scopes, empty if they find nothing.
func ScopeValues(call *plan.Call, read func(index int) (any, expression.Presence)) map[string]any {
	if call.Scopes == nil {
		return nil
	}
	given := map[string]any{}
	for _, scope := range call.Scopes {
		if value, presence := read(scope.Read); presence == expression.There {
			given[scope.Kind] = pathtree.With(given[scope.Kind], scope.Ref.Path, value)
		}
	}
	return given
}

// Delegated is what a delegate begins with: its own values, over them what is handed over, and the call's parameters.
func Delegated(p *plan.Plan, given, params map[string]any) map[string]any {
	other := maps.Clone(given)
	maps.DeleteFunc(other, func(kind string, _ any) bool {
		return kind == "state" || kind == "input" || kind == "data" || kind == "error" || kind == "advice"
	})
	initial := map[string]any{"input": Over(p.Input, given["input"], params), "state": Over(p.State, given["state"]),
		"data": Over(p.Data, given["data"], other)}
	for _, kind := range []string{"error", "advice"} {
		if value, ok := given[kind]; ok {
			initial[kind] = value
		}
	}
	return initial
}

// Over lays objects over each other, key by key at the top.
func Over(layers ...any) map[string]any {
	out := map[string]any{}
	for _, layer := range layers {
		object, _ := layer.(map[string]any)
		maps.Copy(out, object)
	}
	return out
}
