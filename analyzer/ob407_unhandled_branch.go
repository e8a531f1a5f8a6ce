package analyzer

import (
	"github.com/obelus-dev/obelus/compiler/diag"
)

var unhandledBranch = register(Rule{
	Rule:  &diag.Rule{Code: "OB407", Name: "unhandled-branch", Default: diag.Warning},
	Scope: Idle,
	Run:   unhandledBranches,
})
