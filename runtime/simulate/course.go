package simulate

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"

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

// A course is one way through a plan: which of its options was taken of every choice that
// it came by. What it isn't told it takes the first of.
type course struct {
	*explorer
	forced   map[int]int             // by choice
	prefer   func(choice, n int) int // of the others; nil is the first
	picks    []pick                  // in the order in which they were met
	taken    map[int]int             // the same by choice
	void     bool                    // no value has all that was chosen for its parts
	scenario *Scenario
}

type pick struct{ choice, option int }

// choose takes one of the options of a choice, the same for all tries, items and instances.
func (c *course) choose(key string, options []analyzer.BranchChoice) int {
	if len(options) < 2 {
		return 0
	}
	at, known := c.known[key]
	if !known {
		at = len(c.choices)
		c.known[key] = at
		c.choices = append(c.choices, options)
	}
	if option, ok := c.taken[at]; ok {
		return option
	}
	option, ok := c.forced[at]
	if !ok && c.prefer != nil {
		option = c.prefer(at, len(options))
	}
	c.picks, c.taken[at] = append(c.picks, pick{at, option}), option
	return option
}

type fork struct {
	endings []ending
	options []analyzer.BranchChoice
}

// An ending is one way in which the activity of a call ends.
type ending struct {
	fails    string // why; "" for one that ends well
	computed bool   // by an expression
	route    int    // -1 leaves it to LANGUAGE.md#output-paths-and-state
	value    any
	places   []part

	under   string         // the calls above the first call that ended so
	prefix  string         // of the keys of its parts
	schema  *schema.Schema // nil for anything
	accepts func(any) bool
	made    []string // of what a run is given: the keys that were made up
}

type part struct {
	key     string
	steps   []expression.Segment
	values  []any
	options []analyzer.BranchChoice
}

// holds reports whether some steps lead into a part.
func (p *part) holds(steps []expression.Segment) bool {
	return len(p.steps) < len(steps) && slices.Equal(p.steps, steps[:len(p.steps)])
}

var missing = new(any)

func (c *course) ends(w *world, command runtime.Command, chance *rand.Rand, e *runtime.Event) {
	call := compiler.RepeatedCall(command.Of)
	f := c.fork(w, command, call)
	path := runtime.Path(command.Under, call.Name)
	how := &f.endings[c.choose(path, named(f.options, command.Under))]
	c.void = c.void || how.fails == unmakeable && c.making <= 0
	switch {
	case how.fails != "":
		e.Failure = &runtime.Failure{Code: activity.CodeError, Message: how.fails}
	case how.computed:
		w.perform(command, chance, e)
	default:
		how.under = command.Under
		e.Value = c.comesTo(how)
		if e.Route = how.route; command.Of.ItemOf != nil {
			e.Route = -1
		}
		w.weigh(e.Value)
	}
}

// named tells options of a delegate's call, or of a value there, with the calls above it.
func named(options []analyzer.BranchChoice, under string) []analyzer.BranchChoice {
	if under == "" {
		return options
	}
	options = slices.Clone(options)
	for i := range options {
		options[i].Call = strings.TrimSuffix(runtime.Path(under, options[i].Call), "/")
	}
	return options
}

// comesTo is an ending's value with what was chosen for its parts; of what is in one that is
// another as a whole nothing is chosen. The course is void where nothing holds all of them.
func (c *course) comesTo(how *ending) any {
	value := how.value
	var changed []*part // that are others, the deepest last
	for i := range slices.Backward(how.places) {
		p := &how.places[i]
		if slices.ContainsFunc(changed, func(above *part) bool { return above.holds(p.steps) }) {
			continue
		}
		if option := c.choose(runtime.Path(how.under, p.key), named(p.options, how.under)); option > 0 {
			value = planted(value, p.steps, p.values[option])
			changed = append(changed, p)
		}
	}
	c.void = c.void || len(changed) > 1 && !how.accepts(value)
	return value
}

// planted is a value with another at a place in it, or without it.
func planted(value any, steps []expression.Segment, part any) any {
	if part != missing {
		return pathtree.With(value, steps, part)
	}
	if len(steps) == 0 {
		return nil
	}
	last := len(steps) - 1
	container, _ := pathtree.Walk(value, steps[:last])
	switch of := container.(type) {
	case map[string]any:
		of = maps.Clone(of)
		delete(of, steps[last].Key)
		container = of
	case []any:
		container = of[:min(len(of), steps[last].Index)]
	}
	return pathtree.With(value, steps[:last], container)
}

