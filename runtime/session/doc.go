// Package session runs a [project.Program] durably: with a journal that a run can be resumed from,
// instances from a file, results to a file, and a planner that can be recorded.
//
// [Run] and [Resume] do all of it at once. [Begin] or [Open], and then [Session.Run], let a program
// show something before, such as the journal's name. [LookAt], [List] and [OpenQuestions] read journals.
//
// Errors that keep a run from going on are a [*diag.UserError] of one of the kinds below.
// How a run went is no error: see [Result].
//
// The forms of [Manifest], [Record] and [Events] in JSON are stable; further fields may come.
package session

import "errors"

// The kinds of trouble that this package has, for [errors.Is]. Any may come with an
// advice, which names the flag of the command that helps.
var (
	ErrUnsound    = errors.New("the plan has errors")
	ErrUnfit      = errors.New("input or state doesn't fit its schema, or lacks something")
	ErrUnapproved = errors.New("the run isn't approved, or leaves what was")
	ErrUnrunnable = errors.New("the run can't begin or go on here, or be kept")
	ErrAnswers    = errors.New("the answers can't be taken")
	ErrNoRun      = errors.New("there is no such run, or several")
	ErrLocked     = errors.New("the run is going on, in another process")
	ErrEnded      = errors.New("the run has ended")
	ErrDamaged    = errors.New("the journal can't be trusted")
	ErrForeign    = errors.New("the journal isn't one of a run that can be followed here")
)
