package analyzer

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/obelus-dev/obelus/analyzer/flow"
	"github.com/obelus-dev/obelus/analyzer/internal/analysis"
	"github.com/obelus-dev/obelus/analyzer/internal/samples"
	"github.com/obelus-dev/obelus/analyzer/rules"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/bind"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/runtime/state"
)

// Sample runs check what types, schemas and branches leave open. Calls run in the order of the graph with generated
// results and with routed failures. Each step checks what a run checks: the values of expressions, the parameters, the
// room for results. A fault that is found can happen in a run, and the values show it.
//
// Nothing is concluded from values that the plan doesn't describe: they are holes, see package samples.

// Bounds on sample runs.
const (
	maxTrials  = 200 // of a plan
	minTrials  = 2   // where the plan is large
	callWork   = 60  // steps of each call
	triedItems = 5   // of a list
)

// A sampler runs a part of a plan with generated values.
type sampler struct {
	pass   *Pass
	budget *samples.Budget
	layout state.Layout
	calls  []int32        // that matter, in the order of the graph
	asked  map[int32]bool // calls to check
	// failures of the calls of these names go to where results are looked for, which is a finding of its own
	joined   map[string]bool
	initial  map[string]bool         // keys of the state that are read and never written
	targets  samples.Targets         // at which something may change
	blind    map[*plan.Template]bool // see [expression.Expr.MayFail]
	reported map[undecidedPlace]bool
	within   map[*plan.Call]*sampler // of delegates, see inside
	depth    int                     // of delegates in delegates
}

func newSampler(p *Pass, budget *samples.Budget) *sampler {
	return &sampler{
		pass: p, budget: budget, asked: map[int32]bool{}, joined: map[string]bool{}, initial: map[string]bool{},
		blind: map[*plan.Template]bool{}, reported: map[undecidedPlace]bool{}, within: map[*plan.Call]*sampler{}}
}

// A trial is one sample run.
type trial struct {
	*sampler
	n         int // counts them
	generator samples.Generator
	random    *rand.Rand
	log       *state.Log
	ended     []ending       // by call
	failed    bool           // a call has
	item      map[string]any // that is at hand, of a call that runs for several, and its place
	counts    map[string]int // of the items of unknown lists, by their expression
	fromCall  bool           // the input is what a call hands over
}

// An ending is the outcome of a call in a sample run.
type ending struct {
	done        bool
	taken       bool           // it was skipped, as its path is written once and has a value
	takes       int            // the alternative of its output that it took then, or in failing
	fails       bool           // it failed, which its failure route takes up
	unspecified bool           // it was skipped by an unknown condition
	lacks       *plan.Template // why it was skipped, if that is sure: what has no value, or its condition
}

// runSamples runs the calls that aren't known to succeed.
func runSamples(p *Pass) {
	if p.Screens || p.Plan.Form == plan.Replan || p.Plan.AwaitsInstances ||
		p.Unknown(diag.State|diag.Writes|diag.Order|diag.Input|diag.Reads|diag.Tools) || !p.Plan.Graph.Acyclic() {
		return
	}
	p.Rule = rules.OutputMismatch.Rule
	t := newSampler(p, samples.BudgetOf(p))
	output := isOutputUndecided(p)
	for _, call := range p.Plan.Calls {
		if isUndecided(p, call) {
			t.asked[int32(call.Index)] = true
		}
	}
	if !output && len(t.asked) == 0 {
		return
	}
	t.gather(output)
	for n := range maxTrials {
		if t.budget.Runs < 0 && n >= minTrials || t.budget.Worked.Passed() {
			break
		}
		t.try(n, output)
	}
}

