package resolve

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/runtime/state"
)

// The bounds of a plan's output, which may hold one value in many places: those of any result.
const (
	maxOutputValues = 2_000_000
	maxOutputText   = 8 << 20
)

// Output is the value of the plan's output, once all calls have settled, and how many of its parts are there.
func (r *Resolver) Output() (value any, leaves int, failure *state.Failure) {
	for i := range r.Plan.Reads {
		if r.Plan.Reads[i].Call < 0 {
			r.Reads[i] = Read{} // more may have been written since it was resolved last
		}
	}
	v := Readiness{isOutput: true}
	if r.Plan.Output != nil {
		value, _ = r.value(r.Plan.Output, &v)
	}
	if v.Failure != nil {
		v.Failure.Message = "the output " + v.Failure.Message
	}
	if room := (expression.Room{Values: maxOutputValues, Text: maxOutputText}); !room.Takes(value, math.MaxInt) {
		v.Failure = &state.Failure{Code: CodeLimit,
			Message: fmt.Sprintf("the plan's output is too large: it may have %d MiB "+
				"of text and %d values", maxOutputText>>20, maxOutputValues)}
	}
	if v.Failure != nil && v.Failure.Code == CodeLimit {
		value = nil
	}
	return value, v.leaves, v.Failure
}

// hasLeaf reports whether a value is more than lists and objects without anything in them.
func hasLeaf(value any) bool {
	switch v := value.(type) {
	case []any:
		return slices.ContainsFunc(v, hasLeaf)
	case map[string]any:
		return slices.ContainsFunc(slices.Sorted(maps.Keys(v)), func(key string) bool { return hasLeaf(v[key]) })
	}
	return true
}
