// Package branch says under which conditions the calls of a plan run, what they write and which reads have a value, as
// formulas over what a run decides: which alternatives are taken, what fails, which values come. Whether some of that
// can come together is for package logic. It knows no rules.
package branch

import (
	"slices"

	"github.com/obelus-dev/obelus/analyzer/internal/logic"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
)

// Facts are what the rest of the analysis knows of a plan.
type Facts interface {
	// Unknown reports whether some of certain facts aren't known.
	Unknown(diag.Facts) bool
	// NeverThere reports whether nothing puts a value where a read looks, and no finding says so.
	NeverThere(*plan.Read) bool
	// Begins reports whether the input, the state or the data begins with something at a path, be it in one instance.
	Begins(kind string, path []expression.Segment) bool
	// At is what a schema says of a path.
	At(*schema.Schema, []expression.Segment) schema.Place
	// Written is what a call may write at a path; nil for anything.
	Written(*plan.Call, pathtree.ID) *schema.Schema
	// Domain is what the value of a read may be.
	Domain(*plan.Read) Domain
	// NotNull is a schema less null.
	NotNull(*schema.Schema) *schema.Schema
}

// Needed is what must be known of a plan before its branches are judged.
const Needed = diag.Writes | diag.Reads | diag.Order | diag.State

// Conditions are formulas: when each call of a plan runs, what it writes, and which reads have a value. They describe
// what the machine does. By default nothing fails, first alternatives are selected and conditions hold.
//
// Variables that are choices make the branches of a plan. The others represent what isn't known: whether a result holds
// a field that its schema doesn't promise, whether a tool without a failure route fails. Without a schema a result may
// or may not hold a field. Strict questions assume every property that a schema names.
//
// The circuit decides whether several formulas can be true together.
type Conditions struct {
	*variables

	runs []logic.Literal // by call: its activity is started
	// by call: which alternative it takes, if it runs; the only one of a call without alternatives is that it doesn't
	// fail
	outcomes [][]logic.Literal
	failures map[int]logic.Literal // by call that has alternatives: it fails, if it runs
	reads    []valued              // by read
	shared   map[readKey]valued
	holding  map[heldKey]valued
	null     map[heldKey]logic.Literal
	work     int // contributions of writers to reads that were looked at
	unions   map[unionKey][]variant
	options  map[*schema.Schema][]*schema.Schema // the alternatives of schemas
}

// A valued is what is known of a value to come.
type valued struct {
	there logic.Literal // there is one, which may be null
	solid logic.Literal // there is one, and it isn't null
}

// What variables of the circuit are about.
type (
	aboutOutcome   struct{ call int }     // takes one of some alternatives
	aboutFailure   struct{ call int }     // fails, and has no failure route
	aboutPredicate struct{ text string }  // an expression that isn't looked into is true
	aboutVariable  struct{ of *variable } // the value of a reference is among some of its points
	aboutNull      struct{ heldKey }      // there is null at a path
	aboutGiven     struct{ heldKey }      // a value is present or isn't null, as its provider decides
)

const (
	maxGates  = 1_500_000
	callGates = 12        // more for each call: large plans aren't hostile
	maxWork   = 4_000_000 // writers of reads, over all reads, and pairs of calls that policies order
)

// New works out the conditions of a plan.
func New(p *plan.Plan, facts Facts) *Conditions {
	calls := len(p.Calls)
	e := &Conditions{
		variables: newVariables(p, facts, 1), runs: make([]logic.Literal, calls),
		outcomes: make([][]logic.Literal, calls), failures: map[int]logic.Literal{},
		reads: make([]valued, len(p.Reads)), shared: map[readKey]valued{},
		holding: map[heldKey]valued{}, null: map[heldKey]logic.Literal{},
		unions: map[unionKey][]variant{}, options: map[*schema.Schema][]*schema.Schema{},
	}
	for i := range e.reads {
		e.reads[i].there = -1
	}
	for i := range e.runs {
		if !p.Graph.Acyclic() { // on a cycle, or after one, nothing is known
			e.runs[i] = e.unknown(true)
		}
	}
	for _, i := range p.Graph.Order() {
		e.Level = int32(p.Graph.Rank(int(i)))
		call := p.Calls[i]
		e.runs[i] = e.Ready(call)
		for k := range call.Output {
			if p.Writes == plan.Once && k != call.FailureRoute() { // a path that it would write already has a value
				e.runs[i] = e.And(e.runs[i], e.occupied(call, k, true).Not())
			}
		}
		if e.Exhausted() {
			break
		}
	}
	e.Level = int32(calls)
	return e
}

