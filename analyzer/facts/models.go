package facts

import (
	"slices"

	"github.com/obelus-dev/obelus/compiler/plan"
)

// selectedBy notes which models may have chosen the values of the calls that destroy something, or may, or that hand
// something out: they gave them, or expressions compute them from what they gave, also across the plans that calls run.
// All that a plan is given counts as one value.
func (f *Facts) selectedBy(p *plan.Plan, delegates map[string]*plan.Plan) {
	input, output := map[string][]string{}, map[string][]string{} // by path of a delegate
	for changed := true; changed; {
		changed = false
		grow := func(all map[string][]string, path string, more []string) {
			before := all[path]
			all[path] = united(before, more)
			changed = changed || path != "" && !slices.Equal(before, all[path])
		}
		for _, w := range f.plans() {
			plan := p
			if w.path != "" {
				plan = delegates[w.path]
			}
			calls := make([][]string, len(w.facts.Calls))
			of := func(sources []Source) (all []string) {
				for i := range sources {
					for _, writer := range sources[i].writers {
						all = united(all, calls[writer])
					}
					if sources[i].Start {
						all = united(all, input[w.path])
					}
				}
				return all
			}
			for _, i := range plan.Graph.Order() {
				c := &w.facts.Calls[i]
				harmful := c.Leaves() || slices.Contains(groups[0].kinds, c.Effect.Kind)
				all := of(c.Context)
				for k := range c.Values {
					by := of(c.Values[k].Sources)
					if all = united(all, by); c.Runs.Plan == "" && c.Runs.Kind != Model && harmful {
						c.Values[k].Models = by
					}
				}
				switch c.Runs.Kind {
				case Model:
					calls[i] = []string{join(w.path, c.Name)}
				case "expr":
					calls[i] = all
				case aPlan:
					grow(input, c.Runs.Plan, all)
					calls[i] = output[c.Runs.Plan]
				}
			}
			for k := range w.facts.Output {
				grow(output, w.path, of(w.facts.Output[k].Sources))
			}
		}
	}
}

// united are those of both, each once: [Anything] where they are more than are named.
func united(all, more []string) []string {
	for _, one := range more {
		switch {
		case len(all) > 0 && all[0] == Anything, slices.Contains(all, one):
		case one == Anything || len(all) == mostHeld:
			all = []string{Anything}
		default:
			all = append(all[:len(all):len(all)], one)
		}
	}
	return all
}
