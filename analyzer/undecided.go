package analyzer

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/analyzer/flow"
	"github.com/obelus-dev/obelus/analyzer/internal/analysis"
	"github.com/obelus-dev/obelus/analyzer/internal/samples"
	"github.com/obelus-dev/obelus/analyzer/rules"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
)

// Sample runs include calls that aren't known to succeed.

// isUndecided reports whether types, schemas and paths leave open that a call's expressions, parameters or writes fail.
func isUndecided(p *Pass, call *plan.Call) bool {
	if call.When != nil && rules.MayFail(p, call.When) ||
		call.Each != nil && (rules.MayFail(p, call.Each.List) || !surelyFits(p, call.Each.List, flow.AList)) {
		return true
	}
	for _, f := range call.Params.Fields {
		t := f.Value
		if t.Live && rules.MayFail(p, t) {
			return true
		}
		for _, taker := range analysis.Takers(p, call) {
			if at := taker.Place(f.Key); t.Live && at.Possible && !surelyFits(p, t, at.Schema) &&
				!(t.Expr != nil && rules.IsReported(p, t.Node)) {
				return true
			}
		}
	}
	return call.Params.Live && slices.ContainsFunc(analysis.Takers(p, call), (*analysis.Parameters).Combines) ||
		rules.Opens(p, call) || mayLackRoom(p, call) ||
		samples.BudgetOf(p).OpenCode[call.Single()] && call.FailureRoute() < 0
}

// mayLackRoom reports whether the state may have no place for what a call writes.
func mayLackRoom(p *Pass, call *plan.Call) bool {
	for i, route := range call.Output {
		for _, path := range route {
			own := p.Flow.StateAt(path.ID).Schema != nil &&
				(call.Each != nil || i == call.FailureRoute() || call.Tool == nil || call.Tool.Output == nil)
			if own || call.Method != plan.Set || p.Plan.Paths.Depth(path.ID) > 2 {
				return true
			}
		}
	}
	return false
}

// isOutputUndecided reports whether the plan's output may fail, be null, or not fit its schema.
func isOutputUndecided(p *Pass) bool {
	t := p.Plan.Output
	return t != nil && t.Live && (rules.MayFail(p, t) || len(*analysis.Kept[rules.UndecidedLeaves](p.Store)) > 0 ||
		p.Plan.OutputSchema != nil || rules.GivesOutput(p) && !rules.HasLiterals(t) && !anyIsThere(p, t))
}

func anyIsThere(p *Pass, output *plan.Template) bool {
	for t := range output.Expressions() {
		if t.Expr.Plain() && isThere(p, t.Reads[0]) {
			return true
		}
	}
	return false
}

type thereAt int

// isThere reports whether what is read is there, and not null, in every run in which no call fails: required input, or
// the whole result of a call for whose reads that is so.
func isThere(p *Pass, read int) bool {
	return analysis.Once(p.Store, thereAt(read), func() bool {
		flows := p.Flow.Read(read)
		if len(flows) != 1 || flows[0].Schema == nil || flows[0].Schema.Kinds()&schema.Null != 0 {
			return false
		}
		from, s, paths, at := flows[0].From, p.Plan.InputSchema, p.Plan.Paths, p.Plan.Reads[read].Path
		if call := from.Call; call != nil {
			return len(from.Rest) == 0 && flow.Sets(call) && call.Each == nil && call.After == nil &&
				!slices.ContainsFunc(call.Reads, func(other int) bool { return !isThere(p, other) })
		}
		return s != nil && paths.Kind(at) == "input" && s.At(paths.Segments(at)[1:]).Required
	})
}

// surelyFits reports whether a schema accepts all known values of a template.
func surelyFits(p *Pass, t *plan.Template, to *schema.Schema) bool {
	return to == nil || !slices.ContainsFunc(p.Flow.Eval(nil, t), func(f flow.Variant) bool {
		if f.Schema == nil {
			return f.Uncertain || t.Expr == nil || rules.SomethingKnown(p, t)
		}
		v := p.Flow.Contains(f.Schema, to)
		return f.Uncertain || v.Relation != schema.Fits && v.Keyword != "budget"
	})
}

// Findings of sample runs have the form of those of schemas, with the values.

// An undecidedPlace is a parameter of a call or a path that it writes.
type undecidedPlace struct {
	call *plan.Call // nil for the output
	at   any
}

// first reports whether something is the first that is found at a place.
func (t *sampler) first(call *plan.Call, at any, node *source.Node) bool {
	place := undecidedPlace{call, at}
	if t.reported[place] || call != nil && t.asked != nil && !t.asked[call.Name] ||
		t.budget.Worked.Passed() { // then values that aren't worked out are missing
		return false
	}
	t.reported[place] = true
	return !rules.IsReported(t.pass, node)
}

// report makes a warning of a rule that has been asked already.
func (t *sampler) report(
	rule *diag.Rule, call *plan.Call, at source.Span, format string, args ...any,
) *diag.Diagnostic {
	return t.pass.Found.Report(rule, at, format, args...).About(call.Label()).As(diag.Warning)
}

