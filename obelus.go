package obelus

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime/debug"
	"slices"

	"github.com/dominikbraun/graph"
	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler/canonical"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/hosts"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/dot"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/activity"
	"github.com/obelus-dev/obelus/runtime/local"
	"github.com/obelus-dev/obelus/runtime/project"
	"github.com/obelus-dev/obelus/runtime/session"
	"github.com/obelus-dev/obelus/runtime/simulate"
)

// What functions, people and watchers are given and give.
type (
	// A Function is an activity in Go. Its value is whatever encodes as JSON, and its
	// error fails the call; a [*Failure] does so with a code of its own.
	Function = activity.Func
	// A Request is one try of a call: its tool, its parameters, which try it is.
	Request = activity.Request
	// A Failure is an error of a call that its plan can tell from others by a code.
	Failure = activity.Failure
	// Hints declare what a function does to the world; what isn't declared is unknown.
	Hints = plan.Hints
	// A Confirmer puts questions to people.
	Confirmer = local.Confirmer
	// A Question is what a person is asked, and a Decision the answer.
	Question = runtime.Question
	Decision = runtime.Decision
	// An Answer is a decision about a question that a run stopped with ([Result.Asked]).
	Answer = session.Answer
	// An Observer sees a run as it goes; [session.NewEvents] makes one that writes JSON lines.
	Observer = session.Observer
)

// The results of plans and runs.
type (
	// A Finding is something that a check has to say, with its rule, severity and place.
	Finding = diag.Diagnostic
	// A Simulation is a run on a virtual clock whose results were made up.
	Simulation = simulate.Scenario
	// A Result is how a run ended or stopped, with its output, state, errors and counts.
	Result = session.Result
	// An Entry is what a folder of journals has about one run.
	Entry = session.Entry
	// UserError is an error with an advice: the kinds below are what [errors.Is] finds in it.
	UserError = diag.UserError
)

// How a run ended ([Result.Status]).
const (
	Done    = runtime.RunDone
	Failed  = runtime.RunFailed
	Stopped = runtime.RunStopped
)

// A Policy is about which calls a run asks a [Confirmer] before they start.
type Policy = runtime.Policy

// The policies.
const (
	AskNever   = runtime.Never   // about none
	AskEffects = runtime.Effects // about those that may change the world
	AskAlways  = runtime.Always  // about each
)

// InFlight is what becomes of a call that was at work when its run was killed, and
// that may not simply be run again.
type InFlight = runtime.InFlight

const (
	InFlightAsk   = runtime.InFlightAsk
	InFlightRetry = runtime.InFlightRetry
	InFlightFail  = runtime.InFlightFail
)

// The kinds of trouble that a program may want to tell apart.
var (
	ErrUnsound = session.ErrUnsound // the plan has errors
	ErrUnfit   = session.ErrUnfit   // input or state doesn't fit its schema, or lacks something
	ErrNoRun   = session.ErrNoRun   // there is no such run, or several
	ErrLocked  = session.ErrLocked  // the run is going on, in another process
	ErrEnded   = session.ErrEnded   // the run has ended; its result is given as well
	ErrDamaged = session.ErrDamaged // the journal can't be trusted
	ErrForeign = session.ErrForeign // the file is no journal of a run, or one of another version
)

// LoadOptions are what a plan may read.
type LoadOptions struct {
	// Root is the workspace, which nothing that the plan names leaves; "" is the nearest
	// folder with obelus.yaml or .git in it, else the plan's own.
	Root string
	// Config is the configuration; "" is the nearest obelus.yaml in the workspace.
	Config string
	// Activities are files of activities, over the plan's own.
	Activities []string
	// Policies are files that say what the plan may do, in the place of the workspace's.
	Policies []string
	// Trust accepts what the workspace declares harmless. Without it only folders that "obelus trust" trusts count.
	Trust bool
	// Hosts may be sent requests besides those that obelus.yaml lists: api.example.com,
	// 127.0.0.1:8080, 10.0.0.0/8.
	Hosts []string
	// Functions are activities by name, over all others, and Hints what they do.
	Functions map[string]Function
	Hints     map[string]Hints
	// Instances: runs are given instances besides the plan's own.
	Instances bool
}

