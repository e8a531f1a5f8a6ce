package rules

import (
	"github.com/obelus-dev/obelus/analyzer/flow"
	"github.com/obelus-dev/obelus/analyzer/internal/analysis"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/schema"
)

var FlowMismatch = Register(Rule{Run: flowMismatches}.As("OB505", "flow-mismatch", diag.Error))

// help says what to do about a value of another kind.
func help(j *judgement) string {
	if j.To.Schema == flow.AList {
		return "pass a list: keys(…), values(…) or toPairs(…) of an object, or [†…] for one item"
	}
	return "pass a value of the right type, convert it (string(…), int(…), float(…)), or correct the schema"
}

// flowMismatches reports flows whose values never fit the parameter.
func flowMismatches(p *Pass) {
	for _, j := range analysis.Judgements(p) {
		if j.Relation == schema.Never {
			analysis.Misfit(p, p.Rule, &j, j.To.Where()).Advise("%s", help(&j))
		}
	}
}
