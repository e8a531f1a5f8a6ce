package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"regexp"
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

// whatNow prints why a run stopped that nobody stopped, and the commands that continue it.
func (c *cli) whatNow(result *session.Result, s *session.Session) {
	if result.Status != runtime.RunStopped {
		return
	}
	help := func(format string, args ...any) {
		fmt.Fprintf(c.err, "  %s %s\n", terminal.StyleFor(c.err).Green("help:"), fmt.Sprintf(format, args...))
	}
	asks := []runtime.Reason{runtime.ReasonConfirmation, runtime.ReasonInFlight, runtime.ReasonEnvelope}
	switch {
	case len(result.Asked) > 0 && slices.Contains(asks, result.Reason):
		c.unanswered(result, s, help)
	case result.Reason == runtime.ReasonEnvelope:
		fmt.Fprintf(c.err, "obelus: %s\n", diag.Escape(result.Why))
		help("an approval counts what the whole run does: have more approved, and begin a new run")
	case s.ID() != "" && result.Why != "":
		fmt.Fprintf(c.err, "obelus: %s\n", diag.Escape(result.Why))
		help("%s  # continues with two more ticks; --at TICK from an earlier one", c.commandLine("resume", s.ID()))
	case s.ID() != "":
		help("%s  # continues the run", c.commandLine("resume", s.ID()))
	}
}

// commandLine is a command that can be copied, with the global flags of this one that it needs.
func (g *globals) commandLine(words ...string) string {
	if g.Folder != "" {
		words = append([]string{"-C", g.Folder}, words...)
	}
	if g.Runs != "" {
		words = append(words, "--runs", g.Runs)
	}
	line := "obelus"
	for _, word := range words {
		if !plainWord.MatchString(word) {
			word = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
		line += " " + diag.Escape(word)
	}
	return line
}

// plainWord is a word that a shell reads as it is.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./:@%+=,-]+$`)

// unanswered prints the questions that a run stopped with, and the commands that answer them and
// continue, one a line.
func (c *cli) unanswered(result *session.Result, s *session.Session, help func(string, ...any)) {
	var lines, ways, notes []string
	add := func(list *[]string, text string) {
		if text != "" && !slices.Contains(*list, text) {
			*list = append(*list, text)
		}
	}
	command := func(comment string, words ...string) { add(&lines, c.commandLine(words...)+"  # "+comment) }
	command("shows what is asked", "decide", s.ID())
	most := min(len(result.Asked), 5)
	for _, q := range result.Asked[:most] {
		why, way, note := unansweredFor(q, s.Program().Plan)
		add(&ways, way)
		add(&notes, note)
		fmt.Fprintf(c.err, "obelus: stopped before the call %s: %s, and there is nobody to ask\n", named(q), why)
		words, comment := []string{"decide", s.ID(), q.Path(), "approve"}, "or reject, change, replace"
		switch {
		case q.InFlight:
			words[3], comment = "retry", "or fail"
		case len(q.Outside) > 0 && s.Signed():
			words, comment = append(words, "--key", "KEY"), "signs that it may; or reject"
		case len(q.Outside) > 0:
			comment = "or reject"
		}
		if q.Instance != "" {
			words = append(words, "--instance", q.Instance)
		}
		command(comment, words...)
	}
	if more := len(result.Asked) - most; more > 0 {
		fmt.Fprintf(c.err, "obelus: and before %s\n", wording.Count(more, "more call"))
	}
	for _, q := range result.Refused {
		fmt.Fprintf(c.err, "obelus: the answer for the call %s can't be used: %s\n", named(q), diag.Escape(q.Problem))
	}
	command("continues with the answers", "resume", s.ID())
	for _, way := range ways {
		command(waysOn[way], append([]string{"resume", s.ID()}, strings.Fields(way)...)...)
		if s.ID() == "" {
			help("%s %s", way, waysOn[way])
		}
	}
	if s.ID() != "" {
		help("answer and continue with these commands:\n    %s", strings.Join(lines, "\n    "))
	}
	for _, note := range notes {
		help("%s", note)
	}
}

// waysOn are the flags with which a run continues without answers, and what they do.
var waysOn = map[string]string{
	"--auto-approve": "continues without questions", "--in-flight retry": "runs such calls again; fail counts them as failed",
}

// unansweredFor is why a call waits for an answer, the flags with which the run continues without one,
// and a note.
func unansweredFor(q *runtime.Question, p *plan.Plan) (why, way, note string) {
	switch {
	case len(q.Outside) > 0:
		return "the approval doesn't cover it: " + leftBy(q), "", ""
	case q.InFlight:
		return "it was at work when the run was killed, and may have happened", "--in-flight retry", ""
	case q.Uncertainty != "" && p.Advice.Enforce == "ask":
		return diag.Escape(q.Uncertainty), "", "\"advice: {enforce: warn}\" in the plan only reports it"
	case q.Replaces != "" && !q.Wanted:
		return "it replaces another call, and is approved as it would run", "--auto-approve", ""
	case q.Wanted:
		return "the plan (_confirm) or a policy (person) asks a person about it", "", ""
	case q.Effects == compiler.ReadOnly:
		return "--confirm always asks about every call", "--auto-approve", ""
	case q.Untrusted:
		why = "only " + diag.Escape(q.ClaimedBy) + " declares it " + q.Claimed + ", and that workspace isn't trusted"
		return why, "--auto-approve", "\"obelus trust\" trusts the workspace in further runs"
	}
	note = "a catalogue of a trusted obelus.yaml, or an --activities file, can declare it read-only: annotations: {readOnlyHint: true}"
	if a := p.Activities[q.Activity]; q.Delegate == "" && a != nil && a.Server != nil {
		note += "; a policy can trust its MCP server (servers)"
	}
	if q.Claimed != "" {
		note += "; the plan itself can't"
	}
	return "its effects are unknown", "--auto-approve", note
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
