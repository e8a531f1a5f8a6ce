package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/activity"
	"github.com/obelus-dev/obelus/runtime/local"
	"github.com/obelus-dev/obelus/runtime/planner"
	"github.com/spf13/cobra"
)

func (c *cli) runCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "run FILE | -",
		Short: "run a plan",
		Long: "Checks a plan and runs it: calls start as soon as what they read is there, in parallel. A\n" +
			"plan with errors isn't run. With --planner a model writes what is run, tick after tick, and\n" +
			"the plan's own calls are its first draft.\n\n" +
			"Every event is in the run's journal before anything follows from it, so that a run that was\n" +
			"stopped or killed can be resumed; \"obelus runs\" lists runs.\n\n" +
			"The exit status is 0 when the run is done, 1 when it failed, 2 when the plan or the command\n" +
			"line has errors, and 3 when the run was stopped. Ctrl-C stops it; a second Ctrl-C kills it.",
		Example: "obelus run plan.yaml --input city=Paris\nobelus run plan.yaml --input @values.json --activities prod.yaml --confirm never\n" +
			"obelus run plan.yaml --planner anthropic:claude-sonnet-4-5 --record talk",
		Args: oneArg("a plan"),
	}
	reading := addReading(cmd)
	given := addGiven(cmd)
	var o running
	o.add(c, cmd)
	flags := cmd.Flags()
	flags.StringVar(&o.planner, "planner", "none", "who writes what is run: none, replay:FILE, openai:MODEL or anthropic:MODEL; where they are and their keys come from the\nusual variables, such as OPENAI_BASE_URL and ANTHROPIC_API_KEY")
	stands(cmd, "planner", "PLANNER")
	flags.StringVar(&o.record, "record", "", "write the planner's solutions (solutions.json, for replay) and each tick (tick-N.json) to a folder")
	stands(cmd, "record", "DIR")
	_ = cmd.MarkFlagDirname("record")
	flags.StringVar(&o.instances, "instances", "", "run the plan over the instances of a file, after the plan's own: {\"id\", \"state\"?, \"input\"?} a line, read as they are needed")
	stands(cmd, "instances", "FILE.jsonl")
	flags.StringVar(&o.out, "out", "", "write how the run went for each instance, a line as it ends: {\"id\", \"status\", \"input\"?, \"state\", \"output\", \"errors\"};\n--instances of another run takes these lines")
	stands(cmd, "out", "FILE.jsonl")
	flags.BoolVar(&o.again, "continue", false, "count a call as done when the state to start from holds its output: what stopped half-way is finished, not repeated")
	flags.BoolVar(&o.unkept, "no-journal", false, "keep no journal; the run can't be resumed")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := o.fitting(); err != nil {
			return err
		}
		reading.instances = o.instances != ""
		input, state, err := given.values(c, reading, args[0])
		if err != nil {
			return err
		}
		confirm, err := o.asking()
		if err != nil {
			return err
		}
		p, err := c.sound(args[0], reading, o.format)
		if err != nil {
			return err
		}
		if err := accept(p.plan, input, state); err != nil {
			return err
		}
		if o.out != "" && o.instances == "" && len(p.plan.Instances) == 0 {
			return troubled("--out is for runs over instances, and the plan has none").advise("--format json shows the result of any run")
		}
		c.unreadInputs(p.plan, input)
		options := runtime.Options{Input: input, State: state, Parallel: given.parallel, Planned: o.planner != "none", Confirm: confirm,
			Joining: o.instances != "", Continue: o.again}
		return c.run(cmd.Context(), p, options, &o)
	}
	return cmd
}

// Running is what the commands that run and resume have in common.
type running struct {
	format      string
	confirm     string
	within      time.Duration
	unanswered  string
	folder      string // of journals
	planner     string
	record      string
	prices      planner.Prices
	price       []float64
	unkept      bool   // no journal
	instances   string // the file of instances
	out         string // the file of results
	again       bool   // what the states show to be done isn't run again
	inFlight    string
	confirmAnew *runtime.Confirm // of a run that is resumed: whom the command asks
	confirmSaid bool             // and whether it was told so

	badLine string // what was wrong in the file of instances, and stopped the run

	// Of a run that is resumed:
	recipe   *recipe
	restored *restored
	kept     *kept
}

func (o *running) add(c *cli, cmd *cobra.Command) {
	format := choose(cmd, "format", "how progress and result are written; json is one event a line", "text", "json")
	confirm := choose(cmd, "confirm", "which calls a person is asked about before they start: effects means those that may change the world, whose tool isn't known\nto be read-only and whose activity isn't an expression", "effects", "always", "never")
	unanswered := choose(cmd, "unanswered", "what counts as the answer when the time of --answer-within is over", "reject", "approve")
	flags := cmd.Flags()
	flags.DurationVar(&o.within, "answer-within", 0, "how long a question that is shown waits for its answer, such as 5m; for ever by default")
	stands(cmd, "answer-within", "TIME")
	flags.StringVar(&o.folder, "runs", "", "the folder of journals; by default obelus/runs below $XDG_STATE_HOME or ~/.local/state")
	stands(cmd, "runs", "DIR")
	_ = cmd.MarkFlagDirname("runs")
	flags.Float64SliceVar(&o.price, "price", nil, "what a million tokens cost that a model reads, and that it writes, for limits.cost; such as 3,15")
	stands(cmd, "price", "IN,OUT")
	cmd.PreRunE = func(*cobra.Command, []string) error {
		o.format, o.confirm, o.unanswered = *format, *confirm, *unanswered
		if n := len(o.price); n != 0 && n != 2 || slices.ContainsFunc(o.price, func(p float64) bool { return !(p >= 0) }) {
			return troubled("--price can't be that: expected two numbers, such as 3,15")
		} else if n == 2 {
			o.prices = planner.Prices{InputPerMillion: o.price[0], OutputPerMillion: o.price[1]}
		}
		return nil
	}
}

