package analyzer

import (
	"github.com/obelus-dev/obelus/compiler/diag"
)

var maybeMissing = register(Rule{
	Rule: &diag.Rule{Code: "OB205", Name: "maybe-missing", Default: diag.Warning},
	Run:  missingOutputs,
})
