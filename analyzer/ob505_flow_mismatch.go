package analyzer

import (
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/schema"
)

var flowMismatch = register(Rule{
	Rule: &diag.Rule{Code: "OB505", Name: "flow-mismatch", Default: diag.Error},
	Run:  flowMismatches,
})

// flowMismatches reports flows of which nothing fits the parameter.
func flowMismatches(p *Pass) {
	for _, j := range p.judgements() {
		if j.relation != schema.Never {
			continue
		}
		f := p.Report(j.place(), "%s never fits %s of %s: %s", j.called(), j.to.name(), j.to.taker.taker, j.because()).About(j.to.call.Label()).
			Advise("pass something of the right kind, convert it (string(…), int(…), float(…)), or mend the schema that says it wrong")
		f.Witness = j.witness
		p.note(f, &j)
	}
}
