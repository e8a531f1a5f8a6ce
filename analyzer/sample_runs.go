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
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/runtime/state"
)

// Sample runs check what types, schemas and branches leave open: a simulation runs the calls with generated results and
// with routed failures. A fault that is found can happen in a run, and the values show it.
//
// Nothing is concluded from values that the plan doesn't describe: they are holes, see package samples.

// A SampleRun simulates one run whose values are samples.
type SampleRun func(*Simulation, state.Samples) error

// Bounds on sample runs.
const (
	maxTrials = 200 // of a plan
	minTrials = 2   // where the plan is large
	callWork  = 60  // steps of each call
	endWork   = 6   // of each activity's end
)

// A sampler has calls run with generated values.
type sampler struct {
	pass   *Pass // of these calls alone
	budget *samples.Budget
	// failures of the calls of these names go to where results are looked for, which is a finding of its own
	asked    map[string]bool // calls to check, by name; nil for all
	joined   map[string]bool
	erring   map[string]bool         // calls of these names have errors of their own
	targets  samples.Targets         // at which something may change
	blind    map[*plan.Template]bool // see [expression.Checked.MayFail]
	reported map[undecidedPlace]bool

	plan      *plan.Plan              // that is run
	handled   int                     // findings in a delegate that were reported at its call
	depth     int                     // of delegates in delegates
	all       map[*plan.Call]*sampler // also those of delegates, by the calls that are run
	delegates map[*plan.Plan]*sampler
}

// newSampler makes that of a plan below another.
func newSampler(p *Pass, above *sampler) *sampler {
	t := &sampler{pass: p, budget: above.budget, all: above.all, delegates: above.delegates, depth: above.depth + 1,
		joined: map[string]bool{}, erring: map[string]bool{},
		blind: map[*plan.Template]bool{}, reported: map[undecidedPlace]bool{}}
	for _, f := range p.Found {
		t.joined[f.Call] = t.joined[f.Call] || f.Rule == rules.FailureJoinsRule
		t.erring[f.Call] = t.erring[f.Call] || f.Severity == diag.Error && f.Rule != writeConflict.Rule
	}
	return t
}

// A trial is one sample run.
type trial struct {
	*sampler  // of the plan that is judged
	random    *rand.Rand
	generator samples.Generator
	look      expression.Lookup // by read
	ended     map[*plan.Call]*ending
	counts    map[string]int                      // of the items of unknown lists, by their expression
	assumed   map[*plan.Template]bool             // what unknown conditions are taken for, and unknown lists
	above     map[*plan.Read]want                 // what is above it where a read finds nothing
	faults    map[*plan.Template]func(*plan.Call) // report why an expression fails: it counts once its call has failed
	failed    bool                                // a call has
	refusing  *schema.Schema                      // the last that refused something
	refused   any
}

// An ending is the outcome of a call.
type ending struct {
	done, fails, skipped bool
	unfit                bool // there was no place for its result
	takes                int  // the alternative of its output that it took; -1 where that isn't known
}

// runSamples runs the calls that aren't known to succeed.
func runSamples(p *Pass) {
	run := *analysis.Kept[SampleRun](p.Shared)
	if run == nil || p.Screens || p.Plan.Form == plan.Replan || p.Plan.AwaitsInstances ||
		p.Unknown(diag.State|diag.Writes|diag.Order|diag.Input|diag.Reads|diag.Tools) || !p.Plan.Graph.Acyclic() {
		return
	}
	p.Rule = rules.OutputMismatch.Rule
	output := isOutputUndecided(p)
	asked, calls := map[string]bool{}, []int32(nil)
	for _, call := range p.Plan.Calls {
		if isUndecided(p, call) {
			asked[call.Name], calls = true, append(calls, int32(call.Index))
		}
	}
	if !output && len(calls) == 0 {
		return
	}
	pass := p
	if calls = needed(p.Plan, calls, output); len(calls) < len(p.Plan.Calls) {
		pass = analysis.NewPass(bind.Part(p.Plan, calls, p.Plan.Instances), p.Flow.Hidden)
		pass.Surroundings, pass.Flow.Schemas, pass.Flow.Lacks = p.Surroundings, p.Flow.Schemas, p.Flow.Lacks
		pass.Rule, pass.Found = p.Rule, p.Found
	}
	t := newSampler(pass, &sampler{budget: samples.BudgetOf(p), all: map[*plan.Call]*sampler{},
		delegates: map[*plan.Plan]*sampler{}})
	t.asked = asked
	t.prepare(output)
	undecided := *analysis.Kept[rules.UndecidedLeaves](p.Store)
	for n := range maxTrials {
		if t.budget.Runs < 0 && n >= minTrials || t.budget.Worked.Passed() {
			break
		}
		t.try(n, run, undecided)
	}
	p.Found = pass.Found
}

