package request

import (
	"slices"
)

// Fold is one standing in the place of those of all instances, where they are alike.
func (one *Standing) Fold() {
	differs := func(other Standing) bool {
		first := one.Each[0]
		return other.Status != first.Status || other.Reason != first.Reason ||
			JSON(other.Decision) != JSON(first.Decision)
	}
	if len(one.Each) > 0 && !slices.ContainsFunc(one.Each, differs) {
		first := one.Each[0]
		one.Status, one.Reason, one.Decision, one.Each = first.Status, first.Reason, first.Decision, nil
	}
}