// SolveAll is Solve of several goals.
func (e *Conditions) SolveAll(goals []logic.Literal, strict bool) []logic.Answer {
	answers := make([]logic.Answer, len(goals))
	for i, goal := range goals {
		answers[i] = e.Solve(goal, strict)
	}
	return answers
}

// SolveLikely asks strictly first: what is possible is best shown where nothing unforeseen happens.
func (e *Conditions) SolveLikely(goals []logic.Literal) []logic.Answer {
	answers := e.SolveAll(goals, true)
	for i, goal := range goals {
		if !answers[i].Possible {
			answers[i] = e.Solve(goal, false)
		}
	}
	return answers
}

// Spent is roughly the work that was done, in calls that were looked at.
func (e *Conditions) Spent() int { return e.Circuit.Spent() + e.work/20 }

// Runs is whether a call's activity is started.
func (e *Conditions) Runs(call *plan.Call) logic.Literal { return e.runs[call.Index] }

// unknown is something that the plan doesn't tell.
func (e *Conditions) unknown(byDefault bool) logic.Literal {
	return e.Variable(false, byDefault, nil)
}

// given is a variable for an external value: it is present, or isn't null.
func (e *Conditions) given() logic.Literal {
	return e.Variable(false, true, aboutGiven{heldKey{call: -1}})
}

// within builds formulas at the level of a call.
func (e *Conditions) within(call int, build func()) {
	level := e.Level
	e.Level = int32(e.plan.Graph.Rank(call))
	build()
	e.Level = level
}

// Ready is whether everything that a call needs is there, and done what it comes after.
func (e *Conditions) Ready(call *plan.Call) logic.Literal {
	runs := logic.True
	if compiler.Condition(call) != nil {
		runs = e.Condition(call)
	}
	if call.Each != nil && runs != logic.False {
		runs = e.And(runs, e.There(call.Each.List))
	}
	for _, a := range call.After {
		if !a.Settled && a.Call != call.Index {
			runs = e.And(runs, e.Done(e.plan.Calls[a.Call]))
		}
	}
	for _, f := range call.Params.Fields {
		if runs != logic.False {
			runs = e.And(runs, e.There(f.Value))
		}
	}
	return runs
}

// There is whether every expression in a template has a value.
func (e *Conditions) There(t *plan.Template) logic.Literal {
	if t.Opaque() && t.Expr == nil {
		return e.unknown(true) // it couldn't be read
	}
	all := logic.True
	for one := range t.Expressions() {
		switch {
		case one.PerItem(): // an item may lack it, and the call runs all the same
		case one.Expr.Plain():
			all = e.And(all, e.read(one.Reads[0]).there)
		default:
			all = e.And(all, e.formula(one).value(one.Expr.Root()).there)
		}
	}
	return all
}

// Solid is whether an expression has a value, and that isn't null.
func (e *Conditions) Solid(t *plan.Template) logic.Literal {
	if t.Expr.Plain() {
		return e.read(t.Reads[0]).solid
	}
	return e.formula(t).value(t.Expr.Root()).solid
}

// outcome is which alternative a call takes if it runs: exactly one of several;
// of a call that has just one output, or none, that it doesn't fail.
func (e *Conditions) outcome(call *plan.Call) []logic.Literal {
	if e.outcomes[call.Index] != nil {
		return e.outcomes[call.Index]
	}
	n := len(call.Output)
	taken := make([]logic.Literal, max(n, 1))
	e.within(call.Index, func() {
		if n < 2 {
			taken[0] = e.Variable(false, false, aboutFailure{call.Index}).Not()
		} else {
			e.ExactlyOne(taken, logic.True, true, aboutOutcome{call.Index})
		}
	})
	e.outcomes[call.Index] = taken
	return taken
}

