package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/obelus-dev/obelus/cmd/obelus/internal/terminal"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/session"
	"github.com/spf13/cobra"
)

func (c *cli) resumeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "resume RUN",
		Short: "go on with a run that was stopped or killed",
		Long: "Goes on with a run from its journal: by its id, the beginning of it, or its file. What had\n" +
			"completed isn't run again. A call that was at work when the run broke off is run again if its\n" +
			"tool is idempotent or read-only; about any other a person is asked, unless --in-flight says.\n" +
			"Without --confirm, a run keeps its own if that is stricter. One that stopped at a limit gets as\n" +
			"much again.\n\n" +
			"--retry-failed goes on with a run that failed: what failed runs again, and what was skipped for\n" +
			"it. --at TICK begins a new run with the state in which a tick of a planned run began. Both stay.",
		Example: "obelus resume 20261121-093012-refund-4f2a\nobelus resume 20261121-0930 --in-flight retry\nobelus resume 20261121-0930 --retry-failed\nobelus resume 20261121-0930 --at 3",
		Args:    oneArg("a run"),
	}
	var o running
	o.add(c, cmd)
	inFlight := choose(cmd, "in-flight", "what becomes of calls that were at work and may not simply be run again", "ask", "retry", "fail")
	activities := addActivities(cmd)
	decide := addText(cmd, new(string), "decide", "FILE", "answers to what is asked: {\"call\", \"verdict\", \"id\"?, \"instance\"?, \"under\"?, \"params\"?, \"replacement\"?, \"reason\"?, \"by\"?}, one or a list of them, or one a line (.jsonl)")
	retryFailed := cmd.Flags().Bool("retry-failed", false, "run again what failed, and what was skipped for it, also of a run that has ended; nothing that was done")
	at := cmd.Flags().Int("at", 0, "begin a new run that continues from the state in which this tick of a planned run began")
	stands(cmd, "at", "TICK")
	addText(cmd, &o.planner, "planner", "PLANNER", "with --at: who writes the further ticks, in the place of the run's planner")
	digest := addDemanded(cmd, "go on with the plan of this digest or not at all, with its programs' files as they are now; by default, with those that --digest of the run demanded")
	requireApproval := cmd.Flags().Bool("require-approval", false, "go on only with a run that was begun under an approval; that has to hold still in any case")
	o.approvers.add(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		confirm, err := o.asking()
		if err != nil {
			return err
		}
		answers, err := c.answers(*decide, o.as)
		if err != nil {
			return err
		}
		path, err := o.find(args[0])
		switch {
		case err != nil:
		case cmd.Flags().Changed("at"):
			var runs string
			if runs, err = o.runsFolder(); err == nil {
				path, err = session.At(path, *at, o.planner, runs)
			}
		case o.planner != "":
			err = usageErr("a run goes on with its own planner").Advise("--at TICK begins a new run, which may have another")
		}
		if err != nil {
			return err
		}
		return c.resume(cmd.Context(), path, &o, session.ResumeOptions{
			Host: c.host(&o), Activities: *activities, InFlight: runtime.InFlight(*inFlight),
			RetryFailed: *retryFailed, Digest: *digest, Answers: answers, Confirm: &confirm, OrStricter: !cmd.Flags().Changed("confirm"),
			Approvers: o.of(c), RequireApproval: *requireApproval,
		})
	}
	return cmd
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
	if o.format == "text" {
		fmt.Fprintf(c.out, "the run %s had ended already; this is what came of it\n\n", s.ID())
		show = terminal.NewRecorded(c.out, shownOf(s))
	}
	result, _ := s.Run(ctx) // the error says that it has ended, and what Incomplete does
	return c.conclude(result, show, s)
}

// find is the journal of a run.
func (o *running) find(name string) (path string, err error) {
	folder := ""
	if !session.IsFile(name) {
		if folder, err = o.runsFolder(); err != nil {
			return "", err
		}
	}
	return session.Find(folder, name)
}

func (o *running) runsFolder() (string, error) {
	if o.folder != "" {
		return o.folder, nil
	}
	folder, err := session.DefaultFolder()
	if err != nil {
		return "", usageErr("there is no folder for journals: %v", err).Advise("name one with --runs")
	}
	return folder, nil
}
