package analyzer

import (
	"github.com/obelus-dev/obelus/compiler/diag"
)

var _ = register(Rule{
	Rule: &diag.Rule{Code: "OB405", Name: "shape-conflict", Default: diag.Error},
	Run:  shapeConflicts,
})
