// Package runtime runs a verified plan: one deterministic machine, and
// around it the worlds that carry its commands out.
//
// A [Machine] holds no goroutine, clock, file or network. It is given what happened, one [Event] at a time, and answers
// with [Command]s. What is simulated on a virtual clock is therefore what runs.
package runtime

import (
	"time"

	"github.com/obelus-dev/obelus/compiler/plan"
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
	// The try of a call that an event is about. What the machine has given up is ignored. A timer of the whole run
	// comes back as [Run].
	Try
	// Value is the result of a try that ended well.
	Value any `json:"value,omitempty"`
	// Route is the alternative that the activity named, or -1.
	Route int `json:"route,omitzero"`
	// Failure is why a try ended badly, or why a planner's answer did; nil when it ended well.
	Failure *Failure `json:"failure,omitempty"`
	// Text is why the run stops: of Stopped, and of Ended where a model gave no answer, whose try then doesn't count.
	// Of Streamed it is the next piece of the planner's answer: valid UTF-8, never a part of a character.
	Text string `json:"text,omitzero"`
	// Gently, of Stopped, lets running calls end.
	Gently bool `json:"gently,omitzero"`
	// Usage is what a model's answer cost, of Closed and of an Ended latent call.
	Usage *Usage `json:"usage,omitempty"`
	// Steps and Made are what an expression took, of its Ended try: see [Computed].
	Steps int `json:"steps,omitzero"`
	Made  int `json:"made,omitzero"`
	// Decision is how a person answered a question.
	Decision *Decision `json:"decision,omitempty"`
	// Resumption is how a Resumed run continues.
	Resumption *Resumption `json:"resumption,omitempty"`
	// Instances are further ones, of Joined, and Last says that no more will come.
	Instances []Instance `json:"instances,omitempty"`
	Last      bool       `json:"last,omitzero"`
}

// A Resumption is how a run continues that was stopped or killed.
type Resumption struct {
	// InFlight says what becomes of calls that were at work and may not simply be run again.
	InFlight InFlight `json:"inFlight,omitzero"`
	// Confirm, if given, takes the place of what the run was begun with.
	Confirm *Confirm `json:"confirm,omitempty"`
	// RetryFailed runs again what failed and what was skipped for it, also of a run that
	// has ended; see [Machine.Reopenable].
	RetryFailed bool `json:"retryFailed,omitzero"`
	// Kept are answers that wait for the run: what they are to is asked, whatever Confirm says.
	Kept []KeptAnswer `json:"kept,omitempty"`
}

// A KeptAnswer is identified by the path of its call ([Path]), the instance, and the name of
// the question where the answer has one.
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

const (
	// RunBegan starts the run. It is the first event, and comes once.
	RunBegan EventKind = "begun"
	// Ended says that a try of a call's activity came to its end.
	Ended EventKind = "ended"
	// Fired says that a timer set for a call has run out.
	Fired EventKind = "fired"
	// Stopped asks the run to stop: nothing new starts, and what runs is cancelled. A stopped run can be resumed.
	Stopped EventKind = "stopped"
	// Streamed brings the next piece of the planner's answer.
	Streamed EventKind = "streamed"
	// Closed says that the planner's answer has ended.
	Closed EventKind = "closed"
	// Decided brings a person's answer.
	Decided EventKind = "decided"
	// Resumed continues with a run that was stopped or killed.
	Resumed EventKind = "resumed"
	// Joined brings further instances, in answer to [Join].
	Joined EventKind = "joined"
)