// asking is whom the run asks, by its flags.
func (o *running) asking() (runtime.Confirm, error) {
	if o.within < 0 {
		return runtime.Confirm{}, troubled("--answer-within can't be %v: expected a time such as 5m", o.within)
	}
	confirm := runtime.Confirm{Policy: runtime.Policy(o.confirm), Timeout: o.within, Default: runtime.Verdict(o.unanswered)}
	if o.confirm == "never" {
		confirm = runtime.Confirm{}
	}
	return confirm, nil
}

// sound prepares a plan that is to go further than a check. One with errors
// doesn't: its findings are shown, and the status is that of a usage error
// (S19.3).
func (c *cli) sound(name string, reading *reading, format string) (compiled, error) {
	p, err := c.prepared(name, reading)
	if err != nil {
		return compiled{}, err
	}
	if p.verified == nil {
		if err := c.showFaulty(p.found, format); err != nil {
			return compiled{}, err
		}
		return compiled{}, ending(statusTrouble)
	}
	c.mentionWarnings(name, p, format)
	return p, nil
}

func (c *cli) mentionWarnings(name string, p compiled, format string) {
	if warnings := diag.Summarize(1, p.found).Warnings; warnings > 0 && format == "text" {
		fmt.Fprintf(c.err, "obelus: the plan has %s; \"obelus check %s\" shows more\n", count(warnings, "warning"), diag.Escape(name))
	}
}

// run carries a plan out, from its beginning or from where its journal ends.
func (c *cli) run(ctx context.Context, p compiled, options runtime.Options, o *running) error {
	if err := local.Runnable(p.plan, options.Planned); err != nil {
		message, help, _ := strings.Cut(err.Error(), "; ")
		return troubled("%s", message).advise("%s", help)
	}
	var show observer
	register := &activity.Register{}
	set, err := activity.Open(p.located(o.recipe), nil, activity.Options{
		InUse: activity.InUse(p.plan, options.Planned), Register: register, Waits: func(why string) { show.waits(why) },
	})
	if err != nil {
		return troubled("the plan can't be run: %v", err)
	}
	defer func() {
		set.Close()
		register.Close()
	}()
	world := local.Options{Options: options, Activities: set}
	source, err := o.openInstances(p)
	if err != nil {
		return err
	}
	if source != nil {
		defer source.Close()
		world.Instances = source
	}
	if options.Planned {
		if world.Planner, err = o.openPlanner(p); err != nil {
			return err
		}
	}
	results, err := o.openResults()
	if err != nil {
		return err
	}
	kept, err := o.keep(p, options)
	if err != nil {
		return err
	}
	if kept != nil {
		defer kept.Close()
		world.Journal = kept
		if err := register.Open(kept.programs()); err != nil {
			return troubled("%v", err)
		}
	}
	screen := &gate{to: c.out}
	var asking *dialogue
	if canAsk(c.in, c.err) {
		asking = newDialogue(c.in, c.err, screen, p.toolOf)
		defer asking.close()
		world.Confirmer = asking
	}
	ctx, stop, released := interruptible(ctx, asking)
	defer released()
	screen.closed = stop

	if recorder, ok := world.Planner.(*planner.Recorder); ok {
		defer func() {
			if err := recorder.Close(); err != nil {
				fmt.Fprintf(c.err, "obelus: the recording isn't whole: %s\n", diag.Escape(err.Error()))
			}
		}()
	}
	show = newEvents(screen, kept.path())
	if o.format == "text" {
		lines := newProgress(screen, p.plan, options.Planned, ctx)
		lines.journal, lines.results, lines.crowd.source = kept.path(), o.out, source
		if o.restored != nil {
			lines.crowd.resumed(o.restored)
		}
		show = lines
	}
	if results != nil {
		results.observer = show
		show = results
	}
	var asked *runtime.Question
	world.Observe = func(at time.Duration, command runtime.Command) {
		if command.Kind == runtime.Ask {
			asked = command.Question
		}
		show.observe(at, command)
	}
	var outcome *runtime.Outcome
	if o.restored != nil {
		outcome, err = local.Resume(ctx, o.restored.machine, o.restored.at, o.resumption(), world)
	} else {
		outcome, err = local.Run(ctx, p.verified, world)
	}
	if err != nil {
		show.abandon()
		t := troubled("%v", err)
		if errors.Is(err, local.ErrJournal) && kept != nil {
			return t.advise("nothing is done any more; when there is room again, obelus resume %s goes on from what the journal holds", kept.id())
		}
		return t
	}
	if asking != nil {
		asking.close()
		if asking.stopped.Load() {
			asked = nil // there was somebody to ask
		}
	}
	if err := kept.end(outcome); err != nil {
		fmt.Fprintf(c.err, "obelus: the end of the run isn't in its journal: %s\n", diag.Escape(err.Error()))
	}
	if source != nil {
		o.badLine = source.told
	}
	return c.conclude(outcome, show, p.plan, asked, kept, o)
}

