package runtime

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/pathtree"
)

// A Log is the state of a run, or of one instance in it: initial values and an
// append-only list of messages (S5.3). Values are never changed in place; a
// reader may keep what it got.
type Log struct {
	program  *program
	initial  map[string]any // by kind: input, state, data, error, advice
	messages []Message
	newest   []int32 // by path: the place, from 1, of the newest message written to exactly it
}

// seal gives the messages of the tick their final places.
func (l *Log) seal() {
	for i := len(l.messages) - 1; i >= 0 && l.messages[i].Tick == l.program.tick; i-- {
		l.messages[i].rank = l.place(&l.messages[i])
	}
}

// place is where a message counts among those of its tick: at its call's place in
// the graph. While a plan is still arriving only calls that wait for earlier ones
// have written, and these count as they are listed.
func (l *Log) place(m *Message) int32 {
	switch {
	case m.Tick != l.program.tick:
		return m.rank
	case l.program.settled:
		return int32(l.program.plan.Graph.Rank(m.Call))
	}
	return int32(m.Call)
}

// order is the order in which messages count, wherever they stand in the log.
func (l *Log) order(a, b int32) int {
	if l.program.byTime {
		return int(a - b)
	}
	x, y := &l.messages[a], &l.messages[b]
	return cmp.Or(x.Tick-y.Tick, int(l.place(x)-l.place(y)), int(a-b))
}

// Messages are the entries so far, in the order in which they were written.
func (l *Log) Messages() []Message { return l.messages }

func (l *Log) append(m Message) {
	if missing := int(m.Path) + 1 - len(l.newest); missing > 0 {
		l.newest = append(l.newest, make([]int32, missing)...)
	}
	m.older = l.newest[m.Path]
	l.messages = append(l.messages, m)
	l.newest[m.Path] = int32(len(l.messages))
}

// last is the place, from 1, of the newest message on a path; 0 for none.
func (l *Log) last(id pathtree.ID) int32 {
	if int(id) < len(l.newest) {
		return l.newest[id]
	}
	return 0
}

// on goes over the messages written to exactly a path, the newest first.
func (l *Log) on(id pathtree.ID) iter.Seq2[int32, *Message] {
	return func(yield func(int32, *Message) bool) {
		for at := l.last(id); at > 0; at = l.messages[at-1].older {
			if !yield(at-1, &l.messages[at-1]) {
				return
			}
		}
	}
}

// over goes over the messages on all paths of a set.
func (l *Log) over(set *PathSet) iter.Seq2[int32, *Message] {
	return func(yield func(int32, *Message) bool) {
		for _, paths := range [2][]pathtree.ID{set.above, set.below} {
			for _, p := range paths {
				for at, m := range l.on(p) {
					if !yield(at, m) {
						return
					}
				}
			}
		}
	}
}

// walk follows the path from one of its prefixes, at which value stands, down to
// its end.
func (l *Log) walk(value any, from, id pathtree.ID) (any, bool) {
	if id == from {
		return value, true
	}
	value, ok := l.walk(value, from, l.program.paths.Parent(id))
	if !ok {
		return nil, false
	}
	return pathtree.Step(value, l.program.paths.Segment(id))
}

// resolve is the value at a path, made of the initial value and the messages of
// the calls that are visible, and whether there is one.
//
// The messages count in the graph's topological order, whenever they were
// written: the newest set that covers the path ends the search, and what came
// after it is applied to its value, oldest first. Nothing is left out: every
// message fitted what counted before it when it was written. Where that is
// something of which the reader sees nothing, so that the message has no place in
// what it sees, it sees that as well.
func (l *Log) resolve(id pathtree.ID, visible func(*Message) bool) (any, bool) {
	set := l.program.overlapping(id)
	if len(set.above) == 1 && len(set.below) == 0 {
		if value, there, ok := l.resolveSimple(id, set.above[0], visible); ok {
			return value, there
		}
	}
	var homeless []*Message
	for {
		value, there, m := l.fold(id, l.visible(set, visible, homeless), visible)
		if m == nil {
			return value, there
		}
		if slices.Contains(homeless, m) {
			*l.program.inconsistency = fmt.Sprintf("what was written to %s has no place in the state any more", l.program.paths.String(m.Path))
			return value, there
		}
		homeless = append(homeless, m)
	}
}

// isBase reports whether a message counts before one of others and has to do with
// its place.
func (l *Log) isBase(m *Message, of []*Message) bool {
	return slices.ContainsFunc(of, func(o *Message) bool {
		return (m.Tick < o.Tick || m.Tick == o.Tick && l.place(m) <= l.place(o)) && l.program.paths.Overlap(l.program.paths.List(m.Path), l.program.paths.List(o.Path))
	})
}

