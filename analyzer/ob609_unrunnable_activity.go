package analyzer

import (
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/source"
)

var _ = register(Rule{
	Rule:  &diag.Rule{Code: "OB609", Name: "unrunnable-activity", Default: diag.Error},
	Scope: Document,
	Run:   unrunnableActivities,
})

// A Machine is what is known of where a plan is to be run.
type Machine struct {
	// Unrunnable tells why an activity can't be run there, what to do, and at which
	// place of the text; "" when it can be.
	Unrunnable func(*compiler.Activity) (what, help string, at source.Span)
	// Other says that the plan will be run on another machine than the one that was
	// looked at: what is missing is then a warning.
	Other bool
}

// unrunnableActivities reports activities that calls use and that can't be carried out
// where the plan is to be run (S2.3), each once.
func unrunnableActivities(p *Pass) {
	if p.config.Machine == nil {
		return
	}
	told := map[string]bool{}
	for _, call := range p.Plan.Calls {
		a := p.Plan.Activities[call.Activity]
		if a == nil || a.Node == nil || told[call.Activity] {
			continue
		}
		told[call.Activity] = true
		what, help, at := p.config.Machine.Unrunnable(a)
		if what == "" {
			continue
		}
		f := p.Report(at, "the activity %q can't be run: %s", compiler.Shown(a.Name), what).About(call.Label()).Advise("%s", help).
			Note(call.ToolNode.Span(), "%q needs it", call.Name)
		if p.config.Machine.Other {
			f.As(diag.Warning)
		}
	}
}
