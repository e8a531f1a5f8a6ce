package analyzer

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/analyzer/flow"
	"github.com/obelus-dev/obelus/analyzer/internal/analysis"
	"github.com/obelus-dev/obelus/analyzer/internal/samples"
	"github.com/obelus-dev/obelus/analyzer/rules"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/runtime/state"
)

// Findings of sample runs have the form of those of schemas, with the values. A place has one.

// isNew reports whether nothing is found at a place so far, and the values at hand are worked out.
func (t *sampler) isNew(node *source.Node) bool {
	return !t.budget.Worked.Passed() && !rules.IsReported(t.pass, node)
}

// report makes a warning of a rule, with the values that show it.
func (t *sampler) report(rule *diag.Rule, call *plan.Call, at source.Span, witness any, format string,
	args ...any) *diag.Diagnostic {
	f := t.pass.Found.Report(rule, at, format, args...).About(call.Label()).As(diag.Warning)
	f.Witness = witness
	return f
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
		if !of.isNew(t.Node) {
			return
		}
		f := of.report(rules.MayMismatchRule, call, t.Node.Within(wrong.Start, wrong.End), values, "this fails%s: %s",
			when, wrong.Message)
		f.Advise("%s", cmp.Or(wrong.Help,
			"narrow the source's schema, test the value in \"_when\", or add a default after \"||\""))
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

// Invalid holds the parameters of a call against what takes them. Where they aren't accepted another sample run checks
// the rest.
func (w *trial) Invalid(running *plan.Call, params map[string]any) *state.Failure {
	t, call, _ := w.of(running)
	if w.isLarge(params) {
		return nil
	}
	if sub := t.within(call); sub != nil {
		w.budget.Runs -= callWork * len(sub.pass.Plan.Calls)
	}
	if t.erring[call.Label()] {
		return nil
	}
	cleared, all := samples.Clear(params)
	accepted, guardUnknown := true, w.isAssumed(call.When)
	for _, taker := range analysis.Takers(t.pass, call) {
		for _, f := range call.Params.Fields {
			at, known := taker.Place(f.Key), params[f.Key]
			value, how := samples.Clear(known)
			if !f.Value.Live || !at.Possible || at.Schema == nil || guardUnknown && how != samples.Described {
				continue
			}
			if wrong := at.Schema.Validate(value); wrong != nil && samples.IsCertain(known, wrong) {
				to := analysis.Target{Call: call, Taker: taker, Schema: at.Schema, Node: f.Value.Node, Key: f.Key}
				if j := t.misfit(f.Value, to, value); j != nil {
					rules.ReportMayMismatch(t.pass, j)
				}
				accepted = false
			}
		}
		if !accepted || all != samples.Described || !taker.Combines() {
			continue
		}
		if wrong := taker.Schema.Validate(taker.Completed(cleared)); wrong != nil {
			accepted = false
			if t.isNew(call.ToolNode) {
				t.report(rules.MayMismatchRule, call, call.ToolNode.Span(), cleared,
					"%s may not accept these parameters together: for instance %s: %v", taker.Taker,
					analysis.Brief(cleared), wrong).
					Advise("pass the parameters that its schema asks for beside these")
			}
		}
	}
	if !accepted {
		return &state.Failure{Code: "bad-parameter"}
	}
	return nil
}

// misfit is a value that may come and that a parameter, or the output's schema, doesn't accept; nil where something is
// found there already.
func (t *sampler) misfit(x *plan.Template, to analysis.Target, value any) *analysis.Judgement {
	if !t.isNew(x.Node) {
		return nil
	}
	j := &analysis.Judgement{Fit: flow.Fit{Relation: schema.MayNotFit, Witness: value}, To: to}
	if x.Expr != nil {
		if flows := t.pass.Flow.Expression(x); len(flows) == 1 {
			j.Variant = flows[0]
		}
	}
	if !j.Variant.At().Known() {
		j.Variant.Operand = flow.Operand{Node: x.Node, End: len(x.Node.Text)}
	}
	return j
}

// Unfit reports a write for which there may be no room, of a result or of the record of the call's failure, unless that
// depends on something unknown.
func (w *trial) Unfit(running *plan.Call, path plan.Path, value any, why error, log *state.Log) {
	t, call, end := w.of(running)
	refused := new(schema.Violation)
	if !errors.As(why, &refused) && (samples.IsHole(value) || isInHole(log, t.pass.Plan.Paths, path.ID)) ||
		end.unfit || end.failed && !rules.ForFailures(t.pass, call, path) {
		return
	}
	end.unfit = !end.failed
	if !t.isNew(path.Node) || slices.ContainsFunc(t.pass.Found, func(f diag.Diagnostic) bool {
		return f.Call == call.Label() && f.Severity > diag.Info &&
			slices.Contains([]string{"OB405", "OB508", "OB511"}, f.Rule.Code)
	}) {
		return
	}
	rule, name, advice := rules.ShapeConflictRule, t.pass.Path(path.ID),
		"let the calls that it builds on run whenever this one does (\"_after\", the same \"_when\"), or write "+
			"to another path"
	if errors.As(why, &refused) {
		rule, why = rules.StateMismatchRule, fmt.Errorf("the state schema has no room for it: %v", refused)
		if call.Method == plan.Set {
			advice = "narrow the source's schema, widen the state schema, or write to another path"
		}
	}
	what := fmt.Sprintf("%q may not be written", name)
	if value, _ = samples.Clear(value); end.failed { // it is the record of that
		value, what = flow.FailureSample,
			fmt.Sprintf("when %q fails, its failure record isn't written to %q", call.Name, name)
		advice = "allow an object with \"code\", \"message\" and \"details\" there, or use another path for failures"
	}
	t.report(rule, call, path.Span(), value, "%s: %s", what, why).Advise("%s", advice)
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

// Settled takes note of how a call ended, and reports what went wrong in it.
func (w *trial) Settled(call *plan.Call, done bool, failure *state.Failure) {
	t, own, end := w.of(call)
	if call.ItemOf == nil {
		end.skipped, end.failed = !done && failure == nil, failure != nil
	}
	if failure == nil {
		return
	}
	w.reportFaults(own, own.Expressions())
	if sub := t.within(own); sub != nil {
		w.delegateFailed(t, own, sub)
	}
}

// delegateFailed reports what went wrong in the delegate of a call, or with its output.
func (w *trial) delegateFailed(t *sampler, call *plan.Call, sub *sampler) {
	p := sub.pass
	w.reportFaults(nil, p.Plan.Output.Expressions())
	accepts, at, tool := p.Plan.OutputSchema, p.Plan.Root.Get("outputSchema").Span(), call.Single()
	if accepts == nil && tool != nil {
		accepts, at = tool.Output, tool.OutputNode.Span()
	}
	var why string
	var witness any
	switch {
	case len(p.Found) > sub.handled:
		found := &p.Found[sub.handled]
		sub.handled = len(p.Found)
		why, at, witness = found.Message, found.Span, found.Witness
	case accepts != nil && accepts == w.refusing:
		why, witness = fmt.Sprintf("its output may be %s: %v", analysis.Brief(w.refused), accepts.Validate(w.refused)),
			w.refused
	default:
		return
	}
	if t.isNew(call.ToolNode) {
		t.report(diag.BadDelegate, call, call.ToolNode.Span(), witness,
			"the delegate %q may go wrong with what this call hands over: %s", call.Delegate, why).
			Note(at.Head(), "this shows it").
			Advise("hand over what it can take, or let its \"inputSchema\" and \"stateSchema\" say what it needs")
	}
}

// judgeOutput judges the plan's output; leaves are those of which conditions don't decide whether they are there.
func (w *trial) judgeOutput(leaves []*plan.Template) {
	p := w.pass
	w.reportFaults(nil, p.Plan.Output.Expressions())
	if rules.IsReported(p, p.Plan.Output.Node) || !w.isOutputKnown(leaves) {
		return // one finding is enough, and nothing follows from what is missing
	}
	s := p.Plan.OutputSchema
	if s == nil || s != w.refusing || s.Compile() != nil ||
		slices.ContainsFunc(p.Found, func(f diag.Diagnostic) bool { return f.Rule == p.Rule }) {
		return
	}
	if j := w.misfit(p.Plan.Output, analysis.Target{Schema: s, Node: p.Plan.Output.Node}, w.refused); j != nil {
		rules.ReportOutput(p, j)
	}
}

// A value may be absent on every branch: an item past the end of a list, a key that a map doesn't hold,
// a field of another variant of a union. Calls that need it are skipped, and without any output the run
// fails.

// isOutputKnown reports missing parts of the output where the run has no output then, or where conditions don't decide
// about them. After a failure nothing is reported. It is false where the plan doesn't describe what they depend on.
func (w *trial) isOutputKnown(leaves []*plan.Template) bool {
	p := w.pass
	var missing []*plan.Template
	var all []BranchChoice
	nothing, explained, known := !rules.HasLiterals(p.Plan.Output), true, true
	for t := range p.Plan.Output.Expressions() {
		value, presence, err := w.evaluate(w.sampler, t)
		there := err == nil && presence == expression.There
		if there && (value != nil || t.FallsBack()) {
			nothing = false
			continue
		}
		why, described := w.lacks(t)
		if !there && described &&
			slices.ContainsFunc(leaves, func(u *plan.Template) bool { return u.Node == t.Node }) {
			w.reportLack(t, why, true)
		}
		missing, all = append(missing, t), merged(all, why...)
		explained, known = explained && len(why) > 0, known && described
	}
	if nothing && explained && known && missing != nil && rules.GivesOutput(p) {
		w.reportLack(missing[0], all, len(missing) == 1)
	}
	return known
}

// reportLack reports a leaf of the output, unless the output has a finding. A fallback to null is
// offered if it is enough.
func (w *trial) reportLack(leaf *plan.Template, branch []BranchChoice, alone bool) {
	p := w.pass
	if len(branch) == 0 || w.failed || rules.IsReported(p, p.Plan.Output.Node) || !p.Asks(rules.MaybeMissing) {
		return
	}
	rule := p.Rule
	p.Rule = rules.MaybeMissing.Rule
	rules.ReportMissing(p, leaf, branch, alone)
	p.Rule = rule
}

// lacks is with what values a part of the output is missing: those that it is taken from, and those for which the calls
// that would write them were skipped; none where a call failed. It also tells whether the plan describes them.
func (w *trial) lacks(leaf *plan.Template) (branch []BranchChoice, described bool) {
	p, seen := w.pass, map[int32]bool{}
	for list := []*plan.Template{leaf}; len(list) > 0; list = list[1:] {
		t := list[0]
		if t.PerItem() {
			continue
		}
		value, presence, err := w.evaluate(w.sampler, t)
		there := err == nil && presence == expression.There
		switch {
		case samples.IsHole(value) || rules.IsReported(p, t.Node):
			return nil, !samples.IsHole(value)
		case there && value != nil && value != false:
			continue
		}
		for _, at := range t.Reads {
			r := &p.Plan.Reads[at]
			if part, has := w.read(at); !has {
				if above, ok := w.above[r]; ok {
					branch = merged(branch, above)
				}
			} else if part == nil || there && (!t.Expr.Plain() || value == false) {
				branch = merged(branch, w.holds(r.Path, part))
				continue
			}
			for _, i := range r.Writers {
				call := p.Plan.Calls[i]
				switch end := w.ends[call]; {
				case end == nil || end.failed:
					return nil, true
				case end.skipped && !seen[i]:
					seen[i] = true
					list = slices.AppendSeq(list, call.Expressions())
				case end.takes != "":
					branch = merged(branch, BranchChoice{Call: call.Name, Takes: end.takes})
				}
			}
		}
	}
	for i, c := range branch {
		if c.Value != nil {
			cleared, how := samples.Clear(*c.Value)
			if how == samples.Unknown {
				return nil, false
			}
			branch[i].Value = &cleared
		}
	}
	return branch, true
}

// holds is what is there at or above a read.
func (w *trial) holds(at pathtree.ID, value any) BranchChoice {
	return BranchChoice{Reference: w.pass.Path(at), Value: &value}
}

// merged are choices with others that aren't among them.
func merged(all []BranchChoice, more ...BranchChoice) []BranchChoice {
	for _, c := range more {
		if !slices.ContainsFunc(all, func(known BranchChoice) bool { return reflect.DeepEqual(c, known) }) {
			all = append(all, c)
		}
	}
	return all
}
