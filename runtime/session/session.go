package session

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/obelus-dev/obelus/compiler/canonical"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/activity"
	"github.com/obelus-dev/obelus/runtime/journal"
	"github.com/obelus-dev/obelus/runtime/local"
	"github.com/obelus-dev/obelus/runtime/planner"
	"github.com/obelus-dev/obelus/runtime/project"
)

// Options say what a run is to do.
type Options struct {
	// Options are the machine's; whether it is planned and whether instances join it
	// follows from the others.
	runtime.Options
	Host
	// PlannerName names who writes what is run, such as "replay:FILE" or
	// "openai:MODEL"; "" is nobody, or the Host's Planner.
	PlannerName string
	// Model names, in the same way, who answers the latent calls of a plan that is run as it
	// stands; "" is nobody. A planner answers them itself.
	Model string
	// Record is a folder for what the planner answers; "" for none.
	Record string
	// Draft, if given, keeps the plan that the planner makes, and nothing of it is run.
	Draft *planner.Draft
	// Instances is a file of further instances, a JSON object {id, state?, input?} a
	// line, and Results the file for the result of each; "" for none.
	Instances, Results string
	// Digest is the one that the plan must have, "" for any. Its programs are
	// started with the files that it is over, whatever becomes of them meanwhile.
	Digest string
	// Approval, if given, has to hold for the program, which is then demanded by its digest.
	Approval *Approval
	// Runs is the folder in which the run's journal is kept, such as [DefaultFolder];
	// with "" none is kept, and the run can't be resumed.
	Runs string
}

// A Host is what the process brings in which a run takes place. Of it only the
// prices are in the journal.
type Host struct {
	// Functions are activities by name. They take the place of definitions, and the
	// program is to be read knowing their names ([project.Reader]).
	Functions map[string]activity.Func
	// Hints declare for a resumed run what the functions do to the world. For one that
	// begins, they are declared where its program is read.
	Hints map[string]plan.Hints
	// Planner writes what is run, in the place of one that has a name.
	Planner planner.Planner
	// Prices are what tokens cost, for the limits of a plan. A resumed run has those that it began with by default.
	Prices planner.Prices
	// MaxTokens bounds an answer of a model; 0 is the bound of its wire format, if it has any.
	MaxTokens int
	// Confirmer asks people; nil means that there is nobody to ask.
	Confirmer local.Confirmer
	// Observer, if given, sees the run.
	Observer Observer
	// Telemetry, if given, traces the run.
	Telemetry Telemetry
	// Notice, if given, receives a sentence on what was met that needs no decision.
	Notice func(text string)
	// Version is the version of the program, for the journal's head.
	Version string
	// Moment, if given, is called at moments at which it makes a difference whether the
	// process is killed, for tests.
	Moment func(what string)
}

// An Observer sees a run as it goes.
type Observer interface {
	// Observe sees every command before it is carried out, from one goroutine, with
	// the time since the run began.
	Observe(at time.Duration, c runtime.Command)
	// Waits receives a sentence on what the run waits for, or what was noticed; from any
	// goroutine.
	Waits(why string)
}

// ResumeOptions say how a run is resumed.
type ResumeOptions struct {
	Host
	// Activities are files of activities in the place of those that the run was begun
	// with; none means those, which must be as they were.
	Activities []string
	// Digest is the one that the plan must have, with its programs' files as they are now,
	// in the place of that which the run was begun with; "" is that.
	Digest string
	// InFlight says what becomes of calls that were at work and may not simply be run
	// again.
	InFlight runtime.InFlight
	// Confirm, if given, says whom the run asks from now on.
	Confirm *runtime.Confirm
	// Answers are decisions about calls, used in this order as they are asked about.
	Answers []Answer
	// RetryFailed runs again what failed, and what was skipped for it; nothing that was done.
	RetryFailed bool
	// Approvers judges whether an approval that the run was begun under still holds.
	Approvers Approvers
	// RequireApproval lets no run go on that was begun without an approval.
	RequireApproval bool
	// OrStricter keeps the policy that the run was begun with where it asks about more
	// calls than that of Confirm, or an approval replaces the questions.
	OrStricter bool
}

// A Result is how a run ended or stopped.
type Result struct {
	*runtime.Outcome
	Run     string // its id; "" without a journal
	Journal string // its file; "" without one
	// Incomplete is what couldn't be written to its end, although the run could go on:
	// the last record of the journal, or the file of results.
	Incomplete []error
}

