package analyzer

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/analyzer/flow"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
)

// Sample runs include calls that aren't known to succeed.

// isUndecided reports whether types, schemas and paths leave open that a call's expressions, parameters or writes fail.
func isUndecided(p *Pass, call *plan.Call) bool {
	if call.When != nil && mayFail(p, call.When) || call.Each != nil && (mayFail(p, call.Each.List) || !surelyFits(p, call.Each.List, flow.AList)) {
		return true
	}
	fitting := *kept[fittingReads](p.store)
	for i := range call.Params.Fields {
		f := &call.Params.Fields[i]
		if !f.Value.Live() {
			continue
		}
		if mayFail(p, f.Value) {
			return true
		}
		if t := f.Value; t.Expr != nil && len(t.Reads) > 0 && t.Reads[0] < len(fitting) && fitting[t.Reads[0]] {
			continue // it was judged
		}
		for _, taker := range takers(p, call) {
			if at := taker.place(f.Key); at.Possible && !surelyFits(p, f.Value, at.Schema) && !(f.Value.Expr != nil && isReported(p, f.Value.Node)) {
				return true
			}
		}
	}
	return call.Params.Live() && slices.ContainsFunc(takers(p, call), (*parameters).combines) ||
		opens(p, call) || mayLackRoom(p, call) || samplesOf(p).openCode[call.Single()] && call.FailureRoute() < 0
}

// isOutputUndecided reports whether the plan's output may fail or may not fit its schema.
func isOutputUndecided(p *Pass) bool {
	t := p.Plan.Output
	if t == nil || !t.Live() {
		return false
	}
	return mayFail(p, t) || len(*kept[undecidedLeaves](p.store)) > 0 || mayComeToNothing(p) || p.Plan.OutputSchema != nil && (!surelyFits(p, t, p.Plan.OutputSchema) || slices.ContainsFunc(p.Plan.Reads, func(r plan.Read) bool {
		return slices.ContainsFunc(r.Ref.Path, func(s expression.Segment) bool { return s.IsIndex }) || // the list may end before, and what reads it is skipped
			mayBeAbsent(p, &r) || r.Call < 0 && mayBeOmitted(p, &r)
	}))
}

// mayBeOmitted reports whether the schemas of the input and the state let a run begin without the value of a read.
func mayBeOmitted(p *Pass, r *plan.Read) bool {
	path := p.Plan.Paths.Segments(r.Path)
	if len(path) < 2 || len(r.Writers) > 0 {
		return false
	}
	s := map[string]*schema.Schema{"input": p.Plan.InputSchema, "state": p.Plan.StateSchema}[path[0].Key]
	return s != nil && !s.At(compiler.SchemaPath(path[1:])).Required
}

// mayFail reports whether an expression of a template may fail and has no finding. It is false if
// nothing is known about its values.
func mayFail(p *Pass, t *plan.Template) bool {
	uncertain := func(read int) bool {
		return slices.ContainsFunc(p.Plan.Reads[read].Writers, func(w int32) bool { return p.Plan.Calls[w].Each != nil }) &&
			slices.ContainsFunc(p.flow.Read(read), func(v flow.Variant) bool { return v.Uncertain })
	}
	known := func(read int) bool { return p.flow.Type(read) != nil || isKnown(p, read) }
	for e := range t.Expressions() {
		if len(e.Reads) > 0 && (neverFails(e.Expr) || !slices.ContainsFunc(e.Reads, known)) {
			continue
		}
		if risky, _ := evaluationRisk(p, e); (risky || slices.ContainsFunc(e.Reads, uncertain)) && !isReported(p, e.Node) {
			return true
		}
	}
	return false
}

// evaluationRisk is [expression.Expr.MayFail] for a template.
func evaluationRisk(p *Pass, t *plan.Template) (risky, blind bool) {
	if neverFails(t.Expr) {
		return false, false
	}
	return t.Expr.MayFail(func(i int) *expression.Type { return p.flow.Type(t.Reads[i]) })
}

// neverFails reports whether an expression gives one of its references, whatever these hold.
func neverFails(e *expression.Expr) bool {
	references, _ := e.Alternatives()
	return references || e.Plain()
}

// surelyFits reports whether a schema accepts all known values of a template.
func surelyFits(p *Pass, t *plan.Template, to *schema.Schema) bool {
	if to == nil {
		return true
	}
	flows := p.flow.Eval(nil, t)
	for i := range flows {
		switch f := &flows[i]; {
		case f.Uncertain:
			return false
		case f.Schema != nil:
			if v := p.flow.Contains(f.Schema, to); v.Relation != schema.Fits && v.Keyword != "budget" {
				return false
			}
		case t.Expr == nil || somethingKnown(p, t):
			return false
		}
	}
	return true
}

