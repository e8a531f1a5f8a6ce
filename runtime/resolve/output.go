package resolve

import (
	"fmt"
	"maps"
	"slices"

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
	if values, text := maxOutputValues, maxOutputText; !fits(value, &values, &text) {
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

// fits takes a value off what there is room for, and reports whether that was enough.
func fits(value any, values, text *int) bool {
	*values--
	switch v := value.(type) {
	case string:
		*text -= len(v)
	case []any:
		if slices.ContainsFunc(v, func(item any) bool { return !fits(item, values, text) }) {
			return false
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if *text -= len(key); !fits(v[key], values, text) {
				return false
			}
		}
	}
	return *values >= 0 && *text >= 0
}
