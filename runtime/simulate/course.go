package simulate

import (
	"math/rand/v2"
	"slices"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/analyzer/rules"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/bind"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/activity"
)

// A choice is something that may come otherwise: how a call ends, what a part of its result is, or how a person
// answers. It is the same for all tries, items and instances.
type choice struct {
	number  int                     // among those that were met, from 1; 0 for one that wasn't
	options []analyzer.BranchChoice // the first is the usual one
}

// A pick is a choice that was met, and the option that was taken.
type pick = [2]int

// A course is one way through a plan: which of its options was taken of every choice that
// it came by. What it isn't told it takes the first of.
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

// An ending is one way in which the activity of a call ends.
type ending struct {
	fails    string // why; "" for one that ends well
	computed bool   // by an expression
	route    int    // -1 leaves it to LANGUAGE.md#output-paths-and-state
	value    any
	parts    []*part // of it that vary, the deepest first

	under   string         // the calls above
	schema  *schema.Schema // nil for anything
	accepts func(any) bool
	made    []string // of what a run is given: the keys that were made up
}

func (c *course) ends(w *world, command runtime.Command, chance *rand.Rand, e *runtime.Event) {
	f := c.fork(w, command)
	how := &f.endings[c.choose(&f.choice)]
	c.void = c.void || how.fails == unmakeable && c.making <= 0
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
// another as a whole nothing is chosen. The course is void where nothing holds all of them.
func (c *course) comesTo(how *ending) any {
	value := how.value
	var changed []*part // that are others, the deepest last
	for _, p := range slices.Backward(how.parts) {
		if slices.ContainsFunc(changed, func(above *part) bool {
			return len(above.steps) < len(p.steps) && slices.Equal(above.steps, p.steps[:len(above.steps)])
		}) {
			continue
		}
		if option := c.choose(&p.choice); option > 0 {
			value = pathtree.With(value, p.steps, p.values[option])
			changed = append(changed, p)
		}
	}
	c.void = c.void || len(changed) > 1 && !how.accepts(value)
	return value
}

// fork works out how a call may end: an alternative each, with the values on which conditions hang, and failing.
func (x *Explorer) fork(w *world, command runtime.Command) *fork {
	call, mustFail := compiler.RepeatedCall(command.Of), w.options.mustFail(command.Of, command.Under)
	if mustFail {
		call = command.Of // not every item need be told to
	}
	key := runtime.Path(command.Under, call.Name)
	if f := x.forks[key]; f != nil {
		return f
	}
	p, f := w.planOf(command), &fork{}
	x.forks[key] = f
	add := func(e ending, as analyzer.BranchChoice) {
		as.Call = key
		f.endings, f.options = append(f.endings, e), append(f.options, as)
	}
	if mustFail {
		add(ending{fails: asRequested}, analyzer.BranchChoice{Fails: true})
		return f
	}
	expr, how, last := evaluated(p, call) != nil, w.profile(call.Single()), len(call.Output)
	mayFail := how.failure > 0 || !how.rated && (!expr || call.FailureRoute() >= 0)
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
		add(ending{fails: unmakeable}, analyzer.BranchChoice{Fails: true})
	case mayFail:
		add(ending{fails: "it fails in this simulation"}, analyzer.BranchChoice{Fails: true})
	}
	return f
}

// made makes up a result of a call that takes an alternative, by the tool's own examples if one fits.
func (x *Explorer) made(w *world, plan *plan.Plan, call *plan.Call, route int,
	under string) (e ending, ok bool) {
	if x.making -= stepsOfCall; x.making <= 0 {
		x.Cut = true // it isn't known how the call may end
		return e, false
	}
	e.route, e.under = route, under
	if len(call.Output) < 2 || call.Each != nil {
		e.route = -1
	}
	if known := schemas(plan, call, e.route); len(known) > 0 {
		e.schema = schema.AllOf(known...)
	}
	e.accepts = func(v any) bool { return e.schema == nil || e.schema.Accepts(v) }
	if tool := call.Single(); tool != nil {
		for _, mock := range tool.Mocks {
			result, err := activity.Take(mock, activity.Request{Paths: compiler.Offered(plan, call)}, "")
			if err == nil && (result.Route < 0 || result.Route == route) && e.accepts(result.Value) {
				e.value, ok = result.Value, true
				break
			}
		}
	}
	chance := w.chance(runtime.Command{Of: call, Try: runtime.Try{Attempt: 1}, Site: &runtime.Site{}}, -1)
	if !ok && e.schema != nil {
		left := min(schema.SampleSteps, x.making)
		before := left
		e.value, ok = e.schema.FullWithin(chance, &left)
		x.making -= before - left
	} else if !ok {
		e.value, ok = w.unsaid(plan, call, chance), true
	}
	if ok && route >= 0 {
		x.places(plan, call, route, &e)
	}
	return e, ok
}

// schemas are what a result of a call has to fit on an alternative.
func schemas(p *plan.Plan, call *plan.Call, route int) (known []*schema.Schema) {
	if tool := call.Single(); tool != nil && tool.Output != nil {
		known = append(known, tool.Output)
	}
	if route < 0 && len(call.Output) == 1 {
		route = 0
	}
	if route < 0 || call.Method != plan.Set || call.Each != nil {
		return known
	}
	for _, path := range call.Output[route] {
		if s, below := p.SchemaOf(p.Paths.Segments(path.ID)); s != nil {
			if at := s.At(below); at.Schema != nil {
				known = append(known, at.Schema)
			}
		}
	}
	return known
}

// places finds the parts of a call's result that conditions are about. Of a call that gives items all go alike.
func (x *Explorer) places(compiled *plan.Plan, call *plan.Call, route int, e *ending) {
	paths := compiled.Paths
	x.vary(compiled, e, func(read, from *plan.Read, below []expression.Segment) (part, bool) {
		_, sees := slices.BinarySearch(from.Writers, int32(call.Index))
		at := slices.IndexFunc(call.Output[route], func(p plan.Path) bool { return paths.IsAbove(p.ID, from.Path) })
		if !sees || at < 0 {
			return part{}, false
		}
		to := call.Output[route][at].ID
		steps := slices.Concat(paths.Segments(from.Path)[paths.Depth(to):], below)
		switch {
		case call.Each == nil && call.Method != plan.Push:
			return part{root: paths.String(to), steps: steps}, true
		case len(steps) == 0 || !steps[0].IsIndex: // it gives items
			return part{}, false
		case from.Path == to && below != nil:
			return part{call: compiled.Calls[read.Call].Name, root: "†item", steps: steps[1:]}, true
		}
		return part{root: paths.String(to) + "[0]", steps: steps[1:]}, true
	})
}

// given is the input of a run, whose generated keys vary.
func (x *Explorer) given() *ending {
	against, made := x.plan.InputSchema, x.o.Generated
	e := &ending{value: any(x.o.Input), schema: against, made: made}
	if len(made) == 0 {
		return e
	}
	e.accepts = func(v any) bool { return against == nil || against.Accepts(bind.Overlay(x.plan.Input, v)) }
	x.vary(x.plan, e, func(_, from *plan.Read, below []expression.Segment) (part, bool) {
		steps := slices.Concat(x.plan.Paths.Segments(from.Path), below)
		sees := len(steps) > 1 && steps[0].Key == "input" && slices.Contains(made, steps[1].Key)
		return part{root: "†input", steps: steps[min(1, len(steps)):]}, sees
	})
	return e
}