// gather lists what has to be gone through to try what is asked: all that it depends on,
// and all that writes where it does.
func (t *sampler) gather(output bool) {
	p := t.pass
	within := make([]bool, len(p.Plan.Calls))
	around := map[pathtree.ID]bool{}
	var todo []int32
	take := func(i int32) {
		if !within[i] {
			within[i] = true
			todo = append(todo, i)
		}
	}
	for i := range t.asked {
		take(i)
	}
	for i := range p.Plan.Reads {
		if r := &p.Plan.Reads[i]; output && r.Call < 0 {
			for _, w := range r.Writers {
				take(w)
			}
		}
	}
	for len(todo) > 0 {
		call := p.Plan.Calls[todo[len(todo)-1]]
		todo = todo[:len(todo)-1]
		for _, dep := range p.Plan.Graph.Deps(call.Index) {
			take(dep)
		}
		for _, path := range call.Paths() {
			if list := p.Plan.Paths.List(path.ID); !around[list] {
				around[list] = true
				for _, w := range p.Plan.Around(path.ID) {
					take(w.Call)
				}
			}
		}
	}
	for _, i := range p.Plan.Graph.Order() {
		if within[i] {
			t.calls = append(t.calls, i)
		}
	}
	for _, f := range p.Found {
		t.joined[f.Call] = t.joined[f.Call] || f.Rule == rules.FailureJoinsRule
	}
	t.layout = state.Layout{Plan: p.Plan, Paths: p.Plan.Paths, Settled: true, Inconsistency: new(string)}
	t.prepare(output, within)
}

// prepare finds the keys of the state that a run may bring, and the bounds of what receives values.
func (t *sampler) prepare(output bool, within []bool) {
	p := t.pass
	for i := range p.Plan.Reads {
		path := p.Plan.Paths.Segments(p.Plan.Reads[i].Path)
		if len(path) < 2 || path[0].Key != "state" || p.Plan.StateSchema == nil || t.depth > 0 {
			continue
		}
		if id, ok := analysis.Lookup(p, path[:2]); ok && len(p.Plan.Writers(id)) == 0 {
			t.initial[path[1].Key] = true
		}
	}
	if output && p.Plan.OutputSchema != nil {
		t.targets.AtBounds(p.Plan.OutputSchema)
	}
	for _, i := range t.calls {
		call := p.Plan.Calls[i]
		if a := p.Plan.Activities[call.Activity]; a != nil && a.Expression != nil {
			t.targets.AtConstants(a.Expression)
		}
		if !t.asked[i] {
			continue
		}
		if tool := call.Single(); t.budget.OpenCode[tool] {
			t.targets.AtBounds(tool.Output)
		}
		for _, taker := range analysis.Takers(p, call) {
			for _, f := range call.Params.Fields {
				if s := taker.Place(f.Key).Schema; s != nil && f.Value.Live {
					t.targets.AtBounds(s)
				}
			}
		}
		for _, path := range call.Paths() {
			if s := p.Flow.StateAt(path.ID).Schema; s != nil {
				t.targets.AtBounds(s)
			}
		}
	}
	analysis.Calculations(p, func(call *plan.Call, x *plan.Template) {
		if call == nil || within[call.Index] {
			t.targets.AtConstants(x.Expr)
		}
	})
}

// try goes through the calls once.
func (t *sampler) try(n int, output bool) {
	p := t.pass
	w := t.newTrial(n, rand.New(rand.NewPCG(uint64(n), 71)))
	input, initial := p.Plan.Input, p.Plan.State
	if all := p.Plan.Instances; len(all) > 0 {
		own := &all[n%len(all)]
		input, initial = bind.Overlay(input, own.Input), bind.Overlay(initial, own.State)
	}
	input, ok := w.begin(input, p.Plan.InputSchema, nil)
	if !ok {
		return
	}
	if len(w.initial) > 0 {
		initial, _ = w.begin(initial, p.Plan.StateSchema, w.initial)
	}
	data, _ := p.Plan.Of("data")
	w.goThrough(map[string]any{"input": input, "state": orEmpty(initial), "data": orEmpty(data)})
	if output && p.Plan.Output != nil {
		w.giveOutput()
	}
}

func (t *sampler) newTrial(n int, random *rand.Rand) *trial {
	generator := samples.NewGenerator(t.pass, t.targets, n, random, &t.budget.Runs)
	return &trial{sampler: t, n: n, random: random, generator: generator, counts: map[string]int{},
		ended: make([]ending, len(t.pass.Plan.Calls))}
}