// needed are the calls that have to run where some calls and the output are asked about: all that these depend on, and
// all that writes where they do.
func needed(p *plan.Plan, asked []int32, output bool) (calls []int32) {
	within, around := make([]bool, len(p.Calls)), map[pathtree.ID]bool{}
	take := func(i int32) {
		if !within[i] {
			within[i], calls = true, append(calls, i)
		}
	}
	for _, i := range asked {
		take(i)
	}
	for i := range p.Reads {
		if r := &p.Reads[i]; output && r.Call < 0 {
			for _, w := range r.Writers {
				take(w)
			}
		}
	}
	for at := 0; at < len(calls); at++ {
		call := p.Calls[calls[at]]
		for _, dep := range p.Graph.Deps(call.Index) {
			take(dep)
		}
		for _, path := range call.Paths() {
			if list := p.Paths.List(path.ID); !around[list] {
				around[list] = true
				for _, w := range p.Around(path.ID) {
					take(w.Call)
				}
			}
		}
	}
	slices.Sort(calls)
	return calls
}

// prepare makes the plan that is run: without what takes people, policies or time. A call with an error of its own
// gives a sample, whatever is passed to it.
func (t *sampler) prepare(output bool) {
	one := *t.pass.Plan
	one.Limits, one.Policies, one.Delegates = plan.Limits{}, nil, map[string]*plan.Plan{}
	one.Instances, one.Targets, one.Entire, one.Calls = nil, nil, nil, slices.Clone(one.Calls)
	if !output {
		one.Output = nil
	}
	t.plan = &one
	for i, of := range one.Calls {
		call := *of
		call.Instance, call.Delegate, call.Confirm, call.Retry, call.Timeout = "", "", false, plan.Retry{}, 0
		if t.erring[of.Label()] {
			call.When, call.Each, call.Params, call.Scopes = nil, nil, &plan.Template{Value: map[string]any{}}, nil
			call.Reads = nil
		} else if sub := t.inside(of); sub != nil {
			call.Delegate, one.Delegates[call.Name] = call.Name, sub.plan
		}
		one.Calls[i], t.all[&call] = &call, t
	}
	t.aim()
}

// aim finds the bounds of what receives values.
func (t *sampler) aim() {
	p := t.pass
	for _, s := range []*schema.Schema{p.Plan.OutputSchema, p.Plan.StateSchema} {
		if s != nil {
			t.targets.AtBounds(s)
		}
	}
	for _, call := range p.Plan.Calls {
		if a := p.Plan.Activities[call.Activity]; a != nil && a.Expression != nil {
			t.targets.AtConstants(a.Expression)
		}
		if tool := call.Single(); t.budget.OpenCode[tool] {
			t.targets.AtBounds(tool.Output)
		}
		for _, taker := range analysis.Takers(p, call) {
			t.targets.AtBounds(taker.Schema)
		}
	}
	analysis.Calculations(p, func(_ *plan.Call, x *plan.Template) { t.targets.AtConstants(x.Expr) })
}

