package diag

import (
	"errors"
	"fmt"

	"github.com/obelus-dev/obelus/compiler/naming"
)

// UserError is what keeps something from being done and is no fault of a plan: the
// world refuses, or what was asked for can't be had. It says what happened, and
// where that helps what to do, with the command's flags and commands.
type UserError struct {
	Kind    error  // what it is, for [errors.Is]; each package lists its own
	Message string // what happened
	Help    string // what to do about it; often ""
	Cause   error  // what it follows from, or nil
}

// NewError is a [UserError] of a kind. Its cause is what the message wraps (%w).
func NewError(kind error, format string, args ...any) *UserError {
	err := fmt.Errorf(format, args...)
	return &UserError{Kind: kind, Message: err.Error(), Cause: errors.Unwrap(err)}
}

// Advise says what to do about it.
func (t *UserError) Advise(format string, args ...any) *UserError {
	t.Help = fmt.Sprintf(format, args...)
	return t
}

// Suggest advises the word that was most likely meant, where one is near; what else is
// to be advised is set before.
func (t *UserError) Suggest(word string, words []string) *UserError {
	if near, ok := naming.Nearest(word, words); ok {
		t.Advise("did you mean %q?", near)
	}
	return t
}

func (t *UserError) Error() string { return t.Message }

// Unwrap gives the kind and the cause.
func (t *UserError) Unwrap() []error {
	var all []error
	for _, err := range []error{t.Kind, t.Cause} {
		if err != nil {
			all = append(all, err)
		}
	}
	return all
}

// A Fault is a finding as an error, on one line: of a file that something needs to do
// its work, and that holds no plan.
type Fault struct{ Diagnostic }

func (f *Fault) Error() string {
	text := f.Span.Where() + ": " + f.Message
	if f.Help != "" {
		text += "; " + f.Help
	}
	return Escape(text)
}
