package analyzer

import (
	"github.com/obelus-dev/obelus/analyzer/flow"
	"github.com/obelus-dev/obelus/analyzer/permit"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
)

// A Pass is one analysis of one plan: what a rule looks at, and where its findings go.
type Pass struct {
	// Plan is what is judged. It mustn't be changed.
	Plan *plan.Plan

	flow  *flow.Facts // what may be at each place of the plan
	store store       // what rules keep of the plan
	surroundings
	arrival
	reports
	suggested
	view *viewData // of this view of the plan; nil where there is but one
}

// Surroundings are what the analysis takes from outside the plan.
type surroundings struct {
	shared    store      // what rules keep for all views of the plan
	delegates *delegates // nil where they aren't judged
	within    bool       // the plan is a delegate of one that is judged
	machine   *Machine   // where the plan is to be run; nil where that isn't said
	permit    *permit.Permit
	asks      func(*Rule) bool // for the findings of an optional rule
}

// An arrival is how much of a plan is judged that arrives call by call.
type arrival struct {
	barred func(call int) bool // the call is known never to run; nil for none
	// screens says that more calls may follow; findings must not depend on them.
	screens bool
	// Of a plan that arrives only the calls and reads from these on are judged: those before them have been.
	from, fromRead int
	held           func(call int) bool // the call isn't judged yet; nil for none
	// ordered are the pairs of calls that are to run as listed, by index.
	ordered [][2]int
}

// Reports are the findings so far, and what else the rules couldn't judge.
type reports struct {
	rule          *diag.Rule // the rule that is running
	found         diag.Findings
	openQuestions []openQuestion // questions about branches for which the budget didn't last
	unread        int            // the instances whose initial state wasn't looked at
	strayed       bool           // whether conflicts depend on references that mean something else, in this view or another
}

// Suggested is what dangling references were most likely meant to read: that it isn't read is no finding of its own.
type suggested struct {
	inputs     map[string]bool
	parameters map[suggestedParameter]bool // that texts of activities most likely refer to
	paths      map[pathtree.ID]bool
	misread    map[int]bool // the calls that read what is never there, and must have been meant to read something else
}

// A suggestedParameter is one that a text of an activity most likely refers to.
type suggestedParameter struct {
	activity *plan.Activity
	name     string
}

// viewData is what the pass over one view of a plan has besides.
type viewData struct {
	first   *Pass // the whole plan's
	missing map[source.Span]missingReference
	some    map[findingKey][]string // of findings that only some of its instances have: which
}

// A missingReference is one that some instances of a view, or all of them, can't satisfy.
type missingReference struct {
	read *plan.Read
	ids  []string // nil for all
}

// newPass begins an analysis of a plan of which errors hide some facts.
func newPass(p *plan.Plan, unknown diag.Facts) *Pass {
	one := asOne(p)
	pass := &Pass{Plan: one, flow: flow.New(one, unknown, flow.NewSchemas()), store: store{}}
	pass.shared, pass.asks = store{}, func(*Rule) bool { return true }
	pass.suggested = suggested{map[string]bool{}, map[suggestedParameter]bool{}, map[pathtree.ID]bool{}, map[int]bool{}}
	return pass
}

// inner begins the analysis of a delegate that was found sound.
func (p *Pass) inner(delegate *plan.Plan) *Pass {
	inner := newPass(delegate, 0)
	inner.surroundings = p.surroundings
	inner.shared = store{}
	return inner
}

// Unknown reports whether some of certain facts aren't known, because a part of the
// plan couldn't be understood.
func (p *Pass) Unknown(facts diag.Facts) bool { return p.flow.Unknown(facts) }

// turnTo makes the pass be about the calls and reads of a plan from these on.
func (p *Pass) turnTo(call, read int) {
	p.from, p.fromRead = call, read
	forget[listed](p.store)
	forget[valuesJudged](p.store)
}

// fresh are the calls that are judged: all of them, or of a plan that arrives the latest.
func (p *Pass) fresh() []*plan.Call { return p.Plan.Calls[p.from:] }

// reaches makes a table of something by number as long as it has to be.
func reaches[T any](table []T, n int) []T {
	return append(table, make([]T, max(0, n-len(table)))...)
}

// Report makes a finding of the running rule at a place of the text. It is completed by its own methods before the
// next one is made.
func (p *Pass) Report(at source.Span, format string, args ...any) *diag.Diagnostic {
	return p.found.Report(p.rule, at, format, args...)
}

// path writes a path as people do: †state.a.
func (p *Pass) path(id pathtree.ID) string { return p.Plan.Paths.String(id) }
