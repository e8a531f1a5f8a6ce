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

// isOld reports whether an earlier tick wrote to a path.
func (f *frame) isOld(id pathtree.ID) bool {
	for _, message := range f.log.On(id) {
		if message.Tick != f.machine.tick {
			return true
		}
	}
	return false
}

// fitsEitherWay reports whether what a call writes to a path fits whichever of the
// messages of earlier ticks count: each of them leaves an object above the path, and at
// the path the kind of value that the call's method needs.
func (f *frame) fitsEitherWay(call *plan.Call, id pathtree.ID) bool {
	paths := f.program.Paths
	if paths.List(id) != id || call.Method != plan.Set && f.schemaAt(id) != nil {
		return false
	}
	needsList := call.Method == plan.Push || call.Method == plan.Concat
	for up := id; up > pathtree.Root; up = paths.Parent(up) {
		if up == id && call.Method == plan.Set {
			continue
		}
		list := up == id && needsList
		if value, there := f.log.Initial(up); there && !isBase(value, list) {
			return false
		}
		for _, message := range f.log.On(up) {
			if message.Tick != f.machine.tick && !leaves(message, list) {
				return false
			}
		}
		for _, below := range f.program.Overlapping(up).Below {
			if f.stepIsIndex(up, below) != list && f.isOld(below) {
				return false
			}
		}
	}
	return true
}

// leaves reports whether a message, where it fits, leaves a list or an object.
func leaves(m *Message, list bool) bool {
	switch m.Method {
	case plan.Push, plan.Concat:
		return list
	case plan.Assign:
		return !list
	}
	return isBase(m.Value, list)
}

// isBase reports whether a value is a list or an object, or null, which is an empty
// one of either.
func isBase(value any, list bool) bool {
	switch value.(type) {
	case nil:
		return true
	case []any:
		return list
	case map[string]any:
		return !list
	}
	return false
}
