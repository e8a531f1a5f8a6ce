package runtime

import _ "embed"

// Reference is how a plan runs , in the form of [compiler.Reference].
//
//go:embed EXECUTION.md
var Reference string
