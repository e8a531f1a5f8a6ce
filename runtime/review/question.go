// Package review holds the questions that a run asks people about its calls, with all that a person has to know, and
// their answers. It checks what an answer gives; it asks nobody, and starts no call.
package review

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/obelus-dev/obelus/analyzer/permit"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/runtime/guard"
	"github.com/obelus-dev/obelus/runtime/resolve"
)

// A Question is what a person is asked about a call that is ready.
type Question struct {
	Call     string `json:"call"` // its "_id", or tool#place
	Tool     string `json:"tool"`
	Activity string `json:"activity,omitzero"` // what carries it out; "" for a latent call
	Site
	Reason string         `json:"reason,omitzero"` // the call's "_reasoningForCall": a model's words, never ours
	Params map[string]any `json:"params"`
	// Sources tell where parameters come from, in the order of the text.
	Sources []Source `json:"sources,omitzero"`
	// Runs is what is started, and Attempts how often at most.
	Runs     Execution `json:"runs"`
	Attempts int       `json:"attempts,omitzero"` // 0 is once
	// Scopes are the parts of the context that it is given besides, and
	// Context what they hold, by kind; nil for a call without scopes.
	Scopes  []ScopeSource  `json:"scopes,omitzero"`
	Context map[string]any `json:"context,omitzero"`
	// Effects is what the activity that runs may do: "read-only", "writes", "destructive", or "unknown"; EffectsBy who
	// says so, "" for nobody; Claimed what is said where that is less and doesn't count, ClaimedBy who says that, and
	// Untrusted that it is a workspace that isn't trusted, and not the plan. OpenWorld is set where it reaches beyond
	// what this machine knows, or may.
	Effects   string   `json:"effects"`
	EffectsBy string   `json:"effectsBy,omitzero"`
	Claimed   string   `json:"claimed,omitzero"`
	ClaimedBy string   `json:"claimedBy,omitzero"`
	Untrusted bool     `json:"untrusted,omitzero"`
	OpenWorld bool     `json:"openWorld"`
	Writes    []string `json:"writes,omitzero"` // the alternatives of its output path, as text
	// how it is written there: "merge", "push", …; "" to take the place of what is there
	Method string  `json:"method,omitzero"`
	Cost   float64 `json:"cost,omitzero"` // the declared cost of one try ("x-simulate"); 0 when undeclared
	Occasion
	// ID names the question: an answer that was given to it answers no other, and none about what would run otherwise.
	// What the machine doesn't see of that is added by [Question.Pin].
	ID string `json:"id"`
	// Within is how long an answer is waited for; 0 is for ever.
	Within time.Duration `json:"-"`
	// Seen is when it was shown, nil before. Who asks sets it where that comes later.
	Seen    func() *time.Time `json:"-"`
	Subject `json:"-"`
}

// An Occasion is why a person is asked.
type Occasion struct {
	// InFlight is set where the run was killed while this call was at work, and its tool isn't known to be idempotent:
	// it may have happened already. Then Retry, Fail and nothing else answers.
	InFlight bool `json:"inFlight,omitzero"`
	// Advice is what the advisors make of the tools, the best first, and Uncertainty says
	// that this call's tool is rated below the threshold.
	Advice      []plan.Rank `json:"advice,omitzero"`
	Uncertainty string      `json:"doubt,omitzero"`
	// Wanted is set where the plan itself has a person asked ("_confirm").
	Wanted bool `json:"wanted,omitzero"`
	// Replaces is the tool of the call in whose place a person put this one; "" when
	// nobody did. It runs once it is approved as it is shown.
	Replaces string `json:"replaces,omitzero"`
	// Outside is what of the call leaves the run's permit, and nothing else; Beyond identifies that for approval.
	// Params are then as they are written, where the call has no values yet.
	Outside []permit.Difference `json:"outside,omitzero"`
	Beyond  string              `json:"beyond,omitzero"`
	// Problem says why the last answer couldn't be taken; "" for the first time.
	Problem string `json:"problem,omitzero"`
}

// A Subject is what a question is about.
type Subject struct {
	At   guard.Try
	Plan *plan.Plan
	Of   *plan.Call // of that plan; nil where nothing is known of it
}

// Definition is the tool of the call; nil where nothing is known of it.
func (s *Subject) Definition() *plan.Tool {
	if s.Of == nil {
		return nil
	}
	return s.Of.Tool
}

// Identify gives a question its name: a digest of the try of a call that it is about, and of what would run. Where that
// is defined doesn't count: it is identified by the paths of the process that asks.
func (q *Question) Identify() {
	same := *q
	same.Problem, same.Advice, same.ID, same.EffectsBy, same.ClaimedBy, same.Runs.Defined, same.Runs.Folder = "", nil,
		"", "", "", "", ""
	text, _ := json.Marshal(same) // its values come from JSON
	sum := sha256.Sum256(fmt.Appendf(text, "%v%s", q.At, q.Runs.hides))
	q.ID = hex.EncodeToString(sum[:8])
}

