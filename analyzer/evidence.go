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
	if p.Targets != nil {
		return nil,
			errors.New("a schedule orders the calls of one state, and instances of this plan have calls of their own")
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
		call.Delegate, call.Instance, call.Retry = "", "", plan.Retry{}
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
	var ofA, ofB dag.Trace
	ofA.Follow(&p.Plan.Graph, int32(u.A))
	ofB.Follow(&p.Plan.Graph, int32(u.B))
	needed := slices.DeleteFunc(slices.Clone(p.Plan.Graph.Order()),
		func(i int32) bool { return !ofA.Met(i) && !ofB.Met(i) })
	cost := analysis.Kept[replayed](p.Store)
	for seed := range uint64(conflictTries) {
		// A replay settles every call, and looks along every dependency.
		if *cost += replayed(2*len(p.Plan.Calls) + p.Plan.Graph.Edges()/2); *cost > maxEvidence {
			return nil
		}
		m := &maker{pass: p, branch: branch, seed: seed, leaves: map[int32][]demand{}}
		m.require(u, append(slices.Clone(needed), int32(u.A), int32(u.B)))
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

// A maker makes up results that let the calls of a schedule run.
type maker struct {
	pass   *Pass
	branch logic.Assignment // on which the calls run
	seed   uint64
	leaves map[int32][]demand // by call: what its result must hold; by nobody, what the run begins with
}

// nobody is who writes what a run begins with.
const noWriter = -1

// A demand is a path and what must be there: a value, or anything at all unless something is.
type demand struct {
	path  pathtree.ID
	fixed bool
	value any
}

// require notes what the calls read from each other's results: something has to
// be there, of the type that the parameter takes, and such that conditions hold.
func (m *maker) require(u *plan.Unordered, calls []int32) {
	p := m.pass.Plan
	for _, c := range calls {
		call := p.Calls[c]
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
				r := &p.Reads[read]
				var value any
				var fixed bool
				var fits *schema.Schema
				if t == guard {
					value, fixed = m.pass.Flow.Conditions().ReadValue(read, m.branch)
				} else if t.Expr.Plain() {
					fits = accepts[t.Expr]
				}
				writers := r.Writers
				if len(writers) == 0 {
					writers = []int32{noWriter}
				}
				for _, w := range writers {
					if !fixed {
						value = m.filling(w, r.Path, plan.Set, fits)
					}
					m.leaves[w] = append(m.leaves[w], demand{r.Path, fixed, value})
				}
			}
		}
	}
	for _, c := range calls {
		m.room(p.Calls[c], p.Calls[c].Waits)
	}
	m.room(p.Calls[u.A], []int32{int32(u.B)})
	m.room(p.Calls[u.B], []int32{int32(u.A)})
	for _, list := range m.leaves { // the deepest first: a container is there before something is sought in it
		slices.SortStableFunc(list, func(a, b demand) int { return p.Paths.Depth(b.path) - p.Paths.Depth(a.path) })
	}
}

// room asks writers for something where a call writes inside their results: a
// place for it, and a value that its own replaces.
func (m *maker) room(call *plan.Call, writers []int32) {
	for _, path := range call.Paths() {
		for _, w := range writers {
			m.leaves[w] = append(m.leaves[w], demand{path.ID, false, m.filling(w, path.ID, call.Method, nil)})
		}
	}
}

// beginning is the input and the state that the run begins with, where they differ from the plan's own.
func (m *maker) beginning() (input, state map[string]any) {
	p := m.pass.Plan
	begins := map[string]any{"input": p.Input, "state": p.State}
	for _, one := range m.leaves[noWriter] {
		if path := p.Paths.Segments(one.path); len(path) > 1 && (path[0].Key == "input" || path[0].Key == "state") {
			begins[path[0].Key] = plant(begins[path[0].Key], path[1:], one)
		}
	}
	if !reflect.DeepEqual(begins["input"], p.Input) {
		input, _ = begins["input"].(map[string]any)
	}
	if !reflect.DeepEqual(begins["state"], p.State) {
		state, _ = begins["state"].(map[string]any)
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
func (m *maker) result(call *plan.Call, route plan.Route) (value any) {
	if call.Produced != nil {
		return call.Produced.Value()
	}
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
		value, _ = samples.Evidence(m.pass, schema.AllOf(known...), m.chance(int32(call.Index)))
	}
	paths := m.pass.Plan.Paths
	for _, path := range route {
		for _, one := range m.leaves[int32(call.Index)] {
			if paths.IsAbove(path.ID, one.path) {
				value = plant(value, paths.Segments(one.path)[paths.Depth(path.ID):], one)
			}
		}
	}
	if value == nil {
		value = m.filling(int32(call.Index), pathtree.Root, call.Method, nil)
	}
	return value
}

func (m *maker) chance(at int32) *rand.Rand { return rand.New(rand.NewPCG(m.seed, uint64(at))) }

// filling is a value for a place that a call writes, or for one of what the run begins with. Where nothing is known of
// it, it names the call.
func (m *maker) filling(writer int32, path pathtree.ID, method plan.Method, fits *schema.Schema) any {
	text, at, known := "given", int32(path), []*schema.Schema{fits}
	if writer != noWriter {
		text, at = "from "+m.pass.Plan.Calls[writer].Name, writer
	} else {
		known = append(known, m.pass.Flow.Initial(path).Schema)
	}
	for _, s := range known {
		if s != nil {
			if value, ok := samples.Evidence(m.pass, s, m.chance(at)); ok {
				return value
			}
		}
	}
	switch method {
	case plan.Merge, plan.Assign:
		return map[string]any{"by": text}
	case plan.Push, plan.Concat:
		return []any{text}
	}
	return text
}

// plant puts what is demanded at a path of a value unless one is present; a fixed value always replaces
// it. Values above it are replaced only where nothing is known.
func plant(value any, steps []expression.Segment, one demand) any {
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
	return pathtree.With(value, steps, one.value)
}
