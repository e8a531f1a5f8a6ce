// Package facts reports what a compiled plan may do: every call with its effect, what carries it out, its values and
// their sources, its conditions, and the worst case. If the plan doesn't declare something, facts assume the worst.
// They hold no secret of the plan. People are shown them before they approve a plan, and two plans are compared by
// them.
package facts

import (
	"encoding/json"
	"path"

	"github.com/obelus-dev/obelus/compiler/canonical"
	"github.com/obelus-dev/obelus/compiler/effects"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/workspace"
)

// Facts are what a plan may do. Their JSON form reads back as the same facts.
type Facts struct {
	Plan   string  `json:"plan"`             // its name
	Form   string  `json:"form"`             // [plan.Form]
	Folder string  `json:"folder,omitempty"` // that it lies in, from the workspace root
	Calls  []Call  `json:"calls"`            // in the order of the text
	Output []Value `json:"output,omitempty"`
	// those that it defines, whether something calls them or not; by name
	Tools    []Tool             `json:"tools,omitempty"`
	Advisors []string           `json:"advisors,omitempty"` // models that are asked for opinions
	Planned  bool               `json:"planned,omitempty"`  // a model writes calls of its own; see [Options]
	Orders   []Order            `json:"orders,omitempty"`
	Settings map[string]Literal `json:"settings,omitempty"` // what else of the document decides what happens, by key
	// Programs are the digests of the workspace's files that are run, by path from the
	// plan's folder; see [Options].
	Programs map[string]string `json:"programs,omitempty"`
	Worst    Worst             `json:"worst"`
	// Delegates are the plans that are run as calls of this one, and as calls of those, by
	// path from the workspace root. Only the facts of the outermost plan have them.
	Delegates map[string]*Facts `json:"delegates,omitempty"`
}

// A Place is where something stands, in lines and columns from 1.
type Place struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
}

// A Call is what one call may do.
type Call struct {
	Name     string    `json:"call"` // LANGUAGE.md#calls
	ID       string    `json:"id,omitempty"`
	Tool     string    `json:"tool"`
	At       *Place    `json:"at,omitempty"`
	Instance string    `json:"instance,omitempty"`
	Effect   Effect    `json:"effect"`
	Runs     Execution `json:"runs"`
	Values   []Value   `json:"values,omitempty"` // its parameters, leaf by leaf, in the order of their names
	// Context is what it is handed besides: its scopes, or all that a model sees.
	Context    []Source    `json:"context,omitempty"`
	Writes     [][]string  `json:"writes,omitempty"` // the alternatives of its output; exactly one is written
	Method     string      `json:"method,omitempty"` // how, if not by set
	When       *Value      `json:"when,omitempty"`
	After      []After     `json:"after,omitempty"`
	Conditions []Condition `json:"conditions,omitempty"` // all that must hold for it to run
	Each       *Each       `json:"each,omitempty"`
	Tries      int         `json:"tries,omitempty"` // if more than one
	Backoff    string      `json:"backoff,omitempty"`
	Timeout    string      `json:"timeout,omitempty"`
	Confirm    bool        `json:"confirm,omitempty"`   // a person is asked about it in any case
	Produced   Literal     `json:"produced,omitzero"`   // the result of a latent call that stands there already
	Reason     string      `json:"reasoning,omitempty"` // for people; it has no effect

	requires []requirement
	asks     question // by its condition
	used     bool     // another call waits for it, or the output has its result
}

// An Effect is what carrying a call out may do to the world.
type Effect = effects.Effect

// An Execution is what carries a call out.
type Execution struct {
	Kind     string `json:"kind"` // exec, http, mcp, expr, go; plan; model; produced; unknown
	Activity string `json:"activity,omitempty"`
	Defined  *Place `json:"defined,omitempty"`
	// exec, mcp: the argv, with {name} for parameters and {$NAME} for the environment
	Program []string `json:"program,omitempty"`
	Folder  string   `json:"folder,omitempty"` // exec, mcp: where it is started, from the workspace root
	Files   []string `json:"files,omitempty"`  // exec: patterns of further files that the digest covers
	// exec, mcp: the argv, if a shell in it runs code that may use files which the digest doesn't cover
	Unseen     []string `json:"unseen,omitempty"`
	Method     string   `json:"method,omitempty"`    // http
	URL        string   `json:"url,omitempty"`       // http, mcp
	Text       string   `json:"text,omitempty"`      // expr; mcp: the tool's name there
	Plan       string   `json:"plan,omitempty"`      // plan: see [Facts.Delegates]
	Variables  []string `json:"variables,omitempty"` // of the environment, which it is given
	Definition Literal  `json:"definition,omitzero"`
}

// A Value is a value that a call is given, or a leaf of it: a literal, or an expression
// and the sources that it reads.
type Value struct {
	Path       string   `json:"path,omitempty"` // to, body.text, items[0]; "" is the whole
	Literal    Literal  `json:"literal,omitzero"`
	Expression string   `json:"expression,omitempty"` // in canonical form
	Sources    []Source `json:"sources,omitempty"`
	// Models are, of a call that may destroy something or hands something out, the calls answered by models that may
	// have chosen the value, here or in plans above or below ("lib/digest.yaml: ask#1").
	Models []string `json:"models,omitempty"`
}

