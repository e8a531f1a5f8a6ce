// Package review holds the questions that a run asks people about its calls, with all that a person has to know, and
// their answers. It checks what an answer gives; it asks nobody, and starts no call.
package review

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/obelus-dev/obelus/analyzer/permit"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/kinds"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/obelus-dev/obelus/runtime/guard"
	"github.com/obelus-dev/obelus/runtime/request"
	"github.com/obelus-dev/obelus/runtime/resolve"
)

// A Question is what a person is asked about a call that is ready.
type Question struct {
	Call     string `json:"call"` // its "_id", or tool#place
	Tool     string `json:"tool"`
	Activity string `json:"activity,omitzero"` // what carries it out; "" for a latent call
	Site
	Reason   string         `json:"reason,omitzero"` // the call's "_reasoningForCall": a model's words, never ours
	Params   map[string]any `json:"params"`
	Sources  []Source       `json:"sources,omitzero"` // where parameters come from, in the order of the text
	Runs     Execution      `json:"runs"`
	Attempts int            `json:"attempts,omitzero"` // how often it is started at most; 0 is once
	Scopes   []ScopeSource  `json:"scopes,omitzero"`   // the parts of the context that it is given besides
	Context  map[string]any `json:"context,omitzero"`  // what they hold, by kind; nil for a call without scopes
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
	Method    string   `json:"method,omitzero"` // how it is written there: "merge", "push", …; "" to take the place
	Cost      float64  `json:"cost,omitzero"`   // the declared cost of one try ("x-simulate"); 0 when undeclared
	Occasion
	// ID names the question: an answer that was given to it answers no other, and none about what would run otherwise.
	// What the machine doesn't see of that is added by [Question.Pin].
	ID      string            `json:"id"`
	Within  time.Duration     `json:"-"` // how long an answer is waited for; 0 is for ever
	Seen    func() *time.Time `json:"-"` // when it was shown, nil before; set by who asks where that comes later
	Subject `json:"-"`
}

