package analyzer

import (
	"slices"

	"github.com/obelus-dev/obelus/analyzer/facts"
	"github.com/obelus-dev/obelus/analyzer/permit"
	"github.com/obelus-dev/obelus/analyzer/rules"
	"github.com/obelus-dev/obelus/compiler/canonical"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
)

var _ = rules.Register(Rule{Scope: Document, Needs: diag.Everything, Run: leavesPermit}.
	As("OB703", "outside-envelope", diag.Error))

// leavesPermit reports what of a plan leaves the permit that it is checked for. The
// calls of a solution are compared by the machine, which knows more.
func leavesPermit(p *Pass) {
	e := p.Permit
	if e == nil || p.Screens {
		return
	}
	parts, _ := p.Plan.Parts() // what can't be read doesn't run
	policies, _ := canonical.PolicyParts(p.Plan)
	for _, d := range e.Within(facts.Of(p.Plan, facts.Options{}), slices.Concat(parts, policies)) {
		f := p.Report(placeOf(p, &d), "%s", d)
		if d.In == "" && d.Call != "" {
			f.About(d.Call)
		}
		f.Advise("approve the plan again (obelus approve FILE), or change this back to what was approved")
	}
}

// placeOf is the call that a difference is about, or the one that runs the plan that it is in; else the whole plan.
func placeOf(p *Pass, d *permit.Difference) source.Span {
	for _, c := range p.Plan.Calls {
		if d.Call != "" && (d.In == "" && c.Name == d.Call || d.In != "" && runs(p, c, d.In)) {
			return c.Node.Span().Head()
		}
	}
	return p.Plan.Root.Span().Head()
}

// runs reports whether a call runs a plan, or one that does.
func runs(p *Pass, c *plan.Call, plan string) bool {
	d := p.Plan.Delegates[c.Delegate]
	return d != nil && (c.Delegate == plan || d.AllDelegates()[plan] != nil)
}
