package runtime_test

import (
	"fmt"
	"slices"
)

// faults are the model's own reasons not to run a document: those findings of
// severity error that generated plans can earn, judged without knowledge of
// branches and therefore at times stricter than need be. An empty result
// means that the plan has one outcome, whatever the timing.
func faults(doc map[string]any) []string {
	p := readPlan(doc)
	var found []string
	add := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }

	if len(p.topology) < len(p.calls) {
		add("OB301: a cycle")
	}
	for _, c := range p.calls {
		for _, r := range c.references() {
			if r.kind == "state" && p.once && c.mayWrite(r.path) {
				add("OB403: %s reads %s, which it may write", c.name, r.path)
			}
			if r.kind == "state" && c.mayWrite(r.path) && len(p.bound(c.place, r)) == 0 && !p.knownFromTheStart(r) {
				add("OB301: only %s itself writes %s", c.name, r.path)
			}
		}
		for _, e := range append(formulasIn(c.params), formulasIn(c.when)...) {
			if !p.canBeThere(e, c.place) {
				add("OB203: %s reads what nothing writes", c.name)
			}
		}
		for _, route := range c.routes {
			for i, target := range route {
				if overlapsAny(route[:i], target) {
					add("%s writes %s twice", c.name, target)
				}
				if !p.startTakes(c, target) {
					add("OB511: the initial state can't take what %s writes", c.name)
				}
			}
		}
	}
	for _, e := range formulasIn(p.output) {
		if !p.canBeThere(e, len(p.calls)) {
			add("OB203: the output reads what nothing writes")
		}
	}
	if !p.once {
		for i, a := range p.calls {
			for _, b := range p.calls[:i] {
				if a.conflicts(b) && !a.allNeeds[b.place] && !b.allNeeds[a.place] {
					add("OB401: %s and %s", b.name, a.name)
				}
			}
		}
	} else {
		for i, a := range p.calls {
			for _, b := range p.calls[:i] {
				if a.mayNameSharedRoute(b) || b.mayNameSharedRoute(a) {
					add("%s may give its result to the failure route of %s", a.name, b.name)
				}
			}
		}
	}
	return found
}

// canBeThere reports whether an expression can have a value at all: each required
// reference is known from the start or written by some call.
func (p *planModel) canBeThere(e *formula, reader int) bool {
	can := func(operand *formula) bool { return p.canBeThere(operand, reader) }
	switch e.kind {
	case literalExpression:
		return true
	case referenceExpression:
		return len(p.bound(reader, e.reference)) > 0 || p.knownFromTheStart(e.reference)
	case fallbackExpression:
		return slices.ContainsFunc(e.operands, can)
	}
	return !slices.ContainsFunc(e.operands, func(operand *formula) bool { return !can(operand) })
}

// startTakes reports whether what the initial state holds on the way to a target
// is of the kinds that a write of the call needs. That a list is too short is
// for the run to see.
func (p *planModel) startTakes(c *callModel, target statePath) bool {
	base := p.state
	for _, s := range target {
		_, isList := base.([]any)
		_, isObject := base.(map[string]any)
		if s.isIndex && !isList || !s.isIndex && !isObject {
			return base == nil
		}
		base, _ = valueAt(base, statePath{s})
	}
	sample := map[string]any{"push": 1.0, "concat": []any{}, "merge": map[string]any{}, "assign": map[string]any{}}[c.method]
	_, ok := applied(base, c.method, sample)
	return ok
}

// conflicts is OB401 without the question of order: two calls may write
// overlapping paths, at least one by set, failure routes among themselves aside.
func (c *callModel) conflicts(other *callModel) bool {
	if !c.meets(other) {
		return false
	}
	return c.method == "set" || other.method == "set" || c.failsOnto(other) || other.failsOnto(c)
}

// failsOnto reports whether a failure record of c, which is always set, may meet
// a path of other.
func (c *callModel) failsOnto(other *callModel) bool {
	return slices.ContainsFunc(c.failureRoute(), other.mayWrite)
}

// mayNameSharedRoute reports whether the activity of c names its failure route
// for a good result while other may fail onto it: under `once` nothing orders
// the two, so which of them finds the path free would be a matter of timing.
func (c *callModel) mayNameSharedRoute(other *callModel) bool {
	choose, named := c.params["choose"].(string)
	if !named || len(c.routes) < 2 {
		return false
	}
	target := readRoutes(choose)[0][0]
	return overlapsAny(c.failureRoute(), target) && overlapsAny(other.failureRoute(), target)
}

// leaves counts those of an output that are there.
func (m *model) leaves(output any, n int) (count int) {
	switch v := output.(type) {
	case []any:
		for _, item := range v {
			count += m.leaves(item, n)
		}
		return count
	case map[string]any:
		for _, member := range v {
			count += m.leaves(member, n)
		}
		return count
	}
	if m.resolve(output, n).absent {
		return 0
	}
	return 1
}

// saysNull reports whether the author of an output has said that it may be null:
// references, and last a literal.
func (m *model) saysNull(output any) bool {
	text, ok := output.(string)
	if !ok {
		return false
	}
	f := readString(text)
	if f == nil || f.kind != fallbackExpression {
		return false
	}
	last := len(f.operands) - 1
	return f.operands[last].kind == literalExpression && !slices.ContainsFunc(f.operands[:last], func(o *formula) bool { return o.kind != referenceExpression })
}
