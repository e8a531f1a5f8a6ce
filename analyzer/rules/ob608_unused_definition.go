package rules

import (
	"maps"
	"slices"

	"github.com/obelus-dev/obelus/analyzer/internal/analysis"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/canonical"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
)

var _ = Register(Rule{Scope: document, Run: unusedDefinitions}.As("OB608", "unused-definition", diag.Info))

// unusedDefinitions reports what a plan file defines and no call uses. A plan without calls, or one in another form,
// offers its tools to a model instead; a compiled plan holds whatever it was compiled with.
func unusedDefinitions(p *Pass) {
	compiled := p.Plan
	if canonical.Compiled(compiled) {
		return
	}
	shadowed(p)
	if compiled.Form != plan.PlanFile || len(compiled.Calls) == 0 || p.Unknown(diag.Tools|diag.Writes) ||
		analysis.IsAstray(p) {
		return
	}
	tools, activities := map[string]bool{}, map[string]bool{}
	for _, call := range compiled.Calls {
		tools[call.ToolName] = true
		activities[call.Activity] = true
		if tool := call.Tool; tool != nil {
			activities[tool.Activity] = true
			for _, choice := range tool.Activities {
				activities[choice] = true
			}
		}
	}
	for _, t := range compiled.Tools {
		if t.NameNode != nil && t.NameNode.File == compiled.File && !tools[t.Name] {
			p.Report(t.NameNode.Span(), "no call uses the tool %q", compiler.Shown(t.Name)).
				Advise("use it, or remove it")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(compiled.Activities)) {
		a := compiled.Activities[name]
		if a.NameNode != nil && a.NameNode.File == compiled.File && !activities[name] {
			p.Report(a.NameNode.Span(), "no call uses the activity %q", compiler.Shown(name)).
				Advise("give it the name of a tool, name it in \"_activity\", or remove it")
		}
	}
}

// shadowed reports definitions that a later one of the same name replaces.
func shadowed(p *Pass) {
	for _, t := range p.Plan.Shadowed {
		if t.NameNode == nil {
			continue
		}
		at, by := t.NameNode.Span(), source.Span{}
		if winner := p.Plan.Tool(t.Name); winner != nil {
			by = winner.NameNode.Span()
		}
		if by.Known() && by.Where() == at.Where() {
			continue // of an import that is a catalogue, too
		}
		f := p.Report(at, "this definition of the tool %q isn't used: a later one replaces it", t.Name).
			Advise("take one of the two out, or give them different names")
		if by.Known() {
			f.Note(by, "the definition that is used is here")
		}
	}
}