// Run runs a program to its end. When ctx ends the run stops, and can be resumed.
// An error without a result means that nothing was run, or that the journal can't be
// written any more; with a result it says what else couldn't be written.
func Run(ctx context.Context, p *project.Program, o Options) (*Result, error) {
	return runAndClose(ctx)(Begin(p, o))
}

// Resume continues the run of a journal. Of one that has ended the result is given
// once more, with the error [ErrEnded].
func Resume(ctx context.Context, path string, o ResumeOptions) (*Result, error) {
	return runAndClose(ctx)(Open(path, o))
}

func runAndClose(ctx context.Context) func(*Session, error) (*Result, error) {
	return func(s *Session, err error) (*Result, error) {
		if err != nil {
			return nil, err
		}
		result, err := s.Run(ctx)
		return result, errors.Join(err, s.Close())
	}
}

// A Session is a run that is ready to begin, or to go on: all that it needs is open.
type Session struct {
	Program *project.Program
	Options Options            // only Observer and Confirmer may be changed, until Run
	Replay  *Replay            // of a run that is resumed: where it stood
	Joining []runtime.Instance // of the file, that haven't joined yet

	resume   runtime.Resumption
	manifest *Manifest
	keeper   *keeper
	set      *activity.Set
	planner  planner.Planner
	recorder *planner.Recorder
	answers  []Answer
	vouching *vouching // nil of a run without an approval
	trace    Trace     // nil without one

	batch   int      // how many of Joining may join at once
	results *os.File // nil without one
}