// try has the calls run once.
func (t *sampler) try(n int, run SampleRun, undecided []*plan.Template) {
	random, one := rand.New(rand.NewPCG(uint64(n), 71)), *t.plan
	w := &trial{sampler: t, random: random, ended: map[*plan.Call]*ending{}, counts: map[string]int{},
		generator: samples.NewGenerator(t.pass, t.targets, n, random, &t.budget.Runs),
		assumed:   map[*plan.Template]bool{}, above: map[*plan.Read]want{},
		faults: map[*plan.Template]func(*plan.Call){}}
	if all := t.pass.Plan.Instances; len(all) > 0 {
		own := &all[n%len(all)]
		one.Input, one.State = bind.Overlay(one.Input, own.Input), bind.Overlay(one.State, own.State)
	}
	var ok bool
	if one.Input, ok = w.begin(one.Input, one.InputSchema, func(string) bool { return true }); !ok {
		return
	}
	one.State, _ = w.begin(one.State, one.StateSchema, func(key string) bool {
		id, known := analysis.Lookup(t.pass, []expression.Segment{{Key: "state"}, {Key: key}})
		return known && len(one.Writers(id)) == 0 // else nobody reads it, or calls write it
	})
	w.budget.Runs -= callWork * len(one.Calls)
	if run(&Simulation{plan: &one}, w) == nil && one.Output != nil {
		w.judgeOutput(undecided)
	}
}

// begin lays values that a schema accepts, of some keys or of all, over what the document
// gives, as a run does: at times, and always where it doesn't begin with the latter alone. It
// reports whether there was room to make them; otherwise the schema may refuse what is there.
func (w *trial) begin(own any, s *schema.Schema, takes func(key string) bool) (value any, ok bool) {
	if s == nil || own != nil && w.random.IntN(2) != 0 && s.Accepts(own) {
		return own, true
	}
	v, _ := w.generator.Value(s, true)
	over, isObject := v.(map[string]any)
	if !isObject {
		return own, false
	}
	over = maps.Clone(over)
	maps.DeleteFunc(over, func(key string, _ any) bool { return !takes(key) })
	return state.Over(own, over), true
}

// of is which call of a plan is run, its sampler, and how it ended.
func (w *trial) of(call *plan.Call) (*sampler, *plan.Call, *ending) {
	call = compiler.RepeatedCall(call)
	t := w.all[call]
	own := t.pass.Plan.Calls[call.Index]
	return t, own, w.outcome(own)
}

func (w *trial) outcome(call *plan.Call) *ending {
	return flow.Once(w.ended, call, func() *ending { return &ending{takes: min(0, 1-len(call.Output))} })
}

// Ends makes up how the activity of a call or of one item ends.
func (w *trial) Ends(call *plan.Call, params map[string]any) (value any, route int, failure *state.Failure) {
	t, own, end := w.of(call)
	isItem := call.ItemOf != nil
	w.budget.Runs -= endWork
	collects := isItem && own.Each.Collect
	if collects && w.random.IntN(4) == 0 || !collects && (!isItem || call.Index == 0) && w.fails(t, own) {
		end.fails, w.failed = !isItem, true
		return nil, -1, &state.Failure{Code: "error", Message: "it failed"}
	}
	value, route = w.result(t, own, params, isItem), -1
	switch {
	case isItem:
	case samples.IsHole(value) && own.Method == plan.Concat:
		value = []any{value}
	case len(own.Output) > 1:
		route = w.taking(t, own, value)
		end.takes = route
	}
	return value, route, nil
}

// result generates or computes the result of a call or of one item.
func (w *trial) result(t *sampler, call *plan.Call, marked map[string]any, isItem bool) any {
	p, tool := t.pass, call.Single()
	if w.isLarge(marked) {
		return samples.Hole()
	}
	cleared, how := samples.Clear(marked)
	params, _ := cleared.(map[string]any)
	if call.Each != nil && (!isItem || w.isAssumed(call.Each.List) && p.Flow.Listing(call).Uncounted) {
		return samples.Hole()
	}
	if a := p.Plan.Activities[call.Activity]; a != nil && a.Expression != nil && !t.erring[call.Label()] &&
		how == samples.Described {
		v, err := samples.ResultOfCode(p, tool, a, params, &w.budget.Runs)
		if err == nil && !samples.IsLarge(v) {
			return v
		}
		if err != nil && w.budget.OpenCode[tool] && call.FailureRoute() < 0 && !w.budget.Worked.Passed() &&
			t.first(call, tool, a.Node.Get("expr")) {
			f := samples.ReportCode(p, tool, call, a, params, v, err)
			if f != nil {
				f.Note(call.ToolNode.Span(), "this call passes them")
			}
		}
	}
	if tool != nil && tool.Output != nil {
		if v, made := w.generator.Value(tool.Output, false); made && !samples.IsLarge(v) {
			return v
		}
	}
	return samples.Hole()
}

