package analysis

import (
	"reflect"

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
	Plan  *plan.Plan
	Flow  *flow.Facts // what may be at each place of the plan
	Store Store       // what rules keep of the plan
	Surroundings
	arrival
	reports
}

// Surroundings are what the analysis takes from outside the plan.
type Surroundings struct {
	Shared    Store      // what rules keep for all instances of the plan
	Delegates *Delegates // nil where they aren't judged
	Within    bool       // the plan is a delegate of one that is judged
	Machine   *Machine   // where the plan is to be run; nil where that isn't said
	Permit    *permit.Permit
	Asks      func(*Rule) bool // for the findings of an optional rule
}

// An arrival is how much of a plan is judged that arrives call by call.
type arrival struct {
	Barred func(call int) bool // the call is known never to run; nil for none
	// Screens says that more calls may follow; findings must not depend on them.
	Screens bool
	Held    func(call int) bool // the call isn't judged yet; nil for none
	// Ordered are the pairs of calls that are to run as listed, by index.
	Ordered [][2]int
}

// reports are the findings so far, and what else the rules couldn't judge.
type reports struct {
	Rule         *diag.Rule // the rule that is running
	Found        diag.Findings
	OpenQuestion *openQuestion // the first question about branches for which the budget didn't last
	Strayed      bool          // conflicts weren't looked for, see [IsAstray]
}

// NewPass begins an analysis of a plan; errors hide some of its facts.
func NewPass(p *plan.Plan, unknown diag.Facts) *Pass {
	pass := &Pass{Plan: p, Flow: flow.New(p, unknown, flow.NewSchemas()), Store: Store{}}
	pass.Shared, pass.Asks = Store{}, func(*Rule) bool { return true }
	return pass
}

// Inner begins the analysis of a delegate that was found sound.
func (p *Pass) Inner(delegate *plan.Plan) *Pass {
	inner := NewPass(delegate, 0)
	inner.Surroundings = p.Surroundings
	inner.Shared = Store{}
	return inner
}

// Unknown reports whether some of certain facts aren't known, because a part of the plan couldn't be understood.
func (p *Pass) Unknown(facts diag.Facts) bool { return p.Flow.Unknown(facts) }

// Report makes a finding of the running rule at a place of the text. It is completed by its own methods before the
// next one is made.
func (p *Pass) Report(at source.Span, format string, args ...any) *diag.Diagnostic {
	return p.Found.Report(p.Rule, at, format, args...)
}

// ReportCall is Report of a call; nil is none.
func (p *Pass) ReportCall(call *plan.Call, at source.Span, format string, args ...any) *diag.Diagnostic {
	return p.Report(at, format, args...).About(call.Label())
}

// Path writes a path as people do: †state.a.
func (p *Pass) Path(id pathtree.ID) string { return p.Plan.Paths.String(id) }

// A Machine is what is known of where a plan is to be run.
type Machine struct {
	// Unrunnable tells each thing for which an activity can't be run there, what to do, and at which place of the text.
	Unrunnable func(a *plan.Activity, tell func(what, help string, at source.Span))
	// Other says that the plan will be run on another machine than the one that was
	// looked at: what is missing is then a warning.
	Other bool
}

// A Store holds what rules work out once: one value of each type, made when it is first asked for.
type Store map[reflect.Type]any

// Kept is the store's value of a type.
func Kept[T any](s Store) *T {
	return flow.Once(s, reflect.TypeFor[T](), func() any { return new(T) }).(*T)
}

// Once is what is kept in a store for a key, made when it is first asked for.
func Once[K comparable, V any](s Store, key K, work func() V) V {
	known := Kept[map[K]V](s)
	if *known == nil {
		*known = map[K]V{}
	}
	return flow.Once(*known, key, work)
}

// An expressionOf is one expression of the plan; the call is nil for those of the plan's output.
type expressionOf struct {
	call     *plan.Call
	template *plan.Template
}

// Expressions goes over every expression of the plan, in the order of the text. The call is nil for those of the plan's
// output.
func (p *Pass) Expressions(f func(call *plan.Call, t *plan.Template)) {
	for _, x := range Once(p.Store, "expressions", func() (all []expressionOf) { // once for all rules
		for _, call := range p.Plan.Calls {
			for t := range call.Expressions() {
				all = append(all, expressionOf{call, t})
			}
		}
		for t := range p.Plan.Output.Expressions() {
			all = append(all, expressionOf{nil, t})
		}
		return all
	}) {
		f(x.call, x.template)
	}
}

// Calculations goes over those expressions that do more than pass on what one
// reference gives: conditions, lists, fallbacks and the like.
func Calculations(p *Pass, f func(call *plan.Call, t *plan.Template)) {
	p.Expressions(func(call *plan.Call, t *plan.Template) {
		if !t.Expr.Plain() || call != nil && (t == call.When || call.Each != nil && t == call.Each.List) {
			f(call, t)
		}
	})
}

// A Rule is one thing that is looked for: what its findings are called, and a
// function that makes them. Without a function it is the compiler that finds it.
// Rules run in the order of their codes, a program's own (see [Config]) last.
type Rule struct {
	*diag.Rule
	// Scope says what Run looks at.
	Scope Scope
	// Strict rules are on where [Config.StrictProtocol] is.
	Strict bool
	// Raises says that some findings are errors although the default is less.
	Raises bool
	// Needs are the facts from whose absence the rule concludes something: it isn't
	// asked where an error of the compiler leaves some of them unknown.
	Needs diag.Facts
	// Run looks at the plan. It is asked again with every call of a solution that arrives, if it makes errors.
	Run func(*Pass)
	// Call looks at one call, and at what the document says of its tool, but not at which other calls there are; such a
	// rule has no Run. It is asked about each call of a plan.
	Call func(*Pass, *plan.Call)
}

// As gives a rule its code, its name and the severity of its findings.
func (r Rule) As(code, name string, severity diag.Severity) Rule {
	r.Rule = &diag.Rule{Code: code, Name: name, Default: severity}
	return r
}

// A Scope says what a rule looks at: it decides how a plan is judged whose instances have calls of their own.
type Scope uint8

const (
	// View rules look at the calls that run together: each instance's are judged for themselves.
	View Scope = iota
	// Idle rules are View rules about what serves no purpose, which is a finding only where it is so in every instance.
	Idle
	// Document rules look at the document, or go through its calls one by one.
	Document
)

// ByInstance reports whether a rule is asked about each instance's calls anew.
func (r *Rule) ByInstance() bool { return r.Call == nil && r.Scope != Document }
