package analyzer

import (
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/obelus-dev/obelus/analyzer/flow"
	"github.com/obelus-dev/obelus/analyzer/internal/analysis"
	"github.com/obelus-dev/obelus/analyzer/internal/samples"
	"github.com/obelus-dev/obelus/analyzer/rules"
	"github.com/obelus-dev/obelus/compiler/bind"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/expression"
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
	maxInside = 4   // delegates in delegates
)

// A sampler has the calls of one plan run with generated values: those of the judged plan, or of a delegate whose
// schemas leave parameters or results open.
type sampler struct {
	*shared
	pass    *Pass
	plan    *plan.Plan              // that is run
	depth   int                     // of delegates in delegates
	erring  map[string]bool         // calls with errors of their own, by name
	joined  map[string]bool         // calls whose failures go to where results are looked for, by name
	blind   map[*plan.Template]bool // see [expression.Checked.MayFail]
	handled int                     // findings in a delegate that were reported at its call
}

// shared is what the samplers of a plan and its delegates have together.
type shared struct {
	budget    *samples.Budget
	targets   samples.Targets         // at which something may change
	all       map[*plan.Call]*sampler // by the calls that are run
	delegates map[*plan.Plan]*sampler
}

// runSamples runs the calls that aren't known to succeed.
func runSamples(p *Pass) {
	run := *analysis.Kept[SampleRun](p.Shared)
	if run == nil || p.Screens || p.Plan.Form == plan.Replan || p.Plan.AwaitsInstances ||
		p.Unknown(diag.State|diag.Writes|diag.Order|diag.Input|diag.Reads|diag.Tools) || !p.Plan.Graph.Acyclic() {
		return
	}
	p.Rule = rules.OutputMismatch.Rule
	output, pass := isOutputUndecided(p), p
	calls := undecided(p, output)
	if !output && len(calls) == 0 {
		return
	}
	if len(calls) < len(p.Plan.Calls) {
		pass = analysis.NewPass(bind.Part(p.Plan, calls, p.Plan.Instances), p.Flow.Hidden)
		pass.Surroundings, pass.Flow.Schemas, pass.Flow.Lacks = p.Surroundings, p.Flow.Schemas, p.Flow.Lacks
		pass.Rule, pass.Found = p.Rule, p.Found
	}
	s := &shared{budget: samples.BudgetOf(p), all: map[*plan.Call]*sampler{}, delegates: map[*plan.Plan]*sampler{}}
	t := s.sampler(pass, 0, output)
	leaves := *analysis.Kept[rules.UndecidedLeaves](p.Store)
	for n := range maxTrials {
		if s.budget.Runs < 0 && n >= minTrials || s.budget.Worked.Passed() {
			break
		}
		t.try(n, run, leaves)
	}
	p.Found = pass.Found
}

// undecided are the calls of which types, schemas and paths leave open whether they fail, and all that these, and the
// output if that is asked about, depend on.
func undecided(p *Pass, output bool) (calls []int32) {
	within := make([]bool, len(p.Plan.Calls))
	for i := range p.Plan.Reads {
		if r := &p.Plan.Reads[i]; output && r.Call < 0 {
			for _, w := range r.Writers {
				within[w] = true
			}
		}
	}
	for _, i := range slices.Backward(p.Plan.Graph.Order()) {
		if !within[i] && !isUndecided(p, p.Plan.Calls[i]) {
			continue
		}
		calls = append(calls, i)
		for _, dep := range p.Plan.Graph.Deps(int(i)) {
			within[dep] = true
		}
	}
	slices.Sort(calls)
	return calls
}

func isUndecided(p *Pass, call *plan.Call) bool {
	for t := range call.Expressions() {
		if rules.MayFail(p, t) {
			return true
		}
	}
	if call.Each != nil && !surelyFits(p, call.Each.List, flow.AList) {
		return true
	}
	for _, taker := range analysis.Takers(p, call) {
		for _, f := range call.Params.Fields {
			if at := taker.Place(f.Key); f.Value.Live && at.Possible && !surelyFits(p, f.Value, at.Schema) {
				return true
			}
		}
		if call.Params.Live && taker.Combines() {
			return true
		}
	}
	for _, path := range call.Paths() {
		if call.Method != plan.Set || p.Plan.Paths.Depth(path.ID) > 2 || p.Flow.StateAt(path.ID).Schema != nil {
			return true
		}
	}
	return rules.Opens(p, call) || samples.BudgetOf(p).OpenCode[call.Single()] && call.FailureRoute() < 0
}

