package runtime

import (
	"slices"
	"sort"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
)

// eachAlone is up to how many calls a solution is looked at with each of them that comes; a longer one only when it has
// become a quarter longer, so that what an answer costs grows as its length does.
const eachAlone = 128

// arrive compiles what has arrived of a solution, and judges and schedules the calls that are new in it.
func (l *loop) arrive() {
	calls := l.stream.Calls()
	if l.unreadable || calls == l.known || calls > eachAlone && calls < l.known+l.known/4 {
		return
	}
	p, found := l.solve(l.stream.Prefix(calls))
	if l.unreadable = p == nil; l.unreadable {
		calls = l.readable(calls)
		p, found = l.solve(l.stream.Prefix(calls))
	}
	l.known = calls
	if p == nil || !l.takeOpinions(p, found) {
		return // they stand before the calls, or it takes the whole to tell
	}
	l.judge(p, func(f *frame, view *plan.Plan) *analyzer.Draft {
		if f.draft != nil && len(view.Calls) == len(f.calls) {
			return f.draft
		}
		f.setPlan(view)
		return analyzer.Arriving(view, found, l.rules, f.draft, func(call *plan.Call) bool {
			return mayChange(f, view, call)
		})
	})
}

// judge has a plan judged as each instance is to run it, and the calls that are new in it scheduled. Instances that run
// the same share one draft, unless what is held depends on what they have done.
func (l *loop) judge(p *plan.Plan, draft func(f *frame, view *plan.Plan) *analyzer.Draft) {
	l.plan, l.programs = p, map[*plan.Plan]*program{}
	shared := map[*plan.Plan]*analyzer.Draft{}
	for _, f := range l.roots() {
		view := viewOf(f, p)
		d, isOwn := shared[view], f.doneCalls != nil && len(f.doneCalls.completed) > 0
		if d == nil || isOwn {
			d = draft(f, view)
		}
		if f.draft = d; !isOwn {
			shared[view] = d
		}
	}
	for _, f := range l.roots() {
		extendFrame(f, f.draft)
	}
}

// solve compiles the text of a solution; nil if it can't be read, or isn't what was read before with more behind it.
func (l *loop) solve(text []byte) (*plan.Plan, []diag.Diagnostic) {
	file := document(l.tick, text)
	p, found := l.setting.Solve(file, compiler.Options{})
	if p.Root == nil || !l.continues(p) {
		return nil, found
	}
	if l.rematchCompleted(p) { // the writes of calls that are done are no initial values
		l.setting = settingFor(l.Machine, (*frame).seenByTick)
		p, found = l.setting.Solve(file, compiler.Options{})
	}
	return p, found
}

// readable is how many items of the list can be read, of so many that can't, where too much is wrong with them.
func (l *loop) readable(calls int) int {
	return l.known + sort.Search(calls-l.known, func(more int) bool {
		p, _ := l.solve(l.stream.Prefix(l.known + more + 1))
		return p == nil
	})
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
