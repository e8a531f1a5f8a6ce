package runtime

import (
	"slices"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
)

// arrive takes up the calls that have ended. Each is compiled, bound and judged once, together with those before it.
func (l *loop) arrive() {
	if l.growing == nil {
		l.growing, l.about = l.setting.Begin(document(l.tick, l.stream.Prefix(0)), compiler.Options{})
	}
	if !l.takeOpinions(l.growing.Plan(), l.about) {
		return // they stand before the calls, or it takes the whole to tell
	}
	l.plan = l.growing.Plan()
	for ; l.known < l.stream.Calls(); l.known++ {
		if start, end := l.stream.Call(l.known); l.growing.Add(l.stream.Text(), start, end) {
			l.judgeLast()
		}
	}
	for _, f := range l.roots() {
		if f.draft != nil && len(f.calls) < len(f.draft.Plan().Calls) {
			extendFrame(f, f.draft)
		}
	}
}

// viewOfArriving is what the frame's instance runs of the solution that is arriving.
func viewOfArriving(f *frame) *plan.Plan {
	if f.machine.instances == nil {
		return f.machine.plan
	}
	return f.machine.loop.growing.For(f.site.Instance)
}

func (l *loop) judgeLast() {
	call := l.plan.Calls[len(l.plan.Calls)-1]
	stands := false // for one that is done
	for _, f := range l.roots() {
		if f.doneCalls == nil || !runsCall(f, call) {
			continue
		}
		if number, yes := f.doneCalls.list(l.plan, call); yes {
			stands = true
			l.standDown(f, number)
		}
	}
	if stands {
		l.growing.Stand(l.setting)
		for _, f := range l.roots() {
			if f.draft != nil {
				f.draft.Restand()
			}
		}
	}
	found := l.growing.Bind()
	for _, f := range l.roots() {
		switch takes := runsCall(f, call); {
		case takes:
			view := viewOfArriving(f)
			f.draft = draftOf(f, view, len(view.Calls)-1)
			f.draft.Extend(found, func(call *plan.Call) bool { return mayChange(f, view, call) })
		case f.draft != nil && f.draft.Plan() == l.plan: // from now on it runs less than all
			view := viewOfArriving(f)
			f.draft = draftOf(f, view, len(view.Calls))
			f.setPlan(view)
		}
	}
}

func runsCall(f *frame, call *plan.Call) bool {
	return f.machine.instances == nil || call.Instance == "" || call.Instance == f.site.Instance
}

// draftOf is the draft in which the calls of an arriving plan are judged for the frame; judged of them have been.
// Instances that run the same calls share it, unless earlier ticks have done some of them.
func draftOf(f *frame, view *plan.Plan, judged int) *analyzer.Draft {
	l, own := f.machine.loop, f.doneCalls != nil && len(f.doneCalls.completed) > 0
	d := f.draft
	if !own && l.drafts[view] != nil {
		return l.drafts[view]
	}
	switch {
	case d == nil:
		d = analyzer.Arriving(view, f.machine.rules)
	case d.Plan() != view:
		d = d.On(view, judged)
	}
	if !own {
		l.drafts[view] = d
	}
	return d
}

// mayChange reports whether what a call, in a plan that is still arriving, reads or
// writes into may turn out to be another call's work.
func mayChange(f *frame, p *plan.Plan, call *plan.Call) bool {
	return slices.ContainsFunc(call.Reads, func(r int) bool { return readMayChange(f, p, &p.Reads[r], call) }) ||
		slices.ContainsFunc(slices.Concat(call.Output...), func(path plan.Path) bool {
			return baseMayBeListedLater(f, call, path.ID)
		})
}

// baseMayBeListedLater reports whether a message that decides whether there is a place for a path may be
// the work of a done call that is listed again only after the writer: one to the same key of the state,
// whichever part of its value it is about.
func baseMayBeListedLater(f *frame, call *plan.Call, id pathtree.ID) bool {
	key := id
	for f.program.Paths.Depth(key) > 2 {
		key = f.program.Paths.Parent(key)
	}
	paths := f.program.Overlapping(key)
	above, alone := paths.Above, key == id // where earlier writes at the path leave the place, whichever are repeated
	for _, m := range f.log.On(id) {
		alone = alone && (call.Method == plan.Set || call.Method == m.Method && f.schemaAt(id) == nil)
	}
	if alone {
		above = slices.DeleteFunc(slices.Clone(above), func(path pathtree.ID) bool { return path == id })
	}
	return f.mayBeListedLater(above, call) ||
		!(alone && call.Method == plan.Set) && f.mayBeListedLater(paths.Below, call)
}

// readMayChange reports whether a read may be bound to calls that haven't arrived: those listed before it come first,
// then what is there, and only then those listed after it. In a carried plan what is there may turn out to be the work
// of a call that is repeated further down.
func readMayChange(f *frame, p *plan.Plan, read *plan.Read, call *plan.Call) bool {
	if kind := p.Paths.Kind(read.Path); kind != "state" && kind != "data" {
		return false
	}
	switch {
	case p.Writes == plan.Once, read.Bound == plan.Later, read.Bound == plan.Initial && !read.Start:
		return true
	}
	paths := f.program.Overlapping(read.Path)
	later := func(r *frame) bool {
		return r.mayBeListedLater(paths.Above, call) || r.mayBeListedLater(paths.Below, call)
	}
	if call.Instance != "" {
		return later(f)
	}
	return slices.ContainsFunc(f.machine.roots(), later) // it is there from the start only if it is so in all
}