// conclude shows how a run ended, and gives its exit status.
func (c *cli) conclude(outcome *runtime.Outcome, show observer, plan *compiler.Plan, asked *runtime.Question, kept *kept, o *running) error {
	err := show.end(outcome)
	c.whatNow(outcome, plan, asked, kept, o)
	switch {
	case err != nil:
		return err
	case outcome.Status == "failed":
		return ending(statusFound)
	case outcome.Status == "stopped":
		return ending(statusStopped)
	}
	return nil
}

// toolOf is what is known of the tool in question.
func (p compiled) toolOf(q *runtime.Question) *compiler.Tool {
	plan := p.plan
	if q.Delegate != "" {
		plan = p.plan.AllDelegates()[q.Delegate]
	}
	if plan != nil {
		for _, tool := range plan.Tools {
			if tool.Name == q.Tool {
				return tool
			}
		}
	}
	return nil
}

// whatNow says why a run stopped that nobody stopped, and how it goes on.
func (c *cli) whatNow(outcome *runtime.Outcome, plan *compiler.Plan, asked *runtime.Question, kept *kept, o *running) {
	if outcome.Status != "stopped" {
		return
	}
	help := func(format string, args ...any) {
		fmt.Fprintf(c.err, "  %s %s\n", styleFor(c.err).green("help:"), fmt.Sprintf(format, args...))
	}
	again := "obelus run …"
	if kept != nil {
		again = "obelus resume " + kept.id()
	}
	switch {
	case outcome.Reason == "confirmation" && asked != nil && asked.Doubt != "" && plan.Advice.Enforce == "ask":
		fmt.Fprintf(c.err, "obelus: stopped before the call %s: %s, and there is nobody to ask\n", quoted(inFull(asked)), diag.Escape(asked.Doubt))
		help("%s asks on a terminal, whatever --confirm says; with \"advice: {enforce: warn}\" in its plan a run only tells of it", again)
	case outcome.Reason == "confirmation" && asked != nil && asked.Effects == "read-only":
		fmt.Fprintf(c.err, "obelus: stopped before the call %s: --confirm always asks about every call, and there is nobody to ask\n", quoted(inFull(asked)))
		help("%s --confirm never goes on without asking, --confirm effects asks about calls that may change the world", again)
	case outcome.Reason == "confirmation" && asked != nil:
		fmt.Fprintf(c.err, "obelus: stopped before the call %s: what runs isn't known to be read-only, and there is nobody to ask\n", quoted(inFull(asked)))
		vouch := "a catalogue that obelus.yaml names, or a file given with --activities, can say of an activity that it only reads (annotations: {readOnlyHint: true})"
		if asked.Claimed != "" {
			vouch += "; the plan itself can't"
		}
		help("%s --confirm never goes on without asking; %s", again, vouch)
	case outcome.Reason == "in-flight" && asked != nil:
		fmt.Fprintf(c.err, "obelus: the run was killed while the call %s was at work, and there is nobody to ask whether it may be run again\n", quoted(inFull(asked)))
		help("%s --in-flight retry runs it again, --in-flight fail counts it as failed", again)
	case kept != nil && outcome.Reason == o.badLine:
		help("mend it; %s goes on from there", again)
	case kept != nil:
		help("%s goes on from here", again)
	}
}

// An observer shows a run as it goes.
type observer interface {
	observe(at time.Duration, c runtime.Command)
	end(*runtime.Outcome) error
	waits(why string) // programs wait for what the system lacks; at any time
	abandon()         // the run never began
}

// located lists the plan's activities with the folders that programs start in
// as this process sees them. The compiler knows them from the workspace root,
// but for files that were named on the command line.
func (p compiled) located(r *recipe) map[string]*compiler.Activity {
	all := make(map[string]*compiler.Activity, len(p.plan.Activities))
	add := func(delegate string, plan *compiler.Plan) {
		for name, a := range plan.Activities {
			if a.Kind == "plan" {
				continue // the machine runs it
			}
			there := *a
			overlay := a.Node != nil && (slices.Contains(p.options.Activities, a.Node.File) || slices.Contains(p.options.Catalogues, a.Node.File))
			if !overlay {
				there.Dir = filepath.Join(p.dir, filepath.FromSlash(a.Dir))
			}
			if r != nil {
				there.Dir = r.at(there.Dir)
			}
			all[activity.Of(delegate, name)] = &there
		}
	}
	add("", p.plan)
	for path, plan := range p.plan.AllDelegates() {
		add(path, plan)
	}
	return all
}
