// Package session runs a [project.Program] durably: with a journal that a run can be resumed from,
// instances from a file, results to a file, and a planner that can be recorded.
//
// [Run] and [Resume] do all of it at once. [Begin] or [Open], and then [Session.Run], let a program
// show something before, such as the journal's name.
//
// Errors that keep a run from going on are a [*diag.UserError] of one of the kinds below.
// How a run went is no error: see [Result].
//
// The forms of [Manifest], [Record] and [Events] in JSON are stable, and so are Run,
// Resume, List, Find and their options; further fields may come.
package session

import (
	"errors"
	"fmt"
)

// The kinds of trouble that this package has, for [errors.Is]. Any may come with an
// advice, which names the flag of the command that helps.
var (
	ErrUnsound       = errors.New("the plan has errors")
	ErrUnfit         = errors.New("input or state doesn't fit its schema")
	ErrLacking       = fmt.Errorf("%w: an input isn't given", ErrUnfit)
	ErrStateLacking  = fmt.Errorf("%w: the state lacks what no call writes", ErrUnfit)
	ErrUnapproved    = errors.New("the run isn't approved")
	ErrOutside       = errors.New("the run leaves what was approved")
	ErrUnanswered    = errors.New("no model answers one of the calls")
	ErrUnrunnable    = errors.New("the plan can't be run here")
	ErrDrifted       = errors.New("a server's tools aren't what was imported") // OB610
	ErrInstances     = errors.New("the instances can't be read")
	ErrAnswers       = errors.New("the answers can't be taken")
	ErrResults       = errors.New("the results can't be written")
	ErrNoJournal     = errors.New("no journal can be kept there")
	ErrNoRun         = errors.New("there is no such run")
	ErrAmbiguous     = errors.New("several runs are called so")
	ErrLocked        = errors.New("the run is going on, in another process")
	ErrNothingFailed = errors.New("nothing failed that could be run again")
	ErrNoPoint       = errors.New("the run never was there")
	ErrEnded         = errors.New("the run has ended")
	ErrDamaged       = errors.New("the journal can't be trusted")
	ErrForeign       = errors.New("the journal isn't one of a run that can be followed here")
	ErrGone          = errors.New("a file that the run was begun with is gone")
	ErrChanged       = errors.New("a file that the run was begun with has changed")
	ErrNotThere      = errors.New("the run can't go on where it stood")
	ErrFunctions     = errors.New("the run was begun by a program that registers other functions")
	ErrNoPlanner     = errors.New("the run was begun with a planner that isn't there")
	ErrNotRecorded   = errors.New("the recording isn't whole")
	ErrEndNotKept    = errors.New("the end of the run isn't in its journal")
	ErrJournalSpace  = errors.New("the journal can't be written any more")
)
