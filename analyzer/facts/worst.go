package facts

import (
	"cmp"
	"math"
	"time"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/plan"
)

// A load is what calls use.
type load struct {
	calls, tries, cost float64
	work               float64 // seconds of all tries
	path               float64 // seconds of the longest chain of calls that wait for each other
	attempts           float64 // the most of one call
	// how many calls have no known cost, how many of these models answer, and how many no time-out ends
	unpriced, asked, untimed int
}

// add adds what calls use that run so many times.
func (l *load) add(o *load, times float64) {
	l.calls += times * o.calls
	l.tries += times * o.tries
	l.cost += times * o.cost
	l.work += times * o.work
	l.attempts = max(l.attempts, o.attempts)
	l.unpriced, l.asked, l.untimed = l.unpriced+o.unpriced, l.asked+o.asked, l.untimed+o.untimed
}

// reckon works out the worst case of the plan.
func (f *Facts) reckon(p *plan.Plan, delegates map[string]*plan.Plan) {
	r := reckoner{delegates, f.Delegates, map[string]*load{}}
	for path, d := range delegates {
		f.Delegates[path].Worst = worst(d, r.load(path), f.Delegates[path].Planned, false)
	}
	f.Worst = worst(p, r.of(p, f), f.Planned, true)
}

type reckoner struct {
	plans map[string]*plan.Plan
	facts map[string]*Facts
	known map[string]*load
}

// load is that of a delegate; of one within itself, which is an error, nothing.
func (r *reckoner) load(path string) *load {
	if r.known[path] == nil {
		r.known[path] = &load{}
		if r.plans[path] != nil {
			r.known[path] = r.of(r.plans[path], r.facts[path])
		}
	}
	return r.known[path]
}

// of is what the calls of a plan use.
func (r *reckoner) of(p *plan.Plan, f *Facts) *load {
	all := &load{attempts: 1}
	ends := make([]float64, len(p.Calls)) // when each has ended, at worst
	for _, i := range p.Graph.Order() {   // none of a cycle, which never runs
		one, times := &f.Calls[i], 1.0
		if one.Instance == "" {
			times = float64(max(1, len(p.Instances)))
		}
		if one.Each != nil {
			times *= float64(one.Each.Most)
		}
		own := r.call(p, p.Calls[i], one)
		all.add(own, times)
		for _, w := range p.Graph.Deps(int(i)) {
			ends[i] = max(ends[i], ends[w])
		}
		ends[i] += own.path
		all.path = max(all.path, ends[i])
	}
	return all
}

// call is what a call uses, once or for one item.
func (r *reckoner) call(p *plan.Plan, c *plan.Call, one *Call) *load {
	attempts := float64(max(1, one.Tries))
	seconds, isTimed := trySeconds(p, c)
	price, isPriced := price(p, c)
	l := &load{calls: 1, tries: attempts, cost: attempts * price, work: attempts * seconds, attempts: attempts}
	l.path = l.work + pauses(c).Seconds()
	if !isPriced && one.Runs.Plan == "" {
		if l.unpriced = 1; one.Runs.Kind == Model {
			l.asked = 1
		}
	}
	if !isTimed && one.Runs.Plan == "" {
		l.untimed = 1
	}
	if one.Runs.Plan != "" {
		d := r.load(one.Runs.Plan)
		l.add(d, attempts)
		l.path += attempts * d.path
	}
	return l
}

// trySeconds is how long one try may take.
func trySeconds(p *plan.Plan, c *plan.Call) (seconds float64, bounded bool) {
	a := p.Activities[c.Activity]
	limit := c.Timeout
	if a != nil && a.Timeout > 0 && (limit == 0 || a.Timeout < limit) {
		limit = a.Timeout
	}
	switch {
	case c.Activity == "" && c.Produced != nil:
		return 0, true
	case limit > 0:
		return limit.Seconds(), true
	case a != nil && a.Kind == "expr":
		return max(1, seldomMore(c.Single())), true // or the duration that its tool declares for simulations
	}
	return 0, false
}

// seldomMore is how many seconds a tool says that a call of it seldom exceeds.
func seldomMore(t *plan.Tool) float64 {
	if t == nil {
		return 0
	}
	n := t.Simulate.Get("duration")
	d, _ := time.ParseDuration(cmp.Or(n.Get("p95"), n).AsText())
	return d.Seconds()
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

// price is the declared cost of one try.
func price(p *plan.Plan, c *plan.Call) (cost float64, known bool) {
	if cost, known := compiler.CostOf(c.Single()); known {
		return cost, true
	}
	a := p.Activities[c.Activity]
	return 0, a != nil && a.Kind == "expr" || c.Activity == "" && c.Produced != nil
}

// worst combines the load of a plan's calls with its limits, which are those of the run if it is the outermost.
func worst(p *plan.Plan, l *load, planned, outermost bool) Worst {
	var limits plan.Limits
	if outermost {
		limits = p.Limits
	}
	w := Worst{Calls: most(l.calls), Tries: most(l.tries), Ticks: most(0), Cost: most(l.cost)}
	parallel := float64(limits.Together())
	seconds := l.path
	if l.calls > parallel {
		// Ready calls start as soon as there is room, so at every moment either all places are taken or a longest chain
		// continues (Graham 1969).
		seconds += l.work / parallel
	}
	if w.Time = most(seconds); l.untimed > 0 {
		w.Time = Bound{known: seconds, silent: l.untimed}
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
