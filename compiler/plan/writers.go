package plan

import (
	"cmp"
	"iter"
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

// Writers indexes who may write what.
type Writers struct {
	paths *pathtree.Tree
	named map[pathtree.ID][]Writer // the calls that name a path, ascending
	over  known[Writer]            // what Overlapping gave
	calls known[int32]             // and CallsOver
}

// What is known of paths, for several goroutines.
type known[T any] struct {
	sync.Mutex
	of map[pathtree.ID][]T
}

func (k *known[T]) get(id pathtree.ID, find func() []T) []T {
	k.Lock()
	list, ok := k.of[id]
	k.Unlock()
	if !ok {
		list = find()
		k.Lock()
		k.of[id] = list
		k.Unlock()
	}
	return list
}

// NewWriters indexes what calls write under another path each, which is at it or above.
func NewWriters(paths *pathtree.Tree, calls iter.Seq[*Call], under func(pathtree.ID) pathtree.ID) *Writers {
	w := &Writers{paths: paths, named: map[pathtree.ID][]Writer{}}
	w.over.of, w.calls.of = map[pathtree.ID][]Writer{}, map[pathtree.ID][]int32{}
	for c := range calls {
		for alternative, path := range c.Paths() {
			at, failure := w.named[under(path.ID)], alternative == c.FailureRoute()
			if last := len(at) - 1; last >= 0 && int(at[last].Call) == c.Index && at[last].Path == path.ID {
				at[last].Failure = at[last].Failure && failure // elsewhere as well
				continue
			}
			one := Writer{int32(c.Index), path.ID, failure, c.SetsAt(path.ID), c.Method}
			w.named[under(path.ID)] = append(at, one)
		}
	}
	return w
}

// Overlapping lists who may write a path, what is above it, or what is below
// it. The slice is shared: readers take parts of it and nobody changes it.
func (w *Writers) Overlapping(id pathtree.ID) []Writer {
	return w.over.get(id, func() []Writer {
		list := slices.Clip(w.named[id])
		var rest []Writer
		for up := w.paths.Parent(id); up > pathtree.Root; up = w.paths.Parent(up) {
			rest = append(rest, w.named[up]...)
		}
		if rest = w.below(rest, id); len(rest) > 0 || !slices.IsSortedFunc(list, byCallAndPath) {
			list = slices.Concat(list, rest)
			slices.SortStableFunc(list, byCallAndPath)
		}
		return list
	})
}

func byCallAndPath(a, b Writer) int {
	return cmp.Or(int(a.Call-b.Call), int(a.Path-b.Path))
}

func (w *Writers) below(list []Writer, id pathtree.ID) []Writer {
	for child := range w.paths.Children(id) {
		list = w.below(append(list, w.named[child]...), child)
	}
	return list
}

// CallsOver is overlapping with each call once.
func (w *Writers) CallsOver(id pathtree.ID) []int32 {
	return w.calls.get(id, func() (list []int32) {
		for _, one := range w.Overlapping(id) {
			if len(list) == 0 || list[len(list)-1] != one.Call {
				list = append(list, one.Call)
			}
		}
		return list
	})
}

// Unordered is a pair of calls that may write overlapping paths although neither depends on the other: A is listed
// before B. At least one of the two writes by set, and they don't meet in failure routes alone.
type Unordered struct {
	A, B         int
	PathA, PathB Path
}

// WritersAt lists who may write exactly this path, ascending by call. The slice is the plan's own.
func (p *Plan) WritersAt(id pathtree.ID) []Writer { return p.Index.named[id] }

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
