package analyzer

import (
	"fmt"
	"slices"

	"github.com/obelus-dev/obelus/analyzer/flow"
	"github.com/obelus-dev/obelus/analyzer/internal/analysis"
	"github.com/obelus-dev/obelus/analyzer/rules"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/label"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/policy"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
)

var _ = rules.Register(Rule{Run: outsideOfBounds}.As("OB705", "outside-bounds", diag.Error))

// outsideOfBounds reports calls of tools that a policy doesn't list, and what their
// parameters are or may be beside what it lets them be: its bounds are one more
// taker of the parameters.
func outsideOfBounds(p *Pass) {
	for _, one := range p.Plan.Policies {
		for _, call := range p.Plan.Calls {
			for i := range one.Only {
				unlisted(p, &one.Only[i], call)
			}
		}
		for i := range one.Bounds {
			bound := &one.Bounds[i]
			for _, call := range p.Plan.Calls {
				if label.Carries(call, bound.Tool) {
					outOfBounds(p, call, boundsOf(p, bound))
				}
			}
			untyped(p, bound)
		}
	}
}

// untyped reports bounds that accept values of other types, if the tool doesn't declare the type either.
func untyped(p *Pass, bound *policy.Bound) {
	at := slices.IndexFunc(p.Plan.Calls,
		func(c *plan.Call) bool { return label.Carries(c, bound.Tool) && c.Tool != nil })
	if at < 0 {
		return
	}
	known := analysis.ParametersOf(p, p.Plan.Calls[at].Tool)
	if known != nil && bound.Schema.Kinds() == schema.Anything &&
		known.Place(bound.Parameter).Schema.Kinds() == schema.Anything {
		p.Report(bound.Node.Span().Head(),
			"the bound of %q in %q names no type, and neither does %s: a value of another type is within it",
			bound.Parameter, bound.Name, known.Taker).As(diag.Warning).
			Advise("name the \"type\" that it may have")
	}
}

func unlisted(p *Pass, only *policy.Only, call *plan.Call) {
	name := label.Unlisted(only, call)
	if name == "" {
		return
	}
	p.ReportCall(call, call.ToolNode.Span(),
		"%q isn't among the tools that there may be: the policy's rule %q lists those", name, only.Name).
		Advise("call one of %s", analysis.QuotedNames(only.Tools)).
		Note(only.Node.Span().Head(), "the rule is here")
}

// boundsOf is a bound as a taker of its parameter.
func boundsOf(p *Pass, one *policy.Bound) *analysis.Parameters {
	return analysis.Once(p.Store, one, func() *analysis.Parameters {
		place := schema.Place{Schema: one.Schema, Possible: true, Named: true}
		return &analysis.Parameters{Taker: fmt.Sprintf("the policy's rule %q", one.Name),
			Places: map[string]schema.Place{one.Parameter: place},
			Bounds: map[string]*source.Node{one.Parameter: one.Node}}
	})
}

func outOfBounds(p *Pass, call *plan.Call, bounds *analysis.Parameters) {
	for _, f := range call.Params.Fields {
		place, bounded := bounds.Places[f.Key]
		if !bounded {
			continue
		}
		before := len(p.Found)
		if rules.BadLiteral(p, call, bounds, f, place.Schema); len(p.Found) > before || !f.Value.Live {
			continue
		}
		to := analysis.Target{Call: call, Taker: bounds, Schema: place.Schema, Key: f.Key}
		found := analysis.JudgeTemplate(p, f.Value, to, true)
		for i := range found {
			reportBounds(p, &found[i])
		}
		if len(found) == 0 && !isWithin(p, call, f.Value, place.Schema, schema.Fits) {
			to.Node = f.Value.Node
			j := analysis.Judgement{Fit: flow.Fit{Relation: schema.Unknown, Several: true}, To: to}
			isOpen := f.Value.Expr != nil &&
				(f.Value.Expr.Root().Op == expression.OpText || f.Value.Expr.Plain() && call.When != nil)
			if isOpen || isWithin(p, call, f.Value, place.Schema, schema.Fits, schema.Unknown) {
				j.CutShort = "the schemas can't be compared"
			}
			reportBounds(p, &j)
		}
	}
}

// isWithin reports whether all that a template may give is in one of some relations to a
// schema; of a value that the document gives as an example it is known that it fits.
func isWithin(p *Pass, call *plan.Call, t *plan.Template, s *schema.Schema, relations ...schema.Relation) bool {
	return !slices.ContainsFunc(p.Flow.Eval(call, t), func(v flow.Variant) bool {
		if v.Schema = p.Flow.Guarded(&v, call); v.Schema == nil {
			return true
		}
		return !v.Sample && !slices.Contains(relations, p.Flow.Fits(v.Schema, s, v.External).Relation)
	})
}

func reportBounds(p *Pass, j *analysis.Judgement) {
	what := fmt.Sprintf("what %s lets %s be", j.To.Taker.Taker, j.To.Name())
	var f *diag.Diagnostic
	switch j.Relation {
	case schema.Never:
		f = analysis.Misfit(p, p.Rule, j, what)
	case schema.MayNotFit:
		f = analysis.Misfit(p, p.Rule, j, what)
		f.Message += "; a run refuses the call then"
	default:
		f = p.ReportCall(j.To.Call, j.Place(), "whether %s fits %s isn't known; a run refuses the call if it doesn't",
			j.Called(), what).As(diag.Warning)
		if analysis.NoteSources(p, f, j); j.CutShort != "" {
			f.As(diag.Info)
		}
	}
	f.Advise("narrow what the source may give to what the policy allows, or let a \"_when\" see to it")
}
