package analyzer

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/obelus-dev/obelus/analyzer/flow"
	"github.com/obelus-dev/obelus/analyzer/internal/analysis"
	"github.com/obelus-dev/obelus/analyzer/rules"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/runtime/state"
)

// Sample runs check what types, schemas and branches leave open. Calls run in the order of the graph with generated
// results and with routed failures. Each step checks what a run checks: the values of expressions, the parameters, the
// room for results. A fault that is found can happen in a run, and the values show it.
//
// Nothing is concluded from values that the plan doesn't describe.

// Bounds on sample runs.
const (
	maxTrials = 200     // of a plan
	minTrials = 2       // where the plan is large
	trialWork = 120_000 // steps of all of them: of making values up, and callWork for each call
	callWork  = 60
)

// A sampler runs a part of a plan with generated values.
type sampler struct {
	pass       *Pass
	layout     state.Layout
	calls      []int32                 // that matter, in the order of the graph
	asked      map[int32]bool          // calls to check
	joined     map[string]bool         // failures of the calls of these names go to where results are looked for, which is a finding of its own
	described  map[describedKey]bool   // whether a schema describes a part of a result and everything below it
	initial    map[string]bool         // keys of the state that are read and never written
	boundaries boundaryValues          // see [generator]
	blind      map[*plan.Template]bool // see [expression.Expr.MayFail]
	reported   map[undecidedPlace]bool
	left       *int // steps
	worked     *expression.Meter
	within     map[*plan.Call]*sampler // of delegates, see inside
	depth      int                     // of delegates in delegates
}

func newSampler(p *Pass, left *int, worked *expression.Meter) *sampler {
	return &sampler{
		pass: p, asked: map[int32]bool{}, joined: map[string]bool{}, described: map[describedKey]bool{},
		blind: map[*plan.Template]bool{}, reported: map[undecidedPlace]bool{}, within: map[*plan.Call]*sampler{},
		left: left, worked: worked}
}

// An undecidedPlace is a parameter of a call or a path that it writes.
type undecidedPlace struct {
	call int
	at   any
}

// A trial is one sample run.
type trial struct {
	*sampler
	n           int // counts them
	generator   generator
	random      *rand.Rand
	log         *state.Log
	ended       []ending       // by call
	failed      bool           // a call has
	item        map[string]any // that is at hand, of a call that runs for several, and its place
	unspecified []pathtree.ID
	counts      map[string]int // of the items of unknown lists, by their expression
	fromCall    bool           // the input is what a call hands over
}

// An ending is the outcome of a call in a sample run.
type ending struct {
	done        bool
	taken       bool           // it was skipped, as its path is written once and has a value
	takes       int            // the alternative of its output that it took then, or in failing
	fails       bool           // it failed, which its failure route takes up
	blank       bool           // no result was generated: it is undescribed, or the budget is spent
	unspecified bool           // it was skipped, or its result is partly undescribed
	lacks       *plan.Template // why it was skipped, if that is sure: what has no value, or its condition
}

// A sampleBudget is what generated values may still cost, over all views of a plan.
type sampleBudget struct {
	making   int                 // steps of making values up as evidence
	trying   int                 // steps of sample runs
	worked   expression.Meter    // cost of expressions
	openCode map[*plan.Tool]bool // tools with code that may fail for some parameters: calls show for which
}

func samplesOf(p *Pass) *sampleBudget {
	s := analysis.Kept[sampleBudget](p.Shared)
	if s.openCode == nil {
		worked := expression.Meter{Steps: 4_000_000, Memory: 256_000_000}
		*s = sampleBudget{flow.MaxReasoning / 4, trialWork, worked, map[*plan.Tool]bool{}}
	}
	return s
}