// fold puts the value at a path together from messages, in the order in which they
// count. It gives the first that has no place there, or nil.
func (l *Log) fold(id pathtree.ID, seen []*Message, visible func(*Message) bool) (value any, there bool, homeless *Message) {
	if len(seen) == 0 {
		value, there = l.walk(any(l.initial), pathtree.Root, id)
		return value, there, nil
	}
	// A message above the path that isn't a set needs the whole value above.
	root := id
	for _, m := range seen {
		if m.Method != compiler.Set && l.program.paths.Depth(m.Path) < l.program.paths.Depth(root) {
			root = m.Path
		}
	}
	if root != id {
		whole, there := l.resolve(root, visible)
		if !there {
			return nil, false, nil
		}
		value, there = l.walk(whole, root, id)
		return value, there, nil
	}
	f := fold{paths: l.program.paths, root: id}
	first := 0
	f.value, f.there = l.walk(any(l.initial), pathtree.Root, id)
	for i := len(seen) - 1; i >= 0; i-- {
		if m := seen[i]; m.Method == compiler.Set && l.program.paths.IsAbove(m.Path, id) {
			f.value, f.there = l.walk(m.Value, m.Path, id)
			first = i + 1
			break
		}
	}
	for _, m := range seen[first:] {
		if f.apply(m) != nil && homeless == nil {
			homeless = m
		}
	}
	return f.value, f.there, homeless
}

// resolveSimple is resolve where only one written path matters, and one message
// at most: by far the commonest case.
func (l *Log) resolveSimple(id, from pathtree.ID, visible func(*Message) bool) (value any, there, ok bool) {
	at := l.last(from)
	if at > 0 && l.messages[at-1].older > 0 {
		return nil, false, false
	}
	if at == 0 || !visible(&l.messages[at-1]) {
		value, there = l.walk(any(l.initial), pathtree.Root, id)
		return value, there, true
	}
	m := &l.messages[at-1]
	if m.Method != compiler.Set {
		return nil, false, false
	}
	if from == id {
		return m.Value, true, true
	}
	value, there = l.walk(m.Value, from, id)
	return value, there, true
}

// visible gathers the messages on a set of paths that may be seen, and those
// without which others have no place, in the order in which they count. Of failure
// records on one path, that of the call listed first stands (S5.8): one that counts
// after it gives way.
func (l *Log) visible(set *PathSet, visible func(*Message) bool, homeless []*Message) []*Message {
	var places []int32
	failures := 0
	for at, m := range l.over(set) {
		if visible(m) || l.isBase(m, homeless) {
			places = append(places, at)
			if m.Failure {
				failures++
			}
		}
	}
	slices.SortFunc(places, l.order)
	seen := make([]*Message, 0, len(places))
	for _, at := range places {
		m := &l.messages[at]
		if failures > 1 && m.Failure && l.yields(m, seen) {
			continue
		}
		seen = append(seen, m)
	}
	return seen
}

// yields reports whether a failure record gives way to one of those that count
// before it: to that of a call listed before its own.
func (l *Log) yields(m *Message, before []*Message) bool {
	return slices.ContainsFunc(before, func(o *Message) bool {
		return o.Failure && o.Tick == m.Tick && o.Call < m.Call && o.Path == m.Path
	})
}

// anyone sees every message.
func anyone(*Message) bool { return true }

// whole is the value of a kind, of all messages.
func (l *Log) whole(kind string) any { return l.seenBy(kind, anyone) }

// seenBy is the value of a kind, of the messages that are visible.
func (l *Log) seenBy(kind string, visible func(*Message) bool) any {
	id, ok := l.program.paths.Lookup(pathtree.Root, expression.Segment{Key: kind})
	if !ok {
		return l.initial[kind]
	}
	value, _ := l.resolve(id, visible)
	return value
}

// A fold applies messages to the value at one path. It copies what it changes,
// each container once.
type fold struct {
	paths *pathtree.Tree
	root  pathtree.ID
	value any
	there bool
	owned map[pathtree.ID]bool // containers that this fold made
}

// apply applies one message at or below the fold's root.
func (f *fold) apply(m *Message) error {
	var steps []pathtree.ID
	for id := m.Path; id != f.root; id = f.paths.Parent(id) {
		steps = append(steps, id)
	}
	slices.Reverse(steps)
	value, err := f.put(f.root, f.value, steps, m)
	if err != nil {
		return err
	}
	f.value, f.there = value, true
	return nil
}

