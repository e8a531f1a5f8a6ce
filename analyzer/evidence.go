package analyzer

import (
	"errors"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"

	"github.com/obelus-dev/obelus/analyzer/flow"
	"github.com/obelus-dev/obelus/analyzer/internal/logic"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/dag"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
)

// A Rehearsal is a plan that may be rehearsed: a verified one, or one whose only
// errors are OB401, so that its conflicts can be watched. It is never run.
type Rehearsal struct {
	plan     *plan.Plan
	conflict bool
}

// Rehearse gives what may be rehearsed of a plan with its findings, or nil when
// they hold an error other than OB401.
func Rehearse(p *plan.Plan, found []diag.Diagnostic) *Rehearsal {
	r := &Rehearsal{plan: p}
	for i := range found {
		if found[i].Severity < diag.Error {
			continue
		}
		if found[i].Rule != writeConflict.Rule {
			return nil
		}
		r.conflict = true
	}
	return r
}

// Rehearsal is the same plan, to be rehearsed.
func (v *Verified) Rehearsal() *Rehearsal { return &Rehearsal{plan: v.plan} }

// Single is the plan as one of its instances runs it, the first, with its delegates, and
// what runs for each item of a list, for calls like any other: what a schedule orders.
func (r *Rehearsal) Single() (*Rehearsal, error) {
	p := r.plan
	if p.Targeted() {
		return nil, errors.New("a schedule orders the calls of one state, and instances of this plan have calls of their own")
	}
	if len(p.Instances) == 0 && !p.AwaitsInstances && len(p.Delegates) == 0 && !slices.ContainsFunc(p.Calls, func(c *plan.Call) bool { return c.Each != nil }) {
		return r, nil
	}
	one := *p
	one.AwaitsInstances = false
	if len(p.Instances) > 0 {
		first := &p.Instances[0]
		one.Input, one.State, one.Instances = compiler.Overlay(p.Input, first.Input), compiler.Overlay(p.State, first.State), nil
		if first.StateSchema != nil {
			one.StateSchema = first.StateSchema
		}
	}
	one.Calls = make([]*plan.Call, len(p.Calls))
	for i, of := range p.Calls {
		call := *compiler.WithoutItems(of)
		call.Delegate = ""
		one.Calls[i] = &call
	}
	return &Rehearsal{&one, r.conflict}, nil
}

// Plan is what is rehearsed.
func (r *Rehearsal) Plan() *plan.Plan { return r.plan }

// Conflicts reports whether calls of the plan write over each other in no fixed
// order, so that the time at which they end decides what stands.
func (r *Rehearsal) Conflicts() bool { return r.conflict }

// A Schedule says in which order activities end, and how: enough to rehearse a
// run exactly. Activities that it doesn't name fail, after all that it names. Input and
// state lie over the plan's own, key by key.
type Schedule struct {
	Input  map[string]any `json:"input,omitempty"`
	State  map[string]any `json:"state,omitempty"`
	Events []ScheduledEnd `json:"events"`
}

// A ScheduledEnd is the end of one call's activity.
type ScheduledEnd struct {
	Call   string `json:"call"`            // the call's name
	Output any    `json:"output"`          // its result; null for one that fails
	Path   string `json:"path,omitempty"`  // the alternative that it takes; "" leaves it to LANGUAGE.md#output-paths-and-state
	Fails  bool   `json:"fails,omitempty"` // it ends badly
}

// A Replay rehearses one schedule and gives the final state. It is how the
// evidence of OB401 is confirmed: the machine itself says what happens.
type Replay func(*Rehearsal, Schedule) (state any, err error)

// conflictTries bounds how often other results are made up for a conflict that
// doesn't show.
const conflictTries = 12

// conflictSchedules are two orders of the same work, confirmed by a replay, that end in different states: all that
// the two calls depend on, then one before the other. They are nil where no replay differs.
func (p *Pass) conflictSchedules(u *plan.Unordered, branch logic.Assignment) []Schedule {
	needed := p.needs(u.A, u.B)
	m := &maker{pass: p, branch: branch, conflict: u, leaves: map[int][]demand{}}
	m.require(append(slices.Clone(needed), int32(u.A), int32(u.B)))
	for seed := range uint64(conflictTries) {
		// A replay settles every call, and looks along every dependency.
		if p.evidence += 2*len(p.Plan.Calls) + p.Plan.Graph.Edges()/2; p.evidence > maxEvidence {
			return nil
		}
		m.seed = seed
		var before []ScheduledEnd
		for _, call := range needed {
			before = append(before, m.end(int(call)))
		}
		a, b := m.end(u.A), m.end(u.B)
		input, state := m.beginning()
		schedules := []Schedule{
			{input, state, append(slices.Clone(before), a, b)},
			{input, state, append(slices.Clone(before), b, a)},
		}
		if p.differ(schedules) {
			return schedules
		}
	}
	return nil
}

// maxEvidence bounds how many calls and dependencies are replayed for the conflicts of one plan:
// some tenths of a second.
const maxEvidence = 100_000

