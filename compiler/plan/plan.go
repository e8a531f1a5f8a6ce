package plan

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/obelus-dev/obelus/compiler/dag"
	"github.com/obelus-dev/obelus/compiler/decode"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/policy"
	"github.com/obelus-dev/obelus/compiler/redact"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
)

// A Part is one thing that decides what a plan does when it is run. Names are
// those that the plan itself has for it, and paths are seen from its folder, so that a
// Part is the same wherever its definition stands and wherever the workspace lies.
type Part struct {
	In     string `json:"in,omitempty"` // the delegate that it is a part of; none for the plan itself
	Kind   string `json:"kind"`
	Name   string `json:"name,omitempty"` // none for a document
	Digest string `json:"digest"`         // "sha256:" and 64 digits
}

// Files are those of the workspace, as a plan's digest covers them.
type Files interface {
	// Sum is a digest of what a file holds; "" for what is no file of the workspace. The
	// name is seen from a folder, and that from the root; either may be absolute.
	Sum(folder, name string) (digest string, err error)
	// Glob gives the files that match a pattern ([workspace.Pattern]), by their paths from the root.
	Glob(pattern string) ([]string, error)
}

// String names a part to people.
func (p Part) String() string {
	text := "the " + p.Kind
	if p.Name != "" {
		text += fmt.Sprintf(" %q", p.Name)
	}
	if p.In != "" {
		text += fmt.Sprintf(" of the delegate %q", p.In)
	}
	return text
}

// Instance is the instance of an id; an unknown one if the document has none.
func (p *Plan) Instance(id string) *Instance { return &p.Only(id)[0] }

// A Plan is one compiled document. It is immutable. A plan compiled from a document with errors is partial: what could
// be understood is there, and nothing else.
type Plan struct {
	Name        string `key:"plan"`
	Description string `key:"description"`
	Version     string `key:"version"`
	Settings
	Text
	Declarations

	Calls  []*Call   // in the order of the text
	Reads  []Read    // every reference of every call, in source order; the output's come last
	Output *Template // nil when the document has none
	Bindings

	Values              // the document's own, which all instances share
	Population          // the states that it runs over
	Kinds      []string // kinds that the document's messages declare, sorted
	Tick       int      // of a process record: which of its run it is; 0 when it doesn't say

	Policies []*policy.Policy // what it may do, said outside of it; none of a delegate's own
	Live     *policy.Live     // of a [Replan]: what its run has left behind so far; nil without policies
	Secrets  *redact.Set      // of the document, and of all that it is compiled with

	Found []diag.Diagnostic // of a delegate: its own and not among those of the plans that name it
	Face  *Tool             // see Interface
	Size  int               // its calls, those of delegates as often as they are run
	// Parts are all that decides what the plan does when it is run, in a fixed order: its own and those of the plans
	// that it delegates to. They are found out once, and the files of the workspace are read for it then; so are these,
	// by activity. Nobody changes them.
	Parts   func() ([]Part, error)                       `json:"-"`
	Covered func() (map[string]map[string]string, error) `json:"-"`
}

// A Text is a plan's document, and where it is.
type Text struct {
	Form        Form
	File        *source.File
	Root        *source.Node // the document as it was written; nil when it couldn't be read
	CallsNode   *source.Node `key:"calls"` // the list of calls, or nil
	PlanMessage *source.Node // of a context, or nil
	Solution    *source.Node // of a process record, or nil
	Opinions    *source.Node // what advisors said in a solution: the list under "advisors"; or nil
	Folder      string       // the folder that the delegates of its calls are relative to
	Workspace   string       // of a record, the workspace of its plan
	Workspaces  Files
	Files       map[string]string // the texts of the files that it took in, by path from the workspace root
}

// Declarations are what a plan's calls can use.
type Declarations struct {
	Tools         []*Tool // the definition of each name that counts, by name
	ToolsDeclared bool    // the document declares tools, so that they can be judged
	Shadowed      []*Tool // earlier definitions of the same names, in source order
	Activities    map[string]*Activity
	Servers       map[string]*Server
	Advisors      []*Advisor // in the order of the text, imports first
	// the plans that calls, tools and activities name, by path from the workspace root
	Delegates    map[string]*Plan
	Schemas      map[string]any          // the named schemas, imports included
	NamedSchemas map[string]*source.Node // where they stand

	OutputSchema     *schema.Schema // nil when absent
	OutputSchemaNode *source.Node   `key:"outputSchema"`
}

