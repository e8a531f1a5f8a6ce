package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/obelus-dev/obelus/analyzer/envelope"
	"github.com/obelus-dev/obelus/cmd/obelus/internal/terminal"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/local"
	"github.com/obelus-dev/obelus/runtime/planner"
	"github.com/obelus-dev/obelus/runtime/project"
	"github.com/obelus-dev/obelus/runtime/session"
	"github.com/spf13/cobra"
)

func (c *cli) runCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "run FILE | -",
		Short: "run a plan",
		Long: "Checks a plan and runs it: calls start as soon as what they read is there, in parallel. A\n" +
			"plan with errors isn't run. With --planner a model writes what is run, tick after tick, and\n" +
			"the plan's own calls are its first draft. A run that was stopped or killed can be resumed from\n" +
			"its journal; \"obelus runs\" lists runs.\n\n" +
			"The exit status is 0 when the run is done, 1 when it failed, 2 when the plan or the command\n" +
			"line has errors, and 3 when the run was stopped. Ctrl-C stops it; a second Ctrl-C kills it.\n\n" +
			"Without a terminal, a run does all that needs no answer of a person and stops then;\n" +
			"\"obelus decide\" shows what it asks and answers it, and \"obelus resume\" goes on.",
		Example: "obelus run plan.yaml --input city=Paris\nobelus run plan.yaml --input @values.json --activities prod.yaml --confirm never\n" +
			"obelus run plan.yaml --planner anthropic:claude-sonnet-4-5 --record talk",
		Args: oneArg("a plan"),
	}
	reading := c.addReading(cmd)
	reading.Machine = project.ThisMachine
	given := addGiven(cmd)
	var o running
	o.add(c, cmd)
	flags := cmd.Flags()
	o.planner = "none"
	addText(cmd, &o.planner, "planner", "PLANNER", "who writes what is run: none, replay:FILE, openai:MODEL or anthropic:MODEL; where they are and their keys come from the\nusual variables, such as OPENAI_BASE_URL and ANTHROPIC_API_KEY")
	addText(cmd, &o.model, "model", "MODEL", "who answers the calls that no activity carries out, in a plan that is run as it stands: replay:FILE, openai:MODEL or anthropic:MODEL")
	addText(cmd, &o.record, "record", "DIR", "write the planner's solutions or the model's answers (solutions.json, for replay) and each tick (tick-N.json) to a folder")
	_ = cmd.MarkFlagDirname("record")
	addText(cmd, &o.instances, "instances", "FILE.jsonl", "run the plan over the instances of a file, after the plan's own: {\"id\", \"state\"?, \"input\"?} a line, read as they are needed")
	addText(cmd, &o.out, "out", "FILE.jsonl", "write how the run went for each instance, a line as it ends: {\"id\", \"status\", \"input\"?, \"state\", \"output\", \"errors\"};\n--instances of another run takes these lines")
	flags.BoolVar(&o.again, "continue", false, "count a call as done when the state to start from holds its output: what stopped half-way is finished, not repeated")
	digest := addDemanded(cmd, "run that plan or nothing: the one with this digest, which \"obelus compile --digest\" prints; its files are compared before each start")
	requireApproval := flags.Bool("require-approval", false, "run the plan only as it was approved (obelus approve), and ask nobody about what was approved; \"require-approval\" in obelus.yaml asks for it, too")
	approvalFile := addText(cmd, new(string), "approval", "FILE", "the approval; by default plan.approval.json beside a plan.yaml")
	within := addText(cmd, new(string), "envelope", "FILE", "hold the run to what a file lets it do, such as \"obelus approve --show --format json\" writes; an approval has its own")
	o.approvers.add(cmd)
	unbounded := flags.Bool("unbounded", false, "let expressions take together whatever they take")
	flags.BoolVar(&o.unkept, "no-journal", false, "keep no journal; the run can't be resumed")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := o.fitting(); err != nil {
			return err
		}
		reading.Instances = o.instances != ""
		input, state, err := given.values(c, reading, args[0])
		if err != nil {
			return err
		}
		confirm, err := o.asking()
		if err != nil {
			return err
		}
		if reading.Envelope, err = c.envelope(*within); err != nil {
			return err
		}
		p, err := c.sound(args[0], reading, o.format)
		if err != nil {
			return err
		}
		if err := given.settle(p.Plan, input); err != nil {
			return err
		}
		if o.planner == "none" { // a planner reads all of it
			if err := unreadInputs(p.Plan, input); err != nil {
				return err
			}
		}
		if err := session.Fits(p.Plan, input, state); err != nil {
			return err
		}
		if o.out != "" && o.instances == "" && len(p.Plan.Instances) == 0 {
			return usageErr("--out is for runs over instances, and the plan has none").Advise("--format json shows the result of any run")
		}
		options := session.Options{
			Options: runtime.Options{Input: input, State: state, Parallel: given.parallel, Confirm: confirm, Continue: o.again, Unbounded: *unbounded, Envelope: reading.Envelope},
			Host:    c.host(&o), Record: o.record, Instances: o.instances, Results: o.out, Digest: *digest,
		}
		if o.planner != "none" {
			options.PlannerName = o.planner
		}
		options.Model = o.model
		if options.Approval, err = o.required(*requireApproval, *approvalFile, args[0], reading); err != nil {
			return err
		}
		if options.Approval != nil && !cmd.Flags().Changed("confirm") {
			options.Confirm.Policy = ""
		}
		if !o.unkept {
			if options.Runs, err = o.runsFolder(); err != nil {
				return err
			}
		}
		s, err := session.Begin(p, options)
		if err != nil {
			return err
		}
		return c.run(cmd.Context(), s, &o)
	}
	return cmd
}

