package facts

import (
	"cmp"
	"math"
	"time"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/kinds"
	"github.com/obelus-dev/obelus/compiler/plan"
)

// A load is what calls use.
type load struct {
	calls, tries, cost float64
	seconds            float64 // of all tries, one after the other, and between those of a call
	attempts           float64 // the most of one call
	// how many calls have no known cost, how many of these models answer, and how many no time-out ends
	unpriced, asked, untimed int
}

// add adds what calls use that run so many times.
func (l *load) add(o *load, times float64) {
	l.calls += times * o.calls
	l.tries += times * o.tries
	l.cost += times * o.cost
	l.seconds += times * o.seconds
	l.attempts = max(l.attempts, o.attempts)
	l.unpriced, l.asked, l.untimed = l.unpriced+o.unpriced, l.asked+o.asked, l.untimed+o.untimed
}

// reckon works out the worst case of the plan and of those that it runs.
func (f *Facts) reckon(p *plan.Plan, delegates map[string]*plan.Plan) {
	known := map[string]*load{}
	var of func(path string, p *plan.Plan, f *Facts) *load
	of = func(path string, p *plan.Plan, at *Facts) *load {
		if known[path] != nil || p == nil {
			return cmp.Or(known[path], &load{})
		}
		known[path] = &load{} // a delegate within itself, which is an error, uses nothing
		all := &load{attempts: 1}
		for _, i := range p.Graph.Order() { // none of a cycle, which never runs
			one, times := &at.Calls[i], 1.0
			if one.Instance == "" {
				times = float64(max(1, len(p.Instances)))
			}
			if one.Each != nil {
				times *= float64(one.Each.Most)
			}
			own, to := loadOf(p, p.Calls[i], one), one.Runs.Plan
			if to != "" {
				own.add(of(to, delegates[to], f.Delegates[to]), own.attempts)
			}
			all.add(own, times)
		}
		known[path], at.Worst = all, worst(p, all, at.Planned, path == "")
		return all
	}
	for path, d := range delegates {
		of(path, d, f.Delegates[path])
	}
	of("", p, f)
}

// loadOf is what a call uses, once or for one item, without the plan that it runs.
func loadOf(p *plan.Plan, c *plan.Call, one *Call) *load {
	attempts := float64(max(1, one.Tries))
	a := p.Activities[c.Activity]
	isPure, isProduced := kinds.IsPure(a), c.Activity == "" && c.Produced != nil
	timeout := c.Timeout
	if a != nil && a.Timeout > 0 && (timeout == 0 || a.Timeout < timeout) {
		timeout = a.Timeout
	}
	if timeout == 0 && isPure {
		timeout = time.Second
		if t := c.Single(); t != nil { // which says what a call seldom exceeds
			timeout = max(timeout, t.Simulate.Duration.Median, t.Simulate.Duration.Most)
		}
	}
	price, isPriced := compiler.CostOf(c.Single())
	l := &load{calls: 1, tries: attempts, cost: attempts * price, attempts: attempts}
	l.seconds = attempts*timeout.Seconds() + pauses(c).Seconds()
	if !isPriced && !isPure && !isProduced && one.Runs.Plan == "" {
		if l.unpriced = 1; one.Runs.Kind == Model {
			l.asked = 1
		}
	}
	if timeout == 0 && !isProduced && one.Runs.Plan == "" {
		l.untimed = 1
	}
	return l
}

// pauses are those between all tries of a call.
func pauses(c *plan.Call) (sum time.Duration) {
	pause := min(c.Retry.Backoff, time.Hour)
	for range c.Retry.Attempts - 1 {
		sum += pause
		pause = min(2*pause, time.Hour)
	}
	return sum
}

// worst combines the load of a plan's calls with its limits, which are those of the run if it is the outermost.
func worst(p *plan.Plan, l *load, planned, outermost bool) Worst {
	var limits plan.Limits
	if outermost {
		limits = p.Limits
	}
	w := Worst{most(l.calls), most(l.tries), most(0), most(l.cost), most(l.seconds)}
	if l.untimed > 0 {
		w.Time = Bound{known: l.seconds, silent: l.untimed}
	}
	switch {
	case l.unpriced == l.asked && (l.asked > 0 || len(p.Advisors) > 0) && limits.Cost > 0:
		w.Cost = most(l.cost + limits.Cost) // it bounds what models cost, up to the answer with which it is reached
	case l.unpriced > 0 || len(p.Advisors) > 0:
		w.Cost = Bound{known: l.cost, silent: l.unpriced}
	}
	if outermost && p.AwaitsInstances || planned { // instances come with the run, or calls of a model
		w.Calls, w.Tries, w.Cost, w.Time = Bound{}, Bound{}, Bound{}, Bound{}
	}
	if planned {
		w.Ticks = most(plan.DefaultTicks)
		if limits.Ticks > 0 {
			w.Ticks = most(float64(limits.Ticks))
		}
	}
	w.Calls.limit(float64(limits.Calls))
	if limits.Calls > 0 && !planned {
		w.Tries.limit(float64(limits.Calls) * l.attempts)
	}
	w.Time.limit(limits.Time.Seconds())
	return w
}

func most(n float64) Bound {
	if math.IsInf(n, 0) || math.IsNaN(n) {
		n = math.MaxFloat64
	}
	return Bound{Most: &n}
}

// limit is what a limit of the plan makes of it, 0 is none.
func (b *Bound) limit(n float64) {
	if n > 0 && (b.Most == nil || *b.Most > n) {
		b.Most = &n
	}
}

// bounds are the names of all bounds, and the bounds.
func (w *Worst) bounds() ([]string, []Bound) {
	return []string{"calls", "tries", "ticks", "cost", "seconds"}, []Bound{w.Calls, w.Tries, w.Ticks, w.Cost, w.Time}
}

func (b Bound) values() []Value {
	if b.Most == nil {
		return literals("unbounded")
	}
	return literals(*b.Most)
}