// runSamples runs the calls that aren't known to succeed.
func runSamples(p *Pass) {
	if p.Screens || p.From > 0 || p.Plan.Form == plan.Replan || p.Plan.AwaitsInstances ||
		p.Unknown(diag.State|diag.Writes|diag.Order|diag.Input|diag.Reads|diag.Tools) || !p.Plan.Graph.Acyclic() {
		return
	}
	p.Rule = rules.OutputMismatch.Rule
	t := newSampler(p, &samplesOf(p).trying, &samplesOf(p).worked)
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
		if *t.left < 0 && n >= minTrials || t.worked.Passed() {
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
	if output {
		for _, r := range p.Plan.Reads {
			if r.Call < 0 {
				for _, w := range r.Writers {
					take(w)
				}
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
	for _, i := range t.calls {
		if a := p.Plan.Activities[p.Plan.Calls[i].Activity]; a != nil && a.Expression != nil {
			t.boundaries.atConstants(a.Expression)
		}
	}
	for _, f := range p.Found {
		t.joined[f.Call] = t.joined[f.Call] || f.Rule == rules.FailureJoinsRule
	}
	t.findBoundaries(output)
	t.findInitialState()
	t.layout = state.Layout{Plan: p.Plan, Paths: p.Plan.Paths, Settled: true, Inconsistency: new(string)}
	analysis.Calculations(p, func(call *plan.Call, x *plan.Template) {
		if call == nil || within[call.Index] {
			t.boundaries.atConstants(x.Expr)
		}
	})
}

// try goes through the calls once.
func (t *sampler) try(n int, output bool) {
	p := t.pass
	random := rand.New(rand.NewPCG(uint64(n), 71))
	w := t.newTrial(n, random)
	input, initial := p.Plan.Input, p.Plan.State
	if all := p.Plan.Instances; len(all) > 0 {
		own := &all[n%len(all)]
		input, initial = compiler.Overlay(input, own.Input), compiler.Overlay(initial, own.State)
	}
	input, ok := w.begin(input, p.Plan.InputSchema, nil)
	if !ok {
		return
	}
	own := orEmpty(initial)
	if len(w.initial) > 0 {
		own, _ = w.begin(initial, p.Plan.StateSchema, w.initial)
	}
	w.goThrough(map[string]any{"input": input, "state": own, "data": orEmpty(flow.Data(p.Plan))})
	if output && p.Plan.Output != nil {
		w.giveOutput()
	}
}

func (t *sampler) newTrial(n int, random *rand.Rand) *trial {
	generator := generator{pass: t.pass, boundaries: t.boundaries, left: t.left}
	ended := make([]ending, len(t.pass.Plan.Calls))
	return &trial{sampler: t, n: n, random: random, generator: generator.vary(n, random), counts: map[string]int{}, ended: ended}
}

// goThrough performs the calls, with what there is before.
func (w *trial) goThrough(initial map[string]any) {
	w.log = state.New(initial)
	w.log.Follow(&w.layout)
	for _, i := range w.calls {
		*w.left -= callWork
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
	if isTaken(w, call) {
		w.ended[call.Index].taken = true
		return
	}
	guardUnknown := false // whether the call runs
	if guard := compiler.Condition(call); guard != nil {
		value, there, unspecified := w.value(call, guard)
		if guardUnknown = unspecified; unspecified {
			value = w.random.IntN(2) == 0 && w.arbitrarily(guard)
		}
		if value != true || !there && !unspecified {
			if w.ended[call.Index].unspecified = unspecified; !unspecified {
				w.ended[call.Index].lacks = guard
			}
			return
		}
	}
	if call.Each != nil {
		w.performItems(call, guardUnknown)
		return
	}
	params, runs, unspecified := w.parameters(call, guardUnknown)
	if !runs {
		return
	}
	if w.fails(call) {
		return
	}
	if value, known, well := w.carriedOut(call, params, unspecified); well {
		w.write(call, value, known)
	}
}

// arbitrarily reports whether a condition holds with any values for what isn't known.
func (w *trial) arbitrarily(t *plan.Template) bool {
	some := []any{true, nil, "text", 1.0}
	value, presence, err := t.Expr.EvalWithin(func(i int) (any, expression.Presence) {
		r := &w.pass.Plan.Reads[t.Reads[i]]
		if w.isUnspecified(r, true) {
			return some[w.random.IntN(len(some))], expression.There
		}
		return w.read(r)
	}, w.worked)
	return err == nil && presence == expression.There && value == true
}

// read is the value of a read.
func (w *trial) read(r *plan.Read) (any, expression.Presence) {
	if compiler.ReadsItem(w.pass.Plan, r) {
		return w.ofItem(r)
	}
	value, there := w.log.Resolve(r.Path, func(m *state.Message) bool {
		_, bound := slices.BinarySearch(r.Writers, int32(m.Call))
		return bound
	})
	if !there {
		return nil, expression.Absent
	}
	return value, expression.There
}

// value evaluates an expression; unspecified if it depends on undescribed values. A fault is reported,
// and counts as absent.
func (w *trial) value(call *plan.Call, t *plan.Template) (value any, there, unspecified bool) {
	var seen []looked
	strictly := false // an undescribed object may hold something
	blind := flow.Once(w.blind, t, func() bool { _, blind := rules.EvaluationRisk(w.pass, t); return blind })
	value, presence, err := t.Expr.EvalWithin(func(i int) (any, expression.Presence) {
		r := &w.pass.Plan.Reads[t.Reads[i]]
		strictly = strictly || w.isUnspecified(r, true)
		if blind || w.isUnspecified(r, t.Expr.Plain()) {
			if _, presence := w.read(r); presence != expression.There {
				return nil, presence
			}
			return nil, expression.Pending
		}
		v, presence := w.read(r)
		seen = append(seen, looked{i, v, presence})
		return v, presence
	}, w.worked)
	if wrong := new(expression.Error); w.worked.Passed() || errors.As(err, &wrong) && wrong.Cause == expression.OfText {
		return nil, false, true // how a text is written is for its author to know
	}
	if err == nil && presence == expression.Pending {
		if err = w.kindsClash(t); err != nil {
			seen = nil
			for i := range t.Reads {
				v, presence := w.read(&w.pass.Plan.Reads[t.Reads[i]])
				seen = append(seen, looked{i, v, presence})
			}
		}
	}
	if err != nil {
		w.goesWrong(call, t, err, seen)
		return nil, false, false
	}
	if presence == expression.There && strictly && schema.KindOf(value)&(schema.Object|schema.Array) != 0 {
		return value, true, true
	}
	return value, presence == expression.There, presence == expression.Pending
}

// kindsClash is why an expression fails for all values of these kinds: of some nothing
// more is known. It is nil where that isn't certain.
func (w *trial) kindsClash(t *plan.Template) error {
	p := w.pass
	absent := false
	_, wrong := t.Expr.Check(func(i int) *expression.Type {
		known, r := p.Flow.Type(t.Reads[i]), &p.Plan.Reads[t.Reads[i]]
		value, presence := w.read(r)
		if absent = absent || presence != expression.There; absent || known == nil || known.Kinds == 0 || w.isBlank(r) {
			return nil
		}
		of := *known
		of.Kinds = flow.KindSet(schema.KindOf(value))
		return &of
	})
	if wrong == nil || absent {
		return nil
	}
	return wrong
}

// resolve is a template of a call with its values, and whether they are all there; of the
// plan's output, for no call, what is absent is left out.
func (w *trial) resolve(call *plan.Call, t *plan.Template) (value any, there, unspecified bool) {
	switch {
	case !t.Live():
		return t.Value, true, false
	case t.Expr != nil:
		return w.value(call, t)
	}
	object, list := make(map[string]any, len(t.Fields)), make([]any, 0, len(t.Items))
	part := func(of *plan.Template, put func(any)) bool {
		v, ok, open := w.resolve(call, of)
		if unspecified = unspecified || open; ok || open && call != nil {
			put(v)
		}
		return ok || open || call == nil
	}
	for i := range t.Fields {
		if !part(t.Fields[i].Value, func(v any) { object[t.Fields[i].Key] = v }) {
			return nil, false, false
		}
	}
	for _, item := range t.Items {
		if !part(item, func(v any) { list = append(list, v) }) {
			return nil, false, false
		}
	}
	if t.Fields != nil {
		return object, true, unspecified
	}
	return list, true, unspecified
}

// parameters are those of a call, held against what takes them. It doesn't run where
// something is absent or isn't accepted.
func (w *trial) parameters(call *plan.Call, guardUnknown bool) (params map[string]any, runs, unspecified bool) {
	params, runs = map[string]any{}, true
	var expressions []*plan.TemplateField
	onlyKinds := map[string]bool{} // parameters of whose values only the kinds are described
	for i := range call.Params.Fields {
		f := &call.Params.Fields[i]
		value, there, part := w.resolve(call, f.Value)
		if !there && !part {
			w.ended[call.Index].lacks = f.Value
			return nil, false, false // another sample run checks the rest
		}
		params[f.Key] = value
		if part && !guardUnknown && f.Value.Expr != nil && f.Value.Expr.Plain() {
			r := &w.pass.Plan.Reads[f.Value.Reads[0]]
			onlyKinds[f.Key] = !w.isUnspecified(r, false)
			params[f.Key], _ = w.read(r)
		}
		if unspecified = unspecified || part; f.Value.Live() && (!part || onlyKinds[f.Key]) {
			expressions = append(expressions, f)
		}
	}
	for _, f := range expressions {
		value := params[f.Key]
		for _, taker := range analysis.Takers(w.pass, call) {
			at := taker.Place(f.Key)
			if !at.Possible || at.Schema == nil {
				continue
			}
			wrong := at.Schema.Validate(value)
			if wrong != nil && onlyKinds[f.Key] { // of items, too, but not of keys, which nobody may have described
				isKey := func(step any) bool { _, key := step.(string); return key }
				if wrong.Keyword != "type" || slices.ContainsFunc(wrong.Path, isKey) {
					continue
				}
			}
			if wrong != nil {
				w.isRefused(call, taker, f, value, at.Schema)
				runs = false
				break
			}
		}
	}
	for _, taker := range analysis.Takers(w.pass, call) {
		runs = runs && (unspecified || !taker.Combines() || acceptsTogether(w, taker, call, params))
	}
	return params, runs, unspecified
}

// result generates or computes the result of a call, and reports whether it is described.
func (w *trial) result(call *plan.Call, params map[string]any, unspecified bool) (value any, known bool) {
	p, tool := w.pass, call.Single()
	if call.Produced != nil {
		return call.Produced.Value(), true
	}
	if a := p.Plan.Activities[call.Activity]; a != nil && a.Expression != nil && !unspecified {
		if v, well := w.tryCode(call, a, params); well {
			return v, true
		}
	}
	if tool == nil || tool.Output == nil {
		return nil, false
	}
	if own := tool.Mocks; len(own) > 0 && w.random.IntN(4) == 0 {
		if v := own[w.random.IntN(len(own))]; tool.Output.Accepts(v) {
			return v, true
		}
	}
	return w.generator.sample(tool.Output, false)
}

// fails lets a call fail at times that has a failure route: it writes the record where the
// plan wants it, if there is room.
func (w *trial) fails(call *plan.Call) bool {
	if call.FailureRoute() < 0 || w.joined[call.Label()] || w.random.IntN(4) != 0 ||
		// a model's answer fails only where the tool says that it fails, or the plan has a place for failures by its name
		call.Activity == "" && call.Plan() == "" &&
			!compiler.SaysItFails(call.Single()) && !rules.NamesFailures(w.pass.Plan, call.Output[call.FailureRoute()]...) {
		return false
	}
	w.fail(call)
	return true
}

func (w *trial) fail(call *plan.Call) {
	w.failed = true
	route := call.Output[call.FailureRoute()]
	if path, err, _ := w.unfit(call, route, plan.Set, analysis.ARecord); err != nil {
		if rules.ForFailures(w.pass, call, path) {
			w.hasNoPlace(call, path, analysis.ARecord, true, err)
		}
		return
	}
	w.ended[call.Index].fails, w.ended[call.Index].takes = true, call.FailureRoute()
	for _, path := range route {
		w.log.Append(state.Message{Path: path.ID, Value: analysis.ARecord, Failure: true, Call: call.Index})
	}
}

// write writes a result to the alternative that takes it.
func (w *trial) write(call *plan.Call, value any, known bool) {
	tool := call.Single()
	w.ended[call.Index] = ending{done: true, blank: !known && value == nil, unspecified: !known || tool != nil && tool.Output != nil && call.Produced == nil &&
		!w.speaks(tool.Output, nil, true) && !isDescribedIn(call.Tool.Output, value, nil, true)}
	if len(call.Output) == 0 {
		return
	}
	at := w.taking(call, value)
	w.ended[call.Index].takes = at
	route := call.Output[at]
	if known {
		if path, err, unspecified := w.unfit(call, route, call.Method, value); err != nil {
			if !unspecified {
				w.hasNoPlace(call, path, value, false, err)
			}
			w.ended[call.Index] = ending{}
			return
		}
	}
	for _, path := range route {
		if !known {
			w.unspecified = append(w.unspecified, path.ID)
		}
		method := call.Method
		if !known {
			method = plan.Set
		}
		w.log.Append(state.Message{Path: path.ID, Method: method, Value: value, Call: call.Index})
	}
}

// taking is the alternative that a result takes: any that accepts it but the failure route, if there is such a one.
func (w *trial) taking(call *plan.Call, value any) int {
	routes := len(call.Output)
	if routes == 1 {
		return 0
	}
	if last := call.FailureRoute(); !rules.TellsFailures(w.pass, call.Output[last]) {
		routes++ // results may go there as well
	}
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

// unfit is the path of a route that has no place for a value, or whose schema rejects the result.
func (w *trial) unfit(call *plan.Call, route plan.Route, method plan.Method, value any) (at plan.Path, err error, unspecified bool) {
	draft := w.log.Draft(int32(call.Index))
	defer draft.Discard()
	for _, path := range route {
		written, err := draft.Write(path.ID, method, value)
		if err == nil {
			s := w.pass.Flow.StateAt(path.ID).Schema
			if s == nil || s.Accepts(written) {
				continue
			}
			err = fmt.Errorf("%w: %v", errNoRoom, s.Validate(written))
		}
		unspecified := w.ended[call.Index].unspecified && !w.saysOf(call, value, written, path, err) || slices.ContainsFunc(w.unspecified, func(id pathtree.ID) bool { return w.pass.Plan.Paths.Overlap(id, path.ID) })
		return path, err, unspecified
	}
	return at, nil, false
}

// giveOutput works the plan's output out.
func (w *trial) giveOutput() {
	p := w.pass
	value, there, unspecified := w.resolve(nil, p.Plan.Output)
	if !there {
		value = nil // an absent whole
	}
	if why := w.lacksOutput(); why.unspecified || why.spared && !w.failed {
		return // nothing follows from what is missing
	}
	if s := p.Plan.OutputSchema; s != nil && !unspecified && s.Compile() == nil {
		if !s.Accepts(value) {
			w.isRefused(nil, nil, &plan.TemplateField{Value: p.Plan.Output}, value, s)
		}
	}
}
