package main

import (
	"fmt"

	"github.com/obelus-dev/obelus/cmd/obelus/internal/terminal"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/session"
	"github.com/spf13/cobra"
)

func (c *cli) runsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "runs",
		Short: "list runs by their journals",
		Long: "Lists the runs that have a journal, the oldest first: those that are done, failed, stopped,\n" +
			"running now, or were killed. A stopped or killed one goes on with \"obelus resume\". Journals\n" +
			"are plain files; \"obelus runs prune\" removes those that aren't needed any more, and\n" +
			"\"obelus runs show\" tells of one run.\n\n" +
			"Every record of every journal is verified, as \"obelus resume\" does.",
		Example: "obelus runs\nobelus runs --format json",
		Args:    cobra.NoArgs,
	}
	o := new(running).addRuns(cmd)
	format := choose(cmd, "format", "how runs are written; json is one a line", "text", "json")
	cmd.AddCommand(c.showCommand(), c.exportCommand(), c.pruneCommand())
	cmd.RunE = func(*cobra.Command, []string) error {
		folder, err := o.runsFolder()
		if err != nil {
			return err
		}
		all, err := session.List(folder)
		if err != nil {
			return usageErr("%v", err)
		}
		if *format == "json" {
			for _, line := range all {
				if err := diag.JSONLine(c.out, line); err != nil {
					return err
				}
			}
			return nil
		}
		if len(all) == 0 {
			_, err := fmt.Fprintf(c.out, "there are no runs in %s\n", diag.Escape(folder))
			return err
		}
		return c.listRuns(all)
	}
	return cmd
}

func (c *cli) listRuns(all []session.Entry) error {
	style := terminal.StyleFor(c.out)
	names := 0
	for _, line := range all {
		names = max(names, diag.Columns(line.Run))
	}
	for _, line := range all {
		word := terminal.Pad(line.Status, 10)
		switch line.Status {
		case "done":
			word = style.Green(word)
		case "failed", "unreadable":
			word = style.Red(word)
		case "stopped", "killed":
			word = style.Yellow(word)
		}
		what := ""
		if line.Calls != nil {
			what = terminal.Tally(*line.Calls, runtime.RunStatus(line.Status))
			if line.Instances > 0 {
				what = wording.Count(line.Instances, "instance") + ": " + what
			}
		}
		what += terminal.Used(line.Usage)
		if line.Reason != "" && what != "" {
			what += "; "
		}
		if _, err := fmt.Fprintf(c.out, "%s  %s  %s\n", terminal.Pad(diag.Escape(line.Run), names), word, diag.Escape(what+line.Reason)); err != nil {
			return err
		}
	}
	return nil
}