// An Occasion is why a person is asked.
type Occasion struct {
	// InFlight is set where the run was killed while this call was at work, and its tool isn't known to be idempotent:
	// it may have happened already. Then Retry, Fail and nothing else answers.
	InFlight bool `json:"inFlight,omitzero"`
	// Advice is what the advisors make of the tools, the best first; Uncertainty, that they rate this call's too low.
	Advice      []plan.Rank `json:"advice,omitzero"`
	Uncertainty string      `json:"doubt,omitzero"`
	Wanted      bool        `json:"wanted,omitzero"`   // the plan itself has a person asked ("_confirm")
	Replaces    string      `json:"replaces,omitzero"` // the tool of the call in whose place a person put this one
	// Outside is what of the call leaves the run's permit; Beyond identifies that for approval. Params are then as they
	// are written, where the call has no values yet.
	Outside []permit.Difference `json:"outside,omitzero"`
	Beyond  string              `json:"beyond,omitzero"`
	Problem string              `json:"problem,omitzero"` // why the last answer couldn't be taken
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

// Pin adds to the question's name what the machine doesn't see of what would run, in the place of what was added.
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

// An Execution is what is started to carry a call out. A secret is shown by its name, as {$NAME}.
type Execution struct {
	Kind    string            `json:"kind"`              // "exec", "http", "mcp", "expr", "plan", "go", or "model"
	Argv    []string          `json:"argv,omitzero"`     // the program of an exec or an mcp's server, and its arguments
	Folder  string            `json:"folder,omitzero"`   // where it is started, as its definition names it
	Worker  bool              `json:"worker,omitzero"`   // it stays for further calls
	Stdin   string            `json:"stdin,omitzero"`    // "" for all parameters as JSON, "none", or one of them
	Env     []string          `json:"env,omitzero"`      // variables that its definition gives it, as NAME=value
	Inherit []string          `json:"inherit,omitzero"`  // the names of those that it gets of ours
	Method  string            `json:"method,omitzero"`   // of the request of an http
	URL     string            `json:"url,omitzero"`      // of the request of an http, or of an mcp's server
	Headers map[string]string `json:"headers,omitempty"` // what the definition of an mcp's server puts on its requests
	// Text is the expression of an expr, the path of a plan, the tool of an mcp, or what else describes the activity.
	Text    string `json:"text,omitzero"`
	Defined string `json:"defined,omitzero"` // where, as "file:line"

	hides string // the URL with the password that URL hides; "" if there is none
}

// ScopeSource is a part of the context that a call's scopes hand over.
type ScopeSource struct {
	Scope string   `json:"scope"` // as in the plan
	From  []string `json:"from"`  // like that of a Source
}

// A Source is where a part of a parameter comes from.
type Source struct {
	Param     string `json:"param"`     // a path into the parameters: "user.name", "items[0]"
	Reference string `json:"reference"` // the expression, as in the plan
	// From are the calls that wrote what it reads, or may yet; "input", "state" for what was there from the start.
	From []string `json:"from"`
	By   string   `json:"by,omitzero"` // who gave the value in the place of all that, or "" for nobody
}

// A Site is the position of a call in a run whose plan runs over instances or delegates. It must not be changed.
type Site struct {
	Instance string `json:"instance,omitzero"` // that the call works on; "" without instances
	Under    string `json:"under,omitzero"`    // of a call of a delegate: the calls that delegate, "digest#1/chapter#2"
	Delegate string `json:"delegate,omitzero"` // the path of the plan that such a call is in
	Tries    []int  `json:"-"`                 // which try of each call in Under: with them each call settles once
	// Parent and ParentCall are the frame and the call in whose stead it is carried out; -1 for a call of the run.
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

// Unacceptable says why parameters that a person writes, as values, can't be the call's, or "".
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

// Verdict is how a person answers a [Question].
type Verdict string

// The answers of EXECUTION.md#reviewers, and those to a question about a call in flight.
const (
	Approve Verdict = "approve"
	Change  Verdict = "change"  // run it with Decision.Params
	Replace Verdict = "replace" // put Decision.Replacement in its place, and ask about that
	Reject  Verdict = "reject"
	Retry   Verdict = "retry" // in flight: run it again
	Fail    Verdict = "fail"  // in flight: count it as failed
)

// A Decision is a person's answer. It is journaled, and a model learns of it.
type Decision struct {
	Verdict Verdict        `json:"verdict"`
	Params  map[string]any `json:"params,omitzero"` // of Change: all parameters, as values
	// Replacement is the call of a Replace, as JSON: "_tool" and parameters.
	Replacement json.RawMessage `json:"replacement,omitempty"`
	Reason      string          `json:"reason,omitzero"` // in the person's words
	By          string          `json:"by,omitzero"`     // who: a name, or [ByTimeout]
	// Beyond is that of a question about what leaves the run's permit; an approval of that names it.
	Beyond string `json:"beyond,omitzero"`
	Signed string `json:"signed,omitzero"` // a signed statement of that, where the run's approval is signed
	ID     string `json:"id,omitzero"`     // the question's; "" answers whatever is asked
}

// Check reports why a decision from elsewhere answers no question, or nil.
func (d *Decision) Check() error {
	switch {
	case !slices.Contains([]Verdict{Approve, Reject, Change, Replace, Retry, Fail}, d.Verdict):
		return fmt.Errorf("there is no verdict %q: expected approve, reject, change or replace, or retry or fail for "+
			"a call that was at work", d.Verdict)
	case (d.Verdict == Change) != (d.Params != nil):
		return errors.New("a change, and nothing else, has \"params\": all that the call is to have")
	case (d.Verdict == Replace) != (len(d.Replacement) > 0):
		return errors.New("a replace, and nothing else, has a \"replacement\": a call")
	}
	return nil
}

// Report is a decision as a model learns of it.
func (d *Decision) Report() request.Object {
	if d == nil {
		return nil
	}
	out := request.Object{}.With("verdict", string(d.Verdict))
	if d.Params != nil {
		out = out.With("params", d.Params)
	}
	if len(d.Replacement) > 0 {
		root, _ := source.Parse(source.NewFile("replacement.json", d.Replacement), source.DefaultLimits())
		out = out.With("replacement", request.Of(root))
	}
	return out.WithText("reason", d.Reason).WithText("by", d.By)
}

// ByTimeout is who decides when nobody answers.
const ByTimeout = "time-out"

// Confirm says which calls a person is asked about, and what counts where nobody answers. The zero value asks nobody.
type Confirm struct {
	Policy  guard.Policy  `json:"policy,omitzero"`
	Timeout time.Duration `json:"timeout,omitzero"` // 0 waits for ever
	Default Verdict       `json:"default,omitzero"` // [Approve] or [Reject]; "" is Reject
}

// Check reports what is wrong with a confirmation that comes from elsewhere, or nil.
func (c Confirm) Check() error {
	switch {
	case !slices.Contains([]guard.Policy{guard.Never, guard.Effects, guard.Always}, c.Policy):
		return fmt.Errorf("there is no policy %q of whom to ask", c.Policy)
	case !slices.Contains([]Verdict{"", Approve, Reject}, c.Default):
		return fmt.Errorf("%q can't be the answer where nobody gives one", c.Default)
	case c.Timeout < 0:
		return fmt.Errorf("nobody can answer within %v", c.Timeout)
	}
	return nil
}

// ExecutionOf is what is started to carry a call out with parameters.
func ExecutionOf(p *plan.Plan, call *plan.Call, params map[string]any) Execution {
	e := Execution{Kind: "model"}
	a := p.Activities[call.Activity]
	switch {
	case call.Delegate != "":
		e.Kind, e.Text = "plan", call.Delegate
	case a == nil:
		return e
	case len(a.Argv) > 0:
		e.Kind, e.Folder, e.Worker, e.Inherit, e.Text = a.Kind, a.Dir, a.Worker, a.Inherit, a.Remote
		e.Argv, _ = kinds.Arguments(a, params, kinds.AsWritten)
		if a.Stdin != plan.StreamJSON {
			e.Stdin = a.Stdin
		}
		for _, set := range a.Env {
			e.Env = append(e.Env, set.Name+"="+set.Value)
		}
	case a.Kind == "expr":
		e.Kind, e.Text = a.Kind, a.Node.Get("expr").Text
	case a.Server != nil:
		e.Kind, e.URL, e.Text = a.Kind, a.Server.URL, a.Remote
		e.Headers = make(map[string]string, len(a.Server.Headers))
		for _, h := range a.Server.Headers {
			e.Headers[h.Name] = h.Value
		}
	default:
		e.Kind = a.Kind
		if a.HTTP != nil {
			if r, err := kinds.ShownRequest(a.HTTP, params); err == nil {
				e.Method, e.URL = r.Method, r.URL
			}
		}
		if n := a.Node.Get(a.Kind); n != nil {
			text, _ := json.Marshal(n.Value())
			e.Text = string(text)
		}
	}
	if url := wording.WithoutPasswords(e.URL); url != e.URL {
		e.URL, e.hides = url, e.URL
	}
	e.Text = wording.WithoutPasswords(e.Text)
	if a != nil && a.NameNode != nil {
		at := a.NameNode.Span()
		e.Defined = fmt.Sprintf("%s:%d", at.File.Name, at.From().Line)
	}
	return e
}

// Provenance is where a call's parameters and scopes get their values, by what tells who wrote what a read reads.
func Provenance(p *plan.Plan, call *plan.Call, origins func(*plan.Read) []string) ([]Source, []ScopeSource) {
	var sources []Source
	for _, field := range call.Params.Fields {
		sources = addSources(p, sources, origins, field.Key, field.Value)
	}
	var scopes []ScopeSource
	if call.Scopes != nil {
		scopes = []ScopeSource{}
	}
	for _, s := range call.Scopes {
		scopes = append(scopes, ScopeSource{s.Node.Text, origins(&p.Reads[s.Read])})
	}
	return sources, scopes
}

func addSources(p *plan.Plan, all []Source, origins func(*plan.Read) []string, param string,
	t *plan.Template) []Source {
	if t.Expr != nil {
		s := Source{Param: param, Reference: t.Node.Text}
		for _, read := range t.Reads {
			for _, from := range origins(&p.Reads[read]) {
				if !slices.Contains(s.From, from) {
					s.From = append(s.From, from)
				}
			}
		}
		return append(all, s)
	}
	for _, field := range t.Fields {
		all = addSources(p, all, origins, param+"."+field.Key, field.Value)
	}
	for at, item := range t.Items {
		all = addSources(p, all, origins, fmt.Sprintf("%s[%d]", param, at), item)
	}
	return all
}
