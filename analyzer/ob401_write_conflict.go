package analyzer

import (
	"fmt"
	"slices"

	"github.com/obelus-dev/obelus/analyzer/internal/logic"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
)

var writeConflict = register(Rule{
	Rule:  &diag.Rule{Code: "OB401", Name: "write-conflict", Default: diag.Error},
	Needs: diag.Order,
	Run:   writeConflicts,
})

// writeConflicts reports calls that may write one path although neither waits
// for the other (S6.3): for each call those listed before it, in one finding.
// Calls of which one runs only on branches on which the other doesn't, or
// doesn't write that path, don't conflict (S6.5).
func writeConflicts(p *Pass) {
	if len(p.Plan.Unordered) == 0 {
		return
	}
	astray := p.astray()
	pairs := slices.DeleteFunc(slices.Clone(p.Plan.Unordered), func(u compiler.Unordered) bool {
		if astray != nil && (astray[u.A] || astray[u.B]) {
			p.strays()
			return true
		}
		return u.B < p.from || p.barred != nil && (p.barred(u.A) || p.barred(u.B))
	})
	if len(pairs) == 0 {
		return
	}
	e := p.conditions()
	goals := make([]logic.Literal, len(pairs))
	for i := range pairs {
		goals[i] = e.meet(&pairs[i])
	}
	answers := e.likely(goals)
	for i := 0; i < len(pairs); {
		end := i + 1
		for end < len(pairs) && pairs[end].B == pairs[i].B {
			end++
		}
		var certain, perhaps []int
		for k := i; k < end; k++ {
			switch {
			case answers[k].Possible:
				certain = append(certain, k)
			case !answers[k].Impossible:
				perhaps = append(perhaps, k)
			}
		}
		if len(certain) > 0 {
			first := certain[0]
			f := p.writeConflict(pairs, certain)
			if !p.screens { // what comes behind changes the example
				branch := e.decisions(goals[first], answers[first].Assignment)
				if words := told(branch); words != "" {
					f.Message += "; both run when " + words
				}
				f.Witness = Branch{Branch: branch, Schedules: p.conflictSchedules(&pairs[first], e.ending(answers[first].Assignment))}
			}
		}
		if len(perhaps) > 0 {
			f := p.writeConflict(pairs, perhaps).As(diag.Warning)
			f.Message += "; whether they can both run is not fully analysed: too many decisions meet"
			p.unanswered(f.Span, p.Plan.Calls[pairs[i].B], "whether "+quote(p.Plan.Calls[pairs[i].B].Name)+" conflicts with other calls")
		}
		i = end
	}
}

// likely asks strictly first: a conflict is best shown on a branch on
// which nothing unforeseen happens.
func (e *branchConditions) likely(goals []logic.Literal) []logic.Answer {
	answers := e.solve(goals, true)
	var again []logic.Literal
	var places []int
	for i := range answers {
		if !answers[i].Possible {
			again, places = append(again, goals[i]), append(places, i)
		}
	}
	for i, a := range e.solve(again, false) {
		answers[places[i]] = a
	}
	return answers
}

// meet is whether two calls write overlapping paths, not both as their failure
// routes, and at least one of them by set.
func (e *branchConditions) meet(u *compiler.Unordered) logic.Literal {
	plan := e.pass.Plan
	a, b := plan.Calls[u.A], plan.Calls[u.B]
	meets := logic.False
	for i, routeA := range a.Output {
		for k, routeB := range b.Output {
			failureA, failureB := i == a.FailureRoute(), k == b.FailureRoute()
			sets := a.Method == compiler.Set || b.Method == compiler.Set || failureA || failureB
			if e.work++; e.work > maxWork {
				e.circuit.Exhaust()
				return logic.False
			}
			if failureA && failureB || !sets {
				continue
			}
			if slices.ContainsFunc(routeA, func(x compiler.Path) bool {
				return slices.ContainsFunc(routeB, func(y compiler.Path) bool { return plan.Paths.Overlap(x.ID, y.ID) })
			}) {
				meets = e.circuit.Or(meets, e.circuit.And(e.writes(a, i), e.writes(b, k)))
			}
		}
	}
	return meets
}

// ending is how activities end in an assignment.
func (e *branchConditions) ending(a logic.Assignment) ends {
	return func(call int) (int, bool) {
		switch taken := e.outcomes[call]; {
		case taken == nil:
			return -1, false
		case len(taken) == 1:
			return -1, !e.circuit.Holds(taken[0], a)
		}
		return e.taking(call, a), false
	}
}

// writeConflict reports one call against some of those before it, by their places
// among the pairs.
func (p *Pass) writeConflict(pairs []compiler.Unordered, with []int) *diag.Diagnostic {
	first := pairs[with[0]]
	call, other := p.Plan.Calls[first.B], p.Plan.Calls[first.A]
	path, otherPath := p.path(first.PathB.ID), p.path(first.PathA.ID)
	what := quote(path)
	if path != otherPath {
		what = quote(path) + " and " + quote(otherPath) + ", one inside the other,"
	}
	f := p.Report(first.PathB.Span(), "%q and %q may both write %s and neither waits for the other: what stays depends on timing", call.Name, other.Name, what).About(call.Label())
	switch n := len(with) - 1; n {
	case 0:
	case 1:
		f.Message += "; so it is with one more call"
	default:
		f.Message += fmt.Sprintf("; so it is with %d more calls", n)
	}
	for _, k := range with[:min(len(with), maxShown)] {
		u := pairs[k]
		f.Note(u.PathA.Span(), "%q writes %q here", p.Plan.Calls[u.A].Name, p.path(u.PathA.ID))
	}
	return f.Advise("let one read what the other writes or name it in \"_after\"; or give them paths of their own; or say \"writes: once\" to let the first win")
}