// Running is what the commands that run and resume have in common.
type running struct {
	approvers
	format     string
	as         string // who decides at this terminal or in this command's files
	confirm    string
	within     time.Duration
	unanswered string
	folder     string // of journals
	planner    string
	model      string
	record     string
	prices     planner.Prices
	price      []float64
	unkept     bool   // no journal
	instances  string // the file of instances
	out        string // the file of results
	again      bool   // what the states show to be done isn't run again
	page       bool   // the run is shown on a page, which asks, too
}

func (o *running) add(c *cli, cmd *cobra.Command) {
	format := choose(cmd, "format", "how progress and result are written; json is one event a line", "text", "json")
	confirm := choose(cmd, "confirm", "which calls a person is asked about before they start: effects means those that may change the world, whose tool isn't known\nto be read-only and whose activity isn't an expression", "effects", "always", "never")
	unanswered := choose(cmd, "unanswered", "what counts as the answer when the time of --answer-within is over", "reject", "approve")
	flags := cmd.Flags()
	flags.DurationVar(&o.within, "answer-within", 0, "how long a question that is shown waits for its answer, such as 5m; for ever by default")
	stands(cmd, "answer-within", "TIME")
	o.addRuns(cmd)
	flags.Float64SliceVar(&o.price, "price", nil, "what a million tokens cost that a model reads, and that it writes, for limits.cost; such as 3,15")
	stands(cmd, "price", "IN,OUT")
	flags.BoolVar(&o.page, "page", false, "show the run on a page in a browser on this computer, and answer what it asks there as well; the address is printed")
	as := addAs(cmd)
	cmd.PreRunE = func(*cobra.Command, []string) (err error) {
		if o.as, err = as(); err != nil {
			return err
		}
		o.format, o.confirm, o.unanswered = *format, *confirm, *unanswered
		if n := len(o.price); n != 0 && n != 2 || slices.ContainsFunc(o.price, func(p float64) bool { return !(p >= 0) }) {
			return usageErr("--price can't be that: expected two numbers, such as 3,15")
		} else if n == 2 {
			o.prices = planner.Prices{InputPerMillion: o.price[0], OutputPerMillion: o.price[1]}
		}
		return nil
	}
}

// fitting refuses flags that don't go together.
func (o *running) fitting() error {
	switch {
	case o.instances == "-":
		return usageErr("--instances can't be standard input").Advise("write the instances to a file: a run that is resumed reads it again")
	case o.out == "-":
		return usageErr("--out can't be standard output").Advise("--format json shows the result of each instance there")
	case o.model != "" && o.planner != "none":
		return usageErr("--model and --planner can't be given together").Advise("a planner answers such calls itself")
	case o.again && o.planner != "none":
		return usageErr("--continue and --planner can't be given together").Advise("a planner sees the state, and goes on from there by itself")
	}
	return nil
}

// asking is whom the run asks, by its flags.
func (o *running) asking() (runtime.Confirm, error) {
	if o.within < 0 {
		return runtime.Confirm{}, usageErr("--answer-within can't be %v: expected a time such as 5m", o.within)
	}
	confirm := runtime.Confirm{Policy: runtime.Policy(o.confirm), Timeout: o.within, Default: runtime.Verdict(o.unanswered)}
	if o.confirm == "never" { // what asks all the same has its time
		confirm.Policy = ""
	}
	return confirm, nil
}

// host is what this process brings to a run.
func (c *cli) host(o *running) session.Host {
	return session.Host{
		Prices: o.prices, Version: version(), Moment: moment,
		Notice: func(text string) { fmt.Fprintf(c.err, "obelus: %s\n", diag.Escape(text)) },
	}
}

// moment is called where it makes a difference whether a run is killed just there. A
// test kills it.
var moment func(what string)

