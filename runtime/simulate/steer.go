package simulate

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/runtime"
)

// Conditions are about values that are made up, or about what is worked out of these. For
// the first [analyzer.Turns] has values with which they hold and don't. For the others such
// values are looked for by rehearsing: how far a condition was from coming out the other way
// is measured, as in search-based testing (Korel: Automated Software Test Data Generation,
// TSE 1990; McMinn: Search-based Software Test Data Generation, STVR 2004), and what was
// made up is changed, one part at a time, as long as that becomes less. What is found are
// further options of the parts that were changed.
type steering struct {
	*explorer
	sites   map[siteKey]*site
	order   []*site
	twins   map[string][]*site // of conditions, by their text
	meter   expression.Meter   // what measuring may take
	pool    []any              // constants of the plan
	bases   []*attempt
	rows    map[string][]uint8 // how sites came out together: a bit for each way
	code    map[string][]*site // by the path of the call
	told    []*site            // the sites of which the ways are asked for
	missed  []Unreached
	proofs  map[*compiler.Plan]analyzer.Proofs
	traced  int
	vague   bool // there was no room for all sites
	uncover map[want]bool
}

// A want is a site and the way that it is to come out.
type want struct {
	of  *site
	way int
}

// An attempt is a rehearsal with some results in the place of others.
type attempt struct {
	told []pick
	set  []planting
	*course
}

// A planting is a result that is given in the place of what was made up.
type planting struct {
	of    *ending
	value any
}

// A mark is how far a rehearsal was from each way of a site, and texts that it compared.
type mark struct {
	far   []float64
	hints [][2]string
}

// mostSteered bounds the rehearsals in which values are looked for, mostAttempts those for one
// aim, mostAims the ways in which sites come out together that are looked for, and mostBases
// the rehearsals from which they are.
const (
	mostSteered  = 4_000
	mostAims     = 1_000
	mostAttempts = 300
	mostBases    = 60
)

// steer looks for values with which what hangs on worked-out values goes every way that it
// can go.
func (x *explorer) steer() {
	s := &steering{explorer: x, sites: map[siteKey]*site{}, code: map[string][]*site{}, twins: map[string][]*site{}, rows: map[string][]uint8{}, proofs: map[*compiler.Plan]analyzer.Proofs{}, uncover: map[want]bool{}}
	s.meter = expression.Meter{Steps: 5_000_000, Memory: 500_000_000}
	s.chart(&level{plan: x.plan}, 0)
	for _, one := range s.order { // lists are varied for one call
		one.computed = one.computed || one.asked && one.ofList && slices.ContainsFunc(s.order, func(other *site) bool {
			return other.asked && other.ways[0].Call != one.ways[0].Call && one.meets(other)
		})
	}
	if !slices.ContainsFunc(s.order, func(one *site) bool { return one.asked && one.computed }) {
		return
	}
	x.steering = s
	for _, one := range s.order {
		if one.asked && s.relevant(one) {
			s.told = append(s.told, one)
			for way := range one.ways {
				s.uncover[want{one, way}] = true
			}
		}
	}
	s.constants()
	x.allow(mostSteered)
	x.steps = x.o.Steps
	s.singly()
	tried := map[want]int{}
	for progress := true; progress; {
		progress = false
		for _, one := range s.order {
			for way := range one.ways {
				w := want{one, way}
				if at, again := tried[w]; again && at == len(s.bases) || !one.asked && !one.computed || s.has([]want{w}) {
					continue
				}
				if tried[w] = len(s.bases); s.find([]want{w}) {
					progress = true
				}
			}
		}
	}
	for _, one := range s.told {
		for way := range one.ways {
			s.settled([]want{{one, way}})
		}
	}
	aims, chained := mostAims, map[*site]bool{}
	for _, one := range s.told {
		if !chained[one] && one.items == nil {
			s.together(nil, one, chained, &aims)
		}
	}
}

// relevant reports whether a site is about what is worked out, or hangs on what such a site
// hangs on.
func (s *steering) relevant(one *site) bool {
	return one.computed || slices.ContainsFunc(s.order, func(other *site) bool { return other.asked && other.computed && one.meets(other) })
}

