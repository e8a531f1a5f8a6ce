// Package state is the state of a run, as a log: initial values and messages, what they result in for a reader that
// sees some of them, and whether another fits. It knows of a plan which paths its calls may write and in which order
// their messages count, and nothing of how calls run.
package state

import (
	"time"

	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
)

// A Message is one entry of the state's log.
type Message struct {
	Path    pathtree.ID
	Method  plan.Method
	Failure bool // it is a failure record or, under once, a result that was sent to a failure route
	Value   any
	Tick    int           // in which it was written; 0 without a planner
	Call    int           // who wrote it, of the calls of that tick
	At      time.Duration // since the run began

	By any // what is known of that call, for later ones; nil for nothing
	// Completed is the number, from 1, of the call among those that a plan may repeat; or 0.
	Completed int32

	older int32 // the place, from 1, of the message before it on the same path; or 0
	rank  int32 // the place of its call among those of its tick, once the tick has ended
}

// A Failure is why a call failed. It is also the record that a failure route receives: {code, message, details}.
type Failure struct {
	// "error", "timeout", "bad-output", the activity's own, or the name of the rule that a structural error breaks
	Code    string `json:"code"`
	Message string `json:"message"`
	Details any    `json:"details,omitempty"`
	// After is how long the failed party asks to wait before another try; 0 is nothing.
	After time.Duration `json:"after,omitzero"`
}

func (f *Failure) Error() string { return f.Message }

// Record is what a failure route receives.
func (f *Failure) Record() map[string]any {
	return map[string]any{"code": f.Code, "message": f.Message, "details": f.Details}
}
