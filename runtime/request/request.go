// Package request holds what a planner is asked: its types, how the machine's state becomes one, and how it is written
// as JSON. A planner of one's own needs no other package.
package request

import (
	"errors"
	"fmt"
	"math"

	"github.com/obelus-dev/obelus/compiler/diag"
)

// ErrCut says that an answer broke off before its end.
var ErrCut = errors.New("the answer broke off before its end")

// ErrTooLong says that an answer is longer than a result may be.
var ErrTooLong = fmt.Errorf("the model's answer is larger than %d MiB", MaxResult>>20)

// MaxResult bounds what a model may answer for a latent call, in bytes.
const MaxResult = 8 << 20

// A Request is what a planner is asked: to write the solution of a tick, or the result of one latent call. It refers to
// values of the run, which nobody changes, so that it can be read while the run continues; and nobody may change them
// through it.
type Request struct {
	// Tick counts from 1.
	Tick int
	// Call is the latent call whose result is wanted; nil when a solution is.
	Call *Call
	// Messages are what the planner is to know, in the order in which it is given, as documents have them
	// (LANGUAGE.md#documents). There is one of each kind and instance; nothing is left to merge.
	Messages []Object
	// Schema is the JSON Schema of the answer, an [Object] or a bool: the solution's, whose properties are in the order
	// in which a model is to write them, or the "_output" of the latent call's tool. It refers to nothing outside of
	// itself.
	Schema any
	// Lazy says that the model is to plan and not to answer latent calls.
	Lazy bool
	// UntilNoCalls says that the run ends with a solution without calls, and not with an output.
	UntilNoCalls bool
	// Received is what has arrived of this very answer already: a run was killed while it streamed. A planner that can
	// continue it gives the rest; any other answers [ErrCut].
	Received string

	of *Context // of a solution: where the run stood
}

// A Call is a latent call, whose result a model writes.
type Call struct {
	Name   string // its "_id", or tool#place
	Tool   string
	Params map[string]any // resolved
	Paths  []string       // the paths that the result can take; nil where there is no choice
}

// Usage is what a request has cost so far.
type Usage struct {
	InputTokens  int `json:"inputTokens,omitzero" key:"inputTokens" from:"0"`
	OutputTokens int `json:"outputTokens,omitzero" key:"outputTokens" from:"0"`
	// in the currency of "limits.cost"; 0 where no price is known
	Cost float64 `json:"cost,omitzero" key:"cost" from:"0"`
}

// Add sums up. What nobody can have used, such as a negative number that an endpoint
// sends, counts as nothing: else it would give back what a limit has taken.
func (u *Usage) Add(more Usage) {
	const most = math.MaxInt / 2 // of each, so that there is a sum of both
	u.InputTokens += min(max(more.InputTokens, 0), most-u.InputTokens)
	u.OutputTokens += min(max(more.OutputTokens, 0), most-u.OutputTokens)
	if more.Cost > 0 {
		u.Cost = min(u.Cost+more.Cost, math.MaxFloat64)
	}
}

// Tokens are those of both directions.
func (u Usage) Tokens() int { return u.InputTokens + u.OutputTokens }

// Unavailable says that a planner gives no answer, and none is to be expected before somebody does something about it.
type Unavailable struct {
	Planner string // as in a spec: "openai:gpt-5"
	Why     string // what is wrong, in one line
	Remedy  string // what to do about it
}

func (u *Unavailable) Error() string {
	return fmt.Sprintf("%s gives no answer: %s; %s", diag.Escape(u.Planner), u.Why, u.Remedy)
}

// Refused says that a model declined to answer.
type Refused struct {
	Planner string
	Words   string // the model's own; "" where it gave none
}

func (r *Refused) Error() string {
	if r.Words == "" {
		return fmt.Sprintf("%s declined to answer", diag.Escape(r.Planner))
	}
	return fmt.Sprintf("%s declined to answer: %q", diag.Escape(r.Planner), diag.Escape(r.Words))
}

// Refusal is what the model said, or that it said nothing.
func (r *Refused) Refusal() string {
	if r.Words == "" {
		return "the model declined to answer and gave no reason"
	}
	return r.Words
}