// Done is whether a call ends as done: it runs, and doesn't fail, into its failure route neither.
func (e *Conditions) Done(call *plan.Call) logic.Literal {
	outcome, last := e.outcome(call), call.FailureRoute()
	if last < 0 {
		return e.And(e.runs[call.Index], outcome[0])
	}
	failed, known := e.failures[call.Index]
	if !known {
		e.within(call.Index, func() {
			failed = e.And(outcome[last], e.Variable(false, true, aboutFailure{call.Index}))
		})
		e.failures[call.Index] = failed
	}
	return e.And(e.runs[call.Index], failed.Not())
}

// Writes is whether a call writes the paths of one of its alternatives.
func (e *Conditions) Writes(call *plan.Call, alternative int) logic.Literal {
	w := e.And(e.runs[call.Index], e.outcome(call)[alternative])
	if w == logic.False || alternative != call.FailureRoute() {
		return w
	}
	p := e.plan
	for _, path := range call.Output[alternative] {
		if p.StateSchema != nil && p.Paths.Kind(path.ID) == "state" &&
			p.StateSchema.At(p.Paths.Segments(path.ID)[1:]).Schema != nil {
			// the schema may not admit a failure record
			return e.And(w, e.held(heldKey{int32(call.Index), pathtree.Root}).there)
		}
	}
	if p.Writes == plan.Once {
		w = e.And(w, e.occupied(call, alternative, false).Not())
	}
	return w
}

// occupied is whether one of the calls that come before another under once has written a path that overlaps one of its
// alternatives, or the state begins with a value there. Failure records count only if they are asked for.
func (e *Conditions) occupied(call *plan.Call, alternative int, records bool) logic.Literal {
	plan, occupied := e.plan, logic.False
	for _, path := range call.Output[alternative] {
		segments := plan.Paths.Segments(path.ID)
		if v, ok := pathtree.Walk(plan.State, segments[1:]); ok && v != nil && segments[0].Key == "state" {
			return logic.True
		}
		if len(plan.Instances) > 0 && segments[0].Key == "state" && e.facts.Begins("state", segments[1:]) {
			occupied = e.Or(occupied, e.unknown(true))
		}
		for _, w := range call.Choices {
			other := plan.Calls[w]
			for i, route := range other.Output {
				if !e.Work(1) {
					return logic.False
				}
				if (records || i != other.FailureRoute()) && route.Overlaps(plan.Paths, path.ID) {
					occupied = e.Or(occupied, e.Writes(other, i))
				}
			}
		}
	}
	return occupied
}

// Meet is whether two calls write overlapping paths, not both as their failure routes, and at least one of them by set.
func (e *Conditions) Meet(u *plan.Unordered) logic.Literal {
	a, b := e.plan.Calls[u.A], e.plan.Calls[u.B]
	meets := logic.False
	for i, routeA := range a.Output {
		for k, routeB := range b.Output {
			failureA, failureB := i == a.FailureRoute(), k == b.FailureRoute()
			sets := a.Method == plan.Set || b.Method == plan.Set || failureA || failureB
			if !e.Work(1) {
				return logic.False
			}
			if failureA && failureB || !sets {
				continue
			}
			if slices.ContainsFunc(routeA, func(x plan.Path) bool { return routeB.Overlaps(e.plan.Paths, x.ID) }) {
				meets = e.Or(meets, e.And(e.Writes(a, i), e.Writes(b, k)))
			}
		}
	}
	return meets
}

// Work counts what is looked at. Past the bound it reports false, and nothing may be concluded any more.
func (e *Conditions) Work(n int) bool {
	if e.work += n; e.work > maxWork {
		e.Exhaust()
	}
	return e.work <= maxWork
}
