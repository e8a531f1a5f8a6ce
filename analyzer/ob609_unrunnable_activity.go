package analyzer

import (
	"strings"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
)

var _ = register(Rule{
	Rule:  &diag.Rule{Code: "OB609", Name: "unrunnable-activity", Default: diag.Error},
	Scope: Document,
	Run:   unrunnableActivities,
})

// A Machine is what is known of where a plan is to be run.
type Machine struct {
	// Unrunnable tells each thing for which an activity can't be run there, what to do, and
	// at which place of the text.
	Unrunnable func(a *compiler.Activity, tell func(what, help string, at source.Span))
	// Other says that the plan will be run on another machine than the one that was
	// looked at: what is missing is then a warning.
	Other bool
}

// unrunnableActivities reports activities that calls use and that can't be carried out
// where the plan is to be run (S2.3), each once.
func unrunnableActivities(p *Pass) {
	p.unfitActivities()
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
		p.config.Machine.Unrunnable(a, func(what, help string, at source.Span) {
			f := p.Report(at, "the activity %q can't be run: %s", compiler.Shown(a.Name), what).About(call.Label()).Advise("%s", help).
				Note(call.ToolNode.Span(), "%q needs it", call.Name)
			if p.config.Machine.Other {
				f.As(diag.Warning)
			}
		})
	}
}

// unfitActivities reports programs that can't do what the tools say that they carry out,
// each once for a tool.
func (p *Pass) unfitActivities() {
	p.carriedOut(func(known *parameters, a *compiler.Activity) {
		for _, taken := range a.Parameters {
			p.strayParameter(known, a, taken)
		}
		p.otherResult(known.tool, a)
	})
	for _, call := range p.Plan.Calls {
		a := p.Plan.Activities[call.Activity]
		if n := call.Node.Get("_outputPath"); n != nil && a != nil && a.Stdout == compiler.StreamNone {
			p.Report(n.Span(), "the activity %q gives nothing (\"stdout: none\"), so that null would be written", compiler.Shown(a.Name)).As(diag.Warning).About(call.Label()).
				Advise("leave \"_outputPath\" out, or say what the program writes: \"stdout: text\", \"lines\" or \"json\"")
		}
	}
}

// carriedOut goes over the activities that carry tools out, each once for a tool of which
// the parameters are known.
func (p *Pass) carriedOut(judge func(known *parameters, a *compiler.Activity)) {
	type pair struct {
		tool     *compiler.Tool
		activity string
	}
	seen := map[pair]bool{}
	look := func(tool *compiler.Tool, activity string) {
		a, known := p.Plan.Activities[activity], p.parametersOf(tool)
		if a != nil && known != nil && !seen[pair{tool, activity}] {
			seen[pair{tool, activity}] = true
			judge(known, a)
		}
	}
	for _, tool := range p.Plan.Tools {
		for _, activity := range append([]string{tool.Activity}, tool.Activities...) {
			look(tool, activity)
		}
	}
	for _, call := range p.Plan.Calls {
		look(call.Single(), call.Activity)
	}
}

// strayParameter reports what a program is to be given of a call's parameters that its
// tool doesn't have: it would always be left out.
func (p *Pass) strayParameter(known *parameters, a *compiler.Activity, taken compiler.Variable) {
	if !known.unknown(taken.Name) {
		return
	}
	braces := "{" + taken.Name + "}"
	at := max(0, strings.Index(taken.Node.Text, braces))
	f := p.Report(taken.Node.Within(at, min(at+len(braces), len(taken.Node.Text))), "the activity %q takes the parameter %q, which the tool %q doesn't have", compiler.Shown(a.Name), taken.Name, known.tool.Name)
	if near, ok := known.names().Nearest(taken.Name); ok {
		f.Advise("did you mean %q?", near)
	} else {
		f.Advise("give the tool such a parameter; braces that are text are written {%s}", braces)
	}
	if n := known.tool.NameNode; n != nil {
		f.Note(n.Span(), "%q is declared here", known.tool.Name)
	}
}

// otherResult reports a program of which no result is of a kind that its tool gives.
func (p *Pass) otherResult(tool *compiler.Tool, a *compiler.Activity) {
	gives := map[string]schema.Kinds{compiler.StreamText: schema.String, compiler.StreamLines: schema.Array, compiler.StreamNone: schema.Null}[a.Stdout]
	if gives == 0 || tool.Output == nil || tool.Output.Compile() != nil || tool.Output.Kinds()&gives != 0 {
		return
	}
	p.Report(a.Node.Get("exec").Get("stdout").Span(), "the activity %q gives %s, and the tool %q gives %s", compiler.Shown(a.Name), gives, tool.Name, tool.Output.Kinds()).
		Advise("let \"stdout\" be what the program writes, or the tool's \"_output\"").
		Note(tool.OutputNode.Span().Head(), "the result of %q is described here", tool.Name)
}