// meets reports whether two sites hang on the same.
func (one *site) meets(other *site) bool {
	for source := range one.sources {
		if other.sources[source] {
			return true
		}
	}
	return false
}

// constants gathers what conditions and code compare with, and what is given.
func (s *steering) constants() {
	add := func(v any) {
		switch v.(type) {
		case float64, string:
			if len(s.pool) < 60 && !slices.Contains(s.pool, v) {
				s.pool = append(s.pool, v)
			}
		}
	}
	plans := []*compiler.Plan{s.plan}
	for _, path := range sortedKeys(s.plan.AllDelegates()) {
		plans = append(plans, s.plan.AllDelegates()[path])
	}
	for _, p := range plans {
		for _, call := range p.Calls {
			for t := range call.Expressions() {
				t.Expr.Literals(add)
			}
			if codeOf(p, call) != nil {
				codeOf(p, call).Literals(add)
			}
		}
	}
	leaves(compiler.Overlay(s.plan.Input, any(s.o.Input)), nil, func(_ []expression.Segment, v any) { add(v) })
	leaves(compiler.Overlay(s.plan.State, any(s.o.State)), nil, func(_ []expression.Segment, v any) { add(v) })
}

// singly plays the usual combination, and every other option alone of what sites hang on.
func (s *steering) singly() {
	s.try(nil, nil)
	for at := 0; at < len(s.choices) && s.affords(); at++ {
		c := s.choices[at]
		if !slices.ContainsFunc(s.told, func(one *site) bool { return one.sources[c.path] }) {
			continue
		}
		for option := 1; option < len(c.options); option++ {
			if s.affords() && !c.options[option].Fails {
				s.try([]pick{{at, option}}, nil)
			}
		}
	}
}

// try rehearses some options with some results in the place of others, and keeps it as a
// base where it shows something new.
func (s *steering) try(told []pick, set []planting) *attempt {
	a := &attempt{told, set, s.run(told, nil, set)}
	fresh := len(set) == 0 && !a.void
	for site, m := range a.marks {
		for way, far := range m.far {
			if far == 0 && s.uncover[want{site, way}] && !a.void {
				delete(s.uncover, want{site, way})
				fresh = true
			}
		}
	}
	if fresh && len(s.bases) < mostBases {
		s.bases = append(s.bases, a)
	}
	return a
}

// far is how far an attempt was from ways of sites together.
func (a *attempt) far(aim []want) (far float64) {
	if a.void {
		return math.Inf(1)
	}
	for i, w := range aim {
		m := a.marks[w.of]
		switch {
		case m != nil:
			far += m.far[w.way]
		case len(aim) == 1 || i == 0:
			return math.Inf(1)
		} // what isn't asked when others come out so isn't in the way
	}
	return far
}

// settled reports whether sites come out so together, and otherwise notes why not.
func (s *steering) settled(aim []want) bool {
	within := func(m Unreached) bool {
		return !slices.ContainsFunc(m.aim, func(w want) bool { return !slices.Contains(aim, w) })
	}
	if slices.ContainsFunc(s.missed, within) {
		return false
	}
	found := s.has(aim)
	if !found {
		proven := s.excluded(aim)
		if found = !proven && s.find(aim); !found {
			s.missed = append(s.missed, Unreached{aim: slices.Clone(aim), Proven: proven || s.exhausted(aim)})
		}
	}
	return found
}

// together looks for every way in which sites that hang on the same come out together:
// those so far, another, and then the next one that has to do with any of them.
func (s *steering) together(aim []want, one *site, chained map[*site]bool, aims *int) {
	chained[one] = true
	at := slices.Index(s.told, one)
	for way := range one.ways {
		now := append(slices.Clip(aim), want{one, way})
		if *aims--; *aims < 0 {
			s.vague = true
			return
		}
		last := now[len(aim):]
		if slices.ContainsFunc(aim, func(w want) bool { return !s.settled([]want{w, last[0]}) }) || !s.settled(now) {
			continue
		}
		if next := slices.IndexFunc(s.told[at+1:], func(other *site) bool {
			return other.items == nil && slices.ContainsFunc(now, func(w want) bool { return w.of.meets(other) })
		}); next >= 0 {
			s.together(now, s.told[at+1+next], chained, aims)
		}
	}
}

