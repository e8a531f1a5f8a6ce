// Package analyzer judges a compiled plan: it finds what would go wrong in a
// run, or says something else than its author meant, before anything has run.
//
// A rule is a code, a page (rules/OB203-dangling-reference.md) and a function
// that goes over the plan once. The rules stand in one list, [Rules]; those that
// a document is read with have their findings made by the compiler and bring no
// function. Every rule errs on the side of silence: a plan is only called
// wrong where the plan itself shows it, and a rule stays silent about what
// hangs on a part that couldn't be read.
package analyzer

import (
	"fmt"
	"slices"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
)

// A Rule is one thing that is looked for: what its findings are called, and a
// function that makes them. Without a function it is the compiler that finds it.
type Rule struct {
	*diag.Rule
	// Scope says what Run looks at.
	Scope Scope
	// Strict rules are on where [Config.StrictProtocol] is.
	Strict bool
	// Raises says that some findings are errors although the default is less.
	Raises bool
	// Run looks at the plan.
	Run func(*Pass)
	// Call looks at one call, and at what the document says of its tool, but not at
	// which other calls there are; such a rule has no Run. It is asked about each
	// call of a plan, and about a call that arrives later alone.
	Call func(*Pass, *compiler.Call)
}

// A Scope says what a rule looks at: it decides how a plan is judged whose
// instances have calls of their own (S12.2).
type Scope uint8

const (
	// View rules look at the calls that run together: each instance's are judged
	// for themselves.
	View Scope = iota
	// Idle rules are View rules about what serves no purpose, which is a finding only
	// where it is so in every instance.
	Idle
	// Document rules look at the document, or go through its calls one by one.
	Document
)

// judges reports whether the rule is looked for here, and not by the compiler.
func (r *Rule) judges() bool { return r.Run != nil || r.Call != nil }

// makesErrors reports whether a finding may be an error.
func (r *Rule) makesErrors() bool { return r.Default == diag.Error || r.Raises }

// byView reports whether a rule is asked about each instance's calls anew.
func (r *Rule) byView() bool { return r.Call == nil && r.Scope != Document }

// Rules lists every rule, by code.
func Rules() []Rule { return slices.Clone(rules) }

var rules = []Rule{
	{Rule: diag.Syntax},
	{Rule: diag.UnknownKey},
	{Rule: diag.DuplicateKey},
	{Rule: diag.WrongType},
	{Rule: diag.Limit},
	{Rule: diag.ConfusableName},
	{Rule: diag.AmbiguousScalar},
	{Rule: diag.BadExpression},
	{Rule: diag.UnknownKind},
	{Rule: diag.DanglingReference, Run: danglingReferences},
	{Rule: diag.UndeclaredPath, Run: undeclaredPaths},
	{Rule: diag.MaybeMissing, Run: maybeMissing},
	{Rule: diag.LookalikeRef, Call: bareReferences},
	{Rule: diag.UnusedOutput, Scope: Idle, Run: unusedOutputs},
	{Rule: diag.UnusedInput, Scope: Idle, Run: unusedInputs},
	{Rule: diag.UselessFallback, Scope: Idle, Run: uselessFallbacks},
	{Rule: diag.BooleanFallback, Run: booleanFallbacks},
	{Rule: diag.LateWriter, Run: lateWriters},
	{Rule: diag.ConstantCondition, Scope: Idle, Run: constantConditions},
	{Rule: diag.Cycle, Run: cycles},
	{Rule: diag.DeadCall, Scope: Idle, Run: deadCalls},
	{Rule: diag.DuplicateID},
	{Rule: diag.RedundantCall, Scope: Idle, Run: redundantCalls},
	{Rule: diag.UnknownCall},
	{Rule: diag.WriteConflict, Run: writeConflicts},
	{Rule: diag.LostWrite, Scope: Idle, Run: lostWrites},
	{Rule: diag.Rewrite, Run: rewrites},
	{Rule: diag.ReadOnlyPath},
	{Rule: diag.ShapeConflict, Run: shapeConflicts},
	{Rule: diag.UnhandledBranch, Scope: Idle, Run: unhandledBranches},
	{Rule: diag.UnroutedFailure, Run: unroutedFailures},
	{Rule: diag.UnknownTool, Call: unknownTool},
	{Rule: diag.MissingParameter, Call: missingParameters},
	{Rule: diag.UnknownParameter, Call: unknownParameters},
	{Rule: diag.BadParameter, Call: badParameters},
	{Rule: diag.FlowMismatch, Run: flowMismatches},
	{Rule: diag.FlowMayMismatch, Run: flowMayMismatches},
	{Rule: diag.ForbiddenOutputPath, Call: forbiddenOutputPath},
	{Rule: diag.StateMismatch, Run: stateMismatches},
	{Rule: diag.BadSchema},
	{Rule: diag.ExpressionType, Run: expressionTypes},
	{Rule: diag.BadMethod, Run: badMethods},
	{Rule: diag.OutputMismatch, Run: outputMismatches},
	{Rule: diag.UnknownField, Raises: true, Run: unknownFields},
	{Rule: diag.NoActivity},
	{Rule: diag.Latent, Scope: Document, Run: latentTools},
	{Rule: diag.BadDelegate, Scope: Document, Run: badDelegates},
	{Rule: diag.BadScope, Run: badScopes},
	{Rule: diag.BadAdvisor},
	{Rule: diag.BadInstance},
	{Rule: diag.UnsafeRetry, Call: unsafeRetry},
	{Rule: diag.UnusedDefinition, Scope: Document, Run: unusedDefinitions},
	{Rule: diag.UselessSilencer},
	{Rule: diag.NotAnalysed, Run: notFullyAnalysed},
	{Rule: diag.ToolsNotJudged, Scope: Document, Run: toolsNotJudged},
	{Rule: diag.Extension, Strict: true, Call: extensions},
}

