package rules

import (
	"github.com/obelus-dev/obelus/compiler/diag"
)

var _ = Register(Rule{Scope: document, Needs: diag.Tools, Run: toolsNotJudged}.
	As("OB903", "tools-not-judged", diag.Info))

// toolsNotJudged says that there is nothing to hold tools and parameters against.
func toolsNotJudged(p *Pass) {
	if p.Plan.ToolsDeclared || len(p.Plan.Calls) == 0 {
		return
	}
	p.Report(p.Plan.Calls[0].ToolNode.Span(),
		"no tools are declared, so neither tools nor their parameters are checked").
		Advise("declare them under \"tools\", or import a file that does")
}
