// Package state is the state of a run, as a log: initial values and messages, what they result in for a reader that
// sees some of them, and whether another fits. It knows of a plan which paths its calls may write and in which order
// their messages count, and nothing of how calls run.
package state

import (
	"maps"
	"time"

	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
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

// Samples make up and judge the values of a sample run; a plan may describe only a part of them.
type Samples interface {
	// Read is the value of a read, by what it sees at a path.
	Read(p *plan.Plan, r *plan.Read, at func(pathtree.ID) (any, bool)) (value any, there bool)
	// Below is what is at a path in a value.
	Below(value any, path []expression.Segment) (any, bool)
	// Evaluate evaluates an expression of a plan by the values of its reads.
	Evaluate(p *plan.Plan, t *plan.Template, read expression.Lookup) (any, expression.Presence, *Failure)
	// Invalid says why a call can't start with some parameters, or nil.
	Invalid(call *plan.Call, params map[string]any) *Failure
	// Refuses says why a schema rejects a value whatever its unknown parts are, or nil.
	Refuses(s *schema.Schema, v any) *schema.Violation
	// Ends makes up how the activity of a call ends, and the alternative that its result takes, or -1.
	Ends(call *plan.Call, params map[string]any) (value any, route int, failure *Failure)
	// Unfit takes note of a value that a call can't write to a path.
	Unfit(call *plan.Call, path plan.Path, value any, why error, log *Log)
	// Settled takes note of how a call has ended; without a failure it is done or was skipped.
	Settled(call *plan.Call, done bool, failure *Failure)
}

// ScopeValues is what the scopes of a call hand over, by kind: nil without scopes, empty if they find nothing.
func ScopeValues(call *plan.Call, read func(index int) (any, expression.Presence)) map[string]any {
	if call.Scopes == nil {
		return nil
	}
	given := map[string]any{}
	for _, scope := range call.Scopes {
		if value, presence := read(scope.Read); presence == expression.There {
			given[scope.Kind] = pathtree.With(given[scope.Kind], scope.Ref.Path, value)
		}
	}
	return given
}

// Delegated is what a delegate begins with: its own values, over them what is handed over, and the call's parameters.
func Delegated(p *plan.Plan, given, params map[string]any) map[string]any {
	other := maps.Clone(given)
	maps.DeleteFunc(other, func(kind string, _ any) bool {
		return kind == "state" || kind == "input" || kind == "data" || kind == "error" || kind == "advice"
	})
	initial := map[string]any{"input": Over(p.Input, given["input"], params), "state": Over(p.State, given["state"]),
		"data": Over(p.Data, given["data"], other)}
	for _, kind := range []string{"error", "advice"} {
		if value, ok := given[kind]; ok {
			initial[kind] = value
		}
	}
	return initial
}

// Over lays objects over each other, key by key at the top.
func Over(layers ...any) map[string]any {
	out := map[string]any{}
	for _, layer := range layers {
		object, _ := layer.(map[string]any)
		maps.Copy(out, object)
	}
	return out
}
