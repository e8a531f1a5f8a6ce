package facts

import (
	"slices"
	"strings"
)

// A chooser follows what models choose to the calls that destroy something, or may, or that pass something out: through
// expressions, and into plans that calls run and out of them. Who chose a value is a list of calls by their names, and
// of paths that exist when their plan begins.
type chooser struct {
	plans   map[string]*Facts // by path, "" is the outermost
	runners map[string][]actor
	results map[*Call][]string     // who chose what a call gives; only what is known
	starts  map[[2]string][]string // the models that chose what a plan begins with, by its path and one within it
}

// An actor is a call, and the plan that it is in.
type actor struct {
	*Call
	plan string
}

// selectedBy notes which models may have chosen the values of calls that destroy or pass something out.
func (f *Facts) selectedBy() {
	c := &chooser{map[string]*Facts{}, map[string][]actor{}, map[*Call][]string{}, map[[2]string][]string{}}
	var sinks []actor
	for _, p := range f.plans() {
		c.plans[p.path] = p.facts
		for i := range p.facts.Calls {
			switch a := (actor{&p.facts.Calls[i], p.path}); {
			case a.Runs.Plan != "":
				c.runners[a.Runs.Plan] = append(c.runners[a.Runs.Plan], a)
			case a.Runs.Kind != Model && (a.Leaves() || a.group() == destroying):
				sinks = append(sinks, a)
			}
		}
	}
	for _, a := range sinks {
		for k := range a.Values {
			a.Values[k].Models = c.models(a.plan, c.of(a.plan, a.Values[k].Sources))
		}
	}
}

// of is who has chosen what is read from some sources.
func (c *chooser) of(plan string, sources []Source) (all []string) {
	for i := range sources {
		s := &sources[i]
		for _, w := range s.writers {
			all = united(all, c.result(actor{&c.plans[plan].Calls[w], plan}))
		}
		if s.Start && plan != "" {
			all = united(all, []string{s.Path})
		}
	}
	return all
}

// result is who has chosen what a call gives.
func (c *chooser) result(a actor) (all []string) {
	if known, is := c.results[a.Call]; is {
		return known
	}
	c.results[a.Call] = nil
	switch d := c.plans[a.Runs.Plan]; {
	case a.Runs.Kind == Model:
		all = []string{join(a.plan, a.Name)}
	case a.Runs.Kind == "expr":
		for i := range a.Values {
			all = united(all, c.of(a.plan, a.Values[i].Sources))
		}
	case a.Runs.Kind == aPlan && d != nil:
		for i := range d.Output {
			for _, one := range c.of(a.Runs.Plan, d.Output[i].Sources) {
				if isPath(one) {
					all = united(all, c.passed(a, one))
				} else {
					all = united(all, []string{one})
				}
			}
		}
	}
	c.results[a.Call] = all
	return all
}

// passed is who has chosen what a call passes to the plan that it runs, at a path there, above or below it.
func (c *chooser) passed(a actor, path string) (all []string) {
	for i := range a.Values {
		if overlaps(below("†input", a.Values[i].Path), path) {
			all = united(all, c.of(a.plan, a.Values[i].Sources))
		}
	}
	for i := range a.Context {
		if overlaps(a.Context[i].Path, path) {
			all = united(all, c.of(a.plan, a.Context[i:i+1]))
		}
	}
	return all
}

// models are those who have chosen a value of a plan: what it begins with is chosen where the plan is run.
func (c *chooser) models(plan string, chosen []string) (all []string) {
	for _, one := range chosen {
		if !isPath(one) {
			all = united(all, []string{one})
			continue
		}
		by, known := c.starts[[2]string{plan, one}]
		if !known {
			c.starts[[2]string{plan, one}] = nil
			for _, a := range c.runners[plan] {
				by = united(by, c.models(a.plan, c.passed(a, one)))
			}
			c.starts[[2]string{plan, one}] = by
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
	for _, one := range more {
		if !slices.Contains(all, one) {
			all = append(slices.Clip(all), one)
		}
	}
	if len(all) > mostCalls || slices.Contains(all, Anything) {
		return []string{Anything}
	}
	return all
}
