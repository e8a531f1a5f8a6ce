package analyzer

import (
	"github.com/obelus-dev/obelus/compiler/diag"
)

var _ = register(Rule{
	Rule: &diag.Rule{Code: "OB403", Name: "rewrite", Default: diag.Error},
	Run:  rewrites,
})
