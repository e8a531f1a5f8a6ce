package facts

import (
	"slices"
	"strings"
)

// Anything is who may have chosen a value if more isn't known.
const Anything = "†"

// A tracer follows what models choose to the calls that destroy something, or may, or that pass something out: through
// expressions, and into plans that calls run and out of them. Who chose a value is a list of calls by their names, and
// of paths that exist when their plan begins.
type tracer struct {
	*Facts
	index
	results map[*Call][]string     // who chose what a call gives; only what is known
	starts  map[[2]string][]string // the models that chose what a plan begins with, by its path and one within it
}

// traceModels notes which models may have chosen the values of calls that destroy or pass something out.
func (f *Facts) traceModels() {
	t := &tracer{f, indexOf(f), map[*Call][]string{}, map[[2]string][]string{}}
	for _, a := range t.calls {
		if a.Runs.Plan == "" && a.Runs.Kind != Model && (a.Leaves() || a.group() == destroying) {
			for k := range a.Values {
				a.Values[k].Models = t.models(a.plan, t.of(a.plan, a.Values[k].Sources))
			}
		}
	}
}

// of is who has chosen what is read from some sources.
func (t *tracer) of(plan string, sources []Source) (all []string) {
	for i := range sources {
		for _, w := range sources[i].writers {
			if all = united(all, t.result(t.calls[t.first[plan]+int(w)])); slices.Contains(all, Anything) {
				return all
			}
		}
		if sources[i].Start && plan != "" {
			all = united(all, []string{sources[i].Path})
		}
	}
	return all
}

// result is who has chosen what a call gives.
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
			for _, one := range t.of(a.Runs.Plan, d.Output[i].Sources) {
				by := []string{one}
				if isPath(one) {
					by = t.passed(a, one)
				}
				all = united(all, by)
			}
		}
	}
	t.results[a.Call] = all
	return all
}

// passed is who has chosen what a call passes to the plan that it runs, at a path there, above or below it.
func (t *tracer) passed(a actor, path string) (all []string) {
	for i := range a.Values {
		if overlaps(below("†input", a.Values[i].Path), path) {
			all = united(all, t.of(a.plan, a.Values[i].Sources))
		}
	}
	for i := range a.Context {
		if overlaps(a.Context[i].Path, path) {
			all = united(all, t.of(a.plan, a.Context[i:i+1]))
		}
	}
	return all
}

// models are those who have chosen a value of a plan: what it begins with is chosen where the plan is run.
func (t *tracer) models(plan string, chosen []string) (all []string) {
	for _, one := range chosen {
		if !isPath(one) {
			all = united(all, []string{one})
			continue
		}
		by, known := t.starts[[2]string{plan, one}]
		if !known {
			t.starts[[2]string{plan, one}] = nil
			for _, runner := range t.runners[plan] {
				a := t.calls[runner]
				by = united(by, t.models(a.plan, t.passed(a, one)))
			}
			t.starts[[2]string{plan, one}] = by
		}
		all = united(all, by)
	}
	return all
}

// isPath reports whether a choice is a path: its models are those of what
// writes there.
func isPath(one string) bool { return strings.HasPrefix(one, "†") && one != Anything }

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