// somethingKnown reports whether the plan describes a value of one of the reads of an expression.
func somethingKnown(p *Pass, t *plan.Template) bool {
	return slices.ContainsFunc(t.Reads, func(read int) bool { return isKnown(p, read) })
}

func isKnown(p *Pass, read int) bool {
	r, paths := &p.Plan.Reads[read], p.Plan.Paths
	if compiler.ReadsItem(p.Plan, r) {
		list := p.flow.Caller(r).Each.List
		return list.Expr == nil || somethingKnown(p, list)
	}
	if r.Path == pathtree.Root || paths.Depth(r.Path) < 2 {
		return false
	}
	held := func(input, state any) bool {
		value, there := paths.Walk(map[string]any{"input": input, "state": state, "data": flow.Data(p.Plan)}[paths.Kind(r.Path)], r.Path)
		return there && (value != nil || paths.Kind(r.Path) == "state")
	}
	return held(p.Plan.Input, p.Plan.State) || slices.ContainsFunc(p.Plan.Instances, func(i plan.Instance) bool { return held(i.Input, i.State) }) ||
		slices.ContainsFunc(r.Writers, func(w int32) bool {
			call := p.Plan.Calls[w]
			return call.Produced != nil || call.Tool != nil && call.Tool.Output != nil || opens(p, call)
		})
}

// mayLackRoom reports whether the state may have no place for what a call writes.
func mayLackRoom(p *Pass, call *plan.Call) bool {
	paths := p.Plan.Paths
	for i, route := range call.Output {
		for _, path := range route {
			if s := p.flow.StateAt(path.ID).Schema; i == call.FailureRoute() && s != nil && forFailures(p, call, path) && !s.Accepts(aRecord) {
				return true
			}
			if call.Each != nil && p.flow.StateAt(path.ID).Schema != nil && p.flow.Listing(call).Uncertain {
				return true
			}
			needs := call.Method != plan.Set
			if gives := call.Tool; needs && gives != nil && gives.Output != nil && i != call.FailureRoute() && gives.Output.Kinds() != schema.Anything && gives.Output.Kinds()&^patchKinds[call.Method] != 0 {
				return true
			}
			for at := path.ID; paths.Depth(at) > 2; at = paths.Parent(at) {
				needs = true
			}
			if !needs {
				continue
			}
			if len(route) > 1 || slices.ContainsFunc(p.Plan.Around(path.ID), func(w plan.Writer) bool { return int(w.Call) != call.Index }) || beginsWith(p, path.ID) {
				return true
			}
			if s := p.flow.StateAt(path.ID).Schema; s != nil || paths.Segment(path.ID).IsIndex {
				return true
			}
		}
	}
	return false
}

// beginsWith reports whether the state may hold something at a path or above it before any call has written.
func beginsWith(p *Pass, id pathtree.ID) bool {
	at := id
	for p.Plan.Paths.Depth(at) > 2 {
		at = p.Plan.Paths.Parent(at)
	}
	held := func(state any) bool {
		value, there := p.Plan.Paths.Walk(map[string]any{"state": state, "data": flow.Data(p.Plan)}[p.Plan.Paths.Kind(at)], at)
		return there && value != nil
	}
	return held(p.Plan.State) || slices.ContainsFunc(p.Plan.Instances, func(i plan.Instance) bool { return held(i.State) })
}

// Findings of sample runs have the form of those of schemas, with the values.

// first reports whether something is the first that is found at a place.
func (t *sampler) first(call *plan.Call, at any, node *source.Node) bool {
	place := undecidedPlace{-1, at}
	if call != nil {
		if place.call = call.Index; !t.asked[int32(call.Index)] {
			return false
		}
	}
	if t.reported[place] {
		return false
	}
	t.reported[place] = true
	return !isReported(t.pass, node)
}

// isReported reports whether a finding is about something in a value. That a condition is never true doesn't say
// that it never fails.
func isReported(p *Pass, n *source.Node) bool {
	return slices.ContainsFunc(p.found, func(f diag.Diagnostic) bool {
		return f.Severity > diag.Info && f.Rule != constantConditionRule && f.Span.File == n.File && f.Span.Start < n.Span().End && n.Span().Start < f.Span.End
	})
}

// report makes a finding of a rule that has been asked already.
func (t *sampler) report(rule *diag.Rule, severity diag.Severity, call *plan.Call, at source.Span, format string, args ...any) *diag.Diagnostic {
	return t.pass.found.Report(rule, at, format, args...).About(call.Label()).As(severity)
}

// A looked is what was found where an expression looked, by the index of the reference.
type looked struct {
	ref      int
	value    any
	presence expression.Presence
}