// sound prepares a plan that is to go further than a check. One with errors
// doesn't: its findings are shown, and the status is that of a usage error.
func (c *cli) sound(name string, reading *reading, format string) (*project.Program, error) {
	p, err := c.prepared(name, reading)
	if err != nil {
		return nil, err
	}
	if p.Verified == nil {
		return nil, c.faultyPlan(p, format, statusError)
	}
	c.mentionWarnings(name, p, format)
	return p, nil
}

func (c *cli) mentionWarnings(name string, p *project.Program, format string) {
	if warnings := diag.Summarize(1, p.Findings).Warnings; warnings > 0 && format == "text" {
		fmt.Fprintf(c.err, "obelus: the plan has %s; \"obelus check %s\" shows more\n", wording.Count(warnings, "warning"), diag.Escape(name))
	}
}

// run shows a run, from its beginning or from where its journal ends, and asks for it.
func (c *cli) run(ctx context.Context, s *session.Session, o *running) (err error) {
	defer func() {
		lacking, said := s.Close(), new(ending)
		switch {
		case lacking == nil:
		case err == nil || errors.As(err, said): // who asked for a recording, and doesn't get it, gets the error
			err = lacking
		default:
			fmt.Fprintf(c.err, "obelus: %s\n", diag.Escape(lacking.Error()))
		}
	}()
	screen := terminal.NewGate(c.out)
	var asking *terminal.Dialogue
	if terminal.CanAsk(c.in, c.err) {
		asking = terminal.NewDialogue(c.in, c.err, screen, o.as, toolsOf(s.Program()))
		defer asking.Close()
		s.Confirmer = asking
	}
	ctx, stop, released := interruptible(ctx)
	defer released()
	screen.WhenClosed(stop)

	show := c.observer(ctx, screen, s, o)
	if o.page {
		served, err := serve(s, o.as)
		if err != nil {
			return err
		}
		fmt.Fprintf(c.err, "obelus: the run is shown at %s\n", served.address())
		show = paged{show, served}
		if s.Confirmer = local.Confirmer(served); asking != nil {
			s.Confirmer = either{asking, served}
		}
	}
	s.Observer = show
	result, err := s.Run(ctx)
	if result == nil {
		show.Abandon()
		return err
	}
	if asking != nil {
		asking.Close()
		if asking.Stopped() {
			result.Asked = nil // there was somebody to ask
		}
	}
	return c.conclude(result, show, s)
}

// observer is what shows a run in the format that was asked for.
func (c *cli) observer(ctx context.Context, screen io.Writer, s *session.Session, o *running) observer {
	if o.format != "text" {
		return lines{session.NewEvents(screen, s.Journal())}
	}
	return terminal.NewProgress(ctx, screen, shownOf(s))
}

func shownOf(s *session.Session) terminal.Run {
	return terminal.Run{Plan: s.Program().Plan, Planned: s.Planned(), Journal: s.Journal(), Results: s.Results(), Taken: s.Taken, Resumed: s.Resumed()}
}

// conclude shows how a run ended, and gives its exit status.
func (c *cli) conclude(result *session.Result, show observer, s *session.Session) error {
	var incomplete error
	for _, err := range result.Incomplete {
		if errors.Is(err, session.ErrEndNotKept) {
			fmt.Fprintf(c.err, "obelus: %s\n", diag.Escape(err.Error()))
		} else {
			incomplete = err
		}
	}
	err := show.End(result.Outcome)
	c.whatNow(result, s)
	switch {
	case incomplete != nil:
		return incomplete
	case err != nil:
		return err
	case result.Status == runtime.RunFailed:
		return ending(statusFound)
	case result.Status == runtime.RunStopped:
		return ending(statusStopped)
	}
	return nil
}

// whatNow says why a run stopped that nobody stopped, and how to resume it.
func (c *cli) whatNow(result *session.Result, s *session.Session) {
	if result.Status != runtime.RunStopped {
		return
	}
	help := func(format string, args ...any) {
		fmt.Fprintf(c.err, "  %s %s\n", terminal.StyleFor(c.err).Green("help:"), fmt.Sprintf(format, args...))
	}
	again := "obelus run …"
	if s.ID() != "" {
		again = "obelus resume " + s.ID()
	}
	switch {
	case len(result.Asked) > 0 && slices.Contains([]runtime.Reason{runtime.ReasonConfirmation, runtime.ReasonInFlight, runtime.ReasonEnvelope}, result.Reason):
		c.unanswered(result, s, help, again)
	case result.Reason == runtime.ReasonEnvelope:
		fmt.Fprintf(c.err, "obelus: %s\n", diag.Escape(result.Why))
		help("what a run does under an approval is counted over all of it: have more approved, and begin a new run")
	case s.ID() != "" && result.Why != "":
		fmt.Fprintf(c.err, "obelus: %s\n", diag.Escape(result.Why))
		help("%[1]s asks for two more ticks; %[1]s --at TICK continues from an earlier one", again)
	case s.ID() != "":
		help("%s goes on from here", again)
	}
}

