package analyzer

import (
	"github.com/obelus-dev/obelus/analyzer/rules"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/policy"
)

var _ = rules.Register(Rule{
	Rule:  &diag.Rule{Code: "OB702", Name: "leak", Default: diag.Error},
	Needs: diag.Reads | diag.Writes | diag.Order | diag.Tools,
	Run:   func(p *Pass) { forbiddenFlows(p, policy.Confidentiality) },
})
