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
	paths *pathtree.Tree
	root  pathtree.ID
	value any
	own   *owned
	// what takes back the changes so far, oldest first; nil where nothing is to be taken back
	undo *[]func()
}

// owned says of a container that a fold has made it, and may change it in place; and which of those in it are so, too.
type owned struct{ in map[pathtree.ID]*owned }

func (o *owned) at(id pathtree.ID) *owned {
	if o == nil {
		return nil
	}
	return o.in[id]
}

func (o *owned) set(id pathtree.ID, in *owned) {
	if o.in == nil && in != nil {
		o.in = map[pathtree.ID]*owned{}
	}
	if delete(o.in, id); in != nil {
		o.in[id] = in
	}
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
	if f.undo != nil {
		was, wasOwn := f.value, f.own
		*f.undo = append(*f.undo, func() { f.value, f.own = was, wasOwn })
	}
	f.value, f.own = value, own
	return nil
}

// back takes back what was changed since there were so many changes.
func (f *fold) back(first int) {
	for i := len(*f.undo) - 1; i >= first; i-- {
		(*f.undo)[i]()
	}
	clear((*f.undo)[first:])
	*f.undo = (*f.undo)[:first]
}

// within is what stands at a segment of a container, where there is a place for it.
func within(under any, segment expression.Segment) (any, error) {
	switch base := under.(type) {
	case nil:
		if segment.IsIndex && segment.Index != 0 {
			return nil, fmt.Errorf("index %d of a list that is empty", segment.Index)
		}
		return nil, nil
	case map[string]any:
		if segment.IsIndex {
			return nil, fmt.Errorf("an index, [%d], of an object", segment.Index)
		}
		return base[segment.Key], nil
	case []any:
		switch {
		case !segment.IsIndex:
			return nil, fmt.Errorf("a key, %q, of a list", segment.Key)
		case segment.Index > len(base):
			return nil, fmt.Errorf("index %d of a list of %d", segment.Index, len(base))
		case segment.Index < len(base):
			return base[segment.Index], nil
		}
		return nil, nil
	}
	return nil, fmt.Errorf("a path below %s", expression.KindOf(under))
}

// put gives the container at a path with the message applied below it, and whether it is the fold's own.
func (f *fold) put(own *owned, at pathtree.ID, under any, steps []pathtree.ID, m *Message) (any, *owned, error) {
	if len(steps) == 0 {
		return f.combine(own, at, under, m)
	}
	next := steps[0]
	segment := f.paths.Segment(next)
	inner, err := within(under, segment)
	if err != nil {
		return nil, nil, err
	}
	value, in, err := f.put(own.at(next), next, inner, steps[1:], m)
	if err != nil {
		return nil, nil, err
	}
	base, isObject := under.(map[string]any)
	list, _ := under.([]any)
	if own == nil {
		base, list, own = maps.Clone(base), slices.Clone(list), &owned{}
	}
	if under == nil && !segment.IsIndex {
		base, isObject, own = map[string]any{}, true, &owned{}
	}
	if isObject {
		f.setKey(own, base, segment.Key, next, value, in)
		return base, own, nil
	}
	wasOwn, isNew := own.at(next), segment.Index == len(list)
	if own.set(next, in); isNew {
		list = append(list, value)
	} else {
		list[segment.Index] = value
	}
	if f.undo != nil {
		*f.undo = append(*f.undo, func() {
			if own.set(next, wasOwn); !isNew {
				list[segment.Index] = inner
			}
		})
	}
	return list, own, nil
}

// setKey sets a key of an object that is the fold's own; id is the key's path.
func (f *fold) setKey(own *owned, base map[string]any, key string, id pathtree.ID, value any, in *owned) {
	if f.undo != nil {
		was, isSet := base[key]
		wasOwn := own.at(id)
		*f.undo = append(*f.undo, func() {
			own.set(id, wasOwn)
			if base[key] = was; !isSet {
				delete(base, key)
			}
		})
	}
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
