// Package runtime runs a verified plan: one deterministic machine (S8.1), and
// around it the worlds that carry its commands out.
//
// A [Machine] holds no goroutine, clock, file or network. It is told what
// happened, one [Event] at a time, and answers with [Command]s. What is
// rehearsed on a virtual clock is therefore what runs.
package runtime

import (
	"fmt"
	"time"

	"github.com/obelus-dev/obelus/compiler"
)

// An Event is something that happened outside the machine.
type Event struct {
	Kind EventKind
	// At is the time since the run began. It never goes back.
	At time.Duration
	// Call and Attempt say which try of which call an Ended or Fired event is
	// about. A try that the machine has given up is ignored. A timer of the whole
	// run comes back as Run.
	Call, Attempt int
	// Value is the result of a try that ended well.
	Value any
	// Route is the alternative that the activity named, or -1 (S5.2).
	Route int
	// Failure is why a try ended badly; nil when it ended well.
	Failure *Failure
	// Reason is why a Stopped run stops.
	Reason string
}

// EventKind says what happened.
type EventKind uint8

const (
	// Begun starts the run. It is the first event, and comes once.
	Begun EventKind = iota
	// Ended says that a try of a call's activity came to its end.
	Ended
	// Fired says that a timer set for a call has run out.
	Fired
	// Stopped asks the run to stop: nothing new starts, and what runs is
	// cancelled.
	Stopped
)

// A Command is something that the machine wants done, or lets be known.
type Command struct {
	Kind CommandKind
	// Call and Attempt say which try of which call it is about.
	Call, Attempt int
	// Params are the resolved parameters of a Start. They must not be changed.
	Params map[string]any
	// After is how long a SetTimer waits.
	After time.Duration
	// Settlement is how a call settled, for Settle.
	Settlement *Settlement
	// Message is what was written, for Write.
	Message *Message
	// Outcome is the end of the run, for Finish.
	Outcome *Outcome
}

// CommandKind says what is to be done or known.
type CommandKind uint8

const (
	// Start asks for a try of the call's activity.
	Start CommandKind = iota
	// Cancel asks that a try be given up; its end is no longer waited for.
	Cancel
	// SetTimer asks for a Fired event of this call and attempt after a while.
	SetTimer
	// Write lets be known that a message was appended to the state's log.
	Write
	// Settle lets be known that a call has settled: once for every call.
	Settle
	// Finish lets be known that the run is over: the last command.
	Finish
)

// Status is how a call settled (S8.3), or that it hasn't yet.
type Status uint8

// What a call may be. From Done on it has settled.
const (
	Waiting   Status = iota // for what it reads, or for those that come first
	Queued                  // ready, and waiting for a free place
	Running                 // its activity is at work
	Pausing                 // between two tries
	Done                    // its result is written
	Failed                  // its activity failed for good, or it could never have started
	Skipped                 // a value that it needs is absent, or its condition doesn't hold
	Rejected                // by a person
	Cancelled               // the run was stopped
)

func (s Status) String() string {
	return [...]string{"waiting", "queued", "running", "pausing", "done", "failed", "skipped", "rejected", "cancelled"}[s]
}

// Settled tells whether a status is final.
func (s Status) Settled() bool { return s >= Done }

// A Settlement is how and why a call settled.
type Settlement struct {
	Status   Status
	Output   any      // the result, of a call that is done
	Failure  *Failure // of a call that failed
	Routed   bool     // the failure was written to the call's failure route (S9.2)
	Reason   string   // in words, of a call that was skipped or cancelled
	Attempts int      // tries of its activity
}

// A Failure is why a call failed (S9.2). It is also the record that a failure
// route receives: {code, message, details}.
type Failure struct {
	Code    string // "error", "timeout", "bad-output", the activity's own, or the name of the rule that a structural error breaks
	Message string
	Details any
}

func (f *Failure) Error() string { return fmt.Sprintf("%s: %s", f.Code, f.Message) }

func (f *Failure) record() map[string]any {
	return map[string]any{"code": f.Code, "message": f.Message, "details": f.Details}
}

// A Message is one entry of the state's log (S5.3).
type Message struct {
	Path    compiler.PathID
	Method  compiler.Method
	Value   any
	Call    int           // who wrote it
	At      time.Duration // since the run began
	Failure bool          // it is a failure record or, under once, a result that was sent to a failure route (S5.8)
}

// An Outcome is how a run ended (S11.8, S19.3).
type Outcome struct {
	Status string // "done", "failed" or "stopped"
	Reason string // why it stopped or failed; "" for a run that is done
	Output any
	State  any
	Errors []CallError
	Counts Counts
}

// A CallError is a failure that nothing in the plan handled.
type CallError struct {
	Call    string `json:"call"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Counts tell how many calls settled in each way.
type Counts struct {
	Done      int `json:"done"`
	Failed    int `json:"failed"`
	Skipped   int `json:"skipped"`
	Rejected  int `json:"rejected"`
	Cancelled int `json:"cancelled"`
}

// Add counts one settlement.
func (c *Counts) Add(s Status) {
	switch s {
	case Done:
		c.Done++
	case Failed:
		c.Failed++
	case Skipped:
		c.Skipped++
	case Rejected:
		c.Rejected++
	case Cancelled:
		c.Cancelled++
	}
}
