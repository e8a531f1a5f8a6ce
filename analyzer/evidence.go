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
		m := newMaker(p, branch, seed, u, append(slices.Clone(needed), int32(u.A), int32(u.B)))
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

// A maker makes up a case that calls run in on a branch: what the run begins with, and results.
type maker struct {
	pass    *Pass
	branch  logic.Assignment
	seed    uint64
	demands map[int32][]demand // by the call whose result has to meet them, the deepest first
}

// noWriter is who writes what a run begins with.
const noWriter = -1

// A demand is a path where something has to be, unless something is: what a call reads, or writes into.
type demand struct {
	path   pathtree.ID
	fixed  bool // this value, whatever is there
	value  any
	fits   *schema.Schema // that accepts it; nil for any
	method plan.Method    // by which it is written over
}

// newMaker notes what calls read from each other's results, such that conditions hold and parameters are accepted, and
// where they write into these, two of them into each other's.
func newMaker(p *Pass, branch logic.Assignment, seed uint64, u *plan.Unordered, calls []int32) *maker {
	m := &maker{p, branch, seed, map[int32][]demand{}}
	for _, c := range calls {
		call := p.Plan.Calls[c]
		for _, f := range call.Params.Fields {
			var fits *schema.Schema
			if call.Tool != nil && call.Tool.Parameters != nil {
				fits = call.Tool.Parameters.Part(f.Key).Schema
			}
			m.demand(f.Value, fits, false)
		}
		m.demand(call.When, nil, call.When == compiler.Condition(call))
		if call.Each != nil {
			m.demand(call.Each.List, flow.AList, false)
		}
		into := call.Waits
		if int(c) == u.A || int(c) == u.B { // which is the other one
			into = append(slices.Clip(into), int32(u.A+u.B)-c)
		}
		for _, path := range call.Paths() {
			m.add(demand{path: path.ID, method: call.Method}, into...)
		}
	}
	for _, list := range m.demands { // a container is there before something is sought in it
		slices.SortStableFunc(list,
			func(a, b demand) int { return p.Plan.Paths.Depth(b.path) - p.Plan.Paths.Depth(a.path) })
	}
	return m
}

// demand notes what a template reads: of a condition the values of the branch, and else one that a schema accepts.
func (m *maker) demand(of *plan.Template, fits *schema.Schema, guards bool) {
	for t := range of.Expressions() {
		for _, read := range t.Reads {
			r, d := &m.pass.Plan.Reads[read], demand{}
			if d.path = r.Path; guards {
				d.value, d.fixed = m.pass.Flow.Conditions().ReadValue(read, m.branch)
			} else if t == of && t.Expr.Plain() {
				d.fits = fits
			}
			if m.add(d, r.Writers...); len(r.Writers) == 0 {
				if initial := m.pass.Flow.Initial(r.Path).Schema; d.fits == nil {
					d.fits = initial
				}
				m.add(d, noWriter)
			}
		}
	}
}

func (m *maker) add(d demand, writers ...int32) {
	for _, w := range writers {
		m.demands[w] = append(m.demands[w], d)
	}
}

// beginning is the input and the state that the run begins with, where they differ from the plan's own.
func (m *maker) beginning() (input, state map[string]any) {
	p := m.pass.Plan
	var all any = map[string]any{"input": p.Input, "state": p.State}
	for _, d := range m.demands[noWriter] {
		all = m.plant(noWriter, all, p.Paths.Segments(d.path), d)
	}
	if input, _ = all.(map[string]any)["input"].(map[string]any); reflect.DeepEqual(any(input), p.Input) {
		input = nil
	}
	if state, _ = all.(map[string]any)["state"].(map[string]any); reflect.DeepEqual(any(state), p.State) {
		state = nil
	}
	return input, state
}

// end is the end of a call's activity in the branch: its result is one that the tool and the state schema accept, with
// a value at every path that is read.
func (m *maker) end(index int) ScheduledEnd {
	p, call := m.pass.Plan, m.pass.Plan.Calls[index]
	alternative, fails := m.pass.Flow.Conditions().Ending(index, m.branch)
	end := ScheduledEnd{Call: call.Name, Fails: fails}
	var route plan.Route
	switch {
	case fails:
		return end
	case len(call.Output) > 1 && alternative >= 0:
		end.Path = compiler.Offered(p, call)[alternative]
		fallthrough
	case len(call.Output) > 0:
		route = call.Output[max(0, alternative)]
	}
	if call.Produced != nil {
		end.Output = call.Produced.Value()
		return end
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
		end.Output = m.filling(int32(index), demand{fits: schema.AllOf(known...)})
	}
	for _, path := range route {
		for _, d := range m.demands[int32(index)] {
			if p.Paths.IsAbove(path.ID, d.path) {
				end.Output = m.plant(int32(index), end.Output, p.Paths.Segments(d.path)[p.Paths.Depth(path.ID):], d)
			}
		}
	}
	if end.Output == nil {
		end.Output = m.filling(int32(index), demand{method: call.Method})
	}
	return end
}

// filling is a value for a demand. Where nothing is known of it, it names the call that writes it.
func (m *maker) filling(writer int32, d demand) any {
	if d.fits != nil {
		chance := rand.New(rand.NewPCG(m.seed, uint64(writer)+uint64(d.path)))
		if value, ok := samples.Evidence(m.pass, d.fits, chance); ok {
			return value
		}
	}
	text := "given"
	if writer != noWriter {
		text = "from " + m.pass.Plan.Calls[writer].Name
	}
	switch d.method {
	case plan.Merge, plan.Assign:
		return map[string]any{"by": text}
	case plan.Push, plan.Concat:
		return []any{text}
	}
	return text
}

// plant puts what is demanded at a path of a value, unless something is there.
func (m *maker) plant(writer int32, value any, steps []expression.Segment, d demand) any {
	if at, _ := pathtree.Walk(value, steps); d.fixed {
		return pathtree.With(value, steps, d.value)
	} else if at == nil {
		return pathtree.With(value, steps, m.filling(writer, d))
	}
	return value
}
