package runtime

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/obelus-dev/obelus/compiler"
)

// ErrCut says that an answer broke off before its end.
var ErrCut = errors.New("the answer broke off before its end")

// ErrTooLong says that an answer is longer than a result may be.
var ErrTooLong = fmt.Errorf("the model's answer is larger than %d MiB", MaxResult>>20)

// MaxResult bounds what a model may answer for a latent call, in bytes (S18).
const MaxResult = 8 << 20

// A Request is what a planner is asked: to write the solution of a tick (S11.1),
// or the result of one latent call (S2.4).
type Request struct {
	// Tick counts from 1.
	Tick int
	// Call is the latent call whose result is wanted; nil when a solution is.
	Call *LatentCall
	// Context is a JSON array of context messages as PROTOCOL.md writes them: what
	// the planner is to know. A plan message tells under "x-standing", call by call,
	// what has become of its calls.
	Context json.RawMessage
	// Schema is the JSON Schema of the answer: the solution's, whose properties
	// stand in the order in which a model is to write them, or the "_output" of the
	// latent call's tool.
	Schema json.RawMessage
	// Lazy says that the model is to plan and not to answer latent calls.
	Lazy bool
	// Received is what has arrived of this very answer already: a run was killed
	// while it streamed. A planner that can tell how it goes on gives the rest;
	// any other answers [ErrCut].
	Received string
}

// A LatentCall is a call whose result a model writes.
type LatentCall struct {
	Name   string // its "_id", or tool#place (S3.2)
	Tool   string
	Params json.RawMessage // its resolved parameters
}

// Usage is what a request has cost so far.
type Usage struct {
	InputTokens  int     `json:"inputTokens,omitzero"`
	OutputTokens int     `json:"outputTokens,omitzero"`
	Cost         float64 `json:"cost,omitzero"` // in the currency of "limits.cost"; 0 where no price is known
}

// Add sums up.
func (u *Usage) Add(more Usage) {
	u.InputTokens += more.InputTokens
	u.OutputTokens += more.OutputTokens
	u.Cost += more.Cost
}

func (u Usage) tokens() int { return u.InputTokens + u.OutputTokens }

// A Question is what a person is asked about a call that is ready (S10.1).
type Question struct {
	Call     string `json:"call"` // its "_id", or tool#place (S3.2)
	Tool     string `json:"tool"`
	Activity string `json:"activity,omitzero"` // what carries it out; "" for a latent call
	Instance string `json:"instance,omitzero"` // "" without instances
	// Under is the path of the calls above one of a delegate, "digest#1/chapter#2",
	// and Delegate the plan that such a call stands in.
	Under    string         `json:"under,omitzero"`
	Delegate string         `json:"delegate,omitzero"`
	Reason   string         `json:"reason,omitzero"` // the call's "_reasoningForCall": a model's words, never ours
	Params   map[string]any `json:"params"`
	// Sources tell where parameters come from, in the order of the text.
	Sources []Source `json:"sources,omitzero"`
	// Runs is what is started, and Attempts how often at most.
	Runs     Execution `json:"runs"`
	Attempts int       `json:"attempts,omitzero"` // 0 is once
	// Scopes are the parts of the context that it is given besides (S14.3), and
	// Context what they hold, by kind; nil for a call without scopes.
	Scopes  []Handed       `json:"scopes,omitzero"`
	Context map[string]any `json:"context,omitzero"`
	// Effects is what the activity that runs may do: "read-only", "writes",
	// "destructive", or "unknown"; EffectsBy who says so, "" for nobody; and Claimed
	// what the plan alone says where that is less and doesn't count (S1.9).
	// OpenWorld is set where it reaches beyond what this machine knows, or may.
	Effects   string   `json:"effects"`
	EffectsBy string   `json:"effectsBy,omitzero"`
	Claimed   string   `json:"claimed,omitzero"`
	OpenWorld bool     `json:"openWorld"`
	Writes    []string `json:"writes,omitzero"` // the alternatives of its output path, as text
	Method    string   `json:"method,omitzero"` // how it is written there: "merge", "push", …; "" to take the place of what is there
	Cost      float64  `json:"cost,omitzero"`   // what one try is said to cost ("x-simulate"); 0 when nothing is said
	// InFlight is set where the run was killed while this call was at work, and
	// its tool isn't known to be idempotent: it may have happened already (S8.6).
	// Then Retry, Fail and nothing else answers.
	InFlight bool `json:"inFlight,omitzero"`
	// Advice is what the advisors make of the tools, the best first, and Doubt says
	// that this call's tool is rated below the threshold (S13.3).
	Advice []compiler.Rank `json:"advice,omitzero"`
	Doubt  string          `json:"doubt,omitzero"`
	// Replaces is the tool of the call in whose place a person put this one; "" when
	// nobody did. It runs once it is approved as it is shown.
	Replaces string `json:"replaces,omitzero"`
	// Problem says why the last answer couldn't be taken; "" for the first time.
	Problem string `json:"problem,omitzero"`
}

// An Execution is what is started to carry a call out.
type Execution struct {
	Kind string `json:"kind"` // "exec", "http", "mcp", "expr", "plan", "go", or "model" for a latent call
	// Argv is the program of an exec and its arguments, Folder where it is started,
	// as its definition names it, and Worker that it stays for further calls.
	Argv   []string `json:"argv,omitzero"`
	Folder string   `json:"folder,omitzero"`
	Worker bool     `json:"worker,omitzero"`
	// Env are the variables that its definition gives it, as NAME=value, a secret by
	// its name as {$NAME}; and Inherit the names of those that it gets of ours.
	Env     []string `json:"env,omitzero"`
	Inherit []string `json:"inherit,omitzero"`
	// Text is the expression of an expr, the path of a plan, or what else describes
	// the activity, as JSON.
	Text string `json:"text,omitzero"`
	// Defined is where it is defined, "file:line".
	Defined string `json:"defined,omitzero"`
	// Alone is set where the call is run in an empty context (S14.1).
	Alone bool `json:"alone,omitzero"`
}

// Handed is a part of the context that a call's scopes hand over.
type Handed struct {
	Scope string   `json:"scope"` // as it stands in the plan
	From  []string `json:"from"`  // the calls that wrote what it holds; "input", "state" for what was there from the start
}

// A Source is where a part of a parameter comes from.
type Source struct {
	Param     string   `json:"param"`     // a path into the parameters: "user.name", "items[0]"
	Reference string   `json:"reference"` // the expression, as it stands in the plan
	From      []string `json:"from"`      // the calls that wrote what it reads; "input", "state" for what was there from the start
}

// Verdict is how a person answers a [Question].
type Verdict string

// The answers of S10.1, and those to a question about a call in flight (S8.6).
const (
	Approve Verdict = "approve"
	Change  Verdict = "change"  // run it with Decision.Params
	Replace Verdict = "replace" // put Decision.Replacement in its place, and ask about that
	Reject  Verdict = "reject"
	Retry   Verdict = "retry" // in flight: run it again
	Fail    Verdict = "fail"  // in flight: count it as failed
)

// A Decision is a person's answer. It is journaled, and a model is told of it.
type Decision struct {
	Verdict Verdict        `json:"verdict"`
	Params  map[string]any `json:"params,omitzero"` // of Change: all parameters, as values
	// Replacement is the call of a Replace, as JSON: "_tool" and parameters. It
	// keeps the id, place and output path of the call that it replaces.
	Replacement json.RawMessage `json:"replacement,omitempty"`
	Reason      string          `json:"reason,omitzero"` // in the person's words
	By          string          `json:"by,omitzero"`     // who: "terminal", "time-out", a name
}