// begin lays values that a schema accepts, of some keys or of all, over what the document
// gives, as a run does: at times, and always where it doesn't begin with the latter alone. It
// reports whether there was room to make them; otherwise the schema may refuse what is there.
func (w *trial) begin(own any, s *schema.Schema, keys map[string]bool) (value any, ok bool) {
	if s == nil || own != nil && w.random.IntN(2) != 0 && s.Accepts(own) {
		return orEmpty(own), true
	}
	v, ok := w.generator.Value(s, true)
	over, isObject := v.(map[string]any)
	if !ok || !isObject {
		return orEmpty(own), false
	}
	over = maps.Clone(over)
	maps.DeleteFunc(over, func(key string, _ any) bool { return keys != nil && !keys[key] })
	return state.Over(own, over), true
}

// goThrough performs the calls, with what there is before.
func (w *trial) goThrough(initial map[string]any) {
	w.log = state.New(initial)
	w.log.Follow(&w.layout)
	for _, i := range w.calls {
		w.budget.Runs -= callWork
		w.perform(w.pass.Plan.Calls[i])
	}
}

func orEmpty(v any) any {
	if v == nil {
		return map[string]any{}
	}
	return v
}

// perform goes through one call.
func (w *trial) perform(call *plan.Call) {
	if slices.ContainsFunc(call.After, func(a plan.After) bool { return !a.Settled && !w.ended[a.Call].done }) {
		return
	}
	if w.isTaken(call) {
		w.ended[call.Index].taken = true
		return
	}
	guardUnknown := false // whether the call runs
	if guard := compiler.Condition(call); guard != nil {
		value, there := w.value(call, guard)
		if guardUnknown = samples.IsHole(value); guardUnknown {
			value = w.random.IntN(2) == 0
		}
		if value != true || !there {
			if w.ended[call.Index].unspecified = guardUnknown; !guardUnknown {
				w.ended[call.Index].lacks = guard
			}
			return
		}
	}
	if call.Each != nil {
		w.performItems(call, guardUnknown)
		return
	}
	params := w.parameters(call, guardUnknown)
	if params == nil || w.fails(call) {
		return
	}
	if value, well := w.carriedOut(call, params); well {
		w.write(call, value)
	}
}

// performItems goes through a call for the items of its list.
func (w *trial) performItems(call *plan.Call, guardUnknown bool) {
	own, there := w.resolve(call, call.Each.List)
	list, isList := own.([]any)
	switch {
	case !there:
		w.ended[call.Index].lacks = call.Each.List
		return
	case samples.IsHole(own): // as long as for other calls with the same list
		name := call.Each.Text()
		least, most := w.pass.Flow.Lengths(call)
		list = slices.Repeat([]any{own},
			flow.Once(w.counts, name, func() int { return min(least+w.random.IntN(3), most) }))
	case !isList:
		own, _ = samples.Clear(own)
		w.isRefused(call, &analysis.Parameters{Taker: analysis.Quote(call.Name)},
			&plan.TemplateField{Key: "_each", Value: call.Each.List}, own, flow.AList)
		return
	}
	if w.fails(call) {
		return
	}
	for e := range call.Params.Expressions() {
		if !e.PerItem() {
			if _, there := w.value(call, e); !there {
				w.ended[call.Index].lacks = e
				return // it is the call that is skipped
			}
		}
	}
	results := make([]any, len(list))
	for at, item := range list {
		if at >= triedItems && at < len(list)-1 {
			results[at] = results[at%triedItems]
			continue
		}
		w.item = map[string]any{"item": item, "index": float64(at)}
		unknown := guardUnknown
		if call.When.PerItem() {
			value, there := w.value(call, call.When)
			if samples.IsHole(value) {
				value, unknown = w.random.IntN(2) == 0, true
			}
			if value != true || !there {
				continue
			}
		}
		params := w.parameters(call, unknown)
		switch {
		case params == nil && w.ended[call.Index].lacks == nil:
			return // a parameter isn't accepted, which is reported
		case params == nil:
			w.ended[call.Index].lacks = nil
			continue
		}
		if call.Each.Collect && w.random.IntN(4) == 0 {
			results[at], w.failed = flow.FailureSample, true
			continue
		}
		value, well := w.carriedOut(call, params)
		if !well {
			return
		}
		results[at] = value
	}
	if samples.IsHole(own) && w.pass.Flow.Listing(call).Uncounted {
		w.write(call, samples.Hole())
		return
	}
	w.write(call, results)
}

