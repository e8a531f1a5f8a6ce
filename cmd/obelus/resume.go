package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/obelus-dev/obelus/cmd/obelus/internal/terminal"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/session"
)

type resuming struct {
	running
	InFlight    string   `flag:"--in-flight ask|retry|fail: what to do with calls that were at work"`
	Decide      string   `flag:"--decide FILE: answers: {\"call\", \"verdict\", \"params\"?, …}, one, a list, or one a line"`
	RetryFailed bool     `flag:"--retry-failed: run failed calls again, and those skipped because of them"`
	At          int      `flag:"--at TICK: begin a new run from the state in which this tick began"`
	Planner     string   `flag:"--planner PLANNER: with --at, who writes the further ticks"`
	Digest      demanded `flag:"--digest sha256:…: continue only with the plan of this digest and its files as they are now"`
	Approved    bool     `flag:"--require-approval: continue only a run that began under an approval"`
}

func (o *resuming) run(ctx context.Context, c *cli, args []string) error {
	confirm, err := o.begin(c)
	if err != nil {
		return err
	}
	answers, err := c.answers(o.Decide, o.name)
	if err != nil {
		return err
	}
	path, err := c.findRun(args[0])
	switch {
	case err != nil:
	case c.changed("at"):
		var runs string
		if runs, err = c.runsFolder(); err == nil {
			path, err = session.At(path, o.At, o.Planner, runs)
		}
	case o.Planner != "":
		err = usageErr("a run continues with its own planner").Advise("--at TICK begins a new run, which may have another")
	}
	if err != nil {
		return err
	}
	return c.resume(ctx, path, &o.running, session.ResumeOptions{
		Host: c.host(&o.running), Activities: c.Activities, InFlight: runtime.InFlight(o.InFlight), RetryFailed: o.RetryFailed,
		Digest: string(o.Digest), Answers: answers, Confirm: &confirm, OrStricter: !c.changed("confirm") && !o.AutoApprove,
		Approvers: o.of(c), RequireApproval: o.Approved,
	})
}

func (c *cli) resume(ctx context.Context, path string, o *running, options session.ResumeOptions) error {
	s, err := session.Open(path, options)
	switch {
	case errors.Is(err, session.ErrNotThere):
		c.showError(err)
		return ending(statusStopped)
	case err != nil:
		return err
	}
	if s.Ended() {
		return c.tellAgain(ctx, s, o)
	}
	return c.run(ctx, s, o)
}

// tellAgain shows how a run ended that has nothing left to go on with: it may
// have been killed before it could say so.
func (c *cli) tellAgain(ctx context.Context, s *session.Session, o *running) error {
	defer s.Close()
	var show observer = lines{session.NewEvents(c.out, s.Journal())}
	if o.Format == "text" {
		fmt.Fprintf(c.out, "the run %s had ended already; this is what came of it\n\n", s.ID())
		show = terminal.NewRecorded(c.out, shownOf(s))
	}
	result, _ := s.Run(ctx) // the error says that it has ended, and what Incomplete does
	return c.conclude(result, show, s)
}

// findRun is the journal of a run.
func (c *cli) findRun(name string) (path string, err error) {
	folder := ""
	if !session.IsFile(name) {
		if folder, err = c.runsFolder(); err != nil {
			return "", err
		}
	}
	return session.Find(folder, name)
}

func (c *cli) runsFolder() (string, error) {
	if c.Runs != "" {
		return c.Runs, nil
	}
	folder, err := session.DefaultFolder()
	if err != nil {
		return "", usageErr("there is no folder for journals: %v", err).Advise("name one with --runs")
	}
	return folder, nil
}