// differ replays schedules, and reports whether they end in different states.
func (p *Pass) differ(schedules []Schedule) bool {
	var states [2]any
	for i, s := range schedules {
		state, err := p.config.Replay(&Rehearsal{p.Plan, true}, s)
		if err != nil {
			return false
		}
		states[i] = state
	}
	return !reflect.DeepEqual(states[0], states[1])
}

// needs are the calls that two calls depend on, directly or not, in the order
// in which they may run.
func (p *Pass) needs(a, b int) (needed []int32) {
	var ofA, ofB dag.Trace
	ofA.Follow(&p.Plan.Graph, int32(a), 0)
	ofB.Follow(&p.Plan.Graph, int32(b), 0)
	for i := range int32(len(p.Plan.Calls)) {
		if ofA.Met(i) || ofB.Met(i) {
			needed = append(needed, i)
		}
	}
	slices.SortFunc(needed, func(x, y int32) int { return p.Plan.Graph.Rank(int(x)) - p.Plan.Graph.Rank(int(y)) })
	return needed
}

// A maker makes up results that let the calls of a schedule run.
type maker struct {
	pass     *Pass
	branch   logic.Assignment // on which the calls run
	conflict *plan.Unordered
	seed     uint64
	leaves   map[int][]demand // by call: what its result must hold; by -1, what the run begins with
}

// A demand is a place below a written path, and what must stand there: a value,
// or anything at all that fits the schema.
type demand struct {
	path   pathtree.ID
	fixed  bool
	value  any
	fits   *schema.Schema
	method plan.Method // how the call writes for which there must be room
}

// require notes what the calls read from each other's results: something has to
// be there, of the type that the parameter takes, and such that conditions hold.
func (m *maker) require(calls []int32) {
	plan := m.pass.Plan
	for _, c := range calls {
		call := plan.Calls[c]
		for _, field := range call.Params.Fields {
			var fits *schema.Schema
			if call.Tool != nil && call.Tool.Parameters != nil {
				fits = call.Tool.Parameters.At([]schema.Step{schema.Key(field.Key)}).Schema
			}
			m.parameter(field.Value, fits)
		}
		if guard := compiler.Condition(call); guard != nil && guard.Expr != nil {
			m.read(guard, func(i int) demand { return m.decided(guard.Reads[i]) })
		}
		if call.Each != nil {
			m.parameter(call.Each.List, flow.AList)
		}
	}
	for _, c := range calls {
		m.room(plan.Calls[c], plan.Calls[c].Waits)
	}
	m.room(plan.Calls[m.conflict.A], []int32{int32(m.conflict.B)})
	m.room(plan.Calls[m.conflict.B], []int32{int32(m.conflict.A)})
	for _, list := range m.leaves { // the deepest first: a container is there before something is sought in it
		slices.SortStableFunc(list, func(a, b demand) int { return plan.Paths.Depth(b.path) - plan.Paths.Depth(a.path) })
	}
}

// parameter asks for something wherever a parameter reads: of the parameter's
// own type where it is the whole of it.
func (m *maker) parameter(t *plan.Template, fits *schema.Schema) {
	for e := range t.Expressions() {
		if e != t || !e.Expr.Plain() {
			fits = nil
		}
		m.read(e, func(int) demand { return demand{fits: fits} })
	}
}

// room asks writers for something where a call writes inside their results: a
// place for it, and a value that its own replaces.
func (m *maker) room(call *plan.Call, writers []int32) {
	for _, path := range call.Paths() {
		for _, w := range writers {
			m.leaves[int(w)] = append(m.leaves[int(w)], demand{path: path.ID, method: call.Method})
		}
	}
}

// read notes a demand for every writer that a reference of a template may see.
func (m *maker) read(t *plan.Template, what func(i int) demand) {
	for i, at := range t.Reads {
		r := &m.pass.Plan.Reads[at]
		one := what(i)
		one.path = r.Path
		for _, w := range r.Writers {
			m.leaves[int(w)] = append(m.leaves[int(w)], one)
		}
		if len(r.Writers) == 0 {
			m.leaves[-1] = append(m.leaves[-1], one)
		}
	}
}

// decided is what a condition reads on the branch.
func (m *maker) decided(read int) demand {
	value, known := m.pass.flow.Conditions().ReadValue(read, m.branch)
	return demand{fixed: known, value: value}
}

// beginning is the input and the state that the run begins with, where they differ from the plan's own.
func (m *maker) beginning() (input, state map[string]any) {
	plan := m.pass.Plan
	for _, one := range m.leaves[-1] {
		path := plan.Paths.Segments(one.path)
		over, own := &input, plan.Input
		if path[0].Key == "state" {
			over, own = &state, plan.State
		}
		if len(path) < 2 || path[0].Key != "input" && path[0].Key != "state" {
			continue
		}
		if _, given := pathtree.Walk(own, path[1:]); given && !one.fixed {
			continue
		}
		merged := map[string]any{}
		if *over != nil {
			merged = *over
		}
		key := path[1]
		if _, there := merged[key.Key]; !there {
			if value, ok := pathtree.Step(own, key); ok {
				merged[key.Key] = value
			}
		}
		if planted, ok := plant(merged, path[1:], one, func() any { return m.given(one) }).(map[string]any); ok {
			*over = planted
		}
	}
	return input, state
}

