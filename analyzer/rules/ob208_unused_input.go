package rules

import (
	"github.com/obelus-dev/obelus/analyzer/internal/analysis"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
)

var _ = Register(Rule{Scope: idle, Needs: diag.Reads | diag.Input, Run: unusedInputs}.
	As("OB208", "unused-input", diag.Info))

// unusedInputs reports what a plan file declares as its input and never reads.
// In the other forms the input is there for a model to see as well.
func unusedInputs(p *Pass) {
	compiled := p.Plan
	if compiled.Form != plan.PlanFile || len(compiled.Calls) == 0 || analysis.IsAstray(p) {
		return
	}
	used := map[string]bool{}
	for i := range compiled.Reads {
		ref := &compiled.Reads[i].Ref
		if ref.Kind != "input" {
			continue
		}
		if len(ref.Path) == 0 {
			return // all of it is read
		}
		used[ref.Path[0].Key] = true
	}
	reported := map[string]bool{}
	declares := func(n *source.Node) {
		if n == nil {
			return
		}
		for _, f := range n.Fields {
			if name := f.Key.Text; !used[name] && !reported[name] {
				reported[name] = true
				p.Report(f.Key.Span(), "nothing reads the input %q", name).
					Advise("read it as †input.%s, or remove it", name)
			}
		}
	}
	declares(compiled.Root.Get("input"))
	declares(compiled.Root.Get("inputSchema").Get("properties"))
}
