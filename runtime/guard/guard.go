// Package guard decides whether calls of a run may start, by policies and by what was approved, and keeps what advisors
// say of tools; the machine has guards of its own, which ask people and hold it to limits. None changes a run.
package guard

import (
	"github.com/obelus-dev/obelus/analyzer/permit"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/policy"
)

// A Guard is asked at two checkpoints, and told at a third. A machine asks in one order: the guards [Order] and
// [Permit], whether a person confirms a call, [Others], limits. The first that doesn't allow a call decides. What it
// decides must follow from the events of the run alone.
type Guard interface {
	// Arrives is asked about a call of a planner as it is written.
	Arrives(*Call) Verdict
	// Starts is asked about every attempt with its values, no matter who wrote the call.
	Starts(*Call) Verdict
	// Settled learns what became of a call or of an attempt.
	Settled(*Call, Stage)
}

// A Call is an attempt that is about to start, or that has ended.
type Call struct {
	Try       // the same for all attempts
	Instance  string
	Orders    *policy.Counts // of the instance, its delegates and items included, over ticks and resumed runs
	Plan      *plan.Plan
	Of        *plan.Call // what runs, be it another call than the plan's
	Params    map[string]any
	IsFurther bool // it isn't the first attempt
}

// A Try is an attempt of a call, as events identify it. Its tick is 0 without a planner. Frames number the states on
// which a plan is at work at the same time: 0 is the run's own, and each instance and each delegate at work has a
// number that no other ever has.
type Try struct {
	Tick    int `json:"tick,omitzero"`
	Frame   int `json:"frame,omitzero"`
	Call    int `json:"call,omitzero"`
	Attempt int `json:"attempt,omitzero"`
}

// OfCall is the same for all attempts of a call.
func (t Try) OfCall() Try {
	t.Attempt = 0
	return t
}

// A Verdict allows a call, asks a person about it, lets it fail, or stops the run.
type Verdict struct {
	Kind    Kind
	Code    string              // of the failure of what is refused
	Reason  string              // of what is refused, or the code of a stop
	Outside []permit.Difference // what of the call wasn't approved
}

// Kind is what a guard decides.
type Kind uint8

// The kinds of verdicts.
const (
	Allow Kind = iota
	Ask
	Refuse
	Stop
)

// Others decide about attempts, too, in every run: a file of this package adds its own.
var Others []func(*Call) Verdict

// Stage is what became of a call.
type Stage uint8

// From Ended on a call has settled.
const (
	Started     Stage = iota
	Continued         // what is left of an attempt that failed runs again
	Interrupted       // a kill cut the attempt short, and it may be repeated
	Ended
	Done
	DoneBefore // in an earlier tick or run
)

// Policy is whom a run asks before a call starts.
type Policy string

// The policies of EXECUTION.md#reviewers.
const (
	Never   Policy = ""        // nobody
	Effects Policy = "effects" // about calls that may change the world
	Always  Policy = "always"  // about every call
)

// Stricter reports whether a policy asks about more calls than another.
func (p Policy) Stricter(than Policy) bool { return p != than && (p == Always || than == Never) }
