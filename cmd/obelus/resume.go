package main

import (
	"context"

	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/session"
)

type resuming struct {
	running
	InFlight    string `flag:"--in-flight ask|retry|fail: what to do with calls that were at work"`
	Decide      string `flag:"--decide FILE: answers, as YAML or JSON: {\"call\", \"verdict\", \"params\"?, …}"`
	RetryFailed bool   `flag:"--retry-failed: run failed calls again, and those skipped because of them"`
	At          int    `flag:"--at TICK: begin a new run from the state in which this tick began"`
	Approved    bool   `flag:"--require-approval: continue only a run that began under an approval"`
}

func (o *resuming) run(ctx context.Context, c *cli, args []string) error {
	confirm, host, err := o.begin(c)
	if err != nil {
		return err
	}
	answers, err := c.answers(o.Decide, o.name)
	if err != nil {
		return err
	}
	path, err := c.findRun(args[0])
	if err == nil && c.changed("at") {
		var runs string
		if runs, err = c.runsFolder(); err == nil {
			path, err = session.At(path, o.At, runs)
		}
	}
	if err != nil {
		return err
	}
	s, err := session.Open(path, session.ResumeOptions{
		Host: host, Activities: c.Activities, InFlight: runtime.InFlight(o.InFlight), RetryFailed: o.RetryFailed,
		Answers: answers, Approvers: o.of(c), RequireApproval: o.Approved,
		Confirm: &confirm, OrStricter: !c.changed("confirm") && !o.AutoApprove,
	})
	if err != nil {
		return err
	}
	if s.Ended() && o.Format == "text" {
		c.note("the run %s has already ended; this is its result", s.ID)
	}
	return c.run(ctx, s, &o.running)
}

func (c *cli) findRun(name string) (path string, err error) {
	folder, err := c.runsFolder()
	if err != nil && !session.IsFile(name) {
		return "", err
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
