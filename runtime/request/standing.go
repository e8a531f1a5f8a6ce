package request

import (
	"cmp"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
)

// Dropped are the calls of the carried plan that have never run and that a solution doesn't list any more:
// neither one of their id, nor another one of their tool, path and instance.
func Dropped(carried []Standing, solution *plan.Plan) (names []string) {
	key := func(call *source.Node) string {
		if id := call.Get("_id").AsText(); id != "" {
			return id
		}
		return strings.Join([]string{call.Get("_tool").AsText(), call.Get("_outputPath").AsText(),
			call.Get("_instance").AsText()}, "\x00")
	}
	listed := map[string]int{}
	for _, call := range solution.Calls {
		listed[key(call.Node)]++
	}
	for _, one := range carried {
		if listed[key(one.Call)]--; listed[key(one.Call)] >= 0 || len(one.Each) > 0 ||
			one.Status != "" && one.Status != "skipped" {
			continue
		}
		names = append(names, cmp.Or(one.Name, one.Call.Get("_tool").AsText()))
	}
	return names
}

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