// Bindings are how calls depend on each other.
type Bindings struct {
	Paths      *pathtree.Tree // every path that a call writes or something reads
	Graph      dag.Graph      // who waits for whom
	Unordered  []Unordered    // pairs of calls whose writes meet in no fixed order
	Index      *Writers       // by the paths that calls write
	PlaceIndex *Writers       // by [pathtree.Tree.List] of these
}

// A Population is the instances that a plan runs over, and what was done for them before.
type Population struct {
	Instances       []Instance     // in the order of the text; those of a view are the ones that it is for
	InstanceAt      map[string]int // by id, the place in Instances
	AwaitsInstances bool           // the instances come with the run, whatever else is known of them
	Targets         *Targets       // nil when no call has "_instance"
	Entire          *Plan          // of a view: the plan that it is a part of
	// History is what calls of earlier ticks did, by instance or "", in the order in which it counts; values hold it.
	History map[string][]Written
}

// Settings are what a document sets for its runs.
type Settings struct {
	Advice    Advice    `key:"advice"` // how advisors' votes are combined
	Writes    Policy    `key:"writes" words:"last,once"`
	Terminate Terminate `key:"terminate" words:"output,calls"`
	Mode      Mode      `key:"mode" words:"eager,lazy"`
	Limits    Limits    `key:"limits"`
}

// Terminate says when a run with a planner has reached its goal.
type Terminate string

// The ways in which a planned run ends.
const (
	TerminateOutput Terminate = "output" // a tick's output is there; the default
	TerminateCalls  Terminate = "calls"  // a solution has no new calls
)

// Mode says when what a planner writes is run.
type Mode string

// The modes of a planned run.
const (
	Eager Mode = "eager" // each call as soon as it has arrived; the default
	Lazy  Mode = "lazy"  // once the solution is whole
)

// Form is which of the accepted shapes a document has.
type Form uint8

// The shapes of LANGUAGE.md#documents, in its order.
const (
	PlanFile Form = iota
	CallList
	Solution
	Context
	ProcessRecord
	// Replan is a solution in the setting of a run: what is there is known.
	Replan
	// Definitions is no plan: others take it in.
	Definitions
)

func (f Form) String() string {
	return [...]string{"plan", "list of calls", "solution", "context", "process record", "solution of a run",
		"file of definitions"}[f]
}

// Policy says what becomes of a second write to one path.
type Policy uint8

// Last lets the last write win; Once writes a path at most once.
const (
	Last Policy = iota
	Once
)

func (p Policy) String() string { return [...]string{"last", "once"}[p] }

// Values are what a document gives all instances, or one for itself.
type Values struct {
	Input, State any            // nil when there is none
	InputNode    *source.Node   `key:"input"`
	StateNode    *source.Node   `key:"state"`
	Data         map[string]any // initial values of data messages, by kind
	Errors       []any          // the data of error messages, in the order of the text; read as †error

	InputSchema, StateSchema *schema.Schema            // nil when absent
	InputSchemaNode          *source.Node              `key:"inputSchema"`
	StateSchemaNode          *source.Node              `key:"stateSchema"`
	DataSchemas              map[string]*schema.Schema // of data messages, by kind

	Before *Before // nil where there is no history
}

// Of is the input, the state or the data, nil where there is none, and the schema of it.
func (v *Values) Of(kind string) (value any, s *schema.Schema) {
	switch {
	case kind == "input":
		return v.Input, v.InputSchema
	case kind == "state":
		return v.State, v.StateSchema
	case kind == "data" && v.Data != nil:
		value = v.Data
	}
	return value, nil
}

// AnyBegins reports whether something is so of what the plan begins with, or an instance of it.
func (p *Plan) AnyBegins(is func(*Values) bool) bool {
	return is(&p.Values) || slices.ContainsFunc(p.Instances, func(one Instance) bool { return is(&one.Values) })
}

// A Before is what stood in the values before a history, which State and Data hold.
type Before struct {
	State any
	Data  map[string]any
}

