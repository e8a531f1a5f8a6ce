package main

import (
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/session"
	"github.com/spf13/cobra"
)

func (c *cli) forkCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "fork RUN --at TICK | CALL | TIME",
		Short: "begin a run where another stood",
		Long: "Begins a new run from where another stood: as a tick began, as a call was about to start or a\n" +
			"person was asked about it, or a while after the run began. What was done by then counts as done,\n" +
			"with its results; what was at work hasn't begun. The other run stays as it is.\n\n" +
			"A planner, a model or activities may be others than they were, so that \"what if\" can be tried.",
		Example: "obelus fork 20261121-0930 --at 3\nobelus fork 20261121-0930 --at pay#2 --activities sandbox.yaml\nobelus fork 20261121-0930 --at 2:pay#2 --planner openai:gpt-5",
		Args:    oneArg("a run"),
	}
	var o running
	o.add(c, cmd)
	at := addAt(cmd, "the point from which the new run goes on")
	activities := addActivities(cmd)
	addText(cmd, &o.planner, "planner", "PLANNER", "who writes the further ticks, in the place of who did: replay:FILE, openai:MODEL or anthropic:MODEL")
	addText(cmd, &o.model, "model", "MODEL", "who answers latent calls, in the place of who did")
	addText(cmd, &o.record, "record", "DIR", "write the further solutions and ticks to a folder, as run does")
	addText(cmd, &o.out, "out", "FILE.jsonl", "write how the run went for each instance, as run does")
	o.approvers.add(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if *at == "" {
			return troubled("fork needs the point from which to go on").Advise("for example --at 3 for a tick, or --at pay#2 for a call")
		}
		confirm, err := o.asking()
		if err != nil {
			return err
		}
		path, err := o.find(args[0])
		if err != nil {
			return err
		}
		options := session.ForkOptions{
			ResumeOptions: session.ResumeOptions{
				Approvers: o.of(c),
				Host:      c.host(&o), Activities: *activities, InFlight: runtime.InFlightAnew,
				Confirm: &confirm, OrStricter: !cmd.Flags().Changed("confirm"),
			},
			At: *at, PlannerName: o.planner, Model: o.model, Record: o.record, Results: o.out,
		}
		if options.Runs, err = o.runsFolder(); err != nil {
			return err
		}
		if path, err = session.Fork(path, options); err != nil {
			return err
		}
		return c.resume(cmd.Context(), path, &o, options.ResumeOptions)
	}
	return cmd
}

// addAt adds the flag that names a point of a run.
func addAt(cmd *cobra.Command, usage string) *string {
	at := addText(cmd, new(string), "at", "POINT", usage+": a tick by its number; a call by its name, behind the calls above it (\"digest#1/fetch#2\"), a tick (\"2:pay#1\") and before an instance\n(\"pay#1@ann\") where that is needed; or a time since the run began, such as 2.5s")
	return at
}
