package compiler

import (
	"hash/maphash"
	"slices"
	"strconv"
	"strings"

	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/naming"
)

// PathID is a path's place in the plan's table.
type PathID int32

// RootPath is the path above all kinds.
const RootPath PathID = 0

// A PathTable interns paths as a tree: a path's parent is the path without its
// last segment. Below the root stand the kinds (input, state, data, error,
// advice), and below these the segments. Two paths overlap when one is the
// other or stands above it in this tree (S6.1).
type PathTable struct {
	nodes []pathNode
	slots []PathID // the paths by parent and segment: a hash table, open addressing; RootPath is a free slot
	ascii bool     // no path has a character beyond ASCII
}

type pathNode struct {
	parent, firstChild, nextSibling PathID
	depth                           int32
	segment                         expression.Segment
}

func newPathTable() *PathTable {
	return &PathTable{nodes: []pathNode{{parent: -1, firstChild: -1, nextSibling: -1}}, slots: make([]PathID, 32), ascii: true}
}

// Clone is a table of the same paths with the same numbers, which grows by
// itself.
func (t *PathTable) Clone() *PathTable {
	return &PathTable{nodes: slices.Clone(t.nodes), slots: slices.Clone(t.slots), ascii: t.ascii}
}

// Len is the number of paths, the root among them.
func (t *PathTable) Len() int { return len(t.nodes) }

// intern is the path one segment below, made if it is new.
func (t *PathTable) intern(parent PathID, s expression.Segment) PathID {
	slot, id := t.find(parent, s)
	if id != RootPath {
		return id
	}
	id = PathID(len(t.nodes))
	t.nodes = append(t.nodes, pathNode{parent: parent, firstChild: -1, nextSibling: t.nodes[parent].firstChild, depth: t.nodes[parent].depth + 1, segment: s})
	t.nodes[parent].firstChild = id
	t.slots[slot] = id
	t.ascii = t.ascii && naming.IsASCII(s.Key)
	if 2*len(t.nodes) > len(t.slots) {
		t.grow()
	}
	return id
}

// find is the path one segment below, or else RootPath and the slot in which to
// note it.
func (t *PathTable) find(parent PathID, s expression.Segment) (slot int, id PathID) {
	mask := len(t.slots) - 1
	slot = int(pathHash(parent, s)) & mask
	for ; t.slots[slot] != RootPath; slot = (slot + 1) & mask {
		if n := &t.nodes[t.slots[slot]]; n.parent == parent && n.segment.IsIndex == s.IsIndex && n.segment.Key == s.Key {
			return slot, t.slots[slot]
		}
	}
	return slot, RootPath
}

// grow makes room for twice as many paths.
func (t *PathTable) grow() {
	t.nodes = slices.Grow(t.nodes, len(t.nodes))
	t.slots = make([]PathID, 2*len(t.slots))
	for id := RootPath + 1; int(id) < len(t.nodes); id++ {
		slot, _ := t.find(t.nodes[id].parent, t.nodes[id].segment)
		t.slots[slot] = id
	}
}

var pathSeed = maphash.MakeSeed()

func pathHash(parent PathID, s expression.Segment) uint64 {
	h := maphash.String(pathSeed, s.Key) + uint64(parent)*0x9e3779b97f4a7c15
	if s.IsIndex {
		h = ^h
	}
	return h ^ h>>32
}

// Lookup is the path one segment below, and whether the table has it.
func (t *PathTable) Lookup(parent PathID, s expression.Segment) (PathID, bool) {
	_, id := t.find(parent, s)
	return id, id != RootPath
}

// Parent is the path without its last segment; the root's is -1.
func (t *PathTable) Parent(id PathID) PathID { return t.nodes[id].parent }

// Depth is the number of segments, the kind included.
func (t *PathTable) Depth(id PathID) int { return int(t.nodes[id].depth) }

// Segment is a path's last segment.
func (t *PathTable) Segment(id PathID) expression.Segment { return t.nodes[id].segment }

// Segments is the whole path, its kind first.
func (t *PathTable) Segments(id PathID) []expression.Segment {
	out := make([]expression.Segment, t.nodes[id].depth)
	for i := len(out) - 1; i >= 0; i-- {
		out[i] = t.nodes[id].segment
		id = t.nodes[id].parent
	}
	return out
}

// Walk is what stands at a path, given the value of its kind. It reports false
// where there is nothing.
func (t *PathTable) Walk(value any, id PathID) (any, bool) {
	if t.nodes[id].depth <= 1 {
		return value, true
	}
	above, ok := t.Walk(value, t.nodes[id].parent)
	if !ok {
		return nil, false
	}
	below, ok := Step(above, t.nodes[id].segment)
	if !ok {
		return nil, false
	}
	return below, true
}

// Kind is a path's first segment: input, state, data, error, advice.
func (t *PathTable) Kind(id PathID) string {
	for t.nodes[id].depth > 1 {
		id = t.nodes[id].parent
	}
	return t.nodes[id].segment.Key
}

// List is the outermost list that a path leads into, or the path itself. How
// long a list is decides where an item may go, so two writes have to do with each
// other when these overlap.
func (t *PathTable) List(id PathID) PathID {
	found := id
	for ; id > RootPath; id = t.nodes[id].parent {
		if t.nodes[id].segment.IsIndex {
			found = t.nodes[id].parent
		}
	}
	return found
}

// Below calls f for id and every path below it, in no particular order, until
// f returns false.
func (t *PathTable) Below(id PathID, f func(PathID) bool) bool {
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

// IsAbove reports whether a is b or a prefix of it.
func (t *PathTable) IsAbove(a, b PathID) bool {
	for t.nodes[b].depth > t.nodes[a].depth {
		b = t.nodes[b].parent
	}
	return a == b
}

// Overlap reports whether one of the two paths is a prefix of the other.
func (t *PathTable) Overlap(a, b PathID) bool { return t.IsAbove(a, b) || t.IsAbove(b, a) }

// String is the path as a reference: †state.a[0]["odd key"].
func (t *PathTable) String(id PathID) string {
	if id == RootPath {
		return "†"
	}
	var b strings.Builder
	b.WriteRune(expression.Mark)
	for i, s := range t.Segments(id) {
		writeSegment(&b, s, i == 0)
	}
	return b.String()
}

func writeSegment(b *strings.Builder, s expression.Segment, first bool) {
	switch {
	case first:
		b.WriteString(s.Key)
	case s.IsIndex:
		b.WriteString("[" + s.Key + "]")
	case expression.IsBareKey(s.Key):
		b.WriteString("." + s.Key)
	default:
		b.WriteString("[" + strconv.Quote(s.Key) + "]")
	}
}

// keys lists the keys of a path below its kind.
func (t *PathTable) keys(id PathID) []string {
	var keys []string
	for _, segment := range t.Segments(id) {
		if !segment.IsIndex {
			keys = append(keys, segment.Key)
		}
	}
	return keys
}