// A Source is a path that a value is read from, and who may have written what stands there.
type Source struct {
	Path  string   `json:"path,omitempty"`
	Calls []string `json:"calls,omitempty"` // in the order of the text; the first of them where they are many
	More  int      `json:"more,omitempty"`  // how many others
	Tools []string `json:"tools,omitempty"` // those of all these calls, by name
	// it may be there from the start: input, initial state, messages of the context
	Start bool `json:"start,omitempty"`

	writers []int32
}

// An After is a call that another comes after without reading from it.
type After struct {
	Call    string `json:"call"`
	Settled bool   `json:"settled,omitempty"` // however it ended
	Listed  bool   `json:"listed,omitempty"`  // only since it is listed before it
}

// A Condition is something that must hold for a call to run: some of the plan's text
// between words of ours.
type Condition struct {
	Words string `json:"words"`          // for, for each of, if, after
	Text  string `json:"text,omitempty"` // an expression, a call, an instance
	More  string `json:"more,omitempty"` // what must be so of it
	Path  string `json:"path,omitempty"` // a path or a call that More ends with
}

// Each is the list for whose items a call runs.
type Each struct {
	List    Value `json:"list"`
	Most    int   `json:"most"` // how many items it can have
	Collect bool  `json:"collect,omitempty"`
}

// An Order is a path at which it counts in which order calls write.
type Order struct {
	Path  string   `json:"path"`
	Calls []string `json:"calls"`
}

// A Tool is a tool that a plan defines, with what a call of it would do.
type Tool struct {
	Name        string    `json:"tool"`
	Description string    `json:"description,omitempty"`
	At          *Place    `json:"at,omitempty"`
	Effect      Effect    `json:"effect"`
	Runs        Execution `json:"runs"`
	Parameters  Literal   `json:"parameters,omitzero"` // the schema
	Output      Literal   `json:"output,omitzero"`     // the schema
	Definition  Literal   `json:"definition,omitzero"` // all else that it says
}

// Worst bounds what a plan can use. Resuming a run that stopped at a limit gives as much again of what it ran out of.
type Worst struct {
	Calls Bound `json:"calls"` // that start
	Tries Bound `json:"tries"` // of them
	Ticks Bound `json:"ticks"` // requests to the model that plans
	Cost  Bound `json:"cost"`  // by what tools say of themselves (x-simulate)
	Time  Bound `json:"time"`  // in seconds, without people's answers
}

// A Bound is an upper bound. Without a number nothing bounds it.
type Bound struct {
	Most   *float64 `json:"most"`
	known  float64  // of the calls that declare it
	silent int      // how many declare nothing
}

// A Literal is a JSON value of the plan, less its secrets.
type Literal struct {
	Text   json.RawMessage // compact, keys sorted; nil where there is none
	secret string          // the whole, where Text leaves something out
}

// MarshalJSON gives the value.
func (l Literal) MarshalJSON() ([]byte, error) { return l.Text, nil }

// UnmarshalJSON takes a value as it stands.
func (l *Literal) UnmarshalJSON(text []byte) error {
	l.Text = Compact(Literal{Text: text}.value())
	return nil
}

// IsZero reports whether there is no value, which null is.
func (l Literal) IsZero() bool { return l.Text == nil }

// Options say what facts can't know from the plan.
type Options struct {
	// Planned is of a run with a planner: a model writes the calls, and those of the plan
	// are only where it begins.
	Planned bool
	// Parts are the plan's ([plan.Plan.Parts]), so that the files that it runs are
	// known by what they hold; without them they are by their names alone.
	Parts []plan.Part
}

// Of collects the facts of a plan. One with errors has those that could be understood.
func Of(p *plan.Plan, o Options) *Facts {
	f := newGatherer(p).facts()
	f.Planned, f.Programs, f.Delegates = o.Planned, map[string]string{}, map[string]*Facts{}
	for _, part := range o.Parts {
		if part.Kind == canonical.PartProgram {
			f.Programs[path.Join(path.Dir(part.In), part.Name)] = part.Digest
		}
	}
	all := p.AllDelegates()
	for path, d := range all {
		f.Delegates[path] = newGatherer(d).facts()
	}
	f.reckon(p, all)
	indexOf(f).traceModels()
	return f
}

// OfCalls is what single calls of a plan may do, as [Of] has it: what they depend on is collected once for all.
func OfCalls(p *plan.Plan) func(*plan.Call) *Call {
	g := newGatherer(p)
	return func(c *plan.Call) *Call {
		one := g.call(c)
		return &one
	}
}

// Sum identifies a value that Text hides a part of, and is "" for any other: what is compared with it later needn't be
// kept in clear.
func (l Literal) Sum() string {
	if l.secret == "" {
		return ""
	}
	return workspace.SumOf([]byte(l.secret))
}
