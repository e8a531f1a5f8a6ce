package facts

import (
	"slices"

	"github.com/obelus-dev/obelus/compiler/kinds"
)

// Anything is who may have chosen a value if more isn't known: through plans that calls run models aren't followed.
const Anything = "†"

// traceModels notes which models may have chosen the values of calls that destroy or pass something out: those whose
// answers they are, by way of expressions too.
func (x index) traceModels() {
	if !slices.ContainsFunc(x.calls, func(a actor) bool { return a.Runs.Kind == Model }) {
		return
	}
	known := map[*Call][]string{} // by call: who may have chosen what it gives
	var result func(a actor) []string
	of := func(plan string, sources []Source) (all []string) {
		for i := range sources {
			if sources[i].Start && plan != "" {
				return []string{Anything}
			}
			for _, w := range sources[i].writers {
				all = merged(all, result(x.calls[x.first[plan]+int(w)])...)
				if len(all) > mostCalls || slices.Contains(all, Anything) {
					return []string{Anything}
				}
			}
		}
		return all
	}
	result = func(a actor) (all []string) {
		all, done := known[a.Call]
		if done {
			return all
		}
		known[a.Call] = nil
		switch {
		case a.Runs.Kind == Model:
			all = []string{join(a.plan, a.Name)}
		case a.Runs.Plan != "":
			all = []string{Anything}
		case kinds.Kinds[a.Runs.Kind].Pure:
			for i := range a.Values {
				all = merged(all, of(a.plan, a.Values[i].Sources)...)
			}
		}
		known[a.Call] = all
		return all
	}
	for _, a := range x.calls {
		if a.Runs.Plan == "" && a.Runs.Kind != Model && (a.Leaves() || a.group() == destroying) {
			for k := range a.Values {
				a.Values[k].Models = of(a.plan, a.Values[k].Sources)
			}
		}
	}
}
