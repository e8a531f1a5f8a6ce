package simulate

import (
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/analyzer/rules"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/bind"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/reference"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/activity"
	"github.com/obelus-dev/obelus/runtime/state"
)

// A choice is something that may come otherwise: how a call ends, what a part of its result is, or how a person
// answers. It is the same for all attempts, items and instances.
type choice struct {
	number  int                     // among those that were met, from 1; 0 for one that wasn't
	options []analyzer.BranchChoice // the first is the usual one
}

// A pick is a choice that was met, and the option that was taken.
type pick = [2]int

// A course is one way through a plan: which of its options was taken of every choice that
// it came by. Where none is prescribed it takes the first.
type course struct {
	*Explorer
	forced   map[int]int // that it takes, by choice
	picks    []pick      // in the order in which they were met
	taken    map[int]int // the same by choice
	void     bool        // no value has all that was chosen for its parts
	scenario *Scenario
}

func (c *course) choose(of *choice) int {
	if len(of.options) < 2 {
		return 0
	}
	if of.number == 0 {
		c.Choices = append(c.Choices, of.options)
		of.number = len(c.Choices)
	}
	at := of.number - 1
	option, isTaken := c.taken[at]
	if !isTaken {
		option = c.forced[at]
		c.picks, c.taken[at] = append(c.picks, pick{at, option}), option
	}
	return option
}

// A fork is how a call may end.
type fork struct {
	choice
	endings []ending
}

// An ending is one way in which the activity of a call ends, or what a run is given.
type ending struct {
	fails    string // why; "" for one that ends well
	computed bool   // by an expression
	route    int    // -1 leaves it to LANGUAGE.md#output-paths-and-state
	value    any
	base     any            // what lies under the value: of what a run is given, that of the plan
	schema   *schema.Schema // nil for anything
	parts    []*part        // of it that vary, the outermost first
	under    string         // the calls above
}

// A part of a value may be another than it usually is.
type part struct {
	choice
	place
	values []any // by option
}

// A place is where a part of a value is.
type place struct {
	call  string // that runs for the items whose part it is; "" for a part of the value itself
	root  string // the name of what it is a part of
	steps []expression.Segment
}

func (p place) name() string { return p.call + " " + reference.Below(p.root, p.steps) }

func (c *course) ends(w *world, command runtime.Command, chance *rand.Rand, e *runtime.Event) {
	f := c.fork(w, command)
	how := &f.endings[c.choose(&f.choice)]
	c.void = c.void || how.fails == unmakeable && c.steps <= 0
	switch {
	case how.fails != "":
		e.Failure = &runtime.Failure{Code: activity.CodeError, Message: how.fails}
	case how.computed:
		w.perform(command, chance, e)
	default:
		e.Value = c.comesTo(how)
		if e.Route = how.route; command.Of.ItemOf != nil {
			e.Route = -1
		}
		w.weigh(e.Value)
	}
}

// approves reports whether a person lets a call run.
func (c *course) approves(command runtime.Command) bool {
	path := runtime.Path(command.Under, compiler.RepeatedCall(command.Of).Name)
	f := c.forks["?"+path]
	if f == nil {
		yes, no := true, false
		f = &fork{choice: choice{options: []analyzer.BranchChoice{{Call: path, Approved: &yes},
			{Call: path, Approved: &no}}}}
		c.forks["?"+path] = f
	}
	return c.choose(&f.choice) == 0
}

// comesTo is an ending's value with what was chosen for its parts; of what is in one that is
// another as a whole nothing is chosen. The course is void where nothing has all of them.
func (c *course) comesTo(how *ending) any {
	var changed []change
	for _, p := range how.parts {
		if slices.ContainsFunc(changed, func(above change) bool {
			return len(above.steps) < len(p.steps) && slices.Equal(above.steps, p.steps[:len(above.steps)])
		}) {
			continue
		}
		if option := c.choose(&p.choice); option > 0 {
			changed = append(changed, change{p.steps, p.values[option]})
		}
	}
	value, ok := c.with(how, changed...)
	c.void = c.void || !ok
	return value
}

