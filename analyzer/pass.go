package analyzer

import (
	"slices"

	"github.com/obelus-dev/obelus/analyzer/flow"
	"github.com/obelus-dev/obelus/compiler/dag"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/label"
	"github.com/obelus-dev/obelus/compiler/naming"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/policy"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
)

// A Pass is one analysis of one plan: what a rule looks at, and where its
// findings go.
type Pass struct {
	// Plan is what is judged. It mustn't be changed.
	Plan *plan.Plan

	config Config
	rule   *diag.Rule // the rule that is running
	found  diag.Findings
	flow   *flow.Facts         // what may be at each place of the plan
	barred func(call int) bool // the call is known never to run; nil for none
	// screens says that more calls may follow; findings must not depend on them.
	screens bool
	// Of a plan that arrives only the calls and reads from these on are judged: those
	// before them have been.
	from, fromRead int
	held           func(call int) bool // the call isn't judged yet; nil for none
	// ordered are the pairs of calls that are to run as listed, by index.
	ordered [][2]int
	// evidence counts the calls that were replayed to confirm schedules.
	evidence int

	// What several rules, or many findings of one, ask for; made when first asked.
	everyExpression, calculated []expressionOf // see expressions and calculations

	readers       *readers
	shapes        shapes
	possible      []int8 // by path: see undeclaredPaths
	written       writtenPaths
	openQuestions []openQuestion   // questions about branches for which the budget didn't last
	undecided     []*plan.Template // leaves of the output whose conditions don't decide about their presence
	unread        int              // the instances whose initial state wasn't looked at
	near          map[pathtree.ID]*names
	inState       map[pathtree.ID]*declaration // what the state schema names below a path
	inResult      map[*schema.Schema]*declaration
	parameters    map[*plan.Tool]*parameters
	toolNames     *naming.Suggester
	unsafe        map[*plan.Plan]unsafeCall // see unsafeIn
	judged        []judgement               // see judgements
	fitting       []bool                    // by the first read of an expression: all that comes surely fits what it is for
	samples       *sampleBudget
	labelled      *label.Labels // see labels
	bounds        map[*policy.BoundTool]*parameters
	checks        []policy.Check  // see orderChecks
	strict        *dag.Graph      // see strictGraph
	orderWork     int             // that order rules have taken, see spend
	orderedCalls  [][]orderedCall // see related

	// What dangling references were most likely meant to read: that it isn't read
	// is no finding of its own.
	suggestedInputs map[string]bool
	// suggestedParameters are those that texts of activities most likely refer to.
	suggestedParameters map[suggestedParameter]bool
	suggestedPaths      map[pathtree.ID]bool
	misread             map[int]bool // the calls that read what is never there, and must have been meant to read something else
	strayed             bool         // whether conflicts depend on these, in this view or another

	view *viewPass // of this view of the plan; nil where there is but one
}

func newPass(p *plan.Plan, found []diag.Diagnostic) *Pass {
	one := asOne(p)
	return &Pass{
		Plan:            one,
		flow:            flow.New(one, unknownFacts(p, found), flow.NewSchemas()),
		samples:         newSampleBudget(),
		near:            map[pathtree.ID]*names{},
		inState:         map[pathtree.ID]*declaration{},
		inResult:        map[*schema.Schema]*declaration{},
		parameters:      map[*plan.Tool]*parameters{},
		bounds:          map[*policy.BoundTool]*parameters{},
		suggestedInputs: map[string]bool{}, suggestedParameters: map[suggestedParameter]bool{},
		suggestedPaths: map[pathtree.ID]bool{},
		misread:        map[int]bool{},
	}
}

// Unknown reports whether some of certain facts aren't known, because a part of the
// plan couldn't be understood.
func (p *Pass) Unknown(facts diag.Facts) bool { return p.flow.Unknown(facts) }

// apply runs the rules that are asked for. Sample runs then check the calls that have no finding and
// aren't known to succeed.
func (p *Pass) apply(counts func(*Rule) bool) {
	for _, r := range p.config.rules() {
		if counts(r) && p.config.asksFor(r) {
			p.run(r)
		}
	}
	if counts(outputMismatch) {
		runSamples(p)
	}
}

// run runs one rule, where what it concludes from is known.
func (p *Pass) run(r *Rule) {
	if p.Unknown(r.Needs) {
		return
	}
	p.rule = r.Rule
	switch {
	case r.Call != nil:
		for _, call := range p.fresh() {
			r.Call(p, call)
		}
	case r.Run != nil && p.from > 0 && slices.Contains(p.config.Rules, r):
		from, reads := p.from, p.fromRead
		p.turnTo(0, 0) // it may ask for anything
		r.Run(p)
		p.turnTo(from, reads)
	case r.Run != nil:
		r.Run(p)
	}
}

// turnTo makes the pass be about the calls and reads of a plan from these on.
func (p *Pass) turnTo(call, read int) {
	p.from, p.fromRead = call, read
	p.everyExpression, p.calculated, p.judged = nil, nil, nil
}

// forgetValues drops what was concluded from the values of the input and the state.
func (p *Pass) forgetValues() {
	p.flow.Restart()
	clear(p.near)
}

// A sampleBudget is what generated values may still cost, over all views of a plan.
type sampleBudget struct {
	making   int                 // steps of making values up as evidence
	trying   int                 // steps of sample runs
	worked   expression.Meter    // cost of expressions
	openCode map[*plan.Tool]bool // tools with code that may fail for some parameters: calls show for which
}

func newSampleBudget() *sampleBudget {
	worked := expression.Meter{Steps: 4_000_000, Memory: 256_000_000}
	return &sampleBudget{flow.MaxReasoning / 4, trialWork, worked, map[*plan.Tool]bool{}}
}

// fresh are the calls that are judged: all of them, or of a plan that arrives the
// latest.
func (p *Pass) fresh() []*plan.Call { return p.Plan.Calls[p.from:] }

// reaches makes a table of something by number as long as it has to be.
func reaches[T any](table []T, n int) []T {
	return append(table, make([]T, max(0, n-len(table)))...)
}

// Report makes a finding of the running rule at a place of the text. It is completed
// by its own methods before the next one is made.
func (p *Pass) Report(at source.Span, format string, args ...any) *diag.Diagnostic {
	return p.found.Report(p.rule, at, format, args...)
}

// path writes a path as people do: †state.a.
func (p *Pass) path(id pathtree.ID) string { return p.Plan.Paths.String(id) }
