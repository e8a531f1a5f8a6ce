package simulation

import (
	"maps"
	"math/rand/v2"
	"path"
	"slices"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/runtime/resolve"
	"github.com/obelus-dev/obelus/runtime/simulate"
	"github.com/obelus-dev/obelus/runtime/state"
)

// MadeUp are the keys of input and state that were generated.
type MadeUp struct{ Input, State []string }

// Generated completes input and initial state with samples for what their schemas require and neither the
// plan nor the user gives, nor a call writes.
func Generated(p *plan.Plan, input, initial map[string]any, seed uint64) (_, _ map[string]any, made MadeUp) {
	count := uint64(0)
	add := func(
		to map[string]any, of *schema.Schema, key string, keys *[]string, own func(plan.Instance) any,
	) map[string]any {
		lacksIt := func(one plan.Instance) bool {
			values, _ := own(one).(map[string]any)
			_, exists := values[key]
			return !exists
		}
		at := of.Part(key)
		if at.Schema == nil || len(p.Instances) > 0 && !slices.ContainsFunc(p.Instances, lacksIt) {
			return to
		}
		value, ok := at.Schema.Sample(rand.New(rand.NewPCG(seed, count)))
		if !ok {
			return to
		}
		count++
		*keys = append(*keys, key)
		return state.Over(to, map[string]any{key: value})
	}
	ofInput, ofState := resolve.Missing(p, state.Over(p.Input, input), state.Over(p.State, initial))
	for _, key := range ofInput {
		input = add(input, p.InputSchema, key, &made.Input, func(one plan.Instance) any { return one.Input })
	}
	for _, key := range ofState {
		initial = add(initial, p.StateSchema, key, &made.State, func(one plan.Instance) any { return one.State })
	}
	all := state.Over(p.Input, input)
	if len(p.Instances) > 0 || p.InputSchema.Validate(all) == nil {
		return input, initial, made
	}
	value, _ := p.InputSchema.Sample(rand.New(rand.NewPCG(seed, count))) // one key demands another
	if sample := state.Over(value, all); p.InputSchema.Validate(sample) == nil {
		for _, key := range slices.Sorted(maps.Keys(sample)) {
			if _, exists := all[key]; !exists {
				made.Input = append(made.Input, key)
			}
		}
		input = sample
	}
	return input, initial, made
}

// hasFailing refuses names of --fail that neither the plan nor a simulation of it has: a tool, or a call or an item by
// its name or path. A call that runs a plan fails only with one of that plan's.
func (s *Simulation) hasFailing(one *simulate.Scenario) error {
	var known []string
	for _, p := range append(slices.Collect(maps.Values(s.Plan.AllDelegates())), s.Plan) {
		for _, call := range p.Calls {
			if call.Delegate == "" {
				known = append(known, call.ToolName, call.Name)
			}
		}
	}
	for i := range one.Calls {
		if call := one.Calls[i].Call; call.Delegate == "" {
			known = append(known, call.Name)
		}
	}
	for _, name := range s.Fail {
		last := path.Base(name)
		if one.Outcome.Reason != simulate.TooLong && !slices.Contains(known, last) { // else not all were met
			return diag.NewError(nil, "no call of the plan that could fail is %q or uses that tool", name).
				Suggest(name, slices.Sorted(slices.Values(known)))
		}
	}
	return nil
}
