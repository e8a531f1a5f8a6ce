package runtime

import (
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
)

// baseMayBeListedLater reports whether a message that decides whether there is a place
// for a path may be the work of a done call that is listed again only after the
// writer.
func (f *frame) baseMayBeListedLater(call *plan.Call, id pathtree.ID) bool {
	base := f.program.Paths.List(id) // how long a list is decides where an item may go
	paths := f.program.Overlapping(base)
	above := paths.Above
	replaces := base == id && call.Method == plan.Set // what stands at the path itself
	if n := len(above); replaces && n > 0 && above[n-1] == id {
		above = above[:n-1]
	}
	return f.mayBeListedLater(above, call) || !replaces && f.mayBeListedLater(paths.Below, call) || f.mayBeListedLater(f.itemsBeside(base), call)
}

// itemsBeside are the written paths that make a list of what must be an object for
// a path to be written.
func (f *frame) itemsBeside(id pathtree.ID) []pathtree.ID {
	var items []pathtree.ID
	paths := f.program.Paths
	for up := paths.Parent(id); paths.Depth(up) > 1; up = paths.Parent(up) {
		for _, below := range f.program.Overlapping(up).Below {
			if f.stepIsIndex(up, below) {
				items = append(items, below)
			}
		}
	}
	return items
}

// stepIsIndex reports whether a path below another leads into a list there.
func (f *frame) stepIsIndex(up, below pathtree.ID) bool {
	paths := f.program.Paths
	for paths.Parent(below) != up {
		below = paths.Parent(below)
	}
	return paths.Segment(below).IsIndex
}