// A Plan is a document that was read, compiled and judged. Many goroutines may use it at once.
type Plan struct {
	program   *project.Program
	functions map[string]Function
}

// Load reads a plan from a file. Faults of the plan are no error; see [Plan.Check].
func Load(name string, o LoadOptions) (*Plan, error) {
	return load(o, func(r *project.Reader) (project.Document, error) { return r.One(name) })
}

// Parse reads a plan from a text, as if it stood in a file of that name.
func Parse(name string, text []byte, o LoadOptions) (*Plan, error) {
	return load(o, func(r *project.Reader) (project.Document, error) { return r.Parse(name, text) })
}

func load(o LoadOptions, read func(*project.Reader) (project.Document, error)) (*Plan, error) {
	r := &project.Reader{Root: o.Root, Config: o.Config, Trust: o.Trust, Activities: o.Activities, Policies: o.Policies,
		Instances: o.Instances, Functions: slices.Sorted(maps.Keys(o.Functions)), Hints: o.Hints}
	for _, text := range o.Hosts {
		host, err := hosts.Parse(text)
		if err != nil {
			return nil, err
		}
		r.Hosts = append(r.Hosts, host)
	}
	d, err := read(r)
	if err != nil {
		return nil, err
	}
	return &Plan{d.Check(), o.Functions}, nil
}

// Findings are the errors, warnings and hints about a plan, by their places.
func (p *Plan) Findings() []Finding { return slices.Clone(p.program.Findings) }

// Check is nil for a plan that can be run, and otherwise an [ErrUnsound] with the first error and its place.
func (p *Plan) Check() error {
	if p.program.Verified != nil {
		return nil
	}
	for _, f := range p.program.Findings {
		if f.Severity == diag.Error {
			place := ""
			if f.Span.Known() {
				place = f.Span.Where() + ": "
			}
			return diag.NewError(ErrUnsound, "%s%s [%s]", place, f.Message, f.Rule.Code).Advise("%s", f.Help)
		}
	}
	return diag.NewError(ErrUnsound, "the plan has errors")
}

// Report writes the findings as text, each with its lines of the plan.
func (p *Plan) Report(w io.Writer) error {
	return diag.Text(w, p.program.Findings, diag.TextOptions{})
}

// A Language is what a drawing is written in.
type Language string

// The languages of drawings.
const (
	DOT     Language = "dot" // Graphviz
	Mermaid Language = "mermaid"
)

// Draw draws which call waits for which, and the paths that data takes, of any plan, sound or not.
func (p *Plan) Draw(w io.Writer, in Language) error {
	draw := dot.Formats[string(in)]
	if draw == nil {
		return fmt.Errorf("there are no drawings in %q", in)
	}
	_, err := io.WriteString(w, draw(dot.FromPlan(p.program.Plan, p.program.Findings, dot.Options{})))
	return err
}

// Graph is the graph of a plan's drawing, for algorithms of your own: each edge leads from a node to one that waits
// for it.
func Graph(p *Plan) graph.Graph[string, dot.Node] {
	return dot.FromPlan(p.program.Plan, p.program.Findings, dot.Options{}).Graph()
}

// SimulateOptions say what is simulated.
type SimulateOptions struct {
	Input, State map[string]any // over the plan's own, key by key
	Seed         uint64         // decides what is left to chance
	Fail         []string       // tools, or calls, that fail every time
}

// Simulate runs a plan on a virtual clock. Only expressions are computed; other results, durations
// and failures are generated from what the tools declare. The same options give the same simulation.
func (p *Plan) Simulate(o SimulateOptions) (*Simulation, error) {
	r := analyzer.Simulate(p.program.Plan, p.program.Findings)
	if r == nil {
		return nil, p.Check()
	}
	if err := session.Fits(p.program.Plan, o.Input, o.State, false); err != nil {
		return nil, err
	}
	return simulate.Run(r, simulate.Options{
		Options: runtime.Options{Input: o.Input, State: o.State}, Seed: o.Seed, Fail: o.Fail,
		Steps: simulate.DefaultSteps(p.program.Plan),
	}), nil
}

