package analyzer

import (
	"slices"

	"github.com/obelus-dev/obelus/analyzer/internal/analysis"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/bind"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
)

// A Draft is a solution, or the part of it that has arrived, with the calls that may run. Only [Screen]
// and [Arriving] make one.
type Draft struct {
	plan     *plan.Plan
	complete bool
	faults   [][]diag.Diagnostic // by call
	problems []diag.Diagnostic
	held     []bool
	config   Config // with a program's own rules
}

// Screen judges a whole solution that has been compiled in the setting of a run, with the
// findings that compiling it made, by a program's own rules as well. Held says which
// calls have been held back until now, as [Arriving] found; nil is all.
func Screen(p *plan.Plan, found []diag.Diagnostic, own []*Rule, held func(call *plan.Call) bool) *Draft {
	d := &Draft{plan: p, config: Config{Rules: own}, complete: true, faults: make([][]diag.Diagnostic, len(p.Calls)),
		held: make([]bool, len(p.Calls))}
	found = about(p, found)
	if p.Root == nil {
		d.problems = diag.AtLeast(diag.Error, found)
		return d
	}
	for i, call := range p.Calls {
		d.held[i] = held == nil || held(call)
	}
	d.screen(newScreening(p), found)
	return d
}

// newScreening is a pass over a solution. An error leaves no gap there: what has errors doesn't run, so what it would
// have done doesn't matter, and a solution defines nothing.
func newScreening(p *plan.Plan) *Pass {
	pass := analysis.NewPass(p, 0)
	pass.Screens = true
	return pass
}

// screen judges the calls.
func (d *Draft) screen(pass *Pass, found []diag.Diagnostic) {
	pass.Found = nil
	for _, r := range d.config.rules() {
		// a solution defines nothing
		ofDocuments := r.Scope == Document && r.Call == nil && !slices.Contains(d.config.Rules, r)
		if (r.Default == diag.Error || r.Raises) && r != writeConflict && !ofDocuments && d.config.asksFor(r) {
			d.config.run(pass, r)
		}
	}
	d.take(slices.Concat(diag.AtLeast(diag.Error, found), diag.AtLeast(diag.Error, pass.Found)))
	d.takeCycles()

	// A call that won't run writes nothing, and so conflicts with nobody, unless it is for
	// a conflict that it doesn't run.
	barred := make([]bool, len(d.faults))
	for i := range barred {
		barred[i] = len(d.faults[i]) > 0
	}
	pass.Found, pass.Rule = nil, writeConflict.Rule
	pass.Barred = func(call int) bool { return barred[call] }
	writeConflicts(pass)
	d.take(diag.AtLeast(diag.Error, pass.Found))
	ordered := append(pass.Ordered, asPairs(pass, relatedCalls(pass), d.isHeld)...)
	if ordered = slices.DeleteFunc(ordered, func(pair [2]int) bool {
		return !d.complete && (d.held[pair[0]] || d.held[pair[1]])
	}); len(ordered) > 0 {
		d.plan = bind.WithOrder(d.plan, ordered)
	}
}

// Arriving judges the calls of a solution that have come, with the findings that compiling them made. What an earlier
// draft of it, nil for none, held back stays so.
//
// What only the whole shows stays open: a call is held back, rather than judged, if waits says so (what it reads, or
// writes into, may still turn out to be another call's work), if it names a call in "_after" that may still come, if it
// depends on such a call, or if it writes what such a call listed before it writes. What isn't held is judged once and
// for all: calls listed after it change nothing about it, so that it may start.
func Arriving(p *plan.Plan, found []diag.Diagnostic, own []*Rule, before *Draft,
	waits func(call *plan.Call) bool) *Draft {
	d := &Draft{plan: p, config: Config{Rules: own}, faults: make([][]diag.Diagnostic, len(p.Calls))}
	pass := newScreening(p)
	found = about(p, found)
	if before != nil {
		d.held = slices.Clip(before.held)
	}
	some, related := slices.Contains(d.held, true), relatedCalls(pass)
	for _, call := range p.Calls[len(d.held):] {
		held := waits(call) || slices.ContainsFunc(related[call.Index], d.isHeld) ||
			d.waitsForTheRest(call, found, some)
		d.held, some = append(d.held, held), some || held
	}
	pass.Held = d.isHeld
	d.screen(pass, found)
	return d
}