// goesWrong reports an expression that fails with values that may come, as they were seen.
func (w *trial) goesWrong(call *plan.Call, t *plan.Template, err error, seen []looked) {
	wrong := new(expression.Error)
	if !errors.As(err, &wrong) || !w.first(call, t, t.Node) {
		return
	}
	refs := t.Expr.References()
	var with, lacking []string
	values := map[string]any{}
	for _, of := range seen {
		name := refs[of.ref].String()
		if _, known := values[name]; known {
			continue
		}
		if values[name] = of.value; of.presence == expression.There {
			with = append(with, fmt.Sprintf("%q is %s", name, brief(of.value)))
		} else {
			lacking = append(lacking, fmt.Sprintf("%q has no value", name))
		}
	}
	if len(with) == 0 {
		with = lacking // the result of a ?.
	}
	f := w.report(mayMismatchRule, diag.Warning, call, t.Node.Within(wrong.Start, wrong.End), "this fails when %s: %s", strings.Join(with, " and "), wrong.Message)
	f.Witness = values
	if f.Help = wrong.Help; f.Help == "" {
		f.Advise("narrow the source's schema, test the value in \"_when\", or add a default (\"… || 0\")")
	}
	if len(t.Reads) > 0 {
		w.noteSources(f, t)
	}
}

// noteSources says where the values of a template come from.
func (w *trial) noteSources(f *diag.Diagnostic, t *plan.Template) {
	noted := map[source.Span]bool{f.Span: true}
	for _, read := range t.Reads {
		for _, v := range w.pass.flow.Read(read) {
			for _, said := range remarks(w.pass, &v) {
				if said.at.Known() && !noted[said.at] && len(noted) < 4 {
					noted[said.at] = true
					f.Note(said.at, "%s", said.says)
				}
			}
		}
	}
}

// isRefused reports a value that may come and that a parameter, or the output's schema, doesn't accept.
func (w *trial) isRefused(call *plan.Call, taker *parameters, field *plan.TemplateField, value any, s *schema.Schema) {
	t := field.Value
	if !w.first(call, t, t.Node) || call == nil && slices.ContainsFunc(w.pass.found, func(f diag.Diagnostic) bool { return f.Rule == w.pass.rule }) {
		return
	}
	j := judgement{flow.Fit{Relation: schema.MayNotFit, Witness: value}, target{call: call, taker: taker, schema: s, node: t.Node, key: field.Key}}
	if t.Expr != nil {
		if flows := w.pass.flow.Expression(t); len(flows) == 1 {
			j.Variant = flows[0]
		}
	}
	if !j.Variant.At().Known() {
		j.Variant.Operand = flow.Operand{Node: t.Node, End: len(t.Node.Text)}
	}
	if call == nil {
		reportOutput(w.pass, &j)
		return
	}
	reportMayMismatch(w.pass, &j)
}

// acceptsTogether reports whether parameters are accepted beside each other, and makes a finding of those that are not.
func (t *parameters) acceptsTogether(w *trial, call *plan.Call, params map[string]any) bool {
	wrong := t.schema.Validate(t.completed(params))
	if wrong == nil {
		return true
	}
	if w.first(call, t.which, call.ToolNode) {
		w.report(mayMismatchRule, diag.Warning, call, call.ToolNode.Span(),
			"%s may not accept these parameters together: for instance %s: %v", t.taker, brief(params), wrong).
			Advise("pass the parameters that the %s's schema asks for beside these", t.which).Witness = params
	}
	return false
}

// hasNoPlace reports a write for which there may be no room, of a result or of the record of the call's failure.
func (w *trial) hasNoPlace(call *plan.Call, path plan.Path, value any, failure bool, err error) {
	known := func(f diag.Diagnostic) bool {
		return f.Call == call.Label() && f.Severity > diag.Info && (f.Rule == shapeConflictRule || f.Rule == stateMismatchRule || f.Rule.Code == "OB511")
	}
	if !w.first(call, path.ID, path.Node) || slices.ContainsFunc(w.pass.found, known) {
		return
	}
	rule, name, advice := shapeConflictRule, w.pass.path(path.ID), "let the calls that it builds on run whenever this one does (\"_after\", the same \"_when\"), or write to another path"
	if errors.Is(err, errNoRoom) {
		rule = stateMismatchRule
		if call.Method == plan.Set {
			advice = "narrow the source's schema, widen the state schema, or write to another path"
		}
	}
	if failure {
		w.report(rule, diag.Warning, call, path.Span(), "when %q fails, its failure record isn't written to %q: %s", call.Name, name, err).
			Advise("allow an object with \"code\", \"message\" and \"details\" there, or use another path for failures").Witness = value
		return
	}
	w.report(rule, diag.Warning, call, path.Span(), "%q may not be written: %s", name, err).
		Advise("%s", advice).Witness = value
}
