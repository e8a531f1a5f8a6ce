package analyzer

import (
	"fmt"
	"slices"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/label"
	"github.com/obelus-dev/obelus/compiler/policy"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/runtime/orders"
)

var _ = register(Rule{
	Rule: &diag.Rule{Code: "OB705", Name: "outside-bounds", Default: diag.Error},
	Run:  outsideOfBounds,
})

// outsideOfBounds reports calls of tools that a policy doesn't list, and what their
// parameters are or may be beside what it lets them be (S17.5): its bounds are one more
// taker of the parameters.
func outsideOfBounds(p *Pass) {
	for _, one := range p.Plan.Policies {
		for i := range one.Only {
			for _, call := range p.fresh() {
				p.unlisted(&one.Only[i], call)
			}
		}
		for i := range one.Bounds {
			for k := range one.Bounds[i].Tools {
				tool := &one.Bounds[i].Tools[k]
				for _, call := range p.fresh() {
					if label.Carries(call, tool.Name) {
						p.outOfBounds(call, p.boundsOf(&one.Bounds[i], tool))
					}
				}
			}
		}
	}
}

func (p *Pass) unlisted(only *policy.Only, call *compiler.Call) {
	name := orders.Unlisted(only, call)
	if name == "" {
		return
	}
	at := call.ToolNode
	if n := call.Node.Get("_activity"); n != nil && name != call.ToolName {
		at = n
	}
	p.Report(at.Span(), "%q isn't among the tools that there may be: the policy's rule %q lists those", name, only.Name).About(call.Label()).
		Advise("call one of %s", quotedNames(only.Tools)).
		Note(headOf(only.Node.Span()), "the rule is here")
}

// boundsOf are the bounds of a tool as a taker of its parameters.
func (p *Pass) boundsOf(rule *policy.Bounds, tool *policy.BoundTool) *parameters {
	return once(p.bounds, tool, func() *parameters {
		t := &parameters{taker: fmt.Sprintf("the policy's rule %q", rule.Name), which: "policy", places: map[string]schema.Place{}, bounds: map[string]*source.Node{}}
		for _, one := range tool.Parameters {
			t.places[one.Name], t.bounds[one.Name] = schema.Place{Schema: one.Schema, Possible: true, Named: true}, one.Node
		}
		return t
	})
}

func (p *Pass) outOfBounds(call *compiler.Call, bounds *parameters) {
	for _, f := range call.Params.Fields {
		place, bounded := bounds.places[f.Key]
		if !bounded {
			continue
		}
		before := len(p.found)
		if p.badLiteral(call, bounds, f, place.Schema); len(p.found) > before || !f.Value.Live() {
			continue
		}
		to := target{call: call, taker: bounds, schema: place.Schema, key: f.Key}
		found := p.judgeTemplate(f.Value, to, true)
		for i := range found {
			p.reportBounds(&found[i])
		}
		if len(found) == 0 && !p.isWithin(f.Value, place.Schema) {
			to.node = f.Value.Node
			p.reportBounds(&judgement{relation: schema.Unknown, several: true, to: to})
		}
	}
}

// isWithin reports whether all that a template may give is known to fit a schema; of a
// value that the document gives as an example nothing more is known than that it does.
func (p *Pass) isWithin(t *compiler.Template, s *schema.Schema) bool {
	flows := []flow{{}}
	if t.Expr != nil {
		flows = p.flowsOf(t)
	} else if whole, ok := p.flowOfTemplate(t); ok {
		flows[0] = whole
	}
	return !slices.ContainsFunc(flows, func(f flow) bool {
		return !f.sample && (f.schema == nil || p.fits(f.schema, s).Relation != schema.Fits)
	})
}

func (p *Pass) reportBounds(j *judgement) {
	what := fmt.Sprintf("what %s lets %s be", j.to.taker.taker, j.to.name())
	var f *diag.Diagnostic
	switch j.relation {
	case schema.Never:
		f = p.Report(j.place(), "%s never fits %s: %s", j.called(), what, j.because())
	case schema.MayNotFit:
		f = p.Report(j.place(), "%s may not fit %s: %s; a run refuses the call then", j.called(), what, j.because()).As(diag.Warning)
	default:
		f = p.Report(j.place(), "whether %s fits %s isn't known; a run refuses the call if it doesn't", j.called(), what).As(diag.Warning)
	}
	f.About(j.to.call.Label()).Advise("narrow what the source may give to what the policy allows, or pass something else")
	f.Witness = j.witness
	p.note(f, j)
}
