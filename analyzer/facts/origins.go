package facts

import "slices"

// Anything is who may have chosen a value if more isn't known.
const Anything = "†"

// A tracer follows what models choose to the calls that destroy something, or may, or that pass something out: through
// expressions, and into plans that calls run and out of them. All that a plan begins with counts as one value.
type tracer struct {
	*Facts
	index
	results map[*Call][]string  // the models that chose what a call gives, by name; only what is known
	starts  map[string][]string // the models that chose something of what a plan begins with, by its path
}

// traceModels notes which models may have chosen the values of calls that destroy or pass something out.
func (f *Facts) traceModels() {
	t := &tracer{f, indexOf(f), map[*Call][]string{}, map[string][]string{}}
	for _, a := range t.calls {
		if a.Runs.Plan == "" && a.Runs.Kind != Model && (a.Leaves() || a.group() == destroying) {
			for k := range a.Values {
				a.Values[k].Models = t.of(a.plan, a.Values[k].Sources)
			}
		}
	}
}

// of are the models that chose what is read from some sources.
func (t *tracer) of(plan string, sources []Source) (all []string) {
	for i := range sources {
		for _, w := range sources[i].writers {
			if all = united(all, t.result(t.calls[t.first[plan]+int(w)])); slices.Contains(all, Anything) {
				return all
			}
		}
		if sources[i].Start {
			all = united(all, t.start(plan))
		}
	}
	return all
}

// result are the models that chose what a call gives.
func (t *tracer) result(a actor) (all []string) {
	if known, is := t.results[a.Call]; is {
		return known
	}
	t.results[a.Call] = nil
	switch d := t.Delegates[a.Runs.Plan]; {
	case a.Runs.Kind == Model:
		all = []string{join(a.plan, a.Name)}
	case a.Runs.Kind == "expr":
		for i := range a.Values {
			all = united(all, t.of(a.plan, a.Values[i].Sources))
		}
	case d != nil:
		for i := range d.Output {
			all = united(all, t.of(a.Runs.Plan, d.Output[i].Sources))
		}
	}
	t.results[a.Call] = all
	return all
}

// start are the models that chose something of what a plan begins with, wherever it is run.
func (t *tracer) start(plan string) (all []string) {
	if known, is := t.starts[plan]; is {
		return known
	}
	t.starts[plan] = nil
	for _, runner := range t.runners[plan] {
		a := t.calls[runner]
		all = united(all, t.of(a.plan, a.Context))
		for i := range a.Values {
			all = united(all, t.of(a.plan, a.Values[i].Sources))
		}
	}
	t.starts[plan] = all
	return all
}

// united are those of both, in the order in which they come; more than can be followed are [Anything].
func united(all, more []string) []string {
	all = slices.Clip(all)
	for _, one := range more {
		if !slices.Contains(all, one) {
			all = append(all, one)
		}
	}
	if len(all) > mostCalls || slices.Contains(all, Anything) {
		return []string{Anything}
	}
	return all
}
