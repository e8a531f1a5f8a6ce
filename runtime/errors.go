package runtime

import (
	"cmp"
	"math"
	"slices"
)

// A runError is what went wrong, and where: in which order errors come depends on
// timing, and in which they are reported doesn't.
type runError struct {
	CallError
	tick  int
	place int32 // of its call in the plan
	order int32 // of its instance

	failure *Failure // of a call, which †error holds
}

// The places of errors that are about no call: before all calls, or after them.
const (
	atFirst = -1
	atLast  = math.MaxInt32
)

// recordError keeps an error of the call at a place, or of none. That of a delegate
// is its own: the call that it carries out has to handle it.
func (f *frame) recordError(e CallError, place int32, failure *Failure) {
	e.Instance, e.Message = f.site.Instance, f.redact(e.Message)
	one := runError{e, f.machine.tick, place, f.order, failure}
	f.errors = append(f.errors, one)
	if f.parent == nil {
		f.machine.errors = append(f.machine.errors, one)
	}
}

func sortedErrors(errors []runError) []CallError {
	sorted := slices.Clone(errors)
	slices.SortStableFunc(sorted, func(a, b runError) int {
		return cmp.Or(cmp.Compare(a.tick, b.tick), cmp.Compare(a.place, b.place), cmp.Compare(a.order, b.order))
	})
	list := make([]CallError, len(sorted))
	for i := range sorted {
		list[i] = sorted[i].CallError
	}
	return list
}
