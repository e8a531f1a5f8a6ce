package simulate

import (
	"cmp"
	"slices"
	"time"

	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/runtime"
)

// played is a plan that was at work on one state: that of the run, of an instance or of a delegate.
type played struct {
	plan     *plan.Plan
	calls    []int             // the places of its calls among the reports
	children map[int][]*played // of the calls that plans carry out: one a try
}

// meet begins the reports of the calls that a command may be about.
func (w *world) meet(c runtime.Command) {
	p := w.frames[c.Frame]
	if p == nil {
		p = &played{plan: c.Plan, children: map[int][]*played{}}
		w.frames[c.Frame] = p
		if above := w.frames[c.Parent]; above != nil {
			above.children[c.ParentCall] = append(above.children[c.ParentCall], p)
		} else {
			w.roots = append(w.roots, p)
		}
	}
	for i := len(p.calls); i < len(c.Plan.Calls); i++ {
		p.calls = append(p.calls, len(w.out.Calls))
		w.out.Calls = append(w.out.Calls, CallReport{Call: c.Plan.Calls[i], Instance: c.Instance, Under: c.Under})
	}
}

func (w *world) enter(c runtime.Command) {
	within := c.Count
	if c.Of.Each == nil {
		within = len(c.Plan.Delegates[c.Of.Delegate].Calls)
	}
	w.out.Steps += stepsOfCall * (1 + within)
	w.weigh(c.Params)
	if report := w.report(c.Try); !report.Started {
		report.Started, report.From = true, w.now
	}
}

func (w *world) report(t runtime.Try) *CallReport {
	return &w.out.Calls[w.frames[t.Frame].calls[t.Call]]
}

// arrange puts the reports in plan order, instance by instance, the calls of a delegate behind the call that they are
// done for. Which frame came first depends on the schedule.
func (w *world) arrange() {
	all := make([]CallReport, 0, len(w.out.Calls))
	var take func(p *played)
	take = func(p *played) {
		for i, at := range p.calls {
			p.calls[i] = len(all)
			all = append(all, w.out.Calls[at])
			for _, child := range p.children[i] {
				take(child)
			}
		}
	}
	for _, p := range w.roots { // they begin in the order of their instances
		take(p)
	}
	w.out.Calls = all
}

func (w *world) analyse() {
	w.arrange()
	for _, p := range w.roots {
		if length, path := w.longest(p); length > w.out.Critical || w.out.CriticalPath == nil {
			w.out.Critical, w.out.CriticalPath = length, path
		}
	}
	for i := range w.out.Calls {
		w.out.Work += w.out.Calls[i].Busy
		w.out.Cost += w.out.Calls[i].Cost
	}
	parallel := cmp.Or(w.options.Parallel, w.plan.Limits.Parallel, plan.DefaultParallel)
	w.out.LowerBound = max(w.out.Critical, w.out.Work/time.Duration(parallel))
}

// longest is the longest path through a plan at work, and the activities on it, by what had ended when calls began. A
// call that a plan carries out is as long as that plan's own, over all tries.
func (w *world) longest(p *played) (time.Duration, []int) {
	n := len(p.plan.Calls)
	until, before, within := make([]time.Duration, n), make([]int32, n), make([][]int, n)
	last := int32(-1)
	for _, i := range p.plan.Graph.Order() {
		before[i] = -1
		at := p.calls[i]
		for _, d := range p.plan.Graph.Deps(int(i)) {
			if until[d] > until[i] && w.out.Calls[p.calls[d]].To <= w.out.Calls[at].From {
				until[i], before[i] = until[d], d
			}
		}
		until[i] += w.out.Calls[at].Busy + w.out.Calls[at].Paused
		for _, child := range p.children[int(i)] {
			length, path := w.longest(child)
			until[i] += length
			within[i] = append(within[i], path...)
		}
		if within[i] == nil && w.out.Calls[at].Started {
			within[i] = []int{at}
		}
		if last < 0 || until[i] > until[last] {
			last = i
		}
	}
	if last < 0 {
		return 0, nil
	}
	var paths [][]int
	for at := last; at >= 0; at = before[at] {
		paths = append(paths, within[at])
	}
	slices.Reverse(paths)
	return until[last], slices.Concat(paths...)
}
