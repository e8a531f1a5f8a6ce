package session

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/obelus-dev/obelus/runtime/resolve"
	"github.com/obelus-dev/obelus/runtime/state"
)

// Fits refuses values that the plan's schemas don't admit; with instances, only what can't be right
// for any of them. Unless a planner reads all of the input, so does what nothing reads.
func Fits(p *plan.Plan, input, initial map[string]any, planned bool) error {
	if !planned {
		if err := unread(p, input); err != nil {
			return err
		}
	}
	all := state.Over(p.Input, input)
	instances := len(p.Instances) > 0 || p.AwaitsInstances
	for _, call := range p.Calls { // of a solution, which checked alone knows nothing of the run that it is for
		if call.Instance != "" && !instances {
			return diag.NewError(ErrUnrunnable, "the call %q is for the instance %q, and the run has no instances",
				call.Name, compiler.Shown(call.Instance)).
				Advise("give the run its instances with --instances, or run the solution with its context")
		}
	}
	if keys, _ := resolve.Missing(p, all, nil); len(keys) > 0 && !instances {
		return missing("input", "the input doesn't fit its schema: it lacks", keys)
	}
	if what, v := resolve.Unfit(p, all, initial, instances); v != nil {
		return diag.NewError(ErrUnfit, "the %s doesn't fit its schema%s", what, resolve.Misfit(v))
	}
	return nil
}

// missing is the trouble with an input or a state that lacks keys, and by which flag the first is given.
func missing(what, message string, keys []string) error {
	return diag.NewError(ErrUnfit, "%s %s", message, wording.Names(keys, 10)).
		Advise("give --%s %s, or all in a file: --%s @file.json", what, wording.ShellWord(keys[0]+"=…"), what)
}

// lacks refuses to begin without an input that the plan can't do without, or without what its
// state schema requires and no call writes.
func lacks(p *plan.Plan, input, initial map[string]any) error {
	if _, keys := resolve.Missing(p, nil, state.Over(p.State, initial)); len(keys) > 0 && p.Form == plan.PlanFile {
		return missing("state", "the state doesn't fit its schema: it lacks", keys)
	}
	if p.InputSchema != nil { // which says what is required
		return nil
	}
	var keys []string
	for _, r := range resolve.Lacking(p, state.Over(p.Input, input), state.Over(p.State, initial)) {
		keys = append(keys, r.Ref.Path[0].Key)
	}
	if len(keys) > 0 {
		return missing("input", "the plan can't do without the input", keys)
	}
	return nil
}

// unread refuses an input that nothing reads and no schema declares: most likely it is misspelt. A model that answers a
// call without scopes reads all of it.
func unread(p *plan.Plan, input map[string]any) error {
	if slices.ContainsFunc(p.Calls, func(c *plan.Call) bool {
		return c.Latent() && c.Produced == nil && c.Scopes == nil
	}) {
		return nil
	}
	known := map[string]bool{}
	if p.InputSchema != nil {
		for _, key := range p.InputSchema.Properties() {
			known[key] = true
		}
	}
	for _, read := range p.Reads {
		if read.Ref.Kind == "input" {
			if len(read.Ref.Path) == 0 {
				return nil // all of it is read
			}
			known[read.Ref.Path[0].Key] = true
		}
	}
	for _, key := range slices.Sorted(maps.Keys(input)) {
		if known[key] || p.InputSchema != nil && p.InputSchema.Part(key).Named {
			continue // a pattern or "additionalProperties" may declare it
		}
		names := slices.Sorted(maps.Keys(known))
		return diag.NewError(ErrUnfit, "the plan doesn't read the input %q", key).
			Advise("take it out; the plan reads %s", cmp.Or(strings.Join(names, ", "), "no input")).Suggest(key, names)
	}
	return nil
}