// RunOptions are what a run is given. The zero value asks nobody and keeps no journal.
type RunOptions struct {
	Input, State map[string]any // over the plan's own, key by key
	// Parallel is how many activities may be at work at once; 0 is the plan's limit, or 64.
	Parallel int
	// Ask selects the calls that the Confirmer is asked about. A run that would ask and has none stops,
	// and can be resumed.
	Ask       Policy
	Confirmer Confirmer
	// Planner writes what is run: replay:FILE, openai:MODEL or anthropic:MODEL. Model answers
	// latent calls. Record is a folder for what either answers.
	Planner, Model, Record string
	// Instances is a file of further instances, and Results one for the result of each.
	Instances, Results string
	// Journals is a folder for the run's journal; with "" none is kept.
	Journals string
	// Digest is the one that the plan must have ([Plan.Digest]), "" for any; its files are
	// compared before each start.
	Digest   string
	Observer Observer
	// Telemetry, if given, traces the run.
	Telemetry Telemetry
}

// Telemetry traces runs. The module github.com/obelus-dev/obelus/runtime/otel has one for OpenTelemetry.
type Telemetry = session.Telemetry

// Digest covers everything that affects execution: the plan with its imports and delegates, and the
// workspace's files that its programs are started with.
func (p *Plan) Digest() (string, error) { return canonical.Digest(p.program.Plan) }

// Run runs a plan to its end. When ctx ends it stops. An error without a result means that nothing
// was run, that the journal couldn't be written any more, or a fault of obelus; with one, that a file is incomplete.
func (p *Plan) Run(ctx context.Context, o RunOptions) (*Result, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	return session.Run(ctx, p.program, session.Options{
		Options: runtime.Options{Input: o.Input, State: o.State, Parallel: o.Parallel,
			Confirm: runtime.Confirm{Policy: o.Ask}},
		Host: session.Host{Functions: p.functions, Confirmer: o.Confirmer, Observer: o.Observer,
			Telemetry: o.Telemetry, Version: version()},

		PlannerName: o.Planner, Model: o.Model, Record: o.Record, Instances: o.Instances, Results: o.Results,
		Runs: o.Journals, Digest: o.Digest,
	})
}

// ResumeOptions are how a run continues.
type ResumeOptions struct {
	// Functions are those that the run was begun with, and Hints what they do.
	Functions map[string]Function
	Hints     map[string]Hints
	// Activities are files of activities in the place of those that the run was begun with.
	Activities []string
	InFlight   InFlight
	Answers    []Answer // to questions that the run stopped with
	// Ask selects the calls that the Confirmer is asked about from now on.
	Ask       Policy
	Confirmer Confirmer
	Observer  Observer
	Telemetry Telemetry
}

// Resume continues a run from its journal, which has its plan: completed calls aren't run again. Of a
// run that has ended it gives the result and the error [ErrEnded].
func Resume(ctx context.Context, journal string, o ResumeOptions) (*Result, error) {
	return session.Resume(ctx, journal, session.ResumeOptions{
		Host: session.Host{Functions: o.Functions, Hints: o.Hints, Confirmer: o.Confirmer, Observer: o.Observer,
			Telemetry: o.Telemetry, Version: version()},
		Activities: o.Activities, InFlight: o.InFlight, Answers: o.Answers, Confirm: &runtime.Confirm{Policy: o.Ask},
	})
}

// AnswerTo is a decision about what a question asks; if the run asks something else, it isn't used.
// The verdict is "approve", "reject", "change" (with Params), "replace" (with Replacement), or
// "retry" or "fail" about a call that was at work when its run was killed.
func AnswerTo(q *Question, d Decision) Answer { return session.AnswerTo(q, d) }

// Runs lists the runs whose journals are in a folder, the oldest first.
func Runs(folder string) ([]Entry, error) { return session.List(folder) }

// version is that of this module in the program that embeds it.
func version() string {
	const module = "github.com/obelus-dev/obelus"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range append([]*debug.Module{&info.Main}, info.Deps...) {
			if m.Path == module && m.Version != "" && m.Version != "(devel)" {
				return m.Version
			}
		}
	}
	return "devel"
}

// Advice is what an error advises to do, or "".
func Advice(err error) string {
	var t *UserError
	if errors.As(err, &t) {
		return t.Help
	}
	return ""
}
