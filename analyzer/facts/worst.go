package facts

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
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
	unknown            [reasons]some
}

// Why a bound of some calls isn't known.
const (
	unpriced = iota
	untimed
	asked // a model answers, without a known cost
	lists // they run for lists that nothing bounds
	reasons
)

// some are calls with something in common: how many, and the first one.
type some struct {
	n     int
	first string
}

func (s some) String() string {
	text := strconv.Quote(s.first)
	if s.n > 1 {
		text += " and others"
	}
	return text
}

// add adds what calls use that run so many times, those of a delegate by the name of the call that runs it.
func (l *load) add(o *load, times float64, runner string) {
	l.calls += times * o.calls
	l.tries += times * o.tries
	l.cost += times * o.cost
	l.work += times * o.work
	l.attempts = max(l.attempts, o.attempts)
	for reason, s := range o.unknown {
		if l.unknown[reason].n == 0 {
			l.unknown[reason].first = runner + s.first
		}
		l.unknown[reason].n += s.n
	}
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
		all.add(own, times, "")
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
	for reason, isUnknown := range []bool{
		unpriced: !isPriced && one.Runs.Kind != Model && one.Runs.Plan == "", untimed: !isTimed && one.Runs.Plan == "",
		asked: !isPriced && one.Runs.Kind == Model, lists: one.Each != nil && !one.Each.bounded,
	} {
		if isUnknown {
			l.unknown[reason] = some{1, one.Name}
		}
	}
	if one.Runs.Plan != "" {
		d := r.load(one.Runs.Plan)
		l.add(d, attempts, one.Name+"/")
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
	w, unknown := Worst{}, &l.unknown
	w.Calls, w.Tries, w.Ticks, w.Cost = most(l.calls), most(l.tries), most(0), most(l.cost)
	for _, b := range []*Bound{&w.Calls, &w.Tries, &w.Cost} {
		if unknown[lists].n > 0 && (b != &w.Cost || l.cost > 0) {
			b.because("nothing but the %d items of any list bounds the list of %s", compiler.MaxItems, unknown[lists])
		}
	}
	parallel := float64(limits.Together())
	seconds := l.path
	if l.calls > parallel {
		// Ready calls start as soon as there is room, so at every moment either all places are taken or a longest chain
		// continues (Graham 1969).
		seconds += l.work / parallel
	}
	if w.Time = most(seconds); unknown[untimed].n > 0 {
		w.Time.unbounded("no time-out ends %s", unknown[untimed])
		w.Time.known, w.Time.silent = seconds, unknown[untimed].n
	}
	switch {
	case unknown[unpriced].n > 0:
		w.Cost.unbounded("no tool declares the cost of %s", unknown[unpriced])
	case (unknown[asked].n > 0 || len(p.Advisors) > 0) && limits.Cost > 0:
		w.Cost = most(l.cost + limits.Cost)
		w.Cost.because("limits.cost bounds what models cost, up to the answer with which it is reached")
	case unknown[asked].n > 0:
		w.Cost.unbounded("the cost of the model that answers %s is unknown", unknown[asked])
	case len(p.Advisors) > 0:
		w.Cost.unbounded("the cost of advisors is unknown")
	}
	w.Cost.known, w.Cost.silent = l.cost, unknown[unpriced].n+unknown[asked].n
	for _, b := range []*Bound{&w.Calls, &w.Tries, &w.Cost, &w.Time} {
		if outermost && p.AwaitsInstances {
			b.unbounded("the instances come with the run")
		}
		if planned {
			b.unbounded("a model writes the calls")
		}
	}
	if planned {
		w.Ticks = most(plan.DefaultTicks)
		if limits.Ticks > 0 {
			w.Ticks.Most = nil
			w.Ticks.limit(float64(limits.Ticks), "limits.ticks")
		}
	}
	w.Calls.limit(float64(limits.Calls), "limits.calls")
	if limits.Calls > 0 && !planned {
		w.Tries.limit(float64(limits.Calls)*l.attempts, "limits.calls")
	}
	w.Time.limit(limits.Time.Seconds(), "limits.time")
	return w
}

func most(n float64) Bound {
	if math.IsInf(n, 0) || math.IsNaN(n) {
		n = math.MaxFloat64
	}
	return Bound{Most: &n}
}

func (b *Bound) because(format string, args ...any) {
	b.Because = append(b.Because, fmt.Sprintf(format, args...))
}

func (b *Bound) unbounded(format string, args ...any) {
	b.Most, b.silent = nil, 0
	b.because(format, args...)
}

// limit is what a limit of the plan makes of it, 0 is none.
func (b *Bound) limit(n float64, name string) {
	if n > 0 && (b.Most == nil || *b.Most > n) {
		b.Most = &n
		b.because("%s bounds it", name)
	}
}
