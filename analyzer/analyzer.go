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

// A Rule is one thing that is looked for. Run is nil where the compiler already
// finds it.
type Rule struct {
	*diag.Rule
	Run func(*Pass)
}

// Rules lists every rule, by code.
func Rules() []Rule { return slices.Clone(rules) }

var rules = []Rule{
	{diag.Syntax, nil},
	{diag.UnknownKey, nil},
	{diag.DuplicateKey, nil},
	{diag.WrongType, nil},
	{diag.Limit, nil},
	{diag.ConfusableName, nil},
	{diag.AmbiguousScalar, nil},
	{diag.BadExpression, nil},
	{diag.UnknownKind, nil},
	{diag.DanglingReference, danglingReferences},
	{diag.UndeclaredPath, undeclaredPaths},
	{diag.MaybeMissing, maybeMissing},
	{diag.LookalikeRef, bareReferences},
	{diag.UnusedOutput, unusedOutputs},
	{diag.UnusedInput, unusedInputs},
	{diag.UselessFallback, uselessFallbacks},
	{diag.BooleanFallback, booleanFallbacks},
	{diag.LateWriter, lateWriters},
	{diag.ConstantCondition, constantConditions},
	{diag.Cycle, cycles},
	{diag.DeadCall, deadCalls},
	{diag.DuplicateID, nil},
	{diag.RedundantCall, redundantCalls},
	{diag.UnknownCall, nil},
	{diag.WriteConflict, writeConflicts},
	{diag.LostWrite, lostWrites},
	{diag.Rewrite, rewrites},
	{diag.ReadOnlyPath, nil},
	{diag.ShapeConflict, shapeConflicts},
	{diag.UnhandledBranch, unhandledBranches},
	{diag.UnroutedFailure, unroutedFailures},
	{diag.UnknownTool, unknownTools},
	{diag.MissingParameter, missingParameters},
	{diag.UnknownParameter, unknownParameters},
	{diag.BadParameter, badParameters},
	{diag.FlowMismatch, flowMismatches},
	{diag.FlowMayMismatch, flowMayMismatches},
	{diag.ForbiddenOutputPath, forbiddenOutputPaths},
	{diag.StateMismatch, stateMismatches},
	{diag.BadSchema, nil},
	{diag.ExpressionType, expressionTypes},
	{diag.BadMethod, badMethods},
	{diag.OutputMismatch, outputMismatches},
	{diag.UnknownField, unknownFields},
	{diag.NoActivity, nil},
	{diag.Latent, latentTools},
	{diag.BadDelegate, badDelegates},
	{diag.BadScope, badScopes},
	{diag.BadAdvisor, nil},
	{diag.BadInstance, nil},
	{diag.UnsafeRetry, unsafeRetries},
	{diag.UnusedDefinition, unusedDefinitions},
	{diag.UselessSilencer, nil},
	{diag.NotAnalysed, notFullyAnalysed},
	{diag.ToolsNotJudged, toolsNotJudged},
	{diag.Extension, extensions},
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
		pass.apply(func(r *diag.Rule) bool { return !several || callByCall[r] })
		all = append(all, pass.found...)
		if several {
			all = append(all, byView(p, found, pass)...)
		}
	}
	diag.Sort(all)
	return all
}

// apply runs the rules that are asked for.
func (p *Pass) apply(counts func(*diag.Rule) bool) {
	for _, r := range rules {
		if r.Run != nil && counts(r.Rule) && p.config.asksFor(r.Rule) {
			p.rule = r.Rule
			r.Run(p)
		}
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