// unanswered prints the questions that a run stopped with, and how they are answered.
func (c *cli) unanswered(result *session.Result, s *session.Session, help func(string, ...any), again string) {
	const most = 5
	var hows, answers []string
	for i, q := range result.Asked {
		why, how := c.unansweredFor(q, s.Program().Plan)
		if i < most {
			fmt.Fprintf(c.err, "obelus: stopped before the call %s: %s, and there is nobody to ask\n", named(q), why)
		} else if i == most {
			fmt.Fprintf(c.err, "obelus: and before %s\n", wording.Count(len(result.Asked)-i, "more call"))
		}
		if how != "" && !slices.Contains(hows, how) {
			hows = append(hows, how)
		}
		answer := "approve answers it (or reject, change, replace)"
		switch {
		case q.InFlight:
			answer = "retry answers it (or fail)"
		case len(q.Outside) > 0 && s.Signed():
			answer = "approve --key KEY signs that it may (or reject)"
		case len(q.Outside) > 0:
			answer = "approve lets it (or reject)"
		}
		if !slices.Contains(answers, answer) {
			answers = append(answers, answer)
		}
	}
	for _, q := range result.Refused {
		fmt.Fprintf(c.err, "obelus: what was answered for the call %s can't be taken: %s\n", named(q), diag.Escape(q.Problem))
	}
	if s.ID() != "" {
		help("obelus decide %s shows what is asked, obelus decide %[1]s CALL %s; %s goes on then", s.ID(), strings.Join(answers, "; or "), again)
	}
	for _, how := range hows {
		help(how, again)
	}
}

// unansweredFor is why a call waits for an answer, and what else lets the run go on.
func (c *cli) unansweredFor(q *runtime.Question, p *plan.Plan) (why, how string) {
	switch {
	case len(q.Outside) > 0:
		return "it leaves what was approved: " + leftBy(q), ""
	case q.InFlight:
		return "it was at work when the run broke off, and may have happened", "%s --in-flight retry runs it again, --in-flight fail counts it as failed"
	case q.Uncertainty != "" && p.Advice.Enforce == "ask":
		return diag.Escape(q.Uncertainty), "%s asks on a terminal, whatever --confirm says; with \"advice: {enforce: warn}\" in its plan a run only tells of it"
	case q.Replaces != "" && !q.Wanted:
		return "it stands in the place of another, and is to be approved as it would run", "%s --confirm never goes on without asking"
	case q.Wanted:
		return "the plan (_confirm) or a policy (person) has a person asked about it", "%s asks on a terminal, whatever --confirm says"
	case q.Effects == compiler.ReadOnly:
		return "--confirm always asks about every call", "%s --confirm never goes on without asking, --confirm effects asks about calls that may change the world"
	}
	how = "%s --confirm never goes on without asking"
	if q.Untrusted {
		return "it is only said to be " + q.Claimed + " by " + diag.Escape(q.ClaimedBy) + ", whose workspace isn't trusted", how + "; \"obelus trust\" has that count in further runs"
	}
	how += "; a catalogue that a trusted obelus.yaml names, or a file given with --activities, can say of an activity that it only reads (annotations: {readOnlyHint: true})"
	if a := p.Activities[q.Activity]; q.Delegate == "" && a != nil && a.Server != nil {
		how += "; a policy that counts can trust its MCP server (servers)"
	}
	if q.Claimed != "" {
		how += "; the plan itself can't"
	}
	return "what runs isn't known to be read-only", how
}

// An observer shows a run as it goes.
type observer interface {
	session.Observer
	End(*runtime.Outcome) error
	Abandon() // the run never began
}

// lines show a run to programs.
type lines struct{ *session.Events }

func (lines) Abandon() {}

// envelope reads what a run may do; nil without a file.
func (c *cli) envelope(name string) (*envelope.Envelope, error) {
	if name == "" {
		return nil, nil
	}
	text, err := c.newReading().Text(name)
	if err != nil {
		return nil, err
	}
	var shown struct{ Envelope json.RawMessage }
	if json.Unmarshal(text, &shown) == nil && shown.Envelope != nil { // as approve shows it, among other things
		text = shown.Envelope
	}
	e, err := envelope.Read(text)
	if err != nil {
		return nil, usageErr("--envelope: %q holds no envelope: %v", name, diag.Misread(err)).About(name)
	}
	return e, nil
}

// leftBy is what of a call leaves what was approved.
func leftBy(q *runtime.Question) string {
	var all []string
	for _, d := range q.Outside {
		all = append(all, strings.TrimPrefix(d.String(), fmt.Sprintf("%q: ", d.Call)))
	}
	return strings.Join(all, "; ")
}
