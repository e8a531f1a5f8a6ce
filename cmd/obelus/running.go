package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"os/user"
	"strconv"
	"strings"
	"time"

	"github.com/obelus-dev/obelus/cmd/obelus/internal/pages"
	"github.com/obelus-dev/obelus/cmd/obelus/internal/terminal"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/planner"
	"github.com/obelus-dev/obelus/runtime/review"
	"github.com/obelus-dev/obelus/runtime/session"
)

// running are the flags that run and resume share.
type running struct {
	approvers
	person
	Format      string        `flag:"--format text|json: how progress and result are written; json is one event a line"`
	Confirm     string        `flag:"--confirm effects|always|never: which calls to ask about; effects: not read-only"`
	AutoApprove bool          `flag:"--auto-approve: same as --confirm never"`
	Timeout     time.Duration `least:"0" flag:"--answer-timeout TIME: time to answer [no limit]"`
	Unanswered  string        `flag:"--unanswered reject|approve: the answer after --answer-timeout"`
	Price       []float64     `flag:"--price IN,OUT: price of a million tokens for limits.cost, such as 3,15"`
	MaxTokens   int           `least:"1" flag:"--max-tokens N: most tokens of a model's answer [the model's, or 32000]"`
	Web         bool          `flag:"--web: show the run, and ask its questions, on a page in a browser"`

	name string // of the person
}

// begin reads what the flags say together: whom the run asks, and what this process brings to it.
func (o *running) begin(c *cli) (confirm runtime.Confirm, host session.Host, err error) {
	host = session.Host{Version: version(), Moment: moment, MaxTokens: o.MaxTokens,
		Notice: func(text string) { c.note("%s", diag.Escape(text)) }}
	confirm = runtime.Confirm{Policy: runtime.Policy(o.Confirm), Timeout: o.Timeout,
		Default: runtime.Verdict(o.Unanswered)}
	if o.Confirm == "never" || o.AutoApprove { // what asks all the same has its time
		confirm.Policy = ""
	}
	if len(o.Price) == 2 {
		host.Prices = planner.Prices{InputPerMillion: o.Price[0], OutputPerMillion: o.Price[1]}
	}
	if len(o.Price) != 0 && len(o.Price) != 2 || min(host.Prices.InputPerMillion, host.Prices.OutputPerMillion) < 0 {
		return confirm, host, usageErr("--price can't be that: expected two numbers, such as 3,15")
	}
	o.name, err = o.named(c)
	return confirm, host, err
}

// moment is called where it makes a difference whether a run is killed just there. A test kills it.
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
	case o.As == "" || o.As == review.ByTimeout || diag.Escape(o.As) != o.As:
		return "", usageErr("--as can't be %q: expected the name of a person", o.As)
	}
	return o.As, nil
}

// run shows a run, from its beginning or from where its journal ends, and asks for it.
func (c *cli) run(ctx context.Context, s *session.Session, o *running) (err error) {
	defer s.Close()
	ctx, stop, released := interruptible(ctx)
	defer released()
	c.out.WhenClosed = stop
	show, asking := c.observer(ctx, s, o.Format), (*terminal.Dialogue)(nil)
	switch {
	case o.Web:
		served, err := pages.Serve(s, o.name, show)
		if err != nil {
			return err
		}
		c.err.Print("obelus: the run is shown at %s\n", served.Address())
		show, s.Confirmer = served, served
	case terminal.CanAsk(c.in, c.err):
		asking = terminal.NewDialogue(c.in, c.err, c.out,
			func(q *runtime.Question, words []string) (runtime.Decision, error) {
				d, err := c.answer(q, words)
				if d.By = o.name; d.Verdict == runtime.Approve {
					d.Beyond = q.Beyond
				} else if err == nil && d.Verdict == runtime.Change && q.Unacceptable(d.Params) != "" {
					err = errors.New(q.Unacceptable(d.Params))
				}
				return d, err
			})
		s.Confirmer = asking
	}
	s.Observer = show
	result, err := s.Run(ctx)
	stopped := asking != nil && asking.Wait()
	if result == nil {
		_ = show.End(nil)
		return err
	}
	if stopped {
		result.Asked = nil // there was somebody to ask
	}
	err = show.End(result.Outcome)
	if c.Quiet && o.Format == "text" {
		for _, e := range result.Errors {
			c.err.Print("obelus: %s\n", diag.Escape(strings.TrimPrefix(e.Call+": "+e.Message, ": ")))
		}
		if result.Status != runtime.RunStopped && result.Output != nil {
			c.out.Print("%s\n", terminal.Display(result.Output))
		}
	}
	if result.Status == runtime.RunStopped {
		c.stopped(result, s)
	}
	ends := map[runtime.RunStatus]error{
		runtime.RunFailed: ending(statusFound), runtime.RunStopped: ending(statusStopped),
	}
	return cmp.Or(result.Incomplete, err, ends[result.Status])
}

func (c *cli) observer(ctx context.Context, s *session.Session, format string) pages.Observer {
	shown := terminal.Run{Plan: s.Program.Plan, Journal: s.Journal,
		Joining: len(s.Joining) + len(s.Joined), At: s.At}
	switch {
	case format != "text":
		return session.NewEvents(c.out, s.Journal)
	case c.Quiet:
		return terminal.NewRecorded(terminal.NewScreen(io.Discard), shown)
	case s.Ended():
		return terminal.NewRecorded(c.out, shown)
	}
	return terminal.NewProgress(ctx, c.out, shown)
}
