package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"slices"
	"strconv"
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
)

// running are the flags that run and resume share.
type running struct {
	approvers
	person
	Format      string        `flag:"--format text|json: how progress and result are written; json is one event a line"`
	Confirm     string        `flag:"--confirm effects|always|never: which calls to ask about; effects: that may change the world"`
	AutoApprove bool          `flag:"--auto-approve: same as --confirm never"`
	Timeout     time.Duration `flag:"--answer-timeout TIME: how long a question waits for its answer [for ever]" was:"answer-within"`
	Unanswered  string        `flag:"--unanswered reject|approve: the answer when that time is over"`
	Price       []float64     `flag:"--price IN,OUT: price of a million tokens for limits.cost, such as 3,15"`
	Web         bool          `flag:"--web: show the run, and its questions, on a page in a browser" was:"page"`

	name   string // of the person
	prices planner.Prices
}

// begin reads what the flags say together: whom the run asks.
func (o *running) begin(c *cli) (confirm runtime.Confirm, err error) {
	if o.name, err = o.named(c); err != nil {
		return confirm, err
	}
	if n := len(o.Price); n != 0 && n != 2 || slices.ContainsFunc(o.Price, func(p float64) bool { return !(p >= 0) }) {
		return confirm, usageErr("--price can't be that: expected two numbers, such as 3,15")
	} else if n == 2 {
		o.prices = planner.Prices{InputPerMillion: o.Price[0], OutputPerMillion: o.Price[1]}
	}
	if o.Timeout < 0 {
		return confirm, usageErr("--answer-timeout can't be %v: expected a time such as 5m", o.Timeout)
	}
	confirm = runtime.Confirm{Policy: runtime.Policy(o.Confirm), Timeout: o.Timeout, Default: runtime.Verdict(o.Unanswered)}
	if o.AutoApprove && c.changed("confirm") && o.Confirm != "never" {
		return confirm, usageErr("--auto-approve and --confirm %s can't be given together", o.Confirm)
	}
	if o.Confirm == "never" || o.AutoApprove { // what asks all the same has its time
		confirm.Policy = ""
	}
	return confirm, nil
}

// host is what this process brings to a run.
func (c *cli) host(o *running) session.Host {
	return session.Host{
		Prices: o.prices, Version: version(), Moment: moment,
		Notice: func(text string) { c.note("%s", diag.Escape(text)) },
	}
}

// moment is called where it makes a difference whether a run is killed just there. A
// test kills it.
var moment func(what string)

// person is the flag that names who decides.
type person struct {
	As string `flag:"--as NAME: who decides, as the journal names them [user of the system]"`
}

func (o *person) named(c *cli) (string, error) {
	switch {
	case !c.changed("as"):
		if u, err := user.Current(); err == nil && u.Username != "" {
			return u.Username, nil
		}
		return "uid " + strconv.Itoa(os.Getuid()), nil
	case o.As == "" || o.As == runtime.ByTimeout || diag.Escape(o.As) != o.As:
		return "", usageErr("--as can't be %q: expected the name of a person", o.As)
	}
	return o.As, nil
}

// sound prepares a plan that is to go further than a check. One with errors
// doesn't: its findings are shown, and the status is that of a usage error.
func (c *cli) sound(name string, reading *project.Reader, format string) (*project.Program, error) {
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
		c.note("the plan has %s; \"obelus check %s\" shows more", wording.Count(warnings, "warning"), diag.Escape(name))
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
		asking = terminal.NewDialogue(c.in, c.err, screen, o.name, toolsOf(s.Program()))
		defer asking.Close()
		s.Confirmer = asking
	}
	ctx, stop, released := interruptible(ctx)
	defer released()
	screen.WhenClosed(stop)

	show := c.observer(ctx, screen, s, o)
	if o.Web {
		served, err := serve(s, o.name)
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
	switch {
	case o.Format == "text" && c.Quiet:
		return &quietly{Progress: terminal.NewRecorded(io.Discard, shownOf(s)), out: screen, err: c.err}
	case o.Format != "text":
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

// quietly shows only what a run results in.
type quietly struct {
	*terminal.Progress
	out, err io.Writer
}

func (q *quietly) End(o *runtime.Outcome) error {
	for _, e := range o.Errors {
		fmt.Fprintf(q.err, "obelus: %s\n", diag.Escape(strings.TrimPrefix(e.Call+": "+e.Message, ": ")))
	}
	if o.Output == nil || o.Status == runtime.RunStopped {
		return nil
	}
	_, err := fmt.Fprintln(q.out, terminal.Display(o.Output))
	return err
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
