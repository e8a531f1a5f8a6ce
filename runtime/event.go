// Package runtime runs a verified plan: one deterministic machine, and the worlds that carry its commands out.
//
// A [Machine] holds no goroutine, clock, file or network. It is given what happened, one [Event] at a time, and answers
// with [Command]s. What is simulated on a virtual clock is therefore what runs.
package runtime

import (
	"time"

	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/runtime/guard"
	"github.com/obelus-dev/obelus/runtime/request"
	"github.com/obelus-dev/obelus/runtime/review"
	"github.com/obelus-dev/obelus/runtime/state"
)

// Format is the version of what events mean: it is raised whenever a machine would come elsewhere by the events of a
// journal than the one that answered them. A journal of another version can't be followed.
const Format = 3

// An Event is something that happened outside the machine. Its JSON form is what a journal keeps: feeding the events of
// a run to a new machine brings it to where the run stood.
type Event struct {
	Kind EventKind `json:"kind"`
	// At is the time since the run began, pauses between a kill and its resumption left out. It never goes back.
	At time.Duration `json:"at"`
	// The attempt that the event is about, or [Run]. The machine ignores events about what it has given up.
	Try
	Value   any      `json:"value,omitempty"`   // the result of an attempt that ended well
	Route   int      `json:"route,omitzero"`    // the alternative that the activity named, or -1
	Failure *Failure `json:"failure,omitempty"` // why an attempt or a planner's answer ended badly
	// Text is why the run stops: of Stopped, and of Ended where a model gave no answer, whose attempt then doesn't
	// count. Of Streamed it is the next piece of the planner's answer: valid UTF-8, never a part of a character.
	Text   string `json:"text,omitzero"`
	Gently bool   `json:"gently,omitzero"` // of Stopped: running calls end by themselves
	Usage  *Usage `json:"usage,omitempty"` // what a model's answer cost: of Closed, and of Ended of a latent call
	// Steps and Made are what the expression of an Ended attempt took: see [resolve.Computed].
	Steps      int         `json:"steps,omitzero"`
	Made       int         `json:"made,omitzero"`
	Decision   *Decision   `json:"decision,omitempty"`
	Resumption *Resumption `json:"resumption,omitempty"`
	Instances  []Instance  `json:"instances,omitempty"` // further ones, of Joined
	Last       bool        `json:"last,omitzero"`       // of Joined: no more will come
}

// A Resumption is how a run continues that was stopped or killed.
type Resumption struct {
	InFlight InFlight `json:"inFlight,omitzero"`
	// Confirm, if given, takes the place of what the run was begun with.
	Confirm *Confirm `json:"confirm,omitempty"`
	// RetryFailed runs again what failed and what was skipped for it, also of an ended run: [Machine.Reopenable].
	RetryFailed bool `json:"retryFailed,omitzero"`
	// Kept are answers that wait for the run: what they are to is asked, whatever Confirm says.
	Kept []KeptAnswer `json:"kept,omitempty"`
}

// A KeptAnswer is identified by the path of its call ([Path]), the instance, and the question's name if it has one.
type KeptAnswer struct {
	Call     string `json:"call"`
	Instance string `json:"instance,omitzero"`
	ID       string `json:"id,omitzero"`
}

// InFlight is what becomes of a call that was at work when its run was killed, and may not simply be run again.
type InFlight string

// The ways to go on with such a call.
const (
	InFlightAsk   InFlight = "ask"   // a person is asked about it; "" means the same
	InFlightRetry InFlight = "retry" // it is run again
	InFlightFail  InFlight = "fail"  // it counts as failed
)

// EventKind says what happened.
type EventKind string

