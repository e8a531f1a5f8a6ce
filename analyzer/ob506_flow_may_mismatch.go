package analyzer

import (
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/schema"
)

var mayMismatchRule = &diag.Rule{Code: "OB506", Name: "flow-may-mismatch", Default: diag.Warning}

var flowMayMismatch = register(Rule{
	Rule: mayMismatchRule,
	Run:  flowMayMismatches,
})

// flowMayMismatches reports flows with a value that doesn't fit, and those that couldn't be checked within the budget.
func flowMayMismatches(p *Pass) {
	for _, j := range judgements(p) {
		switch j.Relation {
		case schema.MayNotFit:
			reportMayMismatch(p, &j)
		case schema.Unknown:
			cutShort(p, j.place(), "whether %s fits %s of %s isn't fully analysed: %s", j.called(), j.to.name(), j.to.taker.taker, j.CutShort).About(j.to.call.Label())
		}
	}
}

// reportMayMismatch reports a value that may come and isn't accepted.
func reportMayMismatch(p *Pass, j *judgement) {
	misfit(p, mayMismatchRule, j, j.to.name()+" of "+j.to.taker.taker).
		Advise("narrow the source's schema, widen the parameter's, or convert the value (int(…), filter(…), \"… || 0\")")
}