// fork works out how a call may end: an alternative each, with the values on which conditions depend, and failing.
func (x *Explorer) fork(w *world, command runtime.Command) *fork {
	call, mustFail := compiler.RepeatedCall(command.Of), w.options.mustFail(command.Of, command.Under)
	if mustFail {
		call = command.Of // not every item has to
	}
	key := runtime.Path(command.Under, call.Name)
	if f := x.forks[key]; f != nil {
		return f
	}
	p, f := w.planOf(command), &fork{}
	x.forks[key] = f
	add := func(e ending, as analyzer.BranchChoice) {
		as.Call, as.Fails = key, e.fails != ""
		f.endings, f.options = append(f.endings, e), append(f.options, as)
	}
	if mustFail {
		add(ending{fails: asRequested}, analyzer.BranchChoice{})
		return f
	}
	how, failing := profile(call.Single())
	expr, last := evaluated(p, call) != nil, len(call.Output)
	mayFail := failing > 0 || how.Failure == nil && (!expr || call.FailureRoute() >= 0)
	if mayFail && call.FailureRoute() >= 0 &&
		(!rules.MayChoose(p, call) || rules.NamesFailures(p, call.Output[last-1]...)) {
		last-- // results don't go there
	}
	if expr {
		add(ending{computed: true, route: -1}, analyzer.BranchChoice{})
	}
	for route := min(0, last-1); route < last && !expr; route++ {
		if e, ok := x.made(w, p, call, route, command.Under); ok {
			as := analyzer.BranchChoice{}
			if len(call.Output) > 1 {
				as.Takes = compiler.Offered(p, call)[route]
			}
			add(e, as)
		}
	}
	switch {
	case len(f.endings) == 0:
		add(ending{fails: unmakeable}, analyzer.BranchChoice{})
	case mayFail:
		add(ending{fails: "it fails in this simulation"}, analyzer.BranchChoice{})
	}
	return f
}

// made makes up a result of a call that takes an alternative, by the tool's own examples if one fits.
func (x *Explorer) made(w *world, p *plan.Plan, call *plan.Call, route int, under string) (e ending, ok bool) {
	if x.steps -= stepsOfCall; x.steps <= 0 {
		x.Cut = true // it isn't known how the call may end
		return e, false
	}
	e.route, e.under = route, under
	if len(call.Output) < 2 || call.Each != nil {
		e.route = -1
	}
	if known := schemas(p, call, e.route); len(known) > 0 {
		e.schema = schema.AllOf(known...)
	}
	if tool := call.Single(); tool != nil {
		for _, mock := range tool.Mocks {
			result, err := activity.Take(mock, activity.Request{Paths: compiler.Offered(p, call)}, "")
			if ok = err == nil && (result.Route < 0 || result.Route == route) && e.accepts(result.Value); ok {
				e.value = result.Value
				break
			}
		}
	}
	chance := w.chance(runtime.Command{Of: call, Try: runtime.Try{Attempt: 1}, Site: &runtime.Site{}}, -1)
	switch {
	case ok:
	case e.schema != nil:
		e.value, ok = x.sample(e.schema, chance)
	default:
		e.value, ok = unsaid(p, call, chance), true
	}
	if ok && route >= 0 {
		x.vary(p, &e, func(read, from *plan.Read, below []expression.Segment) (place, bool) {
			return placeIn(p, call, route, read, from, below)
		})
	}
	return e, ok
}

func (x *Explorer) sample(s *schema.Schema, chance *rand.Rand) (value any, ok bool) {
	before := min(schema.SampleSteps, x.steps)
	left := before
	value, ok = s.FullWithin(chance, &left)
	x.steps -= before - left
	return value, ok
}

// placeIn is the place of what a read sees in a result of a call. Of a call that gives items all are alike.
func placeIn(p *plan.Plan, call *plan.Call, route int, read, from *plan.Read,
	below []expression.Segment) (_ place, sees bool) {
	_, sees = slices.BinarySearch(from.Writers, int32(call.Index))
	at := slices.IndexFunc(call.Output[route], func(to plan.Path) bool { return p.Paths.IsAbove(to.ID, from.Path) })
	if !sees || at < 0 {
		return place{}, false
	}
	to := call.Output[route][at].ID
	steps := slices.Concat(p.Paths.Segments(from.Path)[p.Paths.Depth(to):], below)
	switch {
	case call.Each == nil && call.Method != plan.Push:
		return place{root: p.Paths.String(to), steps: steps}, true
	case len(steps) == 0 || !steps[0].IsIndex: // it gives items
		return place{}, false
	case from.Path == to && below != nil:
		return place{p.Calls[read.Call].Name, "†item", steps[1:]}, true
	}
	return place{root: p.Paths.String(to) + "[0]", steps: steps[1:]}, true
}

// given is the input of a run, whose generated keys vary.
func (x *Explorer) given() *ending {
	e := &ending{value: any(x.o.Input), schema: x.plan.InputSchema, base: state.Over(x.plan.Input)}
	if len(x.o.Generated) > 0 {
		x.vary(x.plan, e, func(_, from *plan.Read, below []expression.Segment) (place, bool) {
			steps := slices.Concat(x.plan.Paths.Segments(from.Path), below)
			sees := len(steps) > 1 && steps[0].Key == "input" && slices.Contains(x.o.Generated, steps[1].Key)
			return place{root: "†input", steps: steps[min(1, len(steps)):]}, sees
		})
	}
	return e
}