// Verified is a plan without errors: the only thing that is ever run. Only
// [Analyze] makes one.
type Verified struct {
	plan      *compiler.Plan
	delegates map[string]*Verified
}

// Plan is the plan that was found free of errors.
func (v *Verified) Plan() *compiler.Plan { return v.plan }

// Delegate is one of the plan's own delegates (S14.1), by [compiler.Call.Delegate]:
// it was found free of errors along with the plan. It is nil where there is none.
// A solution's are those of the plan that it is a solution of.
func (v *Verified) Delegate(path string) *Verified { return v.delegates[path] }

// Analyze judges a plan. It takes the findings that compiling made and returns
// them with its own as the configuration has them, in the order in which
// findings are always shown; [Judge] tells more. The plan is verified, and
// otherwise nil, when no finding is an error by its rule: to silence or lower an
// error doesn't make a plan sound (S7). The time that it takes grows with the
// plan's text and dependencies, not faster.
func Analyze(p *compiler.Plan, found []diag.Diagnostic, c Config) (*Verified, []diag.Diagnostic) {
	j := Judge(p, found, c)
	return j.Verified, j.Findings
}

// applied runs the rules over a plan and puts their findings to those given.
func applied(p *compiler.Plan, found []diag.Diagnostic, c Config) []diag.Diagnostic {
	all := slices.Clone(found)
	if p.Root != nil { // what couldn't be read at all isn't judged
		pass := newPass(p, found)
		pass.config = c
		several := differs(p)
		pass.apply(func(r *Rule) bool { return !several || !r.byView() })
		all = append(all, pass.found...)
		if several {
			all = append(all, byView(p, found, pass)...)
		}
	}
	diag.Sort(all)
	return all
}

// apply runs those of the rules that are asked for.
func (p *Pass) apply(counts func(*Rule) bool) {
	for i := range rules {
		if r := &rules[i]; counts(r) && p.config.asksFor(r) {
			p.run(r)
		}
	}
}

// run runs one rule.
func (p *Pass) run(r *Rule) {
	p.rule = r.Rule
	switch {
	case r.Call != nil:
		for _, call := range p.Plan.Calls {
			r.Call(p, call)
		}
	case r.Run != nil:
		r.Run(p)
	}
}