// fails reports whether the activity of a call fails this time, which its failure route takes up.
func (w *trial) fails(t *sampler, call *plan.Call) bool {
	return call.FailureRoute() >= 0 && !t.joined[call.Label()] && w.random.IntN(4) == 0 &&
		// a model's answer fails only where the tool says that it fails, or the plan has a place for failures by its
		// name
		(call.Activity != "" || call.Delegate != "" || saysItFails(call.Single()) ||
			rules.NamesFailures(t.pass.Plan, call.Output[call.FailureRoute()]...))
}

func saysItFails(t *plan.Tool) bool {
	return t != nil && t.Simulate.Failure != nil && *t.Simulate.Failure > 0
}

// taking is the alternative that a result takes: any that accepts it, and the failure route where results may go there.
func (w *trial) taking(t *sampler, call *plan.Call, value any) int {
	value, _ = samples.Clear(value)
	last := call.FailureRoute()
	var taking []int
	for i, route := range call.Output {
		isBarred := i == last &&
			(!rules.MayChoose(t.pass.Plan, call) || rules.TellsFailures(t.pass, route))
		if !isBarred && (call.Method != plan.Set || !slices.ContainsFunc(route, func(path plan.Path) bool {
			s := t.pass.Flow.StateAt(path.ID).Schema
			return s != nil && !s.Accepts(value)
		})) {
			taking = append(taking, i)
		}
	}
	if len(taking) == 0 {
		return last
	}
	return taking[w.random.IntN(len(taking))]
}

// Settled takes note of how a call ended, and reports what went wrong in it.
func (w *trial) Settled(call *plan.Call, done bool, failure *state.Failure, routed bool) {
	t, own, end := w.of(call)
	if call.ItemOf == nil {
		if end.done, end.fails, end.skipped = done, routed, !done && failure == nil; routed {
			end.takes = own.FailureRoute()
		}
	}
	if failure == nil {
		return
	}
	w.reportFaults(own, own.Expressions())
	if sub := t.within(own); sub != nil {
		w.delegateFailed(t, own, sub)
	}
}

var errNoRoom = errors.New("the state schema has no room for it")

// Unfit reports a value that can't be written, unless that depends on something unknown.
func (w *trial) Unfit(call *plan.Call, path plan.Path, value any, why error, log *state.Log) {
	t, own, end := w.of(call)
	wrong := new(schema.Violation)
	if errors.As(why, &wrong) {
		why = fmt.Errorf("%w: %v", errNoRoom, wrong)
	} else if samples.IsHole(value) || isInHole(log, t.pass.Plan.Paths, path.ID) {
		return
	}
	switch { // after a failure it is the record of it
	case !end.fails && !end.unfit:
		end.unfit = true
		value, _ = samples.Clear(value)
		t.hasNoPlace(own, path, value, false, why)
	case end.fails && rules.ForFailures(t.pass, own, path):
		t.hasNoPlace(own, path, flow.FailureSample, true, why)
	}
}

// isInHole reports whether nothing is known of what is at a path, or above it.
func isInHole(log *state.Log, paths *pathtree.Tree, at pathtree.ID) bool {
	for ; paths.Depth(at) >= 2; at = paths.Parent(at) {
		if value, there := log.Resolve(at, state.Anyone); there && samples.IsHole(value) {
			return true
		}
	}
	return false
}

// judgeOutput judges the plan's output.
func (w *trial) judgeOutput(undecided []*plan.Template) {
	p := w.pass
	w.reportFaults(nil, p.Plan.Output.Expressions())
	if rules.IsReported(p, p.Plan.Output.Node) || w.lacksOutput(undecided).unspecified {
		return // one finding is enough, and nothing follows from what is missing
	}
	if s := p.Plan.OutputSchema; s != nil && s == w.refusing && s.Compile() == nil {
		w.isRefused(nil, nil, &plan.TemplateField{Value: p.Plan.Output}, w.refused, s)
	}
}
