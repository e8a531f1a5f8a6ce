package runtime

import (
	"fmt"
	"slices"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/runtime/resolve"
)

// eachAlone is up to how many calls a solution is looked at with each of them that comes; a longer one only when it has
// become a quarter longer, so that what an answer costs grows as its length does.
const eachAlone = 128

// arrive compiles what has arrived of a solution, and judges and schedules the calls that are new in it.
func (l *loop) arrive() {
	calls := l.stream.Calls()
	if calls == l.known || calls > eachAlone && calls < l.known+l.known/4 {
		return
	}
	l.known = calls
	p, found := l.solve(l.stream.Prefix(calls))
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
	l.plan, l.programs = p, map[*plan.Plan]*resolve.Program{}
	shared := map[*plan.Plan]*analyzer.Draft{}
	for _, f := range l.roots() {
		view := viewOf(f, p)
		d, isOwn := shared[view], f.Memory != nil && len(f.Memory.Completed) > 0
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

// solve compiles the text of a solution; nil if it can't be read.
func (l *loop) solve(text []byte) (*plan.Plan, []diag.Diagnostic) {
	file := source.NewFile(fmt.Sprintf("tick-%d.json", l.tick), text)
	p, found := l.setting.Solve(file, compiler.Options{})
	if p.Root == nil {
		return nil, found
	}
	if l.rematchCompleted(p) { // the writes of calls that are done are no initial values
		l.setting = settingFor(l.Machine, (*frame).seenByTick)
		p, found = l.setting.Solve(file, compiler.Options{})
	}
	return p, found
}

// mayChange reports whether what a call, in a plan that is still arriving, reads or writes into may turn out to be
// another call's work. Calls listed before a read come first, then what is there, and only then those listed after it.
// In a carried plan what is there may turn out to be the work of a call that is repeated further down.
func mayChange(f *frame, p *plan.Plan, call *plan.Call) bool {
	for _, at := range call.Reads {
		read := &p.Reads[at]
		if kind := p.Paths.Kind(read.Path); kind != "state" && kind != "data" {
			continue
		}
		later := func(r *frame) bool { return r.mayBeListedLater(read.Path, call, nil) }
		if p.Writes == plan.Once || read.Bound == plan.Later || read.Bound == plan.Initial && !read.Start || later(f) ||
			// it is so from the start in all or none
			call.Instance == "" && slices.ContainsFunc(f.machine.roots(), later) {
			return true
		}
	}
	return slices.ContainsFunc(slices.Concat(call.Output...), func(path plan.Path) bool {
		key := path.ID
		for f.Program.Paths.Depth(key) > 2 {
			key = f.Program.Paths.Parent(key)
		}
		return f.NeedsBase(path.ID, call.Method) && f.mayBeListedLater(key, call, func(m *Message) bool {
			w := plan.Writer{Path: m.Path, Method: m.Method, Sets: m.Method == plan.Set}
			return !f.matters(w, path.ID, call.Method)
		})
	})
}