// A Pass is one analysis of one plan: what a rule looks at, and where its
// findings go.
type Pass struct {
	Plan *compiler.Plan

	config Config
	rule   *diag.Rule // the rule that is running
	found  []diag.Diagnostic
	gaps   gaps
	barred func(call int) bool // the call is known never to run; nil for none
	// evidence counts the calls that were replayed to confirm schedules.
	evidence int

	// What several rules, or many findings of one, ask for; made when first asked.
	everyExpression, calculated []expressionOf // see expressions and calculations

	readers    *readers
	written    [][]compiler.PathID
	branches   *presence
	unsure     []unsure // questions about branches for which the budget didn't last
	near       map[compiler.PathID]*names
	inState    map[compiler.PathID]*declaration // what the state schema names below a path
	inResult   map[resultPlace]*declaration
	fields     map[field]schema.Place
	parameters map[*compiler.Tool]*parameters
	toolNames  *compiler.Suggester
	flows      *flowTable

	// What dangling references were most likely meant to read: that it isn't read
	// is no finding of its own.
	meantInputs map[string]bool
	meantPaths  map[compiler.PathID]bool

	among *among // the views of which this is one; nil where there is but one
}

func newPass(p *compiler.Plan, found []diag.Diagnostic) *Pass {
	return &Pass{
		Plan:        asOne(p),
		gaps:        gapsOf(p, found),
		near:        map[compiler.PathID]*names{},
		inState:     map[compiler.PathID]*declaration{},
		inResult:    map[resultPlace]*declaration{},
		fields:      map[field]schema.Place{},
		parameters:  map[*compiler.Tool]*parameters{},
		meantInputs: map[string]bool{},
		meantPaths:  map[compiler.PathID]bool{},
	}
}

// finding lets a report be completed where it is made.
type finding struct{ *diag.Diagnostic }

// report makes a finding of the running rule.
func (p *Pass) report(at source.Span, format string, args ...any) finding {
	p.found = append(p.found, diag.New(p.rule, at, fmt.Sprintf(format, args...)))
	return finding{&p.found[len(p.found)-1]}
}

func (f finding) of(call *compiler.Call) finding {
	if call != nil {
		f.Call = call.Name
	}
	return f
}

func (f finding) as(s diag.Severity) finding {
	f.Severity = s
	return f
}

func (f finding) help(format string, args ...any) finding {
	f.Help = fmt.Sprintf(format, args...)
	return f
}

func (f finding) note(at source.Span, format string, args ...any) finding {
	f.Related = append(f.Related, diag.Note{Span: at, Message: fmt.Sprintf(format, args...)})
	return f
}

// rename offers to replace the bytes [from, to) of a scalar's value by a text,
// in the scalar's own style. Sure says that nothing else can have been meant: a
// safe fix (S7).
func (f finding) rename(n *source.Node, from, to int, text string, sure bool) finding {
	return f.offer(fmt.Sprintf("change it to %q", text), n, from, to, text, sure)
}

// offer is rename with words of its own.
func (f finding) offer(words string, n *source.Node, from, to int, text string, sure bool) finding {
	if edit, ok := diag.EditScalar(n, from, to, text); ok {
		f.Fixes = append(f.Fixes, diag.Fix{Message: words, Safe: sure, Edits: []diag.Edit{edit}})
	}
	return f
}

// caller is the call that a read belongs to; nil for the plan's output.
func (p *Pass) caller(r *compiler.Read) *compiler.Call {
	if r.Call < 0 {
		return nil
	}
	return p.Plan.Calls[r.Call]
}

// path writes a path as people do: †state.a.
func (p *Pass) path(id compiler.PathID) string { return p.Plan.Paths.String(id) }

// headOf is the first line of a place: what a person can look at.
func headOf(s source.Span) source.Span {
	if s.File == nil {
		return s
	}
	for i := s.Start; i < s.End; i++ {
		if b := s.File.Text[i]; b == '\n' || b == '\r' {
			s.End = i
			break
		}
	}
	return s
}
