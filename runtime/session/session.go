package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler/canonical"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/effects"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/activity"
	"github.com/obelus-dev/obelus/runtime/approval"
	"github.com/obelus-dev/obelus/runtime/journal"
	"github.com/obelus-dev/obelus/runtime/local"
	"github.com/obelus-dev/obelus/runtime/planner"
	"github.com/obelus-dev/obelus/runtime/project"
)

// Options say what a run is to do.
type Options struct {
	// Options are the machine's; whether it is planned and whether instances join it follows from the others.
	runtime.Options
	Host
	// PlannerName names who writes what is run, such as "replay:FILE" or "openai:MODEL", and Model who answers
	// the latent calls of a plan that is run as it stands; "" is nobody, or the Host's Planner.
	PlannerName, Model string
	Record             string         // a folder for what either answers; "" for none
	Draft              *planner.Draft // keeps the plan that the planner makes, and nothing of it is run; nil runs it
	Instances, Results string         // files of further instances, and for the result of each; "" for none
	// Digest is the one that the plan must have, also while it runs; "" for any.
	Digest   string
	Approval *Approval // has to hold for the program; nil for none
	Runs     string    // the folder for the run's journal; with "" none is kept, and the run can't be resumed
}

// A Host is what the process brings in which a run takes place. Of it only prices are in the journal.
type Host struct {
	// Functions are activities by name. They take the place of definitions, and the program is to be read
	// knowing their names ([project.Reader]). Hints declare for a resumed run what they do to the world.
	Functions map[string]activity.Func
	Hints     map[string]plan.Hints
	Planner   planner.Planner   // writes what is run, in the place of one that has a name
	Prices    planner.Prices    // of tokens, for the limits of a plan; a resumed run keeps its own by default
	MaxTokens int               // bounds an answer of a model; 0 is the bound of its wire format, if it has any
	Confirmer local.Confirmer   // asks people
	Observer  Observer          // sees the run
	Telemetry Telemetry         // traces the run
	Notice    func(text string) // receives a sentence on what was met that needs no decision
	Version   string            // of the program, for the journal's head
	Moment    func(what string) // is called where it makes a difference whether the process is killed, for tests
}

// note reports what needs no decision.
func (h *Host) note(text string) {
	if h.Notice != nil {
		h.Notice(text)
	}
}

// wait tells the observer what is waited for.
func (h *Host) wait(why string) {
	if h.Observer != nil {
		h.Observer.Waits(why)
	}
}

// ResumeOptions say how a run is resumed, or read.
type ResumeOptions struct {
	Host
	// Activities are files of activities in the place of those that the run was begun with; none means those,
	// which must be as they were.
	Activities  []string
	InFlight    runtime.InFlight // what becomes of calls that were at work and may not simply be run again
	Confirm     *runtime.Confirm // whom the run asks from now on; nil for those that it asked
	Answers     []Answer         // decisions about calls, used in this order as they are asked about
	RetryFailed bool             // run again what failed, and what was skipped for it; nothing that was done
	Approvers   Approvers        // judges whether an approval that the run was begun under still holds
	// RequireApproval lets no run go on that was begun without an approval.
	RequireApproval bool
	// OrStricter keeps the policy that the run was begun with where it asks about more calls than that of
	// Confirm, or an approval replaces the questions.
	OrStricter bool
}

// A Result is how a run ended or stopped.
type Result struct {
	*runtime.Outcome
	Run     string // its id; "" without a journal
	Journal string // its file; "" without one
	// Incomplete is what couldn't be written to its end, although the run could go on: the file of results or the
	// planner's record; or nil.
	Incomplete error
}

// Run runs a program to its end. When ctx ends the run stops, and can be resumed. An error without a result means that
// nothing was run, or that the journal can't be written any more; with a result it says what else couldn't be written.
func Run(ctx context.Context, p *project.Program, o Options) (*Result, error) {
	s, err := Begin(p, o)
	if err != nil {
		return nil, err
	}
	return s.Run(ctx)
}

// Resume continues the run of a journal. Of one that has ended the result is given
// once more, with the error [ErrEnded].
func Resume(ctx context.Context, path string, o ResumeOptions) (*Result, error) {
	s, err := Open(path, o)
	if err != nil {
		return nil, err
	}
	return s.Run(ctx)
}

