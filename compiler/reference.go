package compiler

import _ "embed"

// Reference is the reference of the plan language, in Markdown: a heading for each
// section ("## Output paths and state").
//
//go:embed LANGUAGE.md
var Reference string
