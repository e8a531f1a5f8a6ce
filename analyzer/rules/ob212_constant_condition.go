package rules

import (
	"slices"

	"github.com/obelus-dev/obelus/analyzer/flow"
	"github.com/obelus-dev/obelus/analyzer/internal/analysis"
	"github.com/obelus-dev/obelus/analyzer/internal/logic"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
)

var _ = Register(Rule{Scope: idle, Run: constantConditions}.As("OB212", "constant-condition", diag.Warning))

// constantConditions finds conditions that don't decide anything, and comparisons that nothing can fulfil.
func constantConditions(p *Pass) {
	constant, left := constantTemplates(p), emptyBudget
	analysis.Calculations(p, func(call *plan.Call, t *plan.Template) {
		if !constant[t] {
			comparisons(t.Expr,
				func(ref int, with *expression.Node) { comparison(p, call, t, t.Reads[ref], with, &left) })
		}
	})
}

// comparisons calls f for every literal that a reference is compared with for being equal, or looked for among.
func comparisons(e *expression.Expr, f func(ref int, with *expression.Node)) {
	for n := range e.Root().All() {
		if n.Op != expression.OpEqual && n.Op != expression.OpUnequal && n.Op != expression.OpIn {
			continue
		}
		for i, a := range n.Args {
			switch other := n.Args[1-i]; {
			case a.Op != expression.OpRef || !other.Constant:
			case n.Op != expression.OpIn:
				f(a.Index, other)
			case i == 0 && other.Op == expression.OpList:
				for _, item := range other.Args {
					f(a.Index, item)
				}
			}
		}
	}
}

// comparison reports a literal that the value which it is compared with can't be. Null asks whether something is there;
// and that a value is of another kind altogether is found with the types.
func comparison(p *Pass, call *plan.Call, t *plan.Template, read int, with *expression.Node, left *int) {
	flows := p.Flow.Read(read)
	kind := schema.KindOf(with.Value)
	if with.Value == nil || len(flows) == 0 || slices.ContainsFunc(flows, func(v flow.Variant) bool {
		return !v.Sure() || v.Schema.Kinds() == 0
	}) {
		return
	}
	possible := false
	for _, f := range flows {
		if !schema.Empty(schema.AllOf(f.Schema, schema.Const(with.Value)), emptySteps, left) {
			return
		}
		possible = possible || f.Schema.Kinds()&kind != 0
	}
	if !possible {
		return
	}
	r := &p.Plan.Reads[read]
	shown := t.Expr.Text[with.Start:with.End]
	f := p.ReportCall(call, t.Node.Within(with.Start, with.End), "%q is never %s", r.Ref.String(), shown).
		Advise("compare it with a possible value")
	analysis.NoteOrigin(f, &flows[0])
	raw, _ := flows[0].Schema.Raw().(map[string]any)
	if words, _ := raw["enum"].([]any); len(words) > 0 {
		f.Advise("it is one of %s", analysis.Brief(words))
	}
}

// constantTemplates reports conditions of calls that are always or never true.
func constantTemplates(p *Pass) map[*plan.Template]bool {
	constant := map[*plan.Template]bool{}
	for _, call := range p.Plan.Calls {
		t := call.When
		if t == nil {
			continue
		}
		if !t.Live || t.Expr != nil && len(t.Reads) == 0 {
			p.ReportCall(call, t.Node.Span(), "the condition of %q has no reference: it is the same in every run",
				call.Name).
				Advise("read a value in it, or remove it")
			continue
		}
		never, always := decided(p, call)
		// What may go wrong isn't true always, even if it is never false.
		if never == always || always && (MayFail(p, t) || mayBeMissing(p, t)) {
			continue
		}
		constant[t] = true
		what := "is never true, so the call is always skipped"
		if t.PerItem() {
			what = "is never true, so every item is skipped"
		}
		if always {
			what = "is always true"
		}
		p.ReportCall(call, t.Node.Span(), "the condition of %q %s", call.Name, what).
			Advise("compare it with a possible value, or remove the condition")
	}
	return constant
}

// decided reports whether a condition is never true, and whether it is never false, for any values of its references.
func decided(p *Pass, call *plan.Call) (never, always bool) {
	if call.When.Expr == nil {
		return false, false
	}
	e := p.Flow.Conditions()
	yes, no := e.ConditionAlone(call)
	answers := e.SolveAll([]logic.Literal{yes, no}, false)
	return answers[0].Impossible, answers[1].Impossible
}

// mayBeMissing reports whether there may be nothing where a condition looks, which then isn't
// true: no call has written it, or what came has no such part.
func mayBeMissing(p *Pass, condition *plan.Template) bool {
	e := p.Flow.Conditions()
	return slices.ContainsFunc(condition.Reads, func(read int) bool {
		r := &p.Plan.Reads[read]
		if compiler.ReadsItem(p.Plan, r) {
			call := p.Flow.Caller(r)
			return r.Ref.Kind == "item" && call != nil && call.Each != nil &&
				slices.ContainsFunc(p.Flow.Elements(call.Each.List), func(v flow.Variant) bool {
					return v.Schema != nil && !v.Schema.At(r.Ref.Path).Required
				})
		}
		return MayBeOmitted(p, r) || slices.ContainsFunc(r.Writers, func(w int32) bool {
			call := p.Plan.Calls[w]
			rest, ok := p.Flow.LookedInto(call, r.Path)
			return ok && len(rest) > 0 && !call.Tool.Output.At(rest).Required
		}) || !r.Start && len(r.Writers) > 0 && !slices.ContainsFunc(r.Writers, func(w int32) bool {
			return e.Solve(e.Runs(p.Plan.Calls[w]).Not(), true).Impossible
		})
	})
}

// constantAlone reports whether OB212 speaks of a call's condition.
func constantAlone(p *Pass, call *plan.Call) bool {
	never, always := decided(p, call)
	return !call.When.Live || call.When.Expr != nil && len(call.When.Reads) == 0 || never != always
}
