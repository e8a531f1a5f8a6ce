package analyzer

import (
	"github.com/obelus-dev/obelus/compiler/diag"
)

var _ = register(Rule{
	Rule:  &diag.Rule{Code: "OB212", Name: "constant-condition", Default: diag.Warning},
	Scope: Idle,
	Run:   constantConditions,
})
