package analyzer

import (
	"strings"

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
	p.strayParameters()
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

// strayParameters reports what a program is to be given of a call's parameters that its
// tool doesn't have: it would always be left out.
func (p *Pass) strayParameters() {
	type pair struct {
		tool     *compiler.Tool
		activity string
	}
	told := map[pair]bool{}
	judge := func(tool *compiler.Tool, activity string) {
		a := p.Plan.Activities[activity]
		known := p.parametersOf(tool)
		if a == nil || known == nil || told[pair{tool, activity}] {
			return
		}
		told[pair{tool, activity}] = true
		for _, taken := range a.Parameters {
			if !known.unknown(taken.Name) {
				continue
			}
			braces := "{" + taken.Name + "}"
			at := max(0, strings.Index(taken.Node.Text, braces))
			f := p.Report(taken.Node.Within(at, min(at+len(braces), len(taken.Node.Text))), "the activity %q takes the parameter %q, which the tool %q doesn't have", compiler.Shown(a.Name), taken.Name, tool.Name)
			if near, ok := known.names().Nearest(taken.Name); ok {
				f.Advise("did you mean %q?", near)
			} else {
				f.Advise("give the tool such a parameter; braces that are text are written {%s}", braces)
			}
			if tool.NameNode != nil {
				f.Note(tool.NameNode.Span(), "%q is declared here", tool.Name)
			}
		}
	}
	for _, tool := range p.Plan.Tools {
		for _, activity := range append([]string{tool.Activity}, tool.Activities...) {
			judge(tool, activity)
		}
	}
	for _, call := range p.Plan.Calls {
		judge(call.Single(), call.Activity)
	}
}