// A Command is something that the machine wants done, or lets be known. Its subject and content depend on its kind.
type Command struct {
	Kind  CommandKind
	Try              // of a call that it is about
	Of    *plan.Call // that call
	*Site            // never nil
	// Plan is the one that the call is in; nil in what is about no call.
	Plan *plan.Plan

	// Of Start, Ask and Enter: the resolved parameters. They must not be changed.
	Params map[string]any
	// Of Start: what the activity is handed besides, by kind; nil for a call without scopes.
	Context map[string]any
	// Of Start and Enter: that the advisors rate the call's tool below the threshold; "" when they don't.
	Uncertainty string
	// Of Plan, and of the Start of a latent call: what a model is asked; a latent call of a simulation has none.
	Request *Request
	// Of Ask: what a person is asked.
	Question *Question
	// Of Join: how many instances are asked for, at most. Of Enter: how many items a call with "_each" runs for.
	Count int
	// Of SetTimer: how long it waits. Of Tried: how long until the next try.
	After time.Duration
	// Of Finish: the end of the run.
	Outcome *Outcome

	// Of Settle and Repeat: how the call settled.
	Settlement *Settlement
	// Of Tried: why the try failed; nil when it didn't.
	Failure *Failure
	// Of EndTick: what the tick was.
	End *TickEnd
	// Of Advise: what the advisors make of the tools, of an instance or of all.
	Ranking []plan.Rank
	// Of Leave: how the run went for the instance.
	Left *InstanceEnd
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
	// Start asks for a try of the call's activity; of a latent call, for a model's answer.
	Start CommandKind = iota
	// Cancel asks that a try be given up; it is at work until its Ended event comes. Of a call that a person is asked
	// about, it takes the question back, and with [Run] as the call it is the planner's answer that is given up; what
	// it says until its Closed event isn't heard.
	Cancel
	// SetTimer asks for a Fired event of this call and attempt after a while.
	SetTimer
	// Plan asks the planner for the solution of a tick, to be streamed.
	Plan
	// Ask asks a person about a call.
	Ask
	// Join asks for further instances, to come with one Joined event: as many as are
	// at hand, and at least one unless there are no more.
	Join
	// Finish says that the run is over, or has stopped: the last command.
	Finish
)

// Notices report how the run goes: a world that ignores these carries it out all the same.
const (
	// Settle lets be known that a call has settled: once for every call.
	Settle CommandKind = iota + 64
	// Repeat lets be known that a call is done already and isn't run again: of a carried plan, or of a run that is
	// continued. It isn't settled a second time.
	Repeat
	// EndTick lets be known that the calls of a tick have settled.
	EndTick
	// Enter lets be known that a call's delegate begins: its calls follow, and the call settles when they have.
	Enter
	// Advise lets be known that the advisors' votes have been put together.
	Advise
	// Leave lets be known that an instance has ended.
	Leave
	// Tried lets be known that a try has ended with which its call doesn't settle: the call
	// is tried again, or its result can't be judged yet.
	Tried
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

	before bool // it was done already, and isn't settled a second time
	absent bool // of one that was skipped: the reason is what the call lacks

	redacted bool // the failure has no secret any more
}

// A Message is an entry of the state's log, a Log is the state so far, and a Failure why a call failed: see package
// state.
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
)

// RunGoesOn is the status of a run that somebody looks at and that hasn't ended yet.
const RunGoesOn RunStatus = "running"

// A Reason says why a run stopped or failed: one of the codes below, or words: the message of the error that nothing
// handled, or why no more instances or no planner were to be had.
type Reason string

// The reasons for which a run stops that have a code.
const (
	ReasonInterrupted Reason = "interrupted" // it was told to
	// its process is gone; nobody told it to stop, and its journal doesn't say so
	ReasonKilled       Reason = "killed"
	ReasonConfirmation Reason = "confirmation" // a call has to be confirmed, and there is nobody to ask
	// a call, or the run as a whole, leaves what was approved, and nobody has approved that
	ReasonPermit   Reason = "outside-envelope"
	ReasonInFlight Reason = "in-flight" // there is nobody to ask what becomes of a call that was at work
	ReasonStalled  Reason = "stalled"   // two ticks in a row have done nothing
	ReasonCalls    Reason = "limits.calls"
	ReasonTicks    Reason = "limits.ticks"
	ReasonTime     Reason = "limits.time"
	ReasonTokens   Reason = "limits.tokens"
	ReasonCost     Reason = "limits.cost"
)

// An Outcome is how a run ended.
type Outcome struct {
	Status RunStatus
	Reason Reason // why it stopped or failed; "" for a run that is done
	Why    string // what the reason means here, in words; "" where it says it all
	Output any
	State  any
	Errors []CallError
	Counts Counts
	// Instances are how the run went for each, in the order in which they ended, in
	// the place of State and Output; nil without instances.
	Instances []InstanceEnd
	Asked     []*Question // that were open when the run stopped, in the order of EXECUTION.md#order-of-calls
	Ticks     int         // 0 without a planner
	Usage     Usage       // of all requests to a model
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
