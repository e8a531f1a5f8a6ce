package runtime

import (
	"github.com/obelus-dev/obelus/runtime/guard"
	"github.com/obelus-dev/obelus/runtime/request"
	"github.com/obelus-dev/obelus/runtime/review"
)

// What planners and people are asked and how they answer: see the packages request and review.
type (
	// A Request is what a planner is asked.
	Request = request.Request
	// Usage is what a request has cost so far.
	Usage = request.Usage
	// A Question is what a person is asked about a call that is ready.
	Question = review.Question
	Source   = review.Source
	// A Decision is a person's answer.
	Decision = review.Decision
	Verdict  = review.Verdict
	// Confirm says which calls a person is asked about, and Policy is one of three ways to.
	Confirm = review.Confirm
	Policy  = guard.Policy
	// A Site is where a command's call stands, and a Try an attempt of it.
	Site = review.Site
	Try  = guard.Try
)

// The policies and the verdicts of EXECUTION.md#reviewers.
const (
	Never   = guard.Never
	Effects = guard.Effects
	Always  = guard.Always
	Approve = review.Approve
	Change  = review.Change
	Replace = review.Replace
	Reject  = review.Reject
	Retry   = review.Retry
	Fail    = review.Fail
)

// Path is that of a call below those in whose stead it is carried out: "digest#1/chapter#2".
func Path(under, call string) string { return review.Path(under, call) }

// Answer is the event that answers a question.
func Answer(q *Question, d *Decision) Event {
	return Event{Kind: Decided, Try: q.At, Decision: d}
}