// A Session is a run that is ready to begin, or to go on: all that it needs is open.
type Session struct {
	*Look // what is run; of a run that is resumed, where it stood, and else without a Machine
	Host
	Joining []runtime.Instance // of the file, that haven't joined yet

	resume   runtime.Resumption
	answers  []Answer
	judge    *approval.Judge // nil of a run without an approval
	keeper   *keeper
	set      *activity.Set
	planner  planner.Planner
	recorder *planner.Recorder
	trace    func(at time.Duration, c runtime.Command) // nil without one
	began    time.Time
	results  *os.File // of a run that begins; nil without one
	batch    int      // how many of Joining may join at once
}

// Begin opens what a run needs, and begins its journal.
func Begin(p *project.Program, o Options) (*Session, error) {
	if p.Verified == nil {
		return nil, diag.NewError(ErrUnsound, "the plan has errors, and isn't run").Advise("a check tells of them")
	}
	if err := p.Demand(o.Digest); err != nil {
		return nil, err
	}
	o.PlanOnly = o.Draft != nil
	o.Joining, o.Planned = o.Instances != "", o.PlannerName != "" || o.Planner != nil
	m, err := manifestOf(p, &o)
	if err != nil {
		return nil, err
	}
	s := &Session{Look: &Look{Manifest: m, Program: p}, Host: o.Host}
	if o.Approval != nil {
		s.judge = &o.Approval.Judge
	}
	if err = m.startable(p); err == nil {
		err = s.open(o.Draft)
	}
	if err == nil && m.Out != "" {
		s.results, err = createResults(m.Out)
	}
	if err == nil && o.Runs != "" {
		s.keeper, err = create(o.Runs, m)
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	if s.keeper != nil {
		s.keeper.moment, s.ID, s.Journal = o.Moment, idOf(s.keeper.file), s.keeper.file
	}
	return s, nil
}

// startable refuses a run of which it is known before that it comes to nothing.
func (m *Manifest) startable(p *project.Program) error {
	o := &m.Options
	isRequest := p.Plan.Form == plan.Context || p.Plan.Form == plan.ProcessRecord
	switch {
	case o.Planned && m.Model != "":
		return diag.NewError(ErrUnrunnable,
			"a planner answers latent calls itself, and a model is named beside it").Advise("name one of the two")
	case !o.Planned && m.Model == "" && m.Record != "":
		return diag.NewError(ErrUnrunnable, "no model is asked, so there is nothing to record").
			Advise("name one with --planner or --model")
	case !o.Planned && isRequest && p.Plan.Solution == nil && len(p.Plan.Calls) == 0 && p.Plan.Output == nil:
		return diag.NewError(ErrUnrunnable, "%q has no calls, and no planner writes any", p.File.Name).
			Advise("name one with --planner")
	}
	err := Fits(p.Plan, o.Input, o.State, o.Planned)
	if err == nil && !o.Planned && !o.Joining && !o.Continue && len(p.Plan.Instances) == 0 {
		err = lacks(p.Plan, o.Input, o.State)
	}
	return err
}

// Open opens a run from its journal, and what it needs to go on.
func Open(path string, o ResumeOptions) (*Session, error) {
	writer, contents, err := journal.Open(path)
	if err != nil {
		return nil, journalProblem(path, err)
	}
	s := &Session{Host: o.Host, answers: o.Answers, keeper: &keeper{writer, path, o.Moment}}
	if contents.Torn > 0 {
		s.note(fmt.Sprintf("the last %d bytes of the journal, from record %d on, are what a crash left of a write "+
			"that didn't end; they are cut off", contents.Torn, contents.Records))
	}
	m, err := readManifest(path, contents.Header)
	if err == nil {
		err = s.restore(path, m, contents, &o)
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// restore brings a machine to where the run of a journal stood, and opens what else it needs.
func (s *Session) restore(path string, m *Manifest, contents *journal.Contents, o *ResumeOptions) (err error) {
	m.Prices = cmp.Or(o.Prices, m.Prices)
	if s.Look, err = follow(path, m, m.records(path, contents), o, false); err != nil {
		return err
	}
	if err := s.Program.Demand(m.Digest); err != nil {
		return err
	}
	for _, name := range m.Functions {
		if o.Functions[name] == nil {
			return diag.NewError(ErrUnrunnable,
				"the run was begun by a program that registers the function %q, and this one doesn't", name)
		}
	}
	s.resume = runtime.Resumption{InFlight: o.InFlight, Confirm: o.Confirm,
		RetryFailed: o.RetryFailed && s.Machine.Failed() > 0}
	if started := m.Options.Confirm.Policy; o.OrStricter && o.Confirm != nil &&
		(m.Approval != nil || started.Stricter(o.Confirm.Policy)) {
		confirm := *o.Confirm
		confirm.Policy, s.resume.Confirm = started, &confirm
	}
	switch {
	case o.RetryFailed && (m.Options.Planned || s.Ended()):
		return diag.NewError(ErrUnrunnable, "the run %s has no failed call that can run again", s.ID).
			Advise("begin a new run; what a planner wrote continues from a tick, with --at")
	case s.Ended():
		return nil
	}
	here := s.Program.Document
	here.Machine = &analyzer.Machine{}
	if _, err := sound(here); err != nil {
		return err
	}
	if err := s.stillApproved(o); err != nil {
		return err
	}
	return s.open(nil)
}

// open opens what a run needs besides its machine and its journal.
func (s *Session) open(draft *planner.Draft) (err error) {
	m, of := s.Manifest, s.Program.Plan
	if err := local.Runnable(of, m.Options.Planned || m.Model != ""); err != nil {
		return unrunnable(err).
			Advise("define one under \"activities\", give a file with --activities, or a model with --model")
	}
	options := activity.Options{Hosts: s.Program.HostRules()}
	if !m.Options.Planned { // else a model may call any
		options.Used = activity.Used(of)
	}
	if all := m.Digest != "" || m.Programs != nil; all || s.Program.Config.Pinned {
		if _, err := canonical.Programs(of); err != nil { // as they are now
			return cantRun(err)
		}
		options.Unchanged = s.Program.Unchanged(all)
	}
	activities := s.Program.Activities()
	if draft != nil {
		activities = nil
	}
	s.set, err = activity.Open(activities, s.Functions, options)
	switch {
	case errors.Is(err, canonical.ErrOther):
		return diag.NewError(project.ErrOther, "what would run has changed: %w", err).Advise(project.DigestHelp)
	case err != nil:
		return cantRun(err)
	}
	if err := s.readInstances(); err != nil {
		return err
	}
	if m.Options.Planned || m.Model != "" {
		return s.openPlanner(draft)
	}
	return nil
}

// openPlanner makes the planner that a run is to ask, and its recorder.
func (s *Session) openPlanner(draft *planner.Draft) (err error) {
	m, name := s.Manifest, cmp.Or(s.Manifest.Planner, s.Manifest.Model)
	if s.planner = s.Host.Planner; s.planner == nil {
		if file, ok := strings.CutPrefix(name, "replay:"); ok {
			name = "replay:" + m.At(file)
		}
		if s.planner, err = planner.Open(name,
			planner.Options{Prices: m.Prices, MaxTokens: s.MaxTokens, Notice: s.wait}); err != nil {
			return unrunnable(err)
		}
	}
	if draft != nil {
		draft.Planner, s.planner = s.planner, draft
	}
	if m.Record == "" {
		return nil
	}
	if s.recorder, err = planner.NewRecorder(s.planner, m.At(m.Record)); err != nil {
		return unrunnable(err)
	}
	if s.recorder.Workspace, err = filepath.Abs(s.Program.Workspace()); err != nil {
		return unrunnable(err)
	}
	s.recorder.Resumed, s.recorder.Date = s.Machine != nil, time.Now().Add(-s.Look.At).Add
	s.planner = s.recorder
	return nil
}

// Ended reports whether the run had ended, and nothing of it is run again.
func (s *Session) Ended() bool { return s.Machine != nil && s.Over() && !s.resume.RetryFailed }

// Run continues to the end of the run, and closes the session. Of a run that had ended it gives the result,
// and the error [ErrEnded].
func (s *Session) Run(ctx context.Context) (*Result, error) {
	result := &Result{Run: s.ID, Journal: s.Journal, Outcome: s.last}
	if s.Ended() {
		result.Incomplete = errors.Join(s.writeResults(s.last), s.Close())
		return result, errors.Join(diag.NewError(ErrEnded, "the run %s had ended already", s.ID), result.Incomplete)
	}
	outcome, err := s.run(ctx)
	if err != nil {
		if s.trace != nil {
			broken := &runtime.Outcome{Status: runtime.RunFailed, Reason: runtime.Reason(err.Error())}
			s.trace(time.Since(s.began), runtime.Command{Kind: runtime.Finish, Outcome: broken})
		}
		return nil, errors.Join(err, s.Close())
	}
	result.Outcome = outcome
	if err := s.keeper.end(outcome); err != nil {
		s.note(err.Error()) // the run has ended as it has all the same
	}
	result.Incomplete = errors.Join(s.writeResults(outcome), s.Close())
	if s.Journal != "" && result.Status != runtime.RunStopped {
		os.Remove(answersOf(s.Journal)) // the journal describes what was decided
	}
	return result, result.Incomplete
}

func (s *Session) run(ctx context.Context) (outcome *runtime.Outcome, err error) {
	m := s.Manifest
	s.began = time.Now().Add(-s.Look.At)
	if s.Telemetry != nil {
		s.trace = s.Telemetry(ctx, Started{s.ID, m.Title, s.began, s.Machine != nil})
	}
	if err := s.hold(ctx); err != nil {
		return nil, err
	}
	source := newAnswerSource(s)
	world := local.Options{Options: m.Options, Activities: s.set, Confirmer: source, Answered: source.answer,
		Planner: s.planner, Observe: s.observe, Instances: s.Joining, Batch: s.batch}
	if s.keeper != nil {
		world.Journal = s.keeper
	}
	if s.Machine == nil {
		outcome, err = local.Run(ctx, s.Program.Verified, world)
	} else {
		s.resume.Kept = source.kept()
		outcome, err = local.Resume(ctx, s.Machine, s.Look.At, s.resume, world)
	}
	source.reportUnused()
	if errors.Is(err, journal.ErrWrite) {
		return nil, s.keeper.full(err)
	} else if err != nil {
		return nil, unrunnable(err)
	}
	return outcome, nil
}

// confirm is whom the run asks from now on.
func (s *Session) confirm() runtime.Confirm {
	switch {
	case s.Machine == nil:
		return s.Manifest.Options.Confirm
	case s.resume.Confirm != nil:
		return *s.resume.Confirm
	}
	return s.Machine.Confirm()
}

// hold compares the MCP servers that the run may need with what is recorded of their tools, before the first call: a
// tool that has changed ends the run. Those that a person has to let begin are compared when they do: starting one
// may do anything, and its environment and headers may hold secrets. Nobody has to where nobody is asked, the plan is
// approved, or the definition isn't the plan's own.
func (s *Session) hold(ctx context.Context) error {
	unasked := s.confirm().Policy == runtime.Never || s.Manifest.Approval != nil
	err := s.set.Hold(ctx, func(of *plan.Server) bool { return unasked || effects.Vouches(of.Origin) },
		func(of *plan.Server) {
			s.wait(fmt.Sprintf("nothing is recorded of the MCP server %q: nobody knows whether its tools are "+
				"what they were", of.Name))
		})
	if err == nil {
		return nil
	}
	if s.Machine == nil && s.keeper != nil { // the run hasn't begun
		s.keeper.writer.Close()
		os.Remove(s.Journal)
		os.Remove(journal.AnchorOf(s.Journal))
	}
	if f := (*activity.Failure)(nil); errors.As(err, &f) && f.Code == activity.CodeDrifted {
		return unrunnable(err).
			Advise("check that the plan still means what it meant, then import the server's tools again")
	}
	return cantRun(err)
}

func (s *Session) observe(at time.Duration, c runtime.Command) {
	if c.Kind == runtime.Ask && s.keeper != nil {
		pin(s.Program, c.Question)
	}
	if s.trace != nil {
		s.trace(at, c)
	}
	if s.Observer != nil {
		s.Observer.Observe(at, c)
	}
}

// Close ends what still runs, and lets go of all files, once. The error says what of a recording is missing.
func (s *Session) Close() (err error) {
	if s.recorder != nil {
		if err = s.recorder.Close(); err != nil {
			err = unrunnable(err)
		}
	}
	if s.keeper != nil {
		s.keeper.writer.Close()
	}
	if s.set != nil {
		s.set.Close()
	}
	s.results.Close()
	s.recorder, s.keeper, s.set = nil, nil, nil
	return err
}

func unrunnable(err error) *diag.UserError { return diag.NewError(ErrUnrunnable, "%w", err) }

func cantRun(err error) *diag.UserError {
	return diag.NewError(ErrUnrunnable, "the plan can't be run: %w", err)
}
