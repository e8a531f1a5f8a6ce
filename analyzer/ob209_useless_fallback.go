package analyzer

import (
	"github.com/obelus-dev/obelus/compiler/diag"
)

var _ = register(Rule{
	Rule:  &diag.Rule{Code: "OB209", Name: "useless-fallback", Default: diag.Warning},
	Scope: Idle,
	Run:   uselessFallbacks,
})