// missing is the usual value of what is usually missing.
var missing = new(any)

// mostValues bounds how many values are tried of one part of a result.
const mostValues = 6

// vary finds the parts of an ending's value with more than one value: those for which conditions of a plan evaluate
// differently than usual. at is the place of what a read sees, if it sees any: of it or, of an item, of the list and
// the steps into its first item.
func (x *Explorer) vary(p *plan.Plan, e *ending,
	at func(read, from *plan.Read, below []expression.Segment) (place, bool)) {
	if x.turned[p] == nil {
		x.turned[p] = analyzer.Turns(p)
	}
	for i := range x.turned[p] {
		t := &x.turned[p][i]
		from, below := firstOf(p, t.Read)
		if from == nil {
			continue
		}
		where, sees := at(t.Read, from, below)
		if !sees {
			continue
		}
		of := e.part(where)
		for _, v := range append(slices.Clip(t.Values), nil) { // which are none of null
			if t.Alike(v, of.values[0]) || len(of.values) >= mostValues {
				continue
			} else if x.steps -= stepsOfCall; x.steps <= 0 {
				x.Cut = true
			} else if _, ok := x.with(e, change{of.steps, v}); ok {
				of.add(e.under, v)
			}
		}
	}
	e.parts = slices.DeleteFunc(e.parts, func(p *part) bool { return len(p.values) < 2 })
	slices.SortStableFunc(e.parts, func(a, b *part) int { return len(a.steps) - len(b.steps) })
}

// firstOf is what a read sees: it or, of an item, the list and the steps into its first item; or nil.
func firstOf(p *plan.Plan, read *plan.Read) (from *plan.Read, below []expression.Segment) {
	if !compiler.ReadsItem(p, read) {
		return read, nil
	}
	list := p.Calls[read.Call].Each.List
	if read.Ref.Kind != "item" || list.Expr == nil || !list.Expr.Plain() {
		return nil, nil
	}
	below = append([]expression.Segment{schema.Index(0)}, p.Paths.Segments(read.Path)[1:]...)
	return &p.Reads[list.Reads[0]], below
}

// part is the part of an ending's value at a place, with its usual value.
func (e *ending) part(at place) *part {
	for _, known := range e.parts {
		if known.name() == at.name() {
			return known
		}
	}
	now, ok := pathtree.Walk(e.value, at.steps)
	if !ok {
		now = missing
	}
	one := &part{place: at}
	one.add(e.under, now)
	e.parts = append(e.parts, one)
	return one
}

// add adds a value unless it reads like another.
func (p *part) add(under string, v any) {
	as := analyzer.BranchChoice{Call: p.call, Reference: reference.Below(p.root, p.steps), Value: &v}
	if under != "" {
		as.Call = strings.TrimSuffix(runtime.Path(under, p.call), "/")
	}
	if v == missing {
		as.Value, as.Absent = nil, true
	}
	text := analyzer.InWords(as)
	if !slices.ContainsFunc(p.options, func(o analyzer.BranchChoice) bool { return analyzer.InWords(o) == text }) {
		p.values, p.options = append(p.values, v), append(p.options, as)
	}
}

// A change is another value at some place of a value.
type change struct {
	steps []expression.Segment
	value any
}

func (e *ending) accepts(v any) bool {
	return e.schema == nil || e.schema.Accepts(bind.Overlay(e.base, v))
}

// with is an ending's value with changes. Where that doesn't fit, as the name of a variant doesn't fit another, it is
// another result that has them.
func (x *Explorer) with(e *ending, changes ...change) (value any, ok bool) {
	value = e.value
	all := []*schema.Schema{e.schema}
	for _, c := range changes {
		value, all = pathtree.With(value, c.steps, c.value), append(all, having(c.steps, c.value))
	}
	if len(changes) == 0 || e.accepts(value) {
		return value, true
	}
	if at := e.schema.At(changes[0].steps); e.base != nil ||
		!at.Possible || at.Schema != nil && !at.Schema.Accepts(changes[0].value) {
		return nil, false
	}
	return x.sample(schema.AllOf(all...), rand.New(rand.NewPCG(1, 1)))
}

// having is the schema of what has some value at some steps.
func having(steps []expression.Segment, v any) *schema.Schema {
	raw := map[string]any{"const": v}
	for _, s := range slices.Backward(steps) {
		if s.IsIndex {
			before := slices.Repeat([]any{true}, s.Index)
			raw = map[string]any{"type": "array", "minItems": float64(s.Index + 1),
				"prefixItems": append(before, any(raw))}
		} else {
			raw = map[string]any{"type": "object", "required": []any{s.Key}, "properties": map[string]any{s.Key: raw}}
		}
	}
	return schema.New(raw, schema.Options{})
}