// An Instance is one of several states that a plan runs over.
type Instance struct {
	ID     string
	Node   *source.Node
	Values // its own, over the shared ones, and schemas in the place of these
}

// Limits are the bounds of a run; zero means the default.
type Limits struct {
	Ticks    int           `key:"ticks" from:"1"`
	Calls    int           `key:"calls" from:"1"`
	Parallel int           `key:"parallel" from:"1"`
	Time     time.Duration `key:"time"`
	Tokens   int           `key:"tokens" from:"1"`
	Cost     float64       `key:"cost" above:"0"`
}

// Together is how many activities are at work at once, at most.
func (l Limits) Together() int { return cmp.Or(l.Parallel, DefaultParallel) }

// What holds where neither a plan nor who runs it says otherwise.
const (
	DefaultTicks    = 25 // answers of a planner
	DefaultParallel = 64 // activities that are at work at once
)

// A Tool is an interface: what a call may pass and what it gives back.
type Tool struct {
	Name        string
	Description string
	Node        *source.Node // its definition
	NameNode    *source.Node // where its name stands

	Parameters   *schema.Schema    // meta-fields taken out; nil when it is broken
	Open         bool              // it says additionalProperties itself, and not false
	Given        map[string]any    // what a tool that is a plan has for parameters that a call leaves out
	Output       *schema.Schema    // nil: nothing is known of the result
	OutputNode   *source.Node      // where that schema stands
	OutputPath   *schema.Schema    // constrains a call's _outputPath; nil when free
	Scopes       *schema.Schema    // constrains a call's _scopes; nil when free
	ScopesNode   *source.Node      // where it does
	Activity     string            // the activity that carries it out; "" when it has none
	ActivityNode *source.Node      // where it names its activity; nil when it doesn't
	Activities   []string          // those that it lets a call choose from
	Delegate     string            // the plan that carries it out, as Call.Delegate has it; ""
	DelegateNode *source.Node      // where it names that plan, or those to choose from; nil when it doesn't
	Delegates    map[string]string // those that it lets a call choose from: as it writes them, by path
	Builtin      bool              // it is the language's own, and is in no document
	Latent       bool              // neither: a model must produce its result

	Origin   Origin
	Hints    Hints
	Volatile bool    // x-volatile: a repeated call is run again
	Mocks    []any   // _mock, else examples
	Simulate Profile // x-simulate
}

// A Profile is what a tool declares of its calls for simulations.
type Profile struct {
	Failure  *float64 `key:"failure" from:"0" to:"1"` // how many of them fail; nil where nothing says so
	Duration struct {
		Median time.Duration `key:"p50"`
		Most   time.Duration `key:"p95"`
	} `key:"duration" short:"p50"`
	Cost *struct {
		Median float64 `key:"p50" from:"0"`
		Most   float64 `key:"p95" from:"0"`
	} `key:"cost" short:"p50"`
}

// Hints are MCP's annotations; a nil pointer is a hint not given.
type Hints struct {
	ReadOnly    *bool `key:"readOnlyHint"`
	Destructive *bool `key:"destructiveHint"`
	Idempotent  *bool `key:"idempotentHint"`
	OpenWorld   *bool `key:"openWorldHint"`
}

// An Activity is an implementation. Exactly one of Exec, HTTP, MCP, Expression and Plan describes it; none does for one
// that the embedding program registers.
type Activity struct {
	Name       string
	Kind       string // "exec", "http", "mcp", "expr", "plan", "go"
	Node       *source.Node
	NameNode   *source.Node
	Expression *expression.Expr // expr
	Argv       []Argument       // exec
	Worker     bool             // exec: one process, a line a request
	HTTP       *HTTP            // http
	// Stdin is what a program reads: [StreamJSON] (also ""), [StreamNone], or the reference †name to a parameter, whose
	// path from the parameters on is StdinPath. Stdout is the form of what it writes; "" is StreamJSON where something
	// is expected of the call, and else StreamNone.
	Stdin, Stdout string               // exec
	StdinPath     []expression.Segment // exec
	Parameters    []Variable           // exec, http: those that its texts take by name, and where
	Timeout       time.Duration        // exec, http, mcp; 0 is none, or what is usual
	Plan          string               // plan: the path of the plan from the workspace root; "" when that isn't known
	PlanNode      *source.Node         // plan: where it names it
	Server        *Server              // mcp: whose program the activity has as its own; nil where it isn't defined
	Remote        string               // mcp: what the tool is called there
	// exec: the folder in which it is started; of the file that defines it, or its cwd
	Dir string
	// Env are the variables that a program gets besides those that every one gets, in the order in which they are
	// listed, and Inherit the names of those that it gets of our own environment.
	Env     []EnvSetting // exec
	Inherit []string     // exec
	// Variables are those of our environment that its texts take as {$NAME}. What they hold is secret.
	Variables []Variable
	// Files are patterns of files of the workspace that it uses, from the root, which the
	// digest covers besides those that its argv names.
	Files  []*source.Node // exec
	Origin Origin
	Hints  Hints // what it says of itself; see package effects
}

