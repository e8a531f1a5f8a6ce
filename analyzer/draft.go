package analyzer

import (
	"slices"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/source"
)

// A Draft is a solution, or as much of it as has arrived, as far as it may be
// run (S11.4): call by call. Only [Screen] makes one.
type Draft struct {
	plan   *compiler.Plan
	whole  bool
	faults [][]diag.Diagnostic // by call
	amiss  []diag.Diagnostic
	held   []bool
}

// Screen judges a solution that has been compiled in the setting of a run, with
// the findings that compiling it made. Whole says that nothing more will come.
//
// Until then what only the whole shows stays open: a call is held back, rather
// than judged, if held says so (what it reads, or writes into, may still turn out
// to be another call's work), if it names a call in "_after" that may still come,
// if it depends on such a call, or if it writes what such a call listed before it
// writes. What isn't held is judged once and for all: calls listed after it change
// nothing about it, so that it may start.
//
// Of the whole, held says which calls have been held back until now; nil is all.
func Screen(p *compiler.Plan, found []diag.Diagnostic, whole bool, held func(call *compiler.Call) bool) *Draft {
	d := &Draft{plan: p, whole: whole, faults: make([][]diag.Diagnostic, len(p.Calls)), held: make([]bool, len(p.Calls))}
	found = about(p, found)
	if p.Root == nil {
		d.amiss = errorsOf(found)
		return d
	}

	// An error leaves no gap here: what has errors doesn't run, so what it would
	// have done doesn't matter, and a solution defines nothing.
	pass := newPass(p, nil)
	pass.screens = true
	for _, r := range rules {
		if r.makesErrors() && r != writeConflict {
			pass.run(r)
		}
	}
	found = slices.Concat(errorsOf(found), errorsOf(pass.found))
	if whole {
		for i, call := range p.Calls {
			d.held[i] = held == nil || held(call)
		}
	} else {
		d.hold(found, held)
	}
	d.take(found)
	d.takeCycles()

	// A call that won't run writes nothing, and so conflicts with nobody.
	pass.found, pass.rule = nil, writeConflict.Rule
	pass.barred = func(call int) bool { return len(d.faults[call]) > 0 }
	writeConflicts(pass)
	d.take(errorsOf(pass.found))
	return d
}

// Plan is what was screened.
func (d *Draft) Plan() *compiler.Plan { return d.plan }

// Whole reports whether nothing more will come.
func (d *Draft) Whole() bool { return d.whole }

// Faults are the errors that keep a call from running; those of a call that is
// held aren't known yet.
func (d *Draft) Faults(call int) []diag.Diagnostic { return d.faults[call] }

// Held reports whether a call must wait for the whole.
func (d *Draft) Held(call int) bool { return d.held[call] && !d.whole }

// Amiss are the errors of the solution that are no call's.
func (d *Draft) Amiss() []diag.Diagnostic { return d.amiss }

// Sound reports whether there is no error at all.
func (d *Draft) Sound() bool {
	return len(d.amiss) == 0 && !slices.ContainsFunc(d.faults, func(f []diag.Diagnostic) bool { return len(f) > 0 })
}

func errorsOf(found []diag.Diagnostic) []diag.Diagnostic {
	return slices.DeleteFunc(slices.Clone(found), func(d diag.Diagnostic) bool { return d.Severity < diag.Error })
}

// take files errors under calls: under one that is held, where an error speaks of
// such, since it isn't known yet; else under the last of the calls that it speaks
// of, since the others have been judged without it and may have started by now.
func (d *Draft) take(found []diag.Diagnostic) {
	for _, f := range found {
		call := d.callIn(f.Span)
		if call == nil {
			d.amiss = append(d.amiss, f)
			continue
		}
		if !d.held[call.Index] {
			for _, note := range f.Related {
				if other := d.callIn(note.Span); other != nil && (d.held[other.Index] || !d.held[call.Index] && other.Index > call.Index) {
					call = other
				}
			}
		}
		if d.whole || !d.held[call.Index] {
			d.faults[call.Index] = append(d.faults[call.Index], f)
		}
	}
}

// callIn is the call in whose text a place is; nil for none.
func (d *Draft) callIn(at source.Span) *compiler.Call {
	if at.File != d.plan.File {
		return nil
	}
	return callAt(d.plan, at.Start)
}

// takeCycles bars every call that is part of a cycle: the finding names but one
// of them.
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

// hold finds the calls that must wait for the whole.
func (d *Draft) hold(found []diag.Diagnostic, loose func(call *compiler.Call) bool) {
	p := d.plan
	for i, call := range p.Calls {
		d.held[i] = loose(call)
	}
	for i := range found {
		if found[i].Rule == diag.UnknownCall {
			if call := d.callIn(found[i].Span); call != nil {
				d.held[call.Index] = true
			}
		}
	}
	some := false // calls so far are held
	for i, call := range p.Calls {
		// What depends on a call that is held may turn out to be on a cycle with it,
		// even if a fallback could do without it. What isn't held depends on calls
		// listed before it.
		d.held[i] = d.held[i] || slices.ContainsFunc(call.After, func(other int) bool { return other >= i }) ||
			slices.ContainsFunc(p.Graph.Deps(i), func(dep int32) bool { return d.held[dep] }) || some && d.joinsHeld(call)
		some = some || d.held[i]
	}
}

// joinsHeld reports whether a call may write what one listed before it may write
// that is held, and that it doesn't depend on: how the two go together isn't known.
func (d *Draft) joinsHeld(call *compiler.Call) bool {
	if d.plan.Writes == compiler.Once {
		return false // it depends on those
	}
	for alternative, route := range call.Output {
		failure := alternative == call.FailureRoute()
		for _, path := range route {
			for _, w := range d.plan.Writers(path.ID) {
				if int(w.Call) >= call.Index {
					break
				}
				if d.held[w.Call] && !(failure && w.Failure) {
					return true
				}
			}
		}
	}
	return false
}