// carriedOut generates or computes the result of a call or of one item, and reports whether nothing failed in its
// delegate.
func (w *trial) carriedOut(call *plan.Call, marked map[string]any) (value any, well bool) {
	p, tool := w.pass, call.Single()
	cleared, how := samples.Clear(marked)
	params, _ := cleared.(map[string]any)
	a := p.Plan.Activities[call.Activity]
	switch {
	case call.Produced != nil:
		return call.Produced.Value(), true
	case how == samples.Described && w.inside(call) != nil:
		return w.delegated(call, w.inside(call), params)
	case a != nil && a.Expression != nil && w.fill(tool, marked, params):
		v, err := samples.ResultOfCode(p, tool, a, params, &w.budget.Runs)
		if err == nil && how == samples.Described {
			return v, true
		}
		if w.budget.OpenCode[tool] && call.FailureRoute() < 0 && !w.budget.Worked.Passed() &&
			w.first(call, tool, a.Node.Get("expr")) {
			f := samples.ReportCode(p, tool, call, a, params, v, err)
			if f != nil && how == samples.Described {
				f.Note(call.ToolNode.Span(), "this call passes them")
			}
		}
	}
	if tool == nil || tool.Output == nil {
		return samples.Hole(), true
	}
	if v, made := w.generator.Value(tool.Output, false); made {
		return v, true
	}
	return samples.Hole(), true
}

// fill gives parameters of which nothing is known values that their tool accepts, as a run demands; it reports whether
// all are known then.
func (w *trial) fill(tool *plan.Tool, marked, params map[string]any) bool {
	known := analysis.ParametersOf(w.pass, tool)
	for _, key := range slices.Sorted(maps.Keys(marked)) {
		value := marked[key]
		if _, how := samples.Clear(value); how == samples.Described {
			continue
		}
		if !samples.IsHole(value) || known == nil || known.Place(key).Schema == nil {
			return false
		}
		value, made := w.generator.Value(known.Place(key).Schema, false)
		cleared, how := samples.Clear(value)
		if params[key] = cleared; !made || how != samples.Described {
			return false
		}
	}
	return true
}

// fails lets a call fail at times that has a failure route: it writes the record where the
// plan wants it, if there is room.
func (w *trial) fails(call *plan.Call) bool {
	if call.FailureRoute() < 0 || w.joined[call.Label()] || w.random.IntN(4) != 0 ||
		// a model's answer fails only where the tool says that it fails, or the plan has a place for failures by its
		// name
		call.Activity == "" && call.Delegate == "" &&
			!compiler.SaysItFails(call.Single()) &&
			!rules.NamesFailures(w.pass.Plan, call.Output[call.FailureRoute()]...) {
		return false
	}
	w.failed = true
	route := call.Output[call.FailureRoute()]
	if path, err, _ := w.unfit(call, route, plan.Set, flow.FailureSample); err != nil {
		if rules.ForFailures(w.pass, call, path) {
			w.hasNoPlace(call, path, flow.FailureSample, true, err)
		}
		return true
	}
	w.ended[call.Index].fails, w.ended[call.Index].takes = true, call.FailureRoute()
	for _, path := range route {
		w.log.Append(state.Message{Path: path.ID, Value: flow.FailureSample, Failure: true, Call: call.Index})
	}
	return true
}

