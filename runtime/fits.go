package runtime

import (
	"maps"
	"slices"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/schema"
)

// Unfit is what the plan's schemas don't admit of an input and of an initial
// state, and of which of the two ("input", "state"); nil if all of it fits. Such
// values would only make calls skip or fail later, where the cause is harder to
// see. The state may still lack what its schema requires: the calls bring it.
func Unfit(p *compiler.Plan, input, state map[string]any) (what string, why *schema.Violation) {
	if p.InputSchema != nil {
		if v := p.InputSchema.Validate(input); v != nil {
			return "input", v
		}
	}
	return "state", UnfitKeys(p.StateSchema, state)
}

// UnfitKeys is what a schema doesn't admit of the values of an object that needn't
// be whole; nil if all of them fit.
func UnfitKeys(s *schema.Schema, values map[string]any) *schema.Violation {
	if s == nil {
		return nil
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		place := s.At([]schema.Step{schema.Key(key)})
		if !place.Possible {
			return &schema.Violation{Path: []any{key}, Message: "there is no place for it"}
		}
		if place.Schema == nil {
			continue
		}
		if v := place.Schema.Validate(values[key]); v != nil {
			v.Path = slices.Concat([]any{key}, v.Path)
			return v
		}
	}
	return nil
}