// put gives the container at a path with the message applied below it.
func (f *fold) put(at pathtree.ID, under any, steps []pathtree.ID, m *Message) (any, error) {
	if len(steps) == 0 {
		mine := f.owned[at]
		f.disown(at)
		if list, ok := under.([]any); ok && mine && m.Method == compiler.Push {
			f.own(at)
			return append(list, m.Value), nil
		}
		value, err := combine(m.Method, under, m.Value)
		if err == nil && m.Method == compiler.Push {
			f.own(at)
		}
		return value, err
	}
	next := steps[0]
	segment := f.paths.Segment(next)
	switch base := under.(type) {
	case nil:
		if segment.IsIndex {
			if segment.Index != 0 {
				return nil, fmt.Errorf("index %d of a list that is empty", segment.Index)
			}
			value, err := f.put(next, nil, steps[1:], m)
			if err != nil {
				return nil, err
			}
			f.own(at)
			return []any{value}, nil
		}
		value, err := f.put(next, nil, steps[1:], m)
		if err != nil {
			return nil, err
		}
		f.own(at)
		return map[string]any{segment.Key: value}, nil
	case map[string]any:
		if segment.IsIndex {
			return nil, fmt.Errorf("an index, [%d], of an object", segment.Index)
		}
		value, err := f.put(next, base[segment.Key], steps[1:], m)
		if err != nil {
			return nil, err
		}
		if !f.owned[at] {
			base = maps.Clone(base)
			f.own(at)
		}
		base[segment.Key] = value
		return base, nil
	case []any:
		if !segment.IsIndex {
			return nil, fmt.Errorf("a key, %q, of a list", segment.Key)
		}
		if segment.Index > len(base) {
			return nil, fmt.Errorf("index %d of a list of %d", segment.Index, len(base))
		}
		var inner any
		if segment.Index < len(base) {
			inner = base[segment.Index]
		}
		value, err := f.put(next, inner, steps[1:], m)
		if err != nil {
			return nil, err
		}
		if !f.owned[at] {
			base = slices.Clip(slices.Clone(base))
			f.own(at)
		}
		if segment.Index == len(base) {
			return append(base, value), nil
		}
		base[segment.Index] = value
		return base, nil
	}
	return nil, fmt.Errorf("a path below %s", kindOf(under))
}

func (f *fold) own(at pathtree.ID) {
	if f.owned == nil {
		f.owned = map[pathtree.ID]bool{}
	}
	f.owned[at] = true
}

// disown forgets the containers at and below a path whose value is replaced.
func (f *fold) disown(at pathtree.ID) {
	if len(f.owned) == 0 {
		return
	}
	f.paths.Below(at, func(id pathtree.ID) bool {
		delete(f.owned, id)
		return true
	})
}

// combine applies a method to what stands at the path itself (S5.3). Absent and
// null are an empty base.
func combine(method compiler.Method, under, over any) (any, error) {
	switch method {
	case compiler.Set:
		return over, nil
	case compiler.Merge:
		if _, isObject := under.(map[string]any); under != nil && !isObject {
			return nil, fmt.Errorf("merge into %s", kindOf(under))
		}
		return mergeDeep(under, over), nil
	case compiler.Assign:
		base, isObject := under.(map[string]any)
		patch, isPatch := over.(map[string]any)
		if under != nil && !isObject {
			return nil, fmt.Errorf("assign to %s", kindOf(under))
		}
		if !isPatch {
			return nil, fmt.Errorf("assign of %s", kindOf(over))
		}
		out := make(map[string]any, len(base)+len(patch))
		maps.Copy(out, base)
		maps.Copy(out, patch)
		return out, nil
	case compiler.Push, compiler.Concat:
		base, isList := under.([]any)
		if under != nil && !isList {
			return nil, fmt.Errorf("%s to %s", method, kindOf(under))
		}
		if method == compiler.Push {
			return append(slices.Clip(base), over), nil
		}
		more, isMore := over.([]any)
		if !isMore {
			return nil, fmt.Errorf("concat of %s", kindOf(over))
		}
		return append(slices.Clip(base), more...), nil
	}
	panic("unknown method")
}

// mergeDeep is RFC 7396 except that null stays.
func mergeDeep(under, over any) any {
	patch, ok := over.(map[string]any)
	if !ok {
		return over
	}
	base, _ := under.(map[string]any)
	out := make(map[string]any, len(base)+len(patch))
	maps.Copy(out, base)
	for _, key := range slices.Sorted(maps.Keys(patch)) {
		out[key] = mergeDeep(out[key], patch[key])
	}
	return out
}

func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case float64:
		return "a number"
	case string:
		return "a string"
	case []any:
		return "a list"
	}
	return "an object"
}
