package compiler

import _ "embed"

// Reference is the plan language as people are told it, in Markdown: a heading for each
// part ("## S5 Output paths and state"), and in it the clauses ("**S5.1** …").
//
//go:embed LANGUAGE.md
var Reference string