func (d *Draft) isHeld(call int) bool { return d.held[call] }

// Plan is what was screened.
func (d *Draft) Plan() *plan.Plan { return d.plan }

// Complete reports whether nothing more will come.
func (d *Draft) Complete() bool { return d.complete }

// Faults are the errors that keep a call from running; those of a call that is held aren't known yet.
func (d *Draft) Faults(call int) []diag.Diagnostic {
	compiler.RedactFindings(d.plan, d.faults[call])
	return d.faults[call]
}

// Held reports whether a call must wait for the whole.
func (d *Draft) Held(call int) bool { return d.held[call] && !d.complete }

// Problems are the errors of the solution that belong to no call.
func (d *Draft) Problems() []diag.Diagnostic {
	compiler.RedactFindings(d.plan, d.problems)
	return d.problems
}

// Sound reports whether there is no error at all.
func (d *Draft) Sound() bool {
	return len(d.problems) == 0 && !slices.ContainsFunc(d.faults, func(f []diag.Diagnostic) bool { return len(f) > 0 })
}

// take files errors under calls: under one that is held, where an error speaks of
// such, since it isn't known yet; else under the last of the calls that it speaks
// of, since the others have been judged without it and may have started by now.
func (d *Draft) take(found []diag.Diagnostic) {
	for _, f := range found {
		call := d.callIn(f.Span)
		if call == nil {
			if d.complete {
				d.problems = append(d.problems, f)
			}
			continue
		}
		if !d.held[call.Index] && f.Rule != diag.DuplicateID { // whose the name is, is known at once
			for _, note := range f.Related {
				if other := d.callIn(note.Span); other != nil &&
					(d.held[other.Index] || !d.held[call.Index] && other.Index > call.Index) {
					call = other
				}
			}
		}
		if d.complete || !d.held[call.Index] {
			d.faults[call.Index] = append(d.faults[call.Index], f)
		}
	}
}

// callIn is the call in whose text a place is; nil for none.
func (d *Draft) callIn(at source.Span) *plan.Call {
	if at.File != d.plan.File {
		return nil
	}
	return analysis.CallAt(d.plan, at.Start)
}

// takeCycles bars every call that is part of a cycle: the finding names but one of them.
func (d *Draft) takeCycles() {
	graph := &d.plan.Graph
	if graph.Acyclic() {
		return
	}
	cycles := map[int]diag.Diagnostic{} // by component
	for i := range d.plan.Calls {
		for _, f := range d.faults[i] {
			if f.Rule == diag.Cycle {
				cycles[graph.Component(i)] = f
			}
		}
	}
	for i := range d.plan.Calls {
		f, cyclic := cycles[graph.Component(i)]
		if cyclic && len(d.faults[i]) == 0 {
			d.faults[i] = append(d.faults[i], f)
		}
	}
}

// waitsForTheRest reports whether calls that are still to come may decide what becomes of one; some says that a call
// before it is held.
func (d *Draft) waitsForTheRest(call *plan.Call, found []diag.Diagnostic, some bool) bool {
	for i := range found {
		if found[i].Rule == diag.UnknownCall && d.callIn(found[i].Span) == call {
			return true
		}
	}
	// Another call of the same tool may come, and its name not say any more which is meant.
	if slices.ContainsFunc(call.After, func(a plan.After) bool { return a.ByTool || a.Call >= call.Index }) {
		return true
	}
	// What depends on a call that is held may turn out to be on a cycle with it, even if a fallback could do without
	// it. What isn't held depends on calls listed before it. How a call goes together with one that is held and writes
	// what it writes isn't known, unless it depends on it, as under once.
	return slices.ContainsFunc(d.plan.Graph.Deps(call.Index),
		func(dep int32) bool { return int(dep) >= call.Index || d.held[dep] }) ||
		some && d.plan.Writes != plan.Once && d.joinsHeld(call)
}

// joinsHeld reports whether a call may write what one that is held may write, except both as their failures.
func (d *Draft) joinsHeld(call *plan.Call) bool {
	for alternative, path := range call.Paths() {
		if slices.ContainsFunc(d.plan.Writers(path.ID), func(w plan.Writer) bool {
			return int(w.Call) < call.Index && d.held[w.Call] && !(w.Failure && alternative == call.FailureRoute())
		}) {
			return true
		}
	}
	return false
}
