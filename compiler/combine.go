package compiler

import (
	"fmt"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/plan"
	"maps"
	"slices"
)

// Combine applies a method to what stands at the path itself. Absent and null are an empty base.
func Combine(method plan.Method, under, over any) (any, error) {
	switch method {
	case plan.Set:
		return over, nil
	case plan.Merge:
		if _, isObject := under.(map[string]any); under != nil && !isObject {
			return nil, fmt.Errorf("merge into %s", expression.KindOf(under))
		}
		return Merged(under, over), nil
	case plan.Assign:
		base, isObject := under.(map[string]any)
		patch, isPatch := over.(map[string]any)
		if under != nil && !isObject {
			return nil, fmt.Errorf("assign to %s", expression.KindOf(under))
		}
		if !isPatch {
			return nil, fmt.Errorf("assign of %s", expression.KindOf(over))
		}
		out := make(map[string]any, len(base)+len(patch))
		maps.Copy(out, base)
		maps.Copy(out, patch)
		return out, nil
	case plan.Push, plan.Concat:
		base, isList := under.([]any)
		if under != nil && !isList {
			return nil, fmt.Errorf("%s to %s", method, expression.KindOf(under))
		}
		if method == plan.Push {
			return append(slices.Clip(base), over), nil
		}
		more, isMore := over.([]any)
		if !isMore {
			return nil, fmt.Errorf("concat of %s", expression.KindOf(over))
		}
		return append(append(make([]any, 0, len(base)+len(more)), base...), more...), nil // a list, though an empty one
	}
	panic("unknown method")
}

// Merged lays one value over another: it is RFC 7396 except that null stays.
func Merged(under, over any) any {
	patch, ok := over.(map[string]any)
	if !ok {
		return over
	}
	base, _ := under.(map[string]any)
	out := make(map[string]any, len(base)+len(patch))
	maps.Copy(out, base)
	for _, key := range slices.Sorted(maps.Keys(patch)) {
		out[key] = Merged(out[key], patch[key])
	}
	return out
}