// fork works out how a call may end: an alternative each, with the values on which conditions hang, and failing.
func (x *explorer) fork(w *world, command runtime.Command, call *plan.Call) *fork {
	mustFail := w.options.mustFail(command.Of, command.Under)
	if mustFail && command.Of.ItemOf != nil {
		call = command.Of // not every item need be told to
	}
	key := runtime.Path(command.Under, call.Name)
	if f := x.forks[key]; f != nil {
		return f
	}
	p, f := command.Plan, &fork{}
	x.forks[key] = f
	add := func(e ending, as analyzer.BranchChoice) {
		as.Call = call.Name
		f.endings, f.options = append(f.endings, e), append(f.options, as)
	}
	tool := call.Single()
	expr := evaluated(p, call) != nil
	how := w.profile(tool)
	mayFail := mustFail || how.failure > 0 || !how.rated && (!expr || call.FailureRoute() >= 0)
	last := len(call.Output)
	if mayFail && call.FailureRoute() >= 0 &&
		(!rules.MayChoose(p, call) || rules.NamesFailures(p, call.Output[last-1]...)) {
		last-- // results don't go there
	}
	offered := compiler.Offered(p, call)
	unmade := "it fails in this simulation"
	if mustFail {
		unmade = asRequested
	}
	switch {
	case mustFail:
	case expr:
		add(ending{computed: true, route: -1}, analyzer.BranchChoice{})
	case len(call.Output) < 2:
		if e, ok := x.made(w, p, call, len(call.Output)-1); ok {
			add(e, analyzer.BranchChoice{})
		} else {
			unmade = unmakeable
		}
	default:
		for i := range last {
			if e, ok := x.made(w, p, call, i); ok {
				add(e, analyzer.BranchChoice{Takes: offered[i]})
			}
		}
	}
	if mayFail || len(f.endings) == 0 {
		add(ending{fails: unmade}, analyzer.BranchChoice{Fails: true})
	}
	return f
}

// made makes up a result of a call that takes an alternative, by the tool's own examples if one fits.
func (x *explorer) made(w *world, plan *plan.Plan, call *plan.Call, route int) (e ending, ok bool) {
	if x.making -= stepsOfCall; x.making <= 0 {
		x.out.Cut = true // it isn't known how the call may end
		return e, false
	}
	e.route = route
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
	chance := w.chance(runtime.Command{Of: call, Attempt: 1, Site: &runtime.Site{}}, -1)
	if !ok && e.schema != nil {
		left := min(schema.SampleSteps, x.making)
		before := left
		e.value, ok = e.schema.FullWithin(chance, &left)
		x.making -= before - left
	} else if !ok {
		e.value, ok = w.unsaid(plan, call, chance), true
	}
	e.prefix = call.Name + "\x00" + strconv.Itoa(route)
	if ok && route >= 0 {
		e.places = x.places(w, plan, call, route, &e)
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
		if s, below := p.SchemaOver(path.ID); s != nil {
			if at := s.At(compiler.SchemaPath(below)); at.Schema != nil {
				known = append(known, at.Schema)
			}
		}
	}
	return known
}

// mostValues bounds how many values are tried of one part of a result.
const mostValues = 6

// places are the parts of a call's result on which conditions hang and lists that calls run
// for, and those that are read and may be there or not, the deepest first.
func (x *explorer) places(w *world, compiled *plan.Plan, call *plan.Call, route int, e *ending) []part {
	if compiled = w.planOf(compiled, call); compiled == nil {
		return nil
	}
	g := &gathering{explorer: x, of: e, plan: compiled}
	paths := compiled.Paths
	for _, target := range call.Output[route] {
		g.name = paths.String(target.ID)
		sees := func(read *plan.Read) bool {
			_, sees := slices.BinarySearch(read.Writers, int32(call.Index))
			return sees && !compiler.ReadsItem(compiled, read) && paths.IsAbove(target.ID, read.Path)
		}
		below := func(read *plan.Read) []expression.Segment {
			return paths.Segments(read.Path)[paths.Depth(target.ID):]
		}
		entire := call.Each == nil && call.Method != plan.Push // else it gives items
		if entire {
			x.try(g, func(read *plan.Read) *part {
				if !sees(read) {
					return nil
				}
				return g.part(paths.String(read.Path), below(read), read.Ref.String())
			})
		}
		for _, list := range x.turns(compiled).lists {
			if entire || !sees(list.read) || list.read.Path != target.ID {
				continue
			}
			item := &gathering{explorer: x, of: e, plan: compiled, name: list.call.Name + "†item"}
			of := func(read *plan.Read) *part {
				return item.part(list.call.Name+paths.String(read.Path), paths.Segments(read.Path)[1:],
					read.Ref.String())
			}
			for _, t := range list.turns {
				if t.Read.Ref.Kind == "item" {
					item.turn(of(t.Read), t)
				}
			}
			for _, read := range list.reads {
				item.presence(of(read), read)
			}
			for _, p := range item.all {
				for i := range p.options {
					p.options[i].Call = list.call.Name // another's items have the same name
					p.options[i].Reference = strings.TrimPrefix(p.options[i].Reference, list.call.Name)
				}
			}
			g.all = append(g.all, item.all...)
		}
		if e.schema == nil {
			continue // nothing says what may be missing or null
		}
		for _, read := range w.readers(compiled, call) {
			if !sees(read) {
				continue
			}
			switch steps := below(read); {
			case entire:
				g.presence(g.part(paths.String(read.Path), steps, read.Ref.String()), read)
			case len(steps) > 0 && steps[0].IsIndex: // all items go alike
				g.presence(g.part(pathtree.Below(g.name+"[]", steps[1:]), steps[1:], read.Ref.String()), read)
			}
		}
	}
	return g.parts()
}