// nearest is the base that came nearest to an aim; nil where none came by it.
func (s *steering) nearest(aim []want) *attempt {
	if len(s.bases) == 0 {
		return nil
	}
	base := slices.MinFunc(s.bases, func(a, b *attempt) int { return cmp.Compare(a.far(aim), b.far(aim)) })
	if math.IsInf(base.far(aim), 1) {
		return nil
	}
	return base
}

// find looks for options with which sites come out so together, and makes them where it
// finds values.
func (s *steering) find(aim []want) bool {
	base := s.nearest(aim)
	if base == nil {
		return false
	}
	a := s.climb(base, aim)
	return a.far(aim) == 0 && (!aim[0].of.asked || s.settle(a, aim))
}

// settle makes what an attempt has in the place of other results options of their parts.
func (s *steering) settle(a *attempt, aim []want) bool {
	for i := len(a.set) - 1; i >= 0; i-- { // what isn't needed
		if b := s.try(a.told, slices.Delete(slices.Clone(a.set), i, i+1)); b.far(aim) == 0 {
			a = b
		}
	}
	usual, told := s.run(a.told, nil, nil), a.told
	for _, p := range a.set {
		now, met := usual.results[p.of]
		if !met {
			return false
		}
		changes, all := differences(now, p.value, nil), now
		for _, c := range changes {
			all = planted(all, c.steps, c.value)
		}
		if !reflect.DeepEqual(all, p.value) || slices.ContainsFunc(changes, func(c change) bool { return !p.of.accepts(planted(now, c.steps, c.value)) }) {
			changes = []change{{nil, p.value}} // another variant of a union, say, has other parts
		}
		for _, c := range changes {
			for i := range p.of.places { // the part above it may be another as a whole
				key := runtime.Path(p.of.under, p.of.places[i].key)
				if at, known := s.known[key]; known && usual.taken[at] > 0 && p.of.places[i].holds(c.steps) {
					whole, _ := pathtree.Walk(p.value, p.of.places[i].steps)
					c = change{p.of.places[i].steps, whole}
				}
			}
			key, option := p.of.offer(now, c)
			told = replaced(told, pick{s.register(key, p.of.root, p.of.partOptions(key)), option})
		}
	}
	if b := s.try(told, nil); b.far(aim) > 0 {
		return false
	}
	return true
}

// climb changes what was made up, one part at a time, as long as that comes nearer to the
// aim.
func (s *steering) climb(best *attempt, aim []want) *attempt {
	far, left := best.far(aim), mostAttempts
	if len(aim) > 1 { // of which most can't be, and few can't be told so
		left /= 4
	}
	try := func(e *ending, v any) float64 {
		if left <= 0 || !s.affords() || !e.accepts(v) {
			return math.Inf(1)
		}
		left--
		set := append(slices.DeleteFunc(slices.Clone(best.set), func(p planting) bool { return p.of == e }), planting{e, v})
		a := s.try(best.told, set)
		now := a.far(aim)
		if now < far {
			best, far = a, now
		}
		return now
	}
	for before := math.Inf(1); far > 0 && far < before; {
		before = far
		for _, e := range s.endings(best.course, aim) {
			e.leaves(best.results[e], func(steps []expression.Segment, _ any) {
				if far > 0 && left > 0 && s.affords() {
					s.vary(best, e, steps, aim, func(v any) float64 { return try(e, planted(best.results[e], steps, v)) })
				}
			})
			e.shapes(best.results[e], func(steps []expression.Segment, other any) {
				if far > 0 {
					try(e, planted(best.results[e], steps, other))
				}
			})
		}
	}
	return best
}

// endings are the results that sites hang on, in the order in which they came.
func (s *steering) endings(c *course, aim []want) (all []*ending) {
	for _, e := range c.came {
		if slices.ContainsFunc(aim, func(w want) bool { return w.of.sources[e.path] }) {
			all = append(all, e)
		}
	}
	return all
}

