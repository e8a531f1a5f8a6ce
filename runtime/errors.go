package runtime

import (
	"cmp"
	"math"
	"slices"
)

// A runError is what went wrong, and where: in which order faults come depends on
// timing, and in which they are told doesn't (S9.2).
type runError struct {
	CallError
	tick  int
	place int32 // of its call in the plan
	order int32 // of its instance
}

// The places of what is about no call: before all of them, and behind.
const (
	atFirst = -1
	atLast  = math.MaxInt32
)

// recordError notes what went wrong with a call, before the first or behind the last. What goes
// wrong in a delegate is for the call to handle that it carries out.
func (f *frame) recordError(e CallError, place int32) {
	e.Instance = f.site.Instance
	one := runError{e, f.machine.tick, place, f.order}
	f.errors = append(f.errors, one)
	if f.parent == nil {
		f.machine.errors = append(f.machine.errors, one)
	}
}

// sortedErrors are faults in the order of ticks, then of their plan, then of instances.
func sortedErrors(faults []runError) []CallError {
	if len(faults) == 0 {
		return nil
	}
	sorted := slices.Clone(faults)
	slices.SortStableFunc(sorted, func(a, b runError) int {
		return cmp.Or(cmp.Compare(a.tick, b.tick), cmp.Compare(a.place, b.place), cmp.Compare(a.order, b.order))
	})
	list := make([]CallError, len(sorted))
	for i := range sorted {
		list[i] = sorted[i].CallError
	}
	return list
}
