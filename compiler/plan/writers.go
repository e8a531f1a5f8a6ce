package plan

import (
	"cmp"
	"slices"
	"sync"

	"github.com/obelus-dev/obelus/compiler/pathtree"
)

// A Writer is a call that may write a path.
type Writer struct {
	Call    int32
	Path    pathtree.ID
	Failure bool // only as its failure route
	Sets    bool // see [Call.SetsAt]
	Method  Method
}

// Writers indexes who may write what: for every path the calls that name it.
type Writers struct {
	Paths *pathtree.Tree
	Slots map[pathtree.ID]int // the places of paths in what follows; nil: a path's is its number
	At    [][]Writer          // the calls that name a path, ascending
	Over  [][]Writer          // those that overlap it, ascending by call; nil before it is asked
	Calls [][]int32           // the same, each call once; nil before it is asked
}

// slot is where a path is in the index. The table of paths may have grown since.
func (w *Writers) slot(id pathtree.ID) (int, bool) {
	if w.Slots == nil {
		return int(id), int(id) < len(w.At)
	}
	slot, ok := w.Slots[id]
	return slot, ok
}

// Add notes a writer; a path that a call names both in its failure route and elsewhere counts as elsewhere.
func (w *Writers) Add(under pathtree.ID, one Writer) {
	slot, ok := w.slot(under)
	if !ok {
		slot = w.newSlot(under)
	}
	at := w.At[slot]
	if last := len(at) - 1; last >= 0 && at[last].Call == one.Call && at[last].Path == one.Path {
		at[last].Failure = at[last].Failure && one.Failure
		return
	}
	w.At[slot] = append(at, one)
}

func (w *Writers) newSlot(id pathtree.ID) int {
	slot := int(id)
	if w.Slots != nil {
		slot = len(w.At)
		w.Slots[id] = slot
	}
	for len(w.At) <= slot {
		w.At, w.Over, w.Calls = append(w.At, nil), append(w.Over, nil), append(w.Calls, nil)
	}
	return slot
}

// of lists who names a path.
func (w *Writers) of(id pathtree.ID) []Writer {
	if slot, ok := w.slot(id); ok {
		return w.At[slot]
	}
	return nil
}

// Overlapping lists who may write a path, what is above it, or what is below
// it. The slice is shared: readers take parts of it and nobody changes it.
func (w *Writers) Overlapping(id pathtree.ID) []Writer {
	slot, known := w.slot(id)
	if known && w.Over[slot] != nil {
		return w.Over[slot]
	}
	list := slices.Clip(w.of(id))
	var rest []Writer
	for up := w.Paths.Parent(id); up > pathtree.Root; up = w.Paths.Parent(up) {
		rest = append(rest, w.of(up)...)
	}
	if rest = w.below(rest, id); len(rest) > 0 || !slices.IsSortedFunc(list, byCallAndPath) {
		list = slices.Concat(list, rest)
		slices.SortStableFunc(list, byCallAndPath)
	}
	if list == nil {
		list = []Writer{}
	}
	if known {
		w.Over[slot] = list
	}
	return list
}

func byCallAndPath(a, b Writer) int {
	return cmp.Or(int(a.Call-b.Call), int(a.Path-b.Path))
}

func (w *Writers) below(list []Writer, id pathtree.ID) []Writer {
	for child := range w.Paths.Children(id) {
		list = w.below(append(list, w.of(child)...), child)
	}
	return list
}

// CallsOver is overlapping with each call once.
func (w *Writers) CallsOver(id pathtree.ID) []int32 {
	slot, known := w.slot(id)
	if known && w.Calls[slot] != nil {
		return w.Calls[slot]
	}
	over := w.Overlapping(id)
	list := make([]int32, 0, len(over))
	for _, one := range over {
		if len(list) == 0 || list[len(list)-1] != one.Call {
			list = append(list, one.Call)
		}
	}
	if known {
		w.Calls[slot] = list
	}
	return list
}

// Unordered is a pair of calls that may write overlapping paths although neither depends on the other: A is listed
// before B. At least one of the two writes by set, and they don't meet in failure routes alone.
type Unordered struct {
	A, B         int
	PathA, PathB Path
}

// WritersAt lists who may write exactly this path, ascending by call. The slice is the plan's own.
func (p *Plan) WritersAt(id pathtree.ID) []Writer { return p.Index.of(id) }

// Writers lists who may write a path, what is above it, or what is below it,
// ascending by call. The slice is the plan's own.
func (p *Plan) Writers(id pathtree.ID) []Writer { return p.Index.Overlapping(id) }

// Around lists who may write a path, what is above it or below it, or into the list that it leads into: all that decide
// its value. It is ascending by call, and the plan's own.
func (p *Plan) Around(id pathtree.ID) []Writer { return p.PlaceIndex.Overlapping(p.Paths.List(id)) }

// Sees reports whether the read sees what a call writes to a path that overlaps its own.
func (r *Read) Sees(call int) bool {
	switch r.Bound {
	case Earlier:
		return r.Call < 0 || call < r.Call
	case Later:
		return call > r.Call
	case All:
		return call != r.Call
	}
	return false
}

// Targets say which calls of a plan are for which instance.
type Targets struct {
	Shared []int32            // the calls for all, ascending
	Own    map[string][]int32 // by id: those for that one, ascending

	Once   sync.Once
	Common *Plan // the view of the instances without calls of their own
}

// Several reports whether no instance runs all the calls there are.
func (t *Targets) Several() bool { return t != nil && len(t.Own) > 1 }

// Full is the plan that a view is a part of; any other plan is its own whole.
func (p *Plan) Full() *Plan {
	if p.Entire != nil {
		return p.Entire
	}
	return p
}

// Only is one instance by its id; nothing is known about one that comes with the run.
func (p *Plan) Only(instance string) []Instance {
	if at, ok := p.InstanceAt[instance]; ok {
		return p.Instances[at : at+1 : at+1]
	}
	return []Instance{{ID: instance}}
}

// InstanceIDs are the ids of all instances, in their order.
func (p *Plan) InstanceIDs() []string {
	ids := make([]string, len(p.Instances))
	for i := range p.Instances {
		ids[i] = p.Instances[i].ID
	}
	return ids
}