// vary tries other values of one part of a result.
func (s *steering) vary(a *attempt, e *ending, steps []expression.Segment, aim []want, try func(any) float64) {
	now, _ := pathtree.Walk(a.results[e], steps)
	before := a.far(aim)
	nearer := func(v any) bool { return !reflect.DeepEqual(v, now) && try(v) < before }
	switch v := now.(type) {
	case bool:
		if nearer(!v) {
			return
		}
	case float64:
		if newton(v, before, try) == 0 {
			return
		}
	case string:
		for _, w := range aim {
			for _, h := range a.marks[w.of].hinted() {
				if slices.ContainsFunc(resolved(v, h), func(t string) bool { return nearer(t) }) {
					return
				}
			}
		}
	}
	for _, other := range s.candidates(e, steps, now) {
		if nearer(other) {
			return
		}
	}
}

func (m *mark) hinted() [][2]string {
	if m == nil {
		return nil
	}
	return m.hints
}

// newton follows how far off it is along a line, as it is of sums and products, and gives how
// far it came. A step that is too long leads past what lies between two bounds.
func newton(x, far float64, try func(any) float64) float64 {
	for range 8 {
		before := far
		for _, step := range []float64{1, -1, 0.25, beside} {
			now := try(x + step)
			if now == 0 {
				return 0
			}
			if math.IsInf(now, 1) || now == before {
				continue
			}
			to := x - before*step/(now-before)
			for _, at := range []float64{math.Ceil(to), math.Floor(to), to} {
				if far = min(far, try(at)); far < before {
					x = at
					break
				}
			}
			if far < before {
				break
			}
		}
		if far == 0 || far == before {
			return far
		}
	}
	return far
}

// candidates are other values of one part of a result: what its schema lists, what the plan
// compares with and what lies beside that, and lists of none, one and several items.
func (s *steering) candidates(e *ending, steps []expression.Segment, now any) (all []any) {
	marks := schema.Landmarks{}
	if e.schema != nil {
		if at := e.schema.At(compiler.SchemaPath(steps)); at.Schema != nil {
			marks = at.Schema.Landmarks()
		}
	}
	all = append(all, marks.Listed...)
	switch v := now.(type) {
	case float64:
		for _, c := range append(slices.Clone(s.pool), 0.0, 1e6, -1e6) {
			if n, ok := c.(float64); ok {
				all = append(all, n, n+1, n-1)
			}
		}
		for _, n := range marks.Numbers {
			all = append(all, n)
		}
	case string:
		for _, c := range s.pool {
			switch c := c.(type) {
			case string:
				all = append(all, c)
			case float64:
				for n := c - 1; n <= c+1; n++ {
					if n >= 0 && n <= 200 {
						all = append(all, fmt.Sprintf("%.*s", int(n), longText))
					}
				}
			}
		}
	case []any:
		all = append(all, any([]any{}))
		if len(v) == 0 {
			if item, ok := e.item(steps); ok {
				all = append(all, any([]any{item}), any([]any{item, item}))
			}
			break
		}
		grown := v[:1:1]
		for range 6 {
			all = append(all, any(grown))
			grown = append(slices.Clip(grown), v[len(v)-1])
		}
		for _, c := range s.pool {
			if n, ok := c.(float64); ok && n >= 6 && n < longestList {
				for len(grown) <= int(n) {
					grown = append(slices.Clip(grown), v[len(v)-1])
				}
				all = append(all, any(grown))
			}
		}
	case nil:
		all = append(all, s.pool...)
		left := schema.SampleSteps
		if at, part, ok, _ := (&ending{value: e.value, schema: e.schema, accepts: e.accepts}).with(steps, present, &left); ok && at == len(steps) {
			all = append(all, part)
		}
	}
	if now != nil {
		all = append(all, nil)
	}
	if len(steps) > 0 && !steps[len(steps)-1].IsIndex {
		all = append(all, missing)
	}
	return all
}
