package analyzer

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"

	"github.com/obelus-dev/obelus/analyzer/flow"
	"github.com/obelus-dev/obelus/analyzer/internal/analysis"
	"github.com/obelus-dev/obelus/analyzer/internal/logic"
	"github.com/obelus-dev/obelus/analyzer/internal/samples"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/dag"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
)

// A Simulation is a plan that may be simulated: a verified one, or one whose only
// errors are OB401, so that its conflicts can be watched. It is never run.
type Simulation struct {
	plan     *plan.Plan
	conflict bool
}

// Simulate gives what may be simulated of a plan with its findings, or nil when they hold an error other than OB401.
func Simulate(p *plan.Plan, found []diag.Diagnostic) *Simulation {
	r := &Simulation{plan: p}
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

// Simulation is the same plan, to be simulated.
func (v *Verified) Simulation() *Simulation { return &Simulation{plan: v.plan} }

// Single is the plan as one of its instances runs it, the first, with its delegates, and
// what runs for each item of a list, for calls like any other: what a schedule orders.
func (r *Simulation) Single() (*Simulation, error) {
	p := r.plan
	if p.Targeted() {
		return nil,
			errors.New("a schedule orders the calls of one state, and instances of this plan have calls of their own")
	}
	if len(p.Instances) == 0 && !p.AwaitsInstances && len(p.Delegates) == 0 &&
		!slices.ContainsFunc(p.Calls, func(c *plan.Call) bool { return c.Each != nil || c.Instance != "" }) {
		return r, nil
	}
	one := *p
	if len(p.Instances) > 0 {
		one.AwaitsInstances = false
		one = *planFor(&one, p.Instances[:1])
	}
	one.Instances, one.AwaitsInstances = nil, false
	one.Calls = make([]*plan.Call, len(p.Calls))
	for i, of := range p.Calls {
		call := *compiler.WithoutItems(of)
		call.Delegate, call.Instance = "", ""
		one.Calls[i] = &call
	}
	return &Simulation{&one, r.conflict}, nil
}

// Plan is what is simulated.
func (r *Simulation) Plan() *plan.Plan { return r.plan }

// Conflicts reports whether calls write over each other in no fixed order: the value of the last to end stays.
func (r *Simulation) Conflicts() bool { return r.conflict }

// A Replay simulates one schedule and gives the final state, and how each call ends. It is how the
// evidence of OB401 is confirmed: the machine itself says what happens.
type Replay func(*Simulation, Schedule) (end any, err error)

// replayed counts the calls that were replayed to confirm schedules.
type replayed int

// conflictTries bounds how often other results are made up for a conflict that doesn't show.
const conflictTries = 12

// conflictSchedules are two orders of the same work, confirmed by a replay, that end in different states: all that
// the two calls depend on, then one before the other. They are nil where no replay differs.
func conflictSchedules(p *Pass, u *plan.Unordered, branch logic.Assignment) []Schedule {
	needed := neededBy(p, u.A, u.B)
	m := &maker{pass: p, branch: branch, conflict: u, leaves: map[int][]demand{}}
	m.require(append(slices.Clone(needed), int32(u.A), int32(u.B)))
	cost := analysis.Kept[replayed](p.Store)
	for seed := range uint64(conflictTries) {
		// A replay settles every call, and looks along every dependency.
		if *cost += replayed(2*len(p.Plan.Calls) + p.Plan.Graph.Edges()/2); *cost > maxEvidence {
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
			{Input: input, State: state, Events: append(slices.Clone(before), a, b)},
			{Input: input, State: state, Events: append(slices.Clone(before), b, a)},
		}
		if differ(p, schedules) {
			return schedules
		}
	}
	return nil
}

// maxEvidence bounds how many calls and dependencies are replayed for the conflicts of one plan:
// some tenths of a second.
const maxEvidence = 100_000

// differ replays schedules, and reports whether they end differently.
func differ(p *Pass, schedules []Schedule) bool {
	one := *p.Plan // all that its instances run
	one.Targets, one.Entire = nil, nil
	var ends [2]any
	for i, s := range schedules {
		end, err := (*analysis.Kept[Replay](p.Shared))(&Simulation{&one, true}, s)
		if err != nil {
			return false
		}
		ends[i] = end
	}
	return !reflect.DeepEqual(ends[0], ends[1])
}

// neededBy gives the calls that two calls depend on, directly or not, in the order in which they may run.
func neededBy(p *Pass, a, b int) (needed []int32) {
	var ofA, ofB dag.Trace
	ofA.Follow(&p.Plan.Graph, int32(a))
	ofB.Follow(&p.Plan.Graph, int32(b))
	for _, i := range p.Plan.Graph.Order() {
		if ofA.Met(i) || ofB.Met(i) {
			needed = append(needed, i)
		}
	}
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
		accepts, guard := map[*expression.Expr]*schema.Schema{}, compiler.Condition(call)
		for _, f := range call.Params.Fields {
			if call.Tool != nil && call.Tool.Parameters != nil && f.Value.Expr != nil {
				accepts[f.Value.Expr] = call.Tool.Parameters.Part(f.Key).Schema
			}
		}
		if call.Each != nil && call.Each.List.Expr != nil {
			accepts[call.Each.List.Expr] = flow.AList
		}
		for t := range call.Expressions() {
			for _, read := range t.Reads {
				one := demand{path: plan.Reads[read].Path}
				if t == guard {
					one.value, one.fixed = m.pass.Flow.Conditions().ReadValue(read, m.branch)
				} else if t.Expr.Plain() {
					one.fits = accepts[t.Expr]
				}
				m.demand(one, plan.Reads[read].Writers)
			}
		}
	}
	for _, c := range calls {
		m.room(plan.Calls[c], plan.Calls[c].Waits)
	}
	m.room(plan.Calls[m.conflict.A], []int32{int32(m.conflict.B)})
	m.room(plan.Calls[m.conflict.B], []int32{int32(m.conflict.A)})
	for _, list := range m.leaves { // the deepest first: a container is there before something is sought in it
		slices.SortStableFunc(list,
			func(a, b demand) int { return plan.Paths.Depth(b.path) - plan.Paths.Depth(a.path) })
	}
}