// add takes up a value of a part that goes by a name, once.
func (p *part) add(name string, v any) {
	if slices.ContainsFunc(p.values, func(known any) bool { return reflect.DeepEqual(known, v) }) {
		return
	}
	as := analyzer.BranchChoice{Reference: name, Value: &v}
	if v == missing {
		as.Value, as.Absent = nil, true
	}
	text := analyzer.InWords(as)
	if slices.ContainsFunc(p.options,
		func(known analyzer.BranchChoice) bool { return analyzer.InWords(known) == text }) {
		as.Apart = fmt.Sprintf(" (value %d)", len(p.values)+1) // long values may begin alike
	}
	p.values, p.options = append(p.values, v), append(p.options, as)
}

// turns are the values on which conditions of a plan turn, and the lists that its calls run for.
func (x *explorer) turns(plan *plan.Plan) *turned {
	if x.turned[plan] == nil {
		turns := analyzer.Turns(plan)
		x.turned[plan] = &turned{turns, listsOf(plan, turns)}
	}
	return x.turned[plan]
}

// try takes up what is tried of the parts that reads of a plan see.
func (x *explorer) try(g *gathering, of func(*plan.Read) *part) {
	known := x.turns(g.plan)
	for i := range known.turns {
		if p := of(known.turns[i].Read); p != nil {
			g.turn(p, &known.turns[i])
		}
	}
	for _, list := range known.lists {
		if p := of(list.read); p != nil {
			g.lists(p, list)
		}
	}
}

// begins is the input or the state of a run, with the keys that were generated.
func (x *explorer) begins(kind string, given map[string]any, made []string) *ending {
	e := &ending{value: any(given), prefix: "\x00", made: made}
	own, against := x.plan.Input, x.plan.InputSchema
	if kind == "state" {
		e.prefix, own, against = "†state\x00", x.plan.State, x.plan.StateSchema
	}
	e.schema = against
	e.accepts = func(v any) bool {
		switch {
		case against == nil:
			return true
		case kind == "input":
			return against.Accepts(bind.Overlay(own, v))
		}
		object, ok := v.(map[string]any)
		return ok && runtime.UnfitKeys(against, object) == nil &&
			!slices.ContainsFunc(made, func(key string) bool { _, there := object[key]; return !there })
	}
	if len(made) == 0 {
		return e
	}
	g := &gathering{explorer: x, of: e, plan: x.plan}
	g.name = "†" + kind
	at := func(read *plan.Read) *part {
		steps := x.plan.Paths.Segments(read.Path)
		if len(steps) < 2 || steps[0].Key != kind || !slices.Contains(made, steps[1].Key) {
			return nil
		}
		return g.part(x.plan.Paths.String(read.Path), steps[1:], read.Ref.String())
	}
	x.try(g, at)
	for i := range x.plan.Reads {
		if read := &x.plan.Reads[i]; !compiler.ReadsItem(x.plan, read) {
			if p := at(read); p != nil {
				g.presence(p, read)
			}
		}
	}
	e.places = g.parts()
	return e
}

func (c *course) approves(command runtime.Command) bool {
	path := runtime.Path(command.Under, compiler.RepeatedCall(command.Of).Name)
	yes, no := true, false
	return c.choose("?"+path, []analyzer.BranchChoice{{Call: path, Approved: &yes}, {Call: path, Approved: &no}}) == 0
}
