package analyzer

import (
	"github.com/obelus-dev/obelus/compiler/diag"
)

var writeConflict = register(Rule{
	Rule: &diag.Rule{Code: "OB401", Name: "write-conflict", Default: diag.Error},
	Run:  writeConflicts,
})
