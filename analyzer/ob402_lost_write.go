package analyzer

import (
	"github.com/obelus-dev/obelus/compiler/diag"
)

var _ = register(Rule{
	Rule:  &diag.Rule{Code: "OB402", Name: "lost-write", Default: diag.Warning},
	Scope: Idle,
	Run:   lostWrites,
})