// note takes note of why an expression fails with values that may come.
func (w *trial) note(of *sampler, t *plan.Template, err error) {
	wrong := new(expression.Error)
	if !errors.As(err, &wrong) {
		return
	}
	refs := t.Expr.References()
	var with []string
	values := map[string]any{}
	for i, at := range t.Reads {
		name := refs[i].String()
		v, there := w.read(at)
		v, how := samples.Clear(v)
		if _, known := values[name]; known || how == samples.Unknown {
			continue
		}
		if values[name] = v; there {
			with = append(with, fmt.Sprintf("%q is %s", name, analysis.Brief(v)))
		} else if len(t.Reads) == 1 { // the result of a ?.
			with = []string{fmt.Sprintf("%q has no value", name)}
		}
	}
	when := strings.Join(with, " and ")
	if when != "" {
		when = " when " + when
	}
	w.faults[t] = func(call *plan.Call) {
		if !of.first(call, t, t.Node) {
			return
		}
		f := of.report(rules.MayMismatchRule, call, t.Node.Within(wrong.Start, wrong.End),
			"this fails%s: %s", when, wrong.Message)
		f.Witness = values
		if f.Help = wrong.Help; f.Help == "" {
			f.Advise("narrow the source's schema, test the value in \"_when\", or add a default after \"||\"")
		}
		analysis.NoteWriters(of.pass, f, t)
	}
}

// reportFaults reports why expressions of a call failed, those that did.
func (w *trial) reportFaults(call *plan.Call, all iter.Seq[*plan.Template]) {
	for t := range all {
		if report := w.faults[t]; report != nil {
			delete(w.faults, t)
			report(call)
		}
	}
}

// isRefused reports a value that may come and that a parameter, or the output's schema, doesn't accept.
func (s *sampler) isRefused(
	call *plan.Call, taker *analysis.Parameters, field *plan.TemplateField, value any, by *schema.Schema,
) {
	t := field.Value
	if !s.first(call, t, t.Node) || call == nil &&
		slices.ContainsFunc(s.pass.Found, func(f diag.Diagnostic) bool { return f.Rule == s.pass.Rule }) {
		return
	}
	j := analysis.Judgement{Fit: flow.Fit{Relation: schema.MayNotFit, Witness: value},
		To: analysis.Target{Call: call, Taker: taker, Schema: by, Node: t.Node, Key: field.Key}}
	if t.Expr != nil {
		if flows := s.pass.Flow.Expression(t); len(flows) == 1 {
			j.Variant = flows[0]
		}
	}
	if !j.Variant.At().Known() {
		j.Variant.Operand = flow.Operand{Node: t.Node, End: len(t.Node.Text)}
	}
	if call == nil {
		rules.ReportOutput(s.pass, &j)
		return
	}
	rules.ReportMayMismatch(s.pass, &j)
}

// acceptsTogether reports whether parameters are accepted beside each other, and makes a finding of those that are not.
func (s *sampler) acceptsTogether(t *analysis.Parameters, call *plan.Call, params map[string]any) bool {
	wrong := t.Schema.Validate(t.Completed(params))
	if wrong == nil {
		return true
	}
	if s.first(call, t.Which, call.ToolNode) {
		s.report(rules.MayMismatchRule, call, call.ToolNode.Span(),
			"%s may not accept these parameters together: for instance %s: %v", t.Taker, analysis.Brief(params), wrong).
			Advise("pass the parameters that the %s's schema asks for beside these", t.Which).Witness = params
	}
	return false
}

// hasNoPlace reports a write for which there may be no room, of a result or of the record of the call's failure.
func (s *sampler) hasNoPlace(call *plan.Call, path plan.Path, value any, failure bool, err error) {
	if !s.first(call, path.ID, path.Node) || slices.ContainsFunc(s.pass.Found, func(f diag.Diagnostic) bool {
		return f.Call == call.Label() && f.Severity > diag.Info &&
			slices.Contains([]string{"OB405", "OB508", "OB511"}, f.Rule.Code)
	}) {
		return
	}
	rule, name, advice := rules.ShapeConflictRule, s.pass.Path(path.ID),
		"let the calls that it builds on run whenever this one does (\"_after\", the same \"_when\"), or write "+
			"to another path"
	if errors.Is(err, errNoRoom) {
		rule = rules.StateMismatchRule
		if call.Method == plan.Set {
			advice = "narrow the source's schema, widen the state schema, or write to another path"
		}
	}
	if failure {
		s.report(rule, call, path.Span(), "when %q fails, its failure record isn't written to %q: %s",
			call.Name, name, err).
			Advise(
				"allow an object with \"code\", \"message\" and \"details\" there, or use another path for failures").
			Witness = value
		return
	}
	s.report(rule, call, path.Span(), "%q may not be written: %s", name, err).
		Advise("%s", advice).Witness = value
}
