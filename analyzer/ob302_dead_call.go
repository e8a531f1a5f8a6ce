package analyzer

import (
	"github.com/obelus-dev/obelus/compiler/diag"
)

var _ = register(Rule{
	Rule:  &diag.Rule{Code: "OB302", Name: "dead-call", Default: diag.Warning},
	Scope: Idle,
	Run:   deadCalls,
})
