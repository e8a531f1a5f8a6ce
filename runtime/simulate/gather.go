package simulate

import (
	"slices"
	"time"

	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/runtime"
)

// A frame is a plan at work on one state: that of the run, of an instance or of a delegate.
type frame struct {
	plan     *plan.Plan
	calls    []*CallReport
	children map[int][]*frame // of the calls that plans carry out: one an attempt
}

// meet begins the reports of the calls that a command may be about.
func (w *world) meet(c runtime.Command) {
	f := w.frames[c.Frame]
	if f == nil {
		f = &frame{plan: c.Plan, children: map[int][]*frame{}}
		w.frames[c.Frame] = f
		if above := w.frames[c.Parent]; above != nil {
			above.children[c.ParentCall] = append(above.children[c.ParentCall], f)
		} else {
			w.roots = append(w.roots, f)
		}
	}
	for _, call := range c.Plan.Calls[len(f.calls):] {
		f.calls = append(f.calls, &CallReport{Call: call, Instance: c.Instance, Under: c.Under})
	}
}

func (w *world) report(t runtime.Try) *CallReport { return w.frames[t.Frame].calls[t.Call] }

// reports are those of a frame in plan order, with the calls of a delegate behind the call that they are done for.
func (f *frame) reports(all []*CallReport) []*CallReport {
	for i, one := range f.calls {
		all = append(all, one)
		for _, child := range f.children[i] {
			all = child.reports(all)
		}
	}
	return all
}

// gather brings the reports together. Frames of a run began in the order of their instances.
func (w *world) gather() {
	latest := time.Duration(-1)
	for _, f := range w.roots {
		w.out.Calls = f.reports(w.out.Calls)
		if path, end := f.critical(); end > latest {
			w.out.CriticalPath, latest = path, end
		}
	}
	for _, one := range w.out.Calls {
		w.out.Cost += one.Cost
	}
}

// critical are the activities for which a frame's last call waited, and when that ended: before each call comes that of
// its dependencies which ended last, and of a call that a plan carries out those of that plan.
func (f *frame) critical() (path []*CallReport, end time.Duration) {
	at, end := -1, time.Duration(-1)
	for i, one := range f.calls {
		if one.To > end {
			at, end = i, one.To
		}
	}
	var parts [][]*CallReport
	for at >= 0 {
		one, part, last := f.calls[at], []*CallReport(nil), time.Duration(-1)
		for _, child := range f.children[at] {
			within, _ := child.critical()
			part = append(part, within...)
		}
		if part == nil && one.Started {
			part = []*CallReport{one}
		}
		parts, at = append(parts, part), -1
		for _, d := range f.plan.Graph.Deps(one.Call.Index) {
			if to := f.calls[d].To; to <= one.From && to > last {
				at, last = int(d), to
			}
		}
	}
	slices.Reverse(parts)
	return slices.Concat(parts...), end
}