// An EnvSetting gives a variable of the environment a value, in which {$NAME} represents
// what our own environment holds.
type EnvSetting = decode.Setting

// A Variable is where a text takes a value of the environment, or of a parameter.
type Variable struct {
	Name string
	Node *source.Node
}

// A Call is one use of a tool.
type Call struct {
	Index int          // its place in Plan.Calls
	Place int          // its place among the calls of the whole plan; Index differs from it in a view
	Name  string       // _id, or tool#place
	ID    string       // _id; "" when it has none
	Node  *source.Node // the whole call
	Use
	Destination
	Dependencies
	Partial bool // some of its text couldn't be read

	Params     *Template     // an object, also when empty; its Fields are always there
	When       *Template     // _when, or nil
	After      []After       // calls that must be done, or have settled, first
	Retry      Retry         `key:"_retry" short:"attempts"`
	Timeout    time.Duration `key:"_timeout"` // 0: none of its own
	Confirm    bool          // _confirm: a person is asked about it, whatever else asks for that
	Each       *Each         // the list for whose items it runs, or nil
	ItemOf     *Call         // of a call for one item: the one that runs it; see [compiler.Items]
	Instance   string        // the instance that it is for; "" for all
	Produced   *source.Node  `key:"_output"` // a latent call's result, already produced; or nil
	Reason     string        `key:"_reasoningForCall"`
	Scopes     []Scope       // what its context is made of; nil when nothing says so, empty when it is to be empty
	ScopesNode *source.Node  `key:"_scopes"`
}

// A Use is the tool that a call is of, and what carries it out.
type Use struct {
	ToolName string
	Tool     *Tool        // nil when no such tool is defined
	ToolNode *source.Node `key:"_tool"`
	Activity string       `key:"_activity"` // the activity that carries it out; "" when latent
	// Delegate is the plan that is run as the call, by its path from the workspace root, or "". A plan
	// that an activity of kind plan names is here as well as its name in Activity: it is the plan that is run.
	Delegate string
}

// A Destination is where a call's result goes.
type Destination struct {
	Output     []Route      // the alternatives of _outputPath, in order; none: run for its effect
	OutputNode *source.Node `key:"_outputPath"`
	Method     Method       `key:"_outputMethod" words:"set,merge,assign,push,concat"`
	Takes      int          // the alternative that Produced names, from 1; 0 for none
}

// Dependencies are the reads and the other calls that a call depends on.
type Dependencies struct {
	Reads   []int   // its reads, as indexes of Plan.Reads
	Ordered []int32 // calls listed before it that it comes after as listed, ascending: see package bind
	Choices []int32 // under once: the calls listed before it that may write what it may write, ascending
	// those of Ordered, and the calls it depends on, directly or not, that may write what it may write, ascending
	Waits []int32
}

// A Route is one alternative of an output path: every path that it writes.
type Route []Path

// Overlaps reports whether a route writes a path, or something above or below it.
func (r Route) Overlaps(paths *pathtree.Tree, id pathtree.ID) bool {
	return slices.ContainsFunc(r, func(path Path) bool { return paths.Overlap(path.ID, id) })
}

// A Path is a written path with its place in the text.
type Path struct {
	ID         pathtree.ID
	Node       *source.Node // the string that it is in
	Start, End int          // its bytes in that string, decoded
}

// Span is where the path stands.
func (p Path) Span() source.Span { return p.Node.Within(p.Start, p.End) }