// write writes a result to the alternative that takes it.
func (w *trial) write(call *plan.Call, value any) {
	if len(call.Output) == 0 {
		w.ended[call.Index] = ending{done: true}
		return
	}
	if samples.IsLarge(value) {
		value = samples.Hole()
	}
	at := w.taking(call, value)
	route, method := call.Output[at], call.Method
	if samples.IsHole(value) {
		method = plan.Set
	} else if path, err, unknown := w.unfit(call, route, method, value); err != nil {
		if !unknown {
			shown, _ := samples.Clear(value)
			w.hasNoPlace(call, path, shown, false, err)
		}
		return
	}
	w.ended[call.Index] = ending{done: true, takes: at}
	for _, path := range route {
		w.log.Append(state.Message{Path: path.ID, Method: method, Value: value, Call: call.Index})
	}
}

// taking is the alternative that a result takes: any that accepts it but the failure route, if there is such a one.
func (w *trial) taking(call *plan.Call, value any) int {
	routes := len(call.Output)
	if routes == 1 {
		return 0
	}
	if last := call.FailureRoute(); rules.MayChoose(w.pass.Plan, call) &&
		!rules.TellsFailures(w.pass, call.Output[last]) {
		routes++ // results may go there as well
	}
	value, _ = samples.Clear(value)
	var taking []int
	for i, route := range call.Output[:routes-1] {
		if !slices.ContainsFunc(route, func(path plan.Path) bool {
			s := w.pass.Flow.StateAt(path.ID).Schema
			return s != nil && call.Method == plan.Set && !s.Accepts(value)
		}) {
			taking = append(taking, i)
		}
	}
	if len(taking) == 0 {
		return len(call.Output) - 1
	}
	return taking[w.random.IntN(len(taking))]
}

var errNoRoom = errors.New("the state schema has no room for it")

// unfit is the path of a route that has no place for a value, or whose schema rejects the result; unknown where that
// depends on something unknown.
func (w *trial) unfit(call *plan.Call, route plan.Route, method plan.Method, value any) (at plan.Path,
	err error, unknown bool) {
	draft := w.log.Draft(int32(call.Index))
	defer draft.Discard()
	for _, path := range route {
		written, err := draft.Write(path.ID, method, value)
		if err != nil {
			return path, err, w.isInHole(path.ID)
		}
		cleared, _ := samples.Clear(written)
		if s := w.pass.Flow.StateAt(path.ID).Schema; s != nil && !s.Accepts(cleared) {
			wrong := s.Validate(cleared)
			return path, fmt.Errorf("%w: %v", errNoRoom, wrong), !samples.IsCertain(written, wrong)
		}
	}
	return at, nil, false
}

// isInHole reports whether nothing is known of what is at a path, or above it.
func (w *trial) isInHole(at pathtree.ID) bool {
	for paths := w.pass.Plan.Paths; paths.Depth(at) >= 2; at = paths.Parent(at) {
		if value, there := w.log.Resolve(at, state.Anyone); there && samples.IsHole(value) {
			return true
		}
	}
	return false
}

// isTaken reports whether paths are written once, and one that a result would go to has a value.
func (w *trial) isTaken(call *plan.Call) bool {
	if w.pass.Plan.Writes != plan.Once {
		return false
	}
	for alternative, path := range call.Paths() {
		if alternative == call.FailureRoute() {
			continue
		}
		if value, there := w.log.Initial(path.ID); there && value != nil {
			return true
		}
		for range w.log.Over(path.ID) {
			return true
		}
	}
	return false
}

// giveOutput works the plan's output out.
func (w *trial) giveOutput() {
	p := w.pass
	value, there := w.resolve(nil, p.Plan.Output)
	if !there {
		value = nil // an absent whole
	}
	if rules.IsReported(p, p.Plan.Output.Node) || w.lacksOutput().unspecified {
		return // one finding is enough, and nothing follows from what is missing
	}
	cleared, _ := samples.Clear(value)
	if s := p.Plan.OutputSchema; s != nil && s.Compile() == nil {
		if wrong := s.Validate(cleared); wrong != nil && samples.IsCertain(value, wrong) {
			w.isRefused(nil, nil, &plan.TemplateField{Value: p.Plan.Output}, cleared, s)
		}
	}
}
