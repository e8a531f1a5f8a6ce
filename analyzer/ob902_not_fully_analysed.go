package analyzer

import (
	"fmt"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/source"
)

var notAnalysed = register(Rule{
	Rule: &diag.Rule{Code: "OB902", Name: "not-fully-analysed", Default: diag.Info},
	Run:  notFullyAnalysed,
})

// cutShort says that a judgement was cut short (S18).
func (p *Pass) cutShort(at source.Span, format string, args ...any) *diag.Diagnostic {
	d := diag.New(notAnalysed.Rule, at, fmt.Sprintf(format, args...))
	d.Help = "simpler schemas, or fewer alternatives in them, can be judged"
	p.found = append(p.found, d)
	return &p.found[len(p.found)-1]
}