// Pin adds to the question's name what the world knows of what would run and the machine
// doesn't see, such as a digest of a program. What is added last counts.
func (q *Question) Pin(unseen string) {
	if q.ID = machines(q.ID); unseen != "" {
		q.ID += pinned + unseen
	}
}

const pinned = "-"

// SameQuestion reports whether two names are of one question, whatever [Question.Pin] has added to them.
func SameQuestion(a, b string) bool { return machines(a) == machines(b) }

func machines(id string) string {
	own, _, _ := strings.Cut(id, pinned)
	return own
}

// An Execution is what is started to carry a call out.
type Execution struct {
	Kind string `json:"kind"` // "exec", "http", "mcp", "expr", "plan", "go", or "model" for a latent call
	// Argv is the program of an exec, or of an mcp's server, and its arguments with the values of this call, a
	// secret by its name as {$NAME}, Folder where it is started,
	// as its definition names it, and Worker that it stays for further calls.
	Argv   []string `json:"argv,omitzero"`
	Folder string   `json:"folder,omitzero"`
	Worker bool     `json:"worker,omitzero"`
	// Stdin is what the program reads: "" for all parameters as JSON, "none", or the reference to one of them.
	Stdin string `json:"stdin,omitzero"`
	// Env are the variables that its definition gives it, as NAME=value, a secret by
	// its name as {$NAME}; and Inherit the names of those that it gets of ours.
	Env     []string `json:"env,omitzero"`
	Inherit []string `json:"inherit,omitzero"`
	// Method and URL are those of the request of an http, with the values of this call; of an
	// mcp the URL is its server's.
	Method string `json:"method,omitzero"`
	URL    string `json:"url,omitzero"`
	// Headers are what the definition of an mcp's server puts on its requests, a secret by its name as {$NAME}.
	Headers map[string]string `json:"headers,omitempty"`
	// Text is the expression of an expr, the path of a plan, the tool of an mcp, or what else describes
	// the activity, as JSON.
	Text string `json:"text,omitzero"`
	// Defined is where it is defined, "file:line".
	Defined string `json:"defined,omitzero"`

	hides string // the URL with the password that URL hides; "" if there is none
}

// ScopeSource is a part of the context that a call's scopes hand over.
type ScopeSource struct {
	Scope string `json:"scope"` // as in the plan
	// the calls that wrote what it holds; "input", "state" for what was there from the start
	From []string `json:"from"`
}

// A Source is where a part of a parameter comes from.
type Source struct {
	Param     string `json:"param"`     // a path into the parameters: "user.name", "items[0]"
	Reference string `json:"reference"` // the expression, as in the plan
	// the calls that wrote what it reads, or may yet; "input", "state" for what was there from the start
	From []string `json:"from"`
	By   string   `json:"by,omitzero"` // who gave the value in the place of all that, or "" for nobody
}

// A Site is the position of a call in a run whose plan runs over instances or delegates. It must not be changed.
type Site struct {
	// Instance is the one that the call works on; "" without instances. Under is, of a call of a delegate, the path of
	// the calls that delegate: "digest#1/chapter#2". Delegate is the path of the plan that such a call is in.
	Instance string `json:"instance,omitzero"`
	Under    string `json:"under,omitzero"`
	Delegate string `json:"delegate,omitzero"`
	// Tries are which try of each of the delegating calls in Under it is, the outermost first. With them each call
	// settles once.
	Tries []int `json:"-"`
	// Parent and ParentCall are the frame and the call in whose stead it is carried out, as commands number them; -1
	// for a call of the run itself.
	Parent, ParentCall int `json:"-"`
}

// Path is that of a call below those in whose stead it is carried out: "digest#1/chapter#2".
func Path(under, call string) string {
	if under == "" {
		return call
	}
	return under + "/" + call
}

// Path is that of the call: "digest#1/chapter#2".
func (q *Question) Path() string { return Path(q.Under, q.Call) }

// Verdicts are the possible answers to the question.
func (q *Question) Verdicts() []string {
	if q.InFlight {
		return []string{string(Retry), string(Fail)}
	}
	return []string{string(Approve), string(Reject), string(Change), string(Replace)}
}

// Unacceptable says why parameters that a person writes can't be the call's, or "":
// they are judged as if they stood in a call. What they hold is values.
func (q *Question) Unacceptable(params map[string]any) string {
	var takers []*plan.Tool // the call's tool, and the plan that carries it out
	if q.Of != nil {
		takers = []*plan.Tool{q.Of.Tool, compiler.Interface(q.Plan.Delegates[q.Of.Delegate])}
	}
	for _, name := range slices.Sorted(maps.Keys(params)) {
		if strings.HasPrefix(name, "_") || strings.HasPrefix(name, "x-") {
			return fmt.Sprintf(
				"%q is no name of a parameter: those that begin with _ or x- say something else of a call", name)
		}
		for _, taker := range takers {
			if taker != nil && !compiler.HasParameter(taker, name) {
				return fmt.Sprintf("%q has no parameter %q", taker.Name, name)
			}
		}
	}
	if q.Of == nil {
		return ""
	}
	if failure := resolve.Invalid(q.Plan, q.Of, params, nil); failure != nil {
		return failure.Message
	}
	return ""
}