// room asks writers for something where a call writes inside their results: a
// place for it, and a value that its own replaces.
func (m *maker) room(call *plan.Call, writers []int32) {
	for _, path := range call.Paths() {
		if len(writers) > 0 {
			m.demand(demand{path: path.ID, method: call.Method}, writers)
		}
	}
}

// demand notes one for every call that may write what is read, or for what a run begins with.
func (m *maker) demand(one demand, writers []int32) {
	for _, w := range writers {
		m.leaves[int(w)] = append(m.leaves[int(w)], one)
	}
	if len(writers) == 0 {
		m.leaves[-1] = append(m.leaves[-1], one)
	}
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
		merged := any(*over)
		_, planted := (*over)[path[1].Key]
		if value, ok := pathtree.Step(own, path[1]); ok && !planted {
			merged = pathtree.With(merged, path[1:2], value)
		}
		*over, _ = m.plant(merged, path[1:], nil, one).(map[string]any)
	}
	return input, state
}

// end is the end of a call's activity in the branch.
func (m *maker) end(index int) ScheduledEnd {
	call := m.pass.Plan.Calls[index]
	alternative, fails := m.pass.Flow.Conditions().Ending(index, m.branch)
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

// result makes a result that the tool and the state schema accept, with a value at every path that is read.
func (m *maker) result(call *plan.Call, route plan.Route) any {
	if call.Produced != nil {
		return call.Produced.Value()
	}
	var value any
	var known []*schema.Schema
	if call.Tool != nil && call.Tool.Output != nil {
		known = append(known, call.Tool.Output)
	}
	for _, path := range route {
		if s := m.pass.Flow.StateAt(path.ID).Schema; s != nil && call.Method == plan.Set {
			known = append(known, s)
		}
	}
	if len(known) > 0 {
		value, _ = samples.Evidence(m.pass, schema.AllOf(known...), m.chance(call.Index))
	}
	for _, path := range route {
		for _, one := range m.leaves[call.Index] {
			if m.pass.Plan.Paths.IsAbove(path.ID, one.path) {
				steps := m.pass.Plan.Paths.Segments(one.path)[m.pass.Plan.Paths.Depth(path.ID):]
				value = m.plant(value, steps, call, one)
			}
		}
	}
	if value == nil {
		value = m.filling(call, demand{method: call.Method})
	}
	return value
}

func (m *maker) chance(at int) *rand.Rand { return rand.New(rand.NewPCG(m.seed, uint64(at))) }

// filling is a value for a place: of a call's result, or for no call of what the run begins with. Where nothing is
// known of it, it names the call.
func (m *maker) filling(call *plan.Call, one demand) any {
	if one.fixed {
		return one.value
	}
	text, at, known := "given", int(one.path), []*schema.Schema{one.fits}
	if call != nil {
		text, at = "from "+call.Name, call.Index
	} else {
		known = append(known, m.pass.Flow.Initial(one.path).Schema)
	}
	for _, s := range known {
		if s != nil {
			if value, ok := samples.Evidence(m.pass, s, m.chance(at)); ok {
				return value
			}
		}
	}
	switch one.method {
	case plan.Merge, plan.Assign:
		return map[string]any{"by": text}
	case plan.Push, plan.Concat:
		return []any{text}
	}
	return text
}

// plant puts a value at a path of another value unless one is present; a fixed value always replaces
// it. Values above it are replaced only where nothing is known.
func (m *maker) plant(value any, steps []expression.Segment, call *plan.Call, one demand) any {
	at := value
	for _, step := range steps {
		kind := schema.Object
		if step.IsIndex {
			kind = schema.Array
		}
		if at != nil && schema.KindOf(at) != kind {
			return value
		}
		at, _ = pathtree.Step(at, step)
	}
	if at != nil && !one.fixed {
		return value
	}
	return pathtree.With(value, steps, m.filling(call, one))
}
