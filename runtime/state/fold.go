package state

import (
	"fmt"
	"maps"
	"slices"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
)

// A fold applies messages to the value at one path. It copies what it changes, each container once.
type fold struct {
	paths   *pathtree.Tree
	root    pathtree.ID
	value   any
	there   bool
	own     *owned
	undoing bool     // what has changed is kept, so that it can be taken back
	changes []change // oldest first
}

// owned says of a container that a fold has made it, and may change it in place; and
// which of those in it are so as well, by path.
type owned struct {
	in map[pathtree.ID]*owned
}

func (o *owned) at(id pathtree.ID) *owned {
	if o == nil {
		return nil
	}
	return o.in[id]
}

func (o *owned) set(id pathtree.ID, in *owned) {
	switch {
	case in == nil:
		delete(o.in, id)
	case o.in == nil:
		o.in = map[pathtree.ID]*owned{id: in}
	default:
		o.in[id] = in
	}
}

// A change is what stood in one place of a container before a message: of an object,
// or else of a list, or else at the fold's root.
type change struct {
	object map[string]any
	list   []any
	key    string
	index  int
	value  any
	there  bool

	in  *owned // of the container
	id  pathtree.ID
	own *owned // of what stood there
}

// apply applies one message at or below the fold's root. One that has no place changes nothing.
func (f *fold) apply(m *Message) error {
	steps := make([]pathtree.ID, f.paths.Depth(m.Path)-f.paths.Depth(f.root))
	id := m.Path
	for i := len(steps) - 1; i >= 0; i-- {
		steps[i], id = id, f.paths.Parent(id)
	}
	value, own, err := f.put(f.own, f.root, f.value, steps, m)
	if err != nil {
		return err
	}
	f.keep(change{value: f.value, there: f.there, own: f.own})
	f.value, f.there, f.own = value, true, own
	return nil
}

func (f *fold) keep(c change) {
	if f.undoing {
		f.changes = append(f.changes, c)
	}
}

func (f *fold) back(first int) {
	for i := len(f.changes) - 1; i >= first; i-- {
		switch c := &f.changes[i]; {
		case c.object != nil && c.there:
			c.object[c.key] = c.value
		case c.object != nil:
			delete(c.object, c.key)
		case c.list != nil:
			c.list[c.index] = c.value
		case c.in == nil:
			f.value, f.there, f.own = c.value, c.there, c.own
		}
		if c := &f.changes[i]; c.in != nil {
			c.in.set(c.id, c.own)
		}
	}
	clear(f.changes[first:])
	f.changes = f.changes[:first]
}

// put gives the container at a path with the message applied below it, and whether it is the fold's own.
func (f *fold) put(own *owned, at pathtree.ID, under any, steps []pathtree.ID, m *Message) (any, *owned, error) {
	if len(steps) == 0 {
		return f.combine(own, at, under, m)
	}
	next := steps[0]
	segment := f.paths.Segment(next)
	switch base := under.(type) {
	case nil:
		if segment.IsIndex && segment.Index != 0 {
			return nil, nil, fmt.Errorf("index %d of a list that is empty", segment.Index)
		}
		value, in, err := f.put(nil, next, nil, steps[1:], m)
		if err != nil {
			return nil, nil, err
		}
		own = &owned{}
		own.set(next, in)
		if segment.IsIndex {
			return []any{value}, own, nil
		}
		return map[string]any{segment.Key: value}, own, nil
	case map[string]any:
		if segment.IsIndex {
			return nil, nil, fmt.Errorf("an index, [%d], of an object", segment.Index)
		}
		value, in, err := f.put(own.at(next), next, base[segment.Key], steps[1:], m)
		if err != nil {
			return nil, nil, err
		}
		if own == nil {
			base, own = maps.Clone(base), &owned{}
		}
		f.setKey(own, base, segment.Key, next, value, in)
		return base, own, nil
	case []any:
		if !segment.IsIndex {
			return nil, nil, fmt.Errorf("a key, %q, of a list", segment.Key)
		}
		if segment.Index > len(base) {
			return nil, nil, fmt.Errorf("index %d of a list of %d", segment.Index, len(base))
		}
		c := change{index: segment.Index, id: next}
		if segment.Index < len(base) {
			c.value = base[segment.Index]
		}
		value, in, err := f.put(own.at(next), next, c.value, steps[1:], m)
		if err != nil {
			return nil, nil, err
		}
		if own == nil {
			base, own = slices.Clone(base), &owned{}
		}
		if c.in, c.own = own, own.at(next); segment.Index == len(base) {
			base = append(base, value)
		} else {
			c.list = base
			base[segment.Index] = value
		}
		f.keep(c)
		own.set(next, in)
		return base, own, nil
	}
	return nil, nil, fmt.Errorf("a path below %s", compiler.KindOf(under))
}

// setKey sets a key of an object that is the fold's own; id is the key's path.
func (f *fold) setKey(own *owned, base map[string]any, key string, id pathtree.ID, value any, in *owned) {
	old, there := base[key]
	f.keep(change{object: base, key: key, value: old, there: there, in: own, id: id, own: own.at(id)})
	base[key] = value
	own.set(id, in)
}

func (f *fold) combine(own *owned, at pathtree.ID, under any, m *Message) (any, *owned, error) {
	if own != nil {
		switch base := under.(type) {
		case []any:
			more, isMore := m.Value.([]any)
			switch {
			case m.Method == plan.Push:
				return append(base, m.Value), own, nil
			case m.Method == plan.Concat && isMore:
				return append(base, more...), own, nil
			}
		case map[string]any:
			if patch, ok := m.Value.(map[string]any); ok && (m.Method == plan.Merge || m.Method == plan.Assign) {
				f.lay(own, at, base, patch, m.Method == plan.Merge)
				return base, own, nil
			}
		}
	}
	value, err := compiler.Combine(m.Method, under, m.Value)
	if err != nil || m.Method == plan.Set {
		return value, nil, err
	}
	if _, isObject := m.Value.(map[string]any); m.Method == plan.Merge && !isObject {
		return value, nil, nil // as it came
	}
	return value, &owned{}, nil
}

// lay lays an object over one that is the fold's own: deep as merge does it, else as assign does.
func (f *fold) lay(own *owned, at pathtree.ID, base, patch map[string]any, deep bool) {
	for _, key := range slices.Sorted(maps.Keys(patch)) {
		value := patch[key]
		id, known := f.paths.Lookup(at, expression.Segment{Key: key})
		var in *owned
		inner, isObject := base[key].(map[string]any)
		if over, ok := value.(map[string]any); deep && ok && isObject {
			if in = own.at(id); known && in != nil {
				f.lay(in, id, inner, over, deep)
				continue
			}
			value = compiler.Merged(inner, over)
			if known {
				in = &owned{}
			}
		}
		f.setKey(own, base, key, id, value, in)
	}
}
