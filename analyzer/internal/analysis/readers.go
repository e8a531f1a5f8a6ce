package analysis

import (
	"maps"
	"slices"

	"github.com/obelus-dev/obelus/compiler/pathtree"
)

// Readers index who reads what, the mirror of the compiler's index of writers.
type readers struct {
	paths *pathtree.Tree
	at    [][]int32 // by path: the calls that read exactly it, ascending; behind all of them the plan's output
	below [][]int32 // by path: the calls that read something below it, in the same way
}

// Reading is the pass's index of readers, made when it is first asked for.
func Reading(p *Pass) *readers {
	r, paths := Kept[readers](p.Store), p.Plan.Paths
	if r.paths != nil {
		return r
	}
	n := paths.Len()
	*r = readers{paths: paths, at: make([][]int32, n), below: make([][]int32, n)}
	for i := range p.Plan.Reads {
		read, reader := &p.Plan.Reads[i], int32(p.Plan.Reads[i].Call)
		if reader < 0 {
			reader = int32(len(p.Plan.Calls))
		}
		r.at[read.Path] = note(r.at[read.Path], reader)
		for up := paths.Parent(read.Path); up > pathtree.Root; up = paths.Parent(up) {
			r.below[up] = note(r.below[up], reader)
		}
	}
	return r
}

// note appends a call to an ascending list that holds each call once.
func note(list []int32, call int32) []int32 {
	if len(list) > 0 && list[len(list)-1] == call {
		return list
	}
	return append(list, call)
}

// Overlapping goes over the lists of calls that read a path, something above it
// or something below it, until f returns false.
func (r *readers) Overlapping(id pathtree.ID, f func([]int32) bool) {
	if len(r.below[id]) > 0 && !f(r.below[id]) {
		return
	}
	for ; id > pathtree.Root; id = r.paths.Parent(id) {
		if len(r.at[id]) > 0 && !f(r.at[id]) {
			return
		}
	}
}

// writtenBelow lists, by path, the paths one segment down at which, or below which, some call writes.
func writtenBelow(p *Pass) [][]pathtree.ID {
	below, paths := Kept[writtenPaths](p.Store), p.Plan.Paths
	if *below != nil {
		return *below
	}
	*below = make(writtenPaths, paths.Len())
	noted := make([]bool, paths.Len())
	for _, call := range p.Plan.Calls {
		for _, path := range call.Paths() {
			for id := path.ID; id > pathtree.Root && !noted[id]; id = paths.Parent(id) {
				noted[id] = true
				up := paths.Parent(id)
				(*below)[up] = append((*below)[up], id)
			}
		}
	}
	return *below
}

type writtenPaths [][]pathtree.ID // by path

// SortedKeys are the keys of an object; none of any other value.
func SortedKeys(value any) []string {
	m, _ := value.(map[string]any)
	return slices.Sorted(maps.Keys(m))
}