// Label is the name by which findings speak of a call; "" for none.
func (c *Call) Label() string {
	if c == nil {
		return ""
	}
	return c.Name
}

// Paths gives every path that a call may write, with the index of its alternative.
func (c *Call) Paths() iter.Seq2[int, Path] {
	return func(yield func(int, Path) bool) {
		for alternative, route := range c.Output {
			for _, path := range route {
				if !yield(alternative, path) {
					return
				}
			}
		}
	}
}

// FailureRoute is the index of the alternative that a failure is written to, or -1.
func (c *Call) FailureRoute() int {
	if len(c.Output) > 1 {
		return len(c.Output) - 1
	}
	return -1
}

// SetsAt reports whether a call may set a path that it writes: its results, by its
// method, or a failure record, which is always set.
func (c *Call) SetsAt(id pathtree.ID) bool {
	if c.Method == Set {
		return true
	}
	at := c.FailureRoute()
	return at >= 0 && slices.ContainsFunc(c.Output[at], func(path Path) bool { return path.ID == id })
}

// Method is how a result is written to its path.
type Method uint8

// The methods of LANGUAGE.md#output-paths-and-state.
const (
	Set Method = iota
	Merge
	Assign
	Push
	Concat
)

func (m Method) String() string { return [...]string{"set", "merge", "assign", "push", "concat"}[m] }

// Retry is what to do when an activity fails.
type Retry struct {
	Attempts int `key:"attempts" from:"1" to:"1000"` // in all; 0 and 1 mean no second one
	// before the second attempt; doubled before each further one
	Backoff time.Duration `key:"backoff"`
}

// A Read is one reference of a call (or of the plan's output), bound.
type Read struct {
	Call    int // index of the reader; -1 is the plan's output
	Ref     expression.Reference
	Path    pathtree.ID  // pathtree.Root when its kind is unknown
	Node    *source.Node // the string that it is in
	Bound   Binding
	Writers []int32 // the calls it is bound to, ascending
	Start   bool    // its path is known to be there from the start
}

// Span is where the reference stands.
func (r *Read) Span() source.Span { return r.Node.Within(r.Ref.Start, r.Ref.End) }

// Binding is which of the calls that may write a read's path it sees.
type Binding uint8

const (
	// Initial: no call; only what is there from the start.
	Initial Binding = iota
	// Earlier: those listed before the reader.
	Earlier
	// Later: those listed after the reader.
	Later
	// All: both, under the policy once.
	All
)

// A Template is a value with expressions at some of its leaves. One that is live and has neither an expression nor
// parts is an expression that doesn't parse: nothing is known of its value.
type Template struct {
	Node   *source.Node
	Fields []TemplateField // an object with an expression somewhere below
	Items  []*Template     // a list with an expression somewhere below
	Expr   *expression.Expr
	Reads  []int // the reads of Expr, as indexes of Plan.Reads, in the order of Expr.References
	Value  any   // the whole value, when there is no expression below

	Live          bool // there is an expression somewhere in it
	ItemDependent bool // see PerItem
}

// A TemplateField is one key of an object template.
type TemplateField struct {
	Key   string
	Node  *source.Node // the key in the text
	Value *Template
}

// Opaque reports whether nothing is known of the value but by evaluating it: the
// template is an expression, be it one that doesn't parse.
func (t *Template) Opaque() bool { return t.Live && t.Fields == nil && t.Items == nil }

// FallsBack reports whether a template is an expression that ends in a literal, as in
// †state.x || null: its author gives the value for when nothing else is there.
func (t *Template) FallsBack() bool {
	if t.Expr == nil {
		return false
	}
	_, literal := t.Expr.Alternatives()
	return literal
}

// SchemaOf is the schema that what is at a path is held against, that of the input, of the state or of a kind of data,
// and the part of the path below it; nil where there is none.
func (p *Plan) SchemaOf(path []expression.Segment) (s *schema.Schema, below []expression.Segment) {
	if len(path) == 0 {
		return nil, nil
	}
	if path[0].Key == "data" && len(path) > 1 {
		return p.DataSchemas[path[1].Key], path[2:]
	}
	_, s = p.Of(path[0].Key)
	return s, path[1:]
}