// isOutputUndecided reports whether the plan's output may fail, be null, or not fit its schema.
func isOutputUndecided(p *Pass) bool {
	t := p.Plan.Output
	return t != nil && t.Live && (rules.MayFail(p, t) || len(*analysis.Kept[rules.UndecidedLeaves](p.Store)) > 0 ||
		p.Plan.OutputSchema != nil || rules.GivesOutput(p) && !rules.HasLiterals(t))
}

// surelyFits reports whether a schema accepts all known values of a template.
func surelyFits(p *Pass, t *plan.Template, to *schema.Schema) bool {
	return to == nil || !slices.ContainsFunc(p.Flow.Eval(nil, t), func(f flow.Variant) bool {
		if f.Schema == nil {
			return f.Uncertain || t.Expr == nil || rules.SomethingKnown(p, t)
		}
		return f.Uncertain || p.Flow.Contains(f.Schema, to).Relation != schema.Fits
	})
}

// sampler makes that of a plan: of its calls without what takes people, policies or time. A call with an error of its
// own gives a sample, whatever is passed to it.
func (s *shared) sampler(p *Pass, depth int, output bool) *sampler {
	one := *p.Plan
	one.Limits, one.Policies, one.Delegates = plan.Limits{}, nil, map[string]*plan.Plan{}
	one.Instances, one.Targets, one.Entire, one.Calls = nil, nil, nil, slices.Clone(one.Calls)
	if !output {
		one.Output = nil
	}
	t := &sampler{shared: s, pass: p, plan: &one, depth: depth, blind: map[*plan.Template]bool{},
		erring: map[string]bool{}, joined: map[string]bool{}}
	for _, f := range p.Found {
		t.joined[f.Call] = t.joined[f.Call] || f.Rule == rules.FailureJoinsRule
		t.erring[f.Call] = t.erring[f.Call] || f.Severity == diag.Error && f.Rule != writeConflict.Rule
	}
	for i, of := range one.Calls {
		call := *of
		call.Instance, call.Delegate, call.Confirm, call.Retry, call.Timeout = "", "", false, plan.Retry{}, 0
		if t.erring[of.Label()] {
			call.When, call.Each, call.Params, call.Scopes = nil, nil, &plan.Template{Value: map[string]any{}}, nil
			call.Reads = nil
		} else if sub := t.inside(of); sub != nil {
			call.Delegate, one.Delegates[call.Name] = call.Name, sub.plan
			s.delegates[sub.plan] = sub
		}
		one.Calls[i], s.all[&call] = &call, t
	}
	t.aim()
	return t
}

// inside is what samples the delegate of a call; nil where that shows nothing, or it isn't sound by itself.
func (t *sampler) inside(call *plan.Call) *sampler {
	p := t.pass
	if !rules.Opens(p, call) || p.Delegates == nil || t.depth >= maxInside ||
		call.ScopesNode != nil && rules.IsReported(p, call.ScopesNode) {
		return nil
	}
	judged := p.Delegates.Judge(p.Plan.Delegates[call.Delegate])
	if !judged.Sound || len(diag.AtLeast(diag.Warning, judged.Findings)) > 0 {
		return nil
	}
	return t.shared.sampler(p.Inner(judged.Plan), t.depth+1, true)
}

// within is what samples the delegate of a call, or nil.
func (t *sampler) within(call *plan.Call) *sampler { return t.delegates[t.plan.Delegates[call.Name]] }

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
func (t *sampler) try(n int, run SampleRun, leaves []*plan.Template) {
	random, one := rand.New(rand.NewPCG(uint64(n), 71)), *t.plan
	w := &trial{sampler: t, random: random, ends: map[*plan.Call]*end{}, counts: map[string]int{},
		generator: samples.NewGenerator(t.pass, t.targets, n, random, &t.budget.Runs),
		assumed:   map[*plan.Template]bool{}, above: map[*plan.Read]BranchChoice{},
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
		return slices.Contains(one.StateSchema.Required(), key) ||
			known && len(one.Writers(id)) == 0 // else nobody reads it, or calls write it
	})
	w.budget.Runs -= callWork * len(one.Calls)
	if run(&Simulation{plan: &one}, w) == nil && one.Output != nil {
		w.judgeOutput(leaves)
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