// given is a value for a place of what a run begins with.
func (m *maker) given(one demand) any {
	if one.fixed {
		return one.value
	}
	for _, s := range []*schema.Schema{one.fits, m.pass.flow.Initial(one.path).Schema} {
		if s != nil {
			if value, ok := m.pass.sample(s, rand.New(rand.NewPCG(m.seed, uint64(one.path))), &m.pass.samples.making); ok {
				return value
			}
		}
	}
	return "given"
}

// end is the end of a call's activity in the branch.
func (m *maker) end(index int) ScheduledEnd {
	call := m.pass.Plan.Calls[index]
	alternative, fails := m.pass.flow.Conditions().Ending(index, m.branch)
	end := ScheduledEnd{Call: call.Name, Fails: fails}
	if fails {
		return end
	}
	var route plan.Route
	if len(call.Output) > 0 {
		route = call.Output[max(0, alternative)]
	}
	if len(call.Output) > 1 && alternative >= 0 {
		end.Path = compiler.Offered(m.pass.Plan, call)[alternative]
	}
	end.Output = m.result(call, route)
	return end
}

// result makes a result that the tool and the state schema accept, with a value at every path that is
// read.
func (m *maker) result(call *plan.Call, route plan.Route) any {
	if call.Produced != nil {
		return call.Produced.Value()
	}
	var value any
	if known := m.schemas(call, route); len(known) > 0 {
		value, _ = m.pass.sample(schema.AllOf(known...), m.chance(call), &m.pass.samples.making)
	}
	for _, path := range route {
		for _, one := range m.leaves[call.Index] {
			if m.pass.Plan.Paths.IsAbove(path.ID, one.path) {
				steps := m.pass.Plan.Paths.Segments(one.path)[m.pass.Plan.Paths.Depth(path.ID):]
				value = plant(value, steps, one, func() any { return m.filling(call, one) })
			}
		}
	}
	if value == nil {
		value = m.filling(call, demand{})
	}
	switch _, isObject := value.(map[string]any); {
	case (call.Method == plan.Merge || call.Method == plan.Assign) && !isObject:
		return map[string]any{"by": value}
	case call.Method == plan.Concat:
		return []any{value}
	}
	return value
}

func (m *maker) chance(call *plan.Call) *rand.Rand {
	return rand.New(rand.NewPCG(m.seed, uint64(call.Index)))
}

// schemas are what is known of a call's result.
func (m *maker) schemas(call *plan.Call, route plan.Route) []*schema.Schema {
	var known []*schema.Schema
	if call.Tool != nil && call.Tool.Output != nil {
		known = append(known, call.Tool.Output)
	}
	for _, path := range route {
		if s := m.pass.Plan.StateSchema; s != nil && call.Method == plan.Set && m.pass.Plan.Paths.Kind(path.ID) == "state" {
			if at := s.At(compiler.SchemaPath(m.pass.Plan.Paths.Segments(path.ID)[1:])); at.Schema != nil {
				known = append(known, at.Schema)
			}
		}
	}
	return known
}

// filling is a value for a place that nothing is known of: it tells who gave it.
func (m *maker) filling(call *plan.Call, one demand) any {
	if one.fixed {
		return one.value
	}
	if one.fits != nil {
		if value, ok := m.pass.sample(one.fits, m.chance(call), &m.pass.samples.making); ok {
			return value
		}
	}
	switch text := "from " + call.Name; one.method {
	case plan.Merge, plan.Assign:
		return map[string]any{"by": text}
	case plan.Push, plan.Concat:
		return []any{text}
	default:
		return text
	}
}

// plant puts a value at a path of another value unless one is present; a fixed value always replaces
// it. Values above it are replaced only where nothing is known.
func plant(value any, steps []expression.Segment, one demand, filling func() any) any {
	if len(steps) == 0 {
		if value == nil || one.fixed {
			return filling()
		}
		return value
	}
	step := steps[0]
	switch base := value.(type) {
	case nil:
		if step.IsIndex {
			list := make([]any, step.Index+1)
			list[step.Index] = plant(nil, steps[1:], one, filling)
			return list
		}
		return map[string]any{step.Key: plant(nil, steps[1:], one, filling)}
	case map[string]any:
		if !step.IsIndex {
			base = maps.Clone(base) // a sample may be part of the plan's schema
			base[step.Key] = plant(base[step.Key], steps[1:], one, filling)
			return base
		}
	case []any:
		if step.IsIndex {
			base = slices.Clone(base)
			for len(base) <= step.Index {
				base = append(base, nil)
			}
			base[step.Index] = plant(base[step.Index], steps[1:], one, filling)
			return base
		}
	}
	return value
}
