// Package pathtree numbers the paths that a plan refers to, so that a caller that asks which
// of them overlap compares numbers.
package pathtree

import (
	"iter"
	"maps"
	"slices"

	"github.com/obelus-dev/obelus/compiler/naming"
	"github.com/obelus-dev/obelus/compiler/reference"
)

// An ID is a path's place in the plan's tree.
type ID int32

// Root is the path above all kinds.
const Root ID = 0

// A Tree interns paths: a path's parent is the path without its
// last segment. Below the root stand the kinds (input, state, data, error,
// advice), and below these the segments. Two paths overlap when one is the
// other or stands above it in this tree.
type Tree struct {
	nodes []pathNode
	ids   map[step]ID
	ascii bool // no path has a character beyond ASCII
}

type pathNode struct {
	parent, firstChild, nextSibling ID
	depth                           int32
	segment                         reference.Segment
}

// A step is a segment below a path. An index differs from a key that is written alike.
type step struct {
	parent ID
	key    string
	index  bool
}

// New is a tree of nothing but the root.
func New() *Tree {
	return &Tree{nodes: []pathNode{{parent: -1, firstChild: -1, nextSibling: -1}}, ids: map[step]ID{}, ascii: true}
}

// IsASCII reports whether no path has a character beyond ASCII.
func (t *Tree) IsASCII() bool { return t.ascii }

// Clone is a tree of the same paths with the same numbers, which grows by
// itself.
func (t *Tree) Clone() *Tree {
	return &Tree{nodes: slices.Clone(t.nodes), ids: maps.Clone(t.ids), ascii: t.ascii}
}

// Len is the number of paths, the root among them.
func (t *Tree) Len() int { return len(t.nodes) }

// Intern is the path one segment below, made if it is new.
func (t *Tree) Intern(parent ID, s reference.Segment) ID {
	at := step{parent, s.Key, s.IsIndex}
	if id, known := t.ids[at]; known {
		return id
	}
	id := ID(len(t.nodes))
	t.nodes = append(t.nodes, pathNode{parent: parent, firstChild: -1, nextSibling: t.nodes[parent].firstChild,
		depth: t.nodes[parent].depth + 1, segment: s})
	t.nodes[parent].firstChild, t.ids[at] = id, id
	t.ascii = t.ascii && naming.IsASCII(s.Key)
	return id
}

// Lookup is the path one segment below, and whether the tree has it.
func (t *Tree) Lookup(parent ID, s reference.Segment) (ID, bool) {
	id, known := t.ids[step{parent, s.Key, s.IsIndex}]
	return id, known
}

// Parent is the path without its last segment; the root's is -1.
func (t *Tree) Parent(id ID) ID { return t.nodes[id].parent }

// Depth is the number of segments, the kind included.
func (t *Tree) Depth(id ID) int { return int(t.nodes[id].depth) }

// Segment is a path's last segment.
func (t *Tree) Segment(id ID) reference.Segment { return t.nodes[id].segment }

// Segments is the whole path, its kind first.
func (t *Tree) Segments(id ID) []reference.Segment {
	out := make([]reference.Segment, t.nodes[id].depth)
	for i := len(out) - 1; i >= 0; i-- {
		out[i] = t.nodes[id].segment
		id = t.nodes[id].parent
	}
	return out
}

// Walk is what stands at a path, given the value of its kind. It reports false
// where there is nothing.
func (t *Tree) Walk(value any, id ID) (any, bool) {
	return Walk(value, t.Segments(id)[min(1, t.Depth(id)):])
}

// Kind is a path's first segment: input, state, data, error, advice.
func (t *Tree) Kind(id ID) string {
	for t.nodes[id].depth > 1 {
		id = t.nodes[id].parent
	}
	return t.nodes[id].segment.Key
}

// List is the outermost list that a path leads into, or the path itself. How
// long a list is decides where an item may go, so two writes have to do with each
// other when these overlap.
func (t *Tree) List(id ID) ID {
	found := id
	for ; id > Root; id = t.nodes[id].parent {
		if t.nodes[id].segment.IsIndex {
			found = t.nodes[id].parent
		}
	}
	return found
}

// Below calls f for id and every path below it, in no particular order, until
// f returns false.
func (t *Tree) Below(id ID, f func(ID) bool) bool {
	if !f(id) {
		return false
	}
	for c := t.nodes[id].firstChild; c >= 0; c = t.nodes[c].nextSibling {
		if !t.Below(c, f) {
			return false
		}
	}
	return true
}

// Children are the paths one segment below, the last that was made first.
func (t *Tree) Children(id ID) iter.Seq[ID] {
	return func(yield func(ID) bool) {
		for c := t.nodes[id].firstChild; c >= 0; c = t.nodes[c].nextSibling {
			if !yield(c) {
				return
			}
		}
	}
}

// IsAbove reports whether a is b or a prefix of it.
func (t *Tree) IsAbove(a, b ID) bool {
	for t.nodes[b].depth > t.nodes[a].depth {
		b = t.nodes[b].parent
	}
	return a == b
}

// Overlap reports whether one of the two paths is a prefix of the other.
func (t *Tree) Overlap(a, b ID) bool { return t.IsAbove(a, b) || t.IsAbove(b, a) }

// String is the path as a reference: †state.a[0]["odd key"].
func (t *Tree) String(id ID) string {
	if id == Root {
		return "†"
	}
	path := t.Segments(id)
	return reference.Reference{Kind: path[0].Key, Path: path[1:]}.String()
}

// Keys lists the keys of a path below its kind.
func (t *Tree) Keys(id ID) []string {
	var keys []string
	for _, segment := range t.Segments(id) {
		if !segment.IsIndex {
			keys = append(keys, segment.Key)
		}
	}
	return keys
}

// Walk follows segments into a JSON value. It reports false where there is
// nothing.
func Walk(value any, segments []reference.Segment) (any, bool) {
	for _, s := range segments {
		next, ok := Step(value, s)
		if !ok {
			return nil, false
		}
		value = next
	}
	return value, true
}

// With is a JSON value with another at some segments: what leads there is copied, and made where it isn't an object or
// a list of the segment's kind.
func With(value any, segments []reference.Segment, part any) any {
	if len(segments) == 0 {
		return part
	}
	s := segments[0]
	next, _ := Step(value, s)
	next = With(next, segments[1:], part)
	if s.IsIndex {
		list, _ := value.([]any)
		list = append(slices.Clone(list), make([]any, max(0, s.Index+1-len(list)))...)
		list[s.Index] = next
		return list
	}
	object, _ := value.(map[string]any)
	if object = maps.Clone(object); object == nil {
		object = map[string]any{}
	}
	object[s.Key] = next
	return object
}

// Step is what stands one segment down in a JSON value: a key addresses an
// object, an index a list, and neither the other.
func Step(value any, s reference.Segment) (any, bool) {
	switch v := value.(type) {
	case map[string]any:
		next, ok := v[s.Key]
		return next, ok && !s.IsIndex
	case []any:
		if s.IsIndex && s.Index < len(v) {
			return v[s.Index], true
		}
	}
	return nil, false
}
