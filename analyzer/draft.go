package analyzer

import (
	"slices"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
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
// than judged, if one of its reads is loose, which is for the caller to say (the
// call that it will be bound to may still come), if it names a call in "_after"
// that may still come, if its method doesn't fit what is at its path so far, if it
// depends on such a call, or if its place among the writers of a path hangs on
// one.
func Screen(p *compiler.Plan, found []diag.Diagnostic, whole bool, loose func(read int) bool) *Draft {
	d := &Draft{plan: p, whole: whole, faults: make([][]diag.Diagnostic, len(p.Calls)), held: make([]bool, len(p.Calls))}
	found = about(p, found)
	if p.Root == nil {
		d.amiss = errorsOf(found)
		return d
	}

	// An error leaves no gap here: what has errors doesn't run, so what it would
	// have done doesn't matter, and a solution defines nothing.
	pass := newPass(p, nil)
	for i := range rules {
		if r := &rules[i]; r.makesErrors() && r.Rule != diag.WriteConflict {
			pass.run(r)
		}
	}
	found = slices.Concat(errorsOf(found), errorsOf(pass.found))
	if !whole {
		d.hold(found, loose)
	}
	d.take(found)
	d.takeCycles()

	// A call that won't run writes nothing, and so conflicts with nobody.
	pass.found, pass.rule = nil, diag.WriteConflict
	pass.barred = func(call int) bool { return len(d.faults[call]) > 0 }
	writeConflicts(pass)
	d.take(errorsOf(pass.found))
	return d
}

// Plan is what was screened.
func (d *Draft) Plan() *compiler.Plan { return d.plan }

// Whole tells whether nothing more will come.
func (d *Draft) Whole() bool { return d.whole }

// Faults are the errors that keep a call from running; those of a call that is
// held aren't known yet.
func (d *Draft) Faults(call int) []diag.Diagnostic { return d.faults[call] }

// Held tells whether a call must wait for the whole.
func (d *Draft) Held(call int) bool { return d.held[call] }

// Amiss are the errors of the solution that are no call's.
func (d *Draft) Amiss() []diag.Diagnostic { return d.amiss }

// Sound tells whether there is no error at all.
func (d *Draft) Sound() bool {
	return len(d.amiss) == 0 && !slices.ContainsFunc(d.faults, func(f []diag.Diagnostic) bool { return len(f) > 0 })
}

func errorsOf(found []diag.Diagnostic) []diag.Diagnostic {
	return slices.DeleteFunc(slices.Clone(found), func(d diag.Diagnostic) bool { return d.Severity < diag.Error })
}

// take files errors under the calls in whose text they stand.
func (d *Draft) take(found []diag.Diagnostic) {
	for _, f := range found {
		switch call := callAt(d.plan, f.Span.Start); {
		case call == nil || f.Span.File != d.plan.File:
			d.amiss = append(d.amiss, f)
		case !d.held[call.Index]:
			d.faults[call.Index] = append(d.faults[call.Index], f)
		}
	}
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
func (d *Draft) hold(found []diag.Diagnostic, loose func(read int) bool) {
	p := d.plan
	for i, call := range p.Calls {
		d.held[i] = slices.ContainsFunc(call.Reads, loose)
	}
	for i := range found {
		// What a method finds at its path may be the work of a call that is listed
		// again further down, or have another type once that one is known.
		if found[i].Rule == diag.UnknownCall || found[i].Rule == diag.BadMethod {
			if call := callAt(p, found[i].Span.Start); call != nil {
				d.held[call.Index] = true
			}
		}
	}
	for i, call := range p.Calls {
		if slices.ContainsFunc(call.After, func(other int) bool { return other >= i }) {
			d.held[i] = true
		}
	}
	// What depends on a call that is held may turn out to be on a cycle with it,
	// even if a fallback could do without it. What isn't held depends on calls
	// listed before it.
	for i := range p.Calls {
		d.held[i] = d.held[i] || slices.ContainsFunc(p.Graph.Deps(i), func(dep int32) bool { return d.held[dep] })
	}
	var late []int
	for _, u := range p.Unordered {
		if d.held[u.A] {
			late = append(late, u.B)
		}
	}
	for _, call := range late {
		d.held[call] = true
	}
}
