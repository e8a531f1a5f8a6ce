package state

import (
	"maps"

	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
)

// ScopeValues is what the scopes of a call hand over, by kind: nil when it has none,
// and empty when they name nothing that is there.
func ScopeValues(call *plan.Call, read func(index int) (any, expression.Presence)) map[string]any {
	if call.Scopes == nil {
		return nil
	}
	given := map[string]any{}
	for _, scope := range call.Scopes {
		if value, presence := read(scope.Read); presence == expression.There {
			given[scope.Kind] = pathtree.With(given[scope.Kind], scope.Ref.Path, value)
		}
	}
	return given
}

// Delegated is what a plan begins with that is run as a call: its own
// values, and over them what is handed over, by kind, and the call's parameters.
func Delegated(p *plan.Plan, given, params map[string]any) map[string]any {
	other := maps.Clone(given)
	maps.DeleteFunc(other, func(kind string, _ any) bool {
		return kind == "state" || kind == "input" || kind == "data" || kind == "error" || kind == "advice"
	})
	return map[string]any{"input": Over(p.Input, given["input"], params), "state": Over(p.State, given["state"]),
		"data": Over(p.Data, given["data"], other)}
}

// Over lays objects over each other, key by key at the top.
func Over(layers ...any) map[string]any {
	out := map[string]any{}
	for _, layer := range layers {
		object, _ := layer.(map[string]any)
		maps.Copy(out, object)
	}
	return out
}
