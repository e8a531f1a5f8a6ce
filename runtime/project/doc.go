// Package project reads what is worked on from files: documents with what their compilation imports (imports below the
// workspace, catalogues, files of activities), the configuration that they are judged by, and their results, a checked
// [Program]. Commands, embedding programs and servers begin here.
//
// Everything that keeps a document from being read is a [*diag.UserError] of one of the
// kinds below; what is wrong with a document itself is a finding.
//
// Stable are [Reader], [Document], [Program] and the kinds of errors; embedding
// programs mostly need no more of it than package obelus, at the module's root, hands on.
package project

import "errors"

// The kinds of trouble that this package has, for [errors.Is]. Any may come with an
// advice, which names the flag of the command that helps.
var (
	ErrRead     = errors.New("a file can't be read")
	ErrTooLarge = errors.New("a file is too large")
	ErrRoot     = errors.New("the folder can't be a workspace")
	ErrOutside  = errors.New("the file isn't in the workspace")
	ErrNotOne   = errors.New("the file doesn't hold one document")
	ErrOther    = errors.New("the plan isn't the one that is demanded")
)