// Begin opens what a run needs, and begins its journal.
func Begin(p *project.Program, o Options) (s *Session, err error) {
	if p.Verified == nil {
		return nil, diag.NewError(ErrUnsound, "the plan has errors, and isn't run").Advise("a check tells of them")
	}
	if err := p.Demand(o.Digest); err != nil {
		return nil, err
	}
	var under *Approved
	if o.Approval != nil {
		if under, err = approved(p, &o, o.Approval); err != nil {
			return nil, err
		}
		o.Digest, o.Signed = under.Digest, true
	}
	o.PlanOnly = o.Draft != nil
	o.Joining, o.Planned = o.Instances != "", o.PlannerName != "" || o.Planner != nil
	isRequest := p.Plan.Form == plan.Context || p.Plan.Form == plan.ProcessRecord
	switch {
	case o.Planned && o.Model != "":
		return nil, diag.NewError(ErrUnrunnable,
			"a planner answers latent calls itself, and a model is named beside it").Advise("name one of the two")
	case !o.Planned && o.Model == "" && o.Record != "":
		return nil, diag.NewError(ErrUnrunnable, "no model is asked, so there is nothing to record").
			Advise("name one with --planner or --model")
	case !o.Planned && isRequest && p.Plan.Solution == nil && len(p.Plan.Calls) == 0 && p.Plan.Output == nil:
		return nil, diag.NewError(ErrUnrunnable, "%q has no calls, and no planner writes any", p.File.Name).
			Advise("name one with --planner")
	}
	err = cmp.Or(within(p, &o), Fits(p.Plan, o.Input, o.State))
	if err == nil && !o.Planned && !o.Joining && !o.Continue && len(p.Plan.Instances) == 0 {
		err = lacks(p.Plan, o.Input, o.State)
	}
	if err != nil {
		return nil, err
	}
	s = &Session{Program: p, Options: o}
	if s.manifest, err = manifestOf(p, &o); err != nil {
		return nil, err
	}
	if s.manifest.Approval = under; under != nil {
		s.vouching = &vouching{under: under, judge: o.Approval.Judge}
	}
	if err := s.open(); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Open opens a run from its journal, and what it needs to go on.
func Open(path string, o ResumeOptions) (*Session, error) {
	writer, contents, err := journal.Open(path)
	if err != nil {
		return nil, journalProblem(path, err)
	}
	s := &Session{keeper: &keeper{writer: writer, file: path, moment: o.Moment}}
	if err := s.restore(path, contents, &o); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// restore brings a machine to where the run of a journal stood.
func (s *Session) restore(path string, contents *journal.Contents, o *ResumeOptions) (err error) {
	if o.Notice == nil {
		o.Notice = func(string) {}
	}
	if contents.Torn != nil {
		o.Notice(contents.Torn.String() + "; they are cut off")
	}
	if s.manifest, err = readManifest(path, contents.Header); err != nil {
		return err
	}
	if o.Digest != "" && o.Digest != s.manifest.Digest {
		s.manifest.Digest, s.manifest.Programs = o.Digest, nil
	}
	m := s.manifest
	for _, name := range m.Functions {
		if o.Functions[name] == nil {
			return diag.NewError(ErrUnrunnable,
				"the run was begun by a program that registers the function %q, and this one doesn't", name)
		}
	}
	if s.Program, err = m.program(o.Activities, o.Hints); err != nil {
		return err
	}
	if err := s.Program.Demand(m.Digest); err != nil {
		return err
	}
	s.Options = Options{Digest: m.Digest, Options: m.Options, Host: o.Host, PlannerName: m.Planner, Model: m.Model,
		Record: m.Record, Instances: m.Instances, Results: m.Out}
	s.Options.Prices = cmp.Or(o.Prices, m.Prices)
	s.answers = o.Answers
	s.resume = runtime.Resumption{InFlight: o.InFlight, Confirm: o.Confirm}
	if started := m.Options.Confirm.Policy; o.OrStricter && o.Confirm != nil &&
		(m.Approval != nil || started.Stricter(o.Confirm.Policy)) {
		confirm := *o.Confirm
		confirm.Policy = started
		s.resume.Confirm = &confirm
	}
	if s.Replay, err = m.replay(path, s.Program.Verified, m.records(path, contents), nil); err != nil {
		return err
	}
	switch s.resume.RetryFailed = o.RetryFailed && s.Replay.Machine.Failed() > 0; {
	case !o.RetryFailed:
	case m.Options.Planned:
		return diag.NewError(ErrUnrunnable,
			"a planner wrote this run, and its next tick says what becomes of what failed").
			Advise("begin a new run that continues from one of its ticks")
	case !s.resume.RetryFailed && s.Replay.Over():
		return diag.NewError(ErrUnrunnable, "the run %s has no failed call that can run again", s.ID()).
			Advise("what was rejected, by a person or as nobody answered, and an output that doesn't fit stand as " +
				"they are: begin a new run")
	}
	if s.Replay.Over() && !s.resume.RetryFailed {
		return s.openResults()
	}
	if err := s.stillApproved(o); err != nil {
		return err
	}
	if err := within(s.Program, &s.Options); err != nil {
		return err
	}
	if err := s.thereToRun(); err != nil {
		return err
	}
	return s.open()
}

// open opens what a run needs besides its machine, the journal last.
func (s *Session) open() (err error) {
	plan, o := s.Program.Plan, &s.Options
	if err := local.Runnable(plan, s.Options.Planned || o.Model != ""); err != nil {
		return unrunnable(err).
			Advise("define one under \"activities\", give a file with --activities, or a model with --model")
	}
	options := activity.Options{InUse: activity.InUse(plan, s.Options.Planned), Hosts: s.Program.HostRules()}
	if all := o.Digest != "" || s.manifest.Programs != nil; all || s.Program.Config.Pinned {
		if _, err := canonical.Programs(plan); err != nil { // as they are now
			return diag.NewError(ErrUnrunnable, "the plan can't be run: %w", err)
		}
		options.Unchanged = s.Program.Unchanged(all)
	}
	activities := s.Program.Activities()
	if o.Draft != nil {
		activities = nil
	}
	s.set, err = activity.Open(activities, o.Functions, options)
	switch {
	case errors.Is(err, canonical.ErrOther):
		return diag.NewError(project.ErrOther, "what would run has changed: %w", err).
			Advise(project.DigestHelp)
	case err != nil:
		return diag.NewError(ErrUnrunnable, "the plan can't be run: %w", err)
	}
	if err := cmp.Or(s.readInstances(), s.openPlanner(), s.openResults()); err != nil {
		return err
	}
	if s.keeper == nil && o.Runs != "" {
		if s.keeper, err = create(o.Runs, s.manifest); err != nil {
			return err
		}
		s.keeper.moment = o.Moment
	}
	return nil
}

// openPlanner makes the planner that a run is to ask, and its recorder.
func (s *Session) openPlanner() (err error) {
	o := &s.Options
	switch {
	case !s.Options.Planned && o.Model == "":
		return nil
	case o.Planner != nil:
		s.planner = o.Planner
	case o.PlannerName == "" && o.Model == "":
		return diag.NewError(ErrUnrunnable, "the run was begun with a planner of the program's own, and none is given")
	default:
		name := cmp.Or(o.PlannerName, o.Model)
		if file, ok := strings.CutPrefix(name, "replay:"); ok {
			name = "replay:" + s.at(file)
		}
		if s.planner, err = planner.Open(name,
			planner.Options{Prices: o.Prices, MaxTokens: o.MaxTokens, Notice: s.wait}); err != nil {
			return unrunnable(err)
		}
	}
	if o.Draft != nil {
		o.Draft.Planner = s.planner
		s.planner = o.Draft
	}
	if o.Record == "" {
		return nil
	}
	if s.recorder, err = planner.NewRecorder(s.planner, s.at(o.Record)); err != nil {
		return unrunnable(err)
	}
	if s.recorder.Workspace, err = filepath.Abs(s.Program.Workspace()); err != nil {
		return unrunnable(err)
	}
	if s.Replay != nil {
		s.recorder.Resumed = true
		s.recorder.Date = time.Now().Add(-s.Replay.At).Add // what is recorded from now on
	}
	s.planner = s.recorder
	return nil
}

// ID is the run's; "" without a journal.
func (s *Session) ID() string { return idOf(s.Journal()) }

// Journal is the file of the journal; "" without one.
func (s *Session) Journal() string {
	if s.keeper == nil {
		return ""
	}
	return s.keeper.file
}

// Ended reports whether the run had ended, and nothing of it is run again.
func (s *Session) Ended() bool {
	return s.Replay != nil && s.Replay.Over() && !s.resume.RetryFailed
}

// Run continues to the end of the run. It is called once. Of a run that had ended it
// gives the result, and the error [ErrEnded].
func (s *Session) Run(ctx context.Context) (*Result, error) {
	if s.Ended() {
		result := s.result(s.Replay.Outcome, s.writeResults(s.Replay.Outcome))
		ended := diag.NewError(ErrEnded, "the run %s had ended already", s.ID())
		return result, errors.Join(append([]error{ended}, result.Incomplete...)...)
	}
	if t := s.Options.Telemetry; t != nil {
		r := Started{ID: s.ID(), Plan: s.manifest.Title, At: time.Now()}
		if s.Replay != nil {
			r.At, r.Resumed = r.At.Add(-s.Replay.At), true
		}
		s.trace = t.Begin(ctx, r)
	}
	if err := s.hold(ctx); err != nil {
		return nil, s.broken(err)
	}
	source := newAnswerSource(s)
	world := local.Options{Options: s.Options.Options, Activities: s.set, Confirmer: source, Answered: source.answered,
		Planner: s.planner, Observe: s.observe, Instances: s.Joining, Batch: s.batch}
	if s.keeper != nil {
		world.Journal = s.keeper
	}
	var outcome *runtime.Outcome
	var err error
	if s.Replay != nil {
		s.resume.Kept = source.kept()
		outcome, err = local.Resume(ctx, s.Replay.Machine, s.Replay.At, s.resume, world)
	} else {
		outcome, err = local.Run(ctx, s.Program.Verified, world)
	}
	source.close(outcome)
	if err != nil {
		s.broken(err)
		if errors.Is(err, journal.ErrWrite) {
			return nil, s.keeper.full(err)
		}
		return nil, unrunnable(err)
	}
	result := s.result(outcome, s.keeper.end(outcome), s.writeResults(outcome))
	if s.keeper != nil && result.Status != runtime.RunStopped {
		os.Remove(string(answersFileOf(s.keeper.file))) // the journal describes what was decided
	}
	return result, errors.Join(result.Incomplete...)
}

// wait tells the observer what is waited for.
func (s *Session) wait(why string) {
	if o := s.Options.Observer; o != nil {
		o.Waits(why)
	}
}

func (s *Session) observe(at time.Duration, c runtime.Command) {
	if c.Kind == runtime.Ask && s.keeper != nil {
		pin(s.Program, c.Question)
	}
	if s.trace != nil {
		s.trace.Observe(at, c)
	}
	if o := s.Options.Observer; o != nil {
		o.Observe(at, c)
	}
}

// Close ends what still runs, and lets go of all files. The error says what of a
// recording is missing.
func (s *Session) Close() error {
	var err error
	if s.recorder != nil {
		if err = s.recorder.Close(); err != nil {
			err = unrunnable(err)
		}
	}
	if s.keeper != nil {
		s.keeper.writer.Close()
	}
	if s.results != nil {
		s.results.Close()
	}
	if s.set != nil {
		s.set.Close()
	}
	return err
}

func (s *Session) result(o *runtime.Outcome, incomplete ...error) *Result {
	return &Result{Outcome: o, Run: s.ID(), Journal: s.Journal(),
		Incomplete: slices.DeleteFunc(incomplete, func(err error) bool { return err == nil })}
}