// The kinds of events.
const (
	RunBegan EventKind = "begun"    // the first event, which comes once
	Ended    EventKind = "ended"    // an attempt came to its end
	Fired    EventKind = "fired"    // a timer has run out
	Stopped  EventKind = "stopped"  // nothing new starts, and what runs is cancelled; the run can be resumed
	Streamed EventKind = "streamed" // the next piece of the planner's answer
	Closed   EventKind = "closed"   // the planner's answer has ended
	Decided  EventKind = "decided"  // a person has answered
	Resumed  EventKind = "resumed"  // a run that was stopped or killed continues
	Joined   EventKind = "joined"   // further instances, in answer to [Join]
)

// A Command is something that the machine wants done, or lets be known. Its subject and content depend on its kind.
type Command struct {
	Kind  CommandKind
	Try              // of a call that it is about
	Of    *plan.Call // that call
	*Site            // never nil
	Plan  *plan.Plan // the one that the call is in; nil in what is about no call

	Params      map[string]any // of Start, Ask and Enter: the resolved parameters, which must not be changed
	Context     map[string]any // of Start: what the activity is handed besides, by kind; nil for a call without scopes
	Uncertainty string         // of Start and Enter: that the advisors rate the call's tool below the threshold, or ""
	Request     *Request       // of Plan, and of the Start of a latent call outside of simulations
	Question    *Question      // of Ask
	Count       int            // of Join: how many are asked for, at most; of Enter: how many items a call runs for
	After       time.Duration  // of SetTimer: how long it waits; of Tried: how long until the next attempt
	Outcome     *Outcome       // of Finish

	Settlement *Settlement  // of Settle and Repeat
	Failure    *Failure     // of Tried: why the attempt failed; nil when it didn't
	End        *TickEnd     // of EndTick
	Ranking    []plan.Rank  // of Advise: what the advisors make of the tools, of an instance or of all
	Left       *InstanceEnd // of Leave
}

var noSite = &Site{Parent: -1}

// Event is one of a kind about the try that a command is about; of an ended one the alternative is still open.
func (c *Command) Event(kind EventKind) Event {
	e := Event{Kind: kind, Try: c.Try}
	if kind == Ended {
		e.Route = -1
	}
	return e
}

// A TickEnd is what was wrong with a planner's answer as a whole.
type TickEnd struct {
	Faults []CallError
	Usage  Usage // of all requests to models so far
}

// CommandKind says what is to be done or known.
type CommandKind uint8

// What a world has to do.
const (
	Start CommandKind = iota // an attempt of the call's activity, or a model's answer for a latent call
	// Cancel asks that an attempt be given up; it is at work until its Ended event comes. Of a call that a person is
	// asked about, it takes the question back. With [Run] as the call it is the planner's answer that is given up: what
	// it says until its Closed event isn't heard.
	Cancel
	SetTimer // asks for a Fired event of this call and attempt after a while
	Plan     // asks the planner for the solution of a tick, to be streamed
	Ask      // asks a person about a call
	Join     // asks for further instances, to come with one Joined event: at least one unless there are no more
	Finish   // the run is over, or has stopped: the last command
)

// Notices report how the run goes: a world that ignores these carries it out all the same.
const (
	Settle  CommandKind = iota + 64 // a call has settled: once for every call
	Repeat                          // a call is done already and isn't run again; it isn't settled a second time
	EndTick                         // the calls of a tick have settled
	Enter                           // a call's delegate begins: its calls follow, and the call settles when they have
	Advise                          // the advisors' votes have been put together
	Leave                           // an instance has ended
	Tried                           // an attempt has ended and its call hasn't: another follows, or its result waits
)

// Status is how a call settled, or that it hasn't yet.
type Status uint8

// What a call may be. From Done on it has settled.
const (
	Waiting   Status = iota // for what it reads, or for those that come first
	Queued                  // ready, and waiting for a free place
	Asking                  // a person is asked about it
	Running                 // its activity is at work
	Pausing                 // between two tries
	Writing                 // its activity has ended, and others must have settled before its result can be judged
	Done                    // its result is written
	Failed                  // its activity failed for good, or it could never have started
	Skipped                 // a value that it needs is absent, or its condition doesn't hold
	Rejected                // by a person
	Cancelled               // the run was stopped
)

