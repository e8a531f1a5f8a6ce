package rules

import (
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/analyzer/flow"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
)

// MayBeOmitted reports whether the schemas of the input and the state let a run begin without the value of a read.
func MayBeOmitted(p *Pass, r *plan.Read) bool {
	path := p.Plan.Paths.Segments(r.Path)
	if len(path) < 2 || len(r.Writers) > 0 {
		return false
	}
	_, s := p.Plan.Of(path[0].Key)
	return s != nil && !s.At(path[1:]).Required
}

// MayFail reports whether an expression of a template may fail and has no finding. It is false if
// nothing is known about its values.
func MayFail(p *Pass, t *plan.Template) bool {
	uncertain := func(read int) bool {
		return slices.ContainsFunc(p.Plan.Reads[read].Writers,
			func(w int32) bool { return p.Plan.Calls[w].Each != nil }) &&
			slices.ContainsFunc(p.Flow.Read(read), func(v flow.Variant) bool { return v.Uncertain })
	}
	known := func(read int) bool { return p.Flow.Type(read) != nil || isKnown(p, read) }
	for e := range t.Expressions() {
		if len(e.Reads) > 0 && (NeverFails(e.Expr) || !slices.ContainsFunc(e.Reads, known)) {
			continue
		}
		if risky, _ := EvaluationRisk(p, e); (risky || slices.ContainsFunc(e.Reads, uncertain)) &&
			!IsReported(p, e.Node) {
			return true
		}
	}
	return false
}

// EvaluationRisk reports whether a template may fail, and is blind, see [expression.Checked].
func EvaluationRisk(p *Pass, t *plan.Template) (risky, blind bool) {
	if NeverFails(t.Expr) {
		return false, false
	}
	of := p.Flow.Check(t)
	return of.MayFail, of.Blind
}

// NeverFails reports whether an expression gives one of its references, whatever these hold.
func NeverFails(e *expression.Expr) bool {
	references, _ := e.Alternatives()
	return references || e.Plain()
}

// SomethingKnown reports whether the plan describes a value of one of the reads of an expression.
func SomethingKnown(p *Pass, t *plan.Template) bool {
	return slices.ContainsFunc(t.Reads, func(read int) bool { return isKnown(p, read) })
}

func isKnown(p *Pass, read int) bool {
	r, paths := &p.Plan.Reads[read], p.Plan.Paths
	if compiler.ReadsItem(p.Plan, r) {
		list := p.Flow.Caller(r).Each.List
		return list.Expr == nil || SomethingKnown(p, list)
	}
	if r.Path == pathtree.Root || paths.Depth(r.Path) < 2 {
		return false
	}
	kind := paths.Kind(r.Path)
	return p.Plan.AnyBegins(func(v *plan.Values) bool {
		value, _ := v.Of(kind)
		value, there := paths.Walk(value, r.Path)
		return there && (value != nil || kind == "state")
	}) ||
		slices.ContainsFunc(r.Writers, func(w int32) bool {
			call := p.Plan.Calls[w]
			a := p.Plan.Activities[call.Activity]
			return call.Produced != nil || call.Tool != nil && call.Tool.Output != nil || Opens(p, call) ||
				a != nil && a.Expression != nil
		})
}

// IsReported reports whether a finding is about something in a value. That a condition is never true, or an operand
// never needed, doesn't say that the value never fails.
func IsReported(p *Pass, n *source.Node) bool {
	return slices.ContainsFunc(p.Found, func(f diag.Diagnostic) bool {
		return f.Severity > diag.Info && !strings.Contains("OB209 OB212", f.Rule.Code) && f.Span.File == n.File &&
			f.Span.Start < n.Span().End && n.Span().Start < f.Span.End
	})
}

// HasLiterals reports whether a part of a template is there in any case.
func HasLiterals(t *plan.Template) bool {
	if !t.Live {
		list, isList := t.Value.([]any)
		object, isObject := t.Value.(map[string]any)
		return len(list)+len(object) > 0 || !isList && !isObject
	}
	return t.Expr == nil && (slices.ContainsFunc(t.Fields, func(f plan.TemplateField) bool {
		return HasLiterals(f.Value)
	}) || slices.ContainsFunc(t.Items, HasLiterals))
}

// Opens reports whether a call runs a plan whose schemas don't describe all parameters and results.
func Opens(p *Pass, call *plan.Call) bool {
	d := p.Plan.Delegates[call.Delegate]
	return d != nil && (d.InputSchema == nil || d.Output != nil && d.OutputSchema == nil || len(call.Scopes) > 0)
}