func (s Status) String() string {
	return [...]string{"waiting", "queued", "asking", "running", "pausing", "writing", "done", "failed", "skipped",
		"rejected", "cancelled"}[s]
}

// Settled reports whether a status is final.
func (s Status) Settled() bool { return s >= Done }

// A Settlement is how and why a call settled.
type Settlement struct {
	Status   Status
	Routed   bool        // the failure was written to the call's failure route
	Attempts int         // tries of its activity
	Output   any         // the result, of a call that is done
	Failure  *Failure    // of a call that failed
	Reason   string      // in words, of a call that was skipped, rejected or cancelled
	Decision *Decision   // what a person decided about it, or nil
	Earlier  []*Decision // those that were taken before it, about tries that came to nothing
	Left     bool        // it hasn't settled: a stop left it so, and it continues with the run

	before   bool // it was done already, and isn't settled a second time
	absent   bool // of one that was skipped: the reason is what the call lacks
	redacted bool // the failure has no secret any more
}

// See package state.
type (
	Message = state.Message
	Log     = state.Log
	Failure = state.Failure
)

// RunStatus is how a run, or the part of it that is about one instance, ended.
type RunStatus string

// How a run ends.
const (
	RunDone    RunStatus = "done"
	RunFailed  RunStatus = "failed"
	RunStopped RunStatus = "stopped" // before its end; it can be resumed
	RunGoesOn  RunStatus = "running" // of a run that somebody looks at: it hasn't ended yet
)

// A Reason says why a run stopped or failed: one of the codes below, or words: the message of the error that nothing
// handled, or why no more instances or no planner were to be had.
type Reason string

// The reasons for which a run stops that have a code.
const (
	ReasonInterrupted  Reason = "interrupted"      // from outside
	ReasonKilled       Reason = "killed"           // its process is gone, and its journal doesn't say why
	ReasonConfirmation Reason = "confirmation"     // a call has to be confirmed, and there is nobody to ask
	ReasonPermit       Reason = "outside-envelope" // a call, or the run as a whole, leaves what was approved
	ReasonInFlight     Reason = "in-flight"        // there is nobody to ask what becomes of a call that was at work
	ReasonStalled      Reason = "stalled"          // two ticks in a row have done nothing
	ReasonCalls        Reason = "limits.calls"
	ReasonTicks        Reason = "limits.ticks"
	ReasonTime         Reason = "limits.time"
	ReasonTokens       Reason = "limits.tokens"
	ReasonCost         Reason = "limits.cost"
)

// An Outcome is how a run ended.
type Outcome struct {
	Status    RunStatus
	Reason    Reason // why it stopped or failed; "" for a run that is done
	Why       string // what the reason means here, in words; "" where it says it all
	Output    any
	State     any
	Errors    []CallError
	Counts    Counts
	Instances []InstanceEnd // in the place of State and Output, in the order in which they ended; or nil
	Asked     []*Question   // that were open when the run stopped, in the order of EXECUTION.md#order-of-calls
	Ticks     int           // 0 without a planner
	Usage     Usage         // of all requests to a model
}

// A CallError is a failure that nothing in the plan handled.
type CallError struct {
	Call     string `json:"call"`
	Code     string `json:"code"`
	Message  string `json:"message"`
	Instance string `json:"instance,omitzero"`
}

// Counts are the numbers of calls by final status.
type Counts struct {
	Done      int `json:"done"`
	Failed    int `json:"failed"`
	Skipped   int `json:"skipped"`
	Rejected  int `json:"rejected"`
	Cancelled int `json:"cancelled"`
}

// Add counts one settlement.
func (c *Counts) Add(s Status) { *c.of(s)++ }

func (c *Counts) of(s Status) *int {
	return [...]*int{&c.Done, &c.Failed, &c.Skipped, &c.Rejected, &c.Cancelled}[s-Done]
}

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
