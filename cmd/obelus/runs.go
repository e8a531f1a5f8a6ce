package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/journal"
	"github.com/spf13/cobra"
)

func (c *cli) runsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "runs",
		Short: "list runs by their journals",
		Long: "Lists the runs that have a journal, the oldest first: those that are done, failed, stopped,\n" +
			"running now, or were killed. A stopped or killed one goes on with \"obelus resume\". Journals\n" +
			"are plain files; remove those that aren't needed any more.\n\n" +
			"Of a journal the first record and the last are read and verified, and the others only where it\n" +
			"ends in the middle of one; --verify reads and verifies all of them, as \"obelus resume\" does.",
		Example: "obelus runs\nobelus runs --format json\nobelus runs --verify",
		Args:    cobra.NoArgs,
	}
	var o running
	cmd.Flags().StringVar(&o.folder, "runs", "", "the folder of journals; by default obelus/runs below $XDG_STATE_HOME or ~/.local/state")
	stands(cmd, "runs", "DIR")
	verify := cmd.Flags().Bool("verify", false, "verify every record of every journal")
	_ = cmd.MarkFlagDirname("runs")
	format := choose(cmd, "format", "how runs are written; json is one a line", "text", "json")
	cmd.RunE = func(*cobra.Command, []string) error {
		folder, err := o.runsFolder()
		if err != nil {
			return err
		}
		runs, err := journal.List(folder, *verify)
		if err != nil {
			return troubled("%v", err)
		}
		var all []runLine
		for run := range runs {
			all = append(all, lineOf(run))
		}
		slices.SortStableFunc(all, func(a, b runLine) int { return a.Begun.Compare(b.Begun) }) // ids tell seconds
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

// A runLine is what is told of one run.
type runLine struct {
	Run    string          `json:"run"`
	Plan   string          `json:"plan"`
	Status string          `json:"status"` // "done", "failed", "stopped", "running", "killed" or "unreadable"
	Reason string          `json:"reason,omitempty"`
	Begun  time.Time       `json:"begun,omitzero"`
	Last   time.Time       `json:"last,omitzero"`
	Calls  *runtime.Counts `json:"calls,omitempty"` // null for one that hasn't ended
	Ticks  int             `json:"ticks,omitzero"`
	// Instances is over how many the run went, those of a stopped run as far as they
	// had begun.
	Instances int    `json:"instances,omitzero"`
	File      string `json:"file"`
}

func lineOf(run journal.Run) runLine {
	line := runLine{Run: run.ID, File: run.Path, Status: "unreadable"}
	if run.Err != nil {
		line.Reason = run.Err.Error()
		var fault *journal.Fault
		if errors.As(run.Err, &fault) {
			line.Reason = fault.Why
		}
		return line
	}
	var head recipe
	if err := json.Unmarshal(run.Contents.Header, &head); err != nil {
		line.Reason = "its head isn't that of a run"
		return line
	}
	line.Plan, line.Begun, line.Last, line.Status = head.Title, run.Contents.Begun, run.Contents.Last, "killed"
	var last record
	if err := json.Unmarshal(run.Contents.Ending, &last); err == nil && last.End != nil {
		line.Status, line.Reason, line.Calls, line.Ticks, line.Instances = last.End.Status, last.End.Reason, &last.End.Calls, last.End.Ticks, last.End.Instances
	}
	if run.Running {
		line.Status, line.Reason, line.Calls, line.Instances = "running", "", nil, 0
	}
	return line
}

func (c *cli) listRuns(all []runLine) error {
	style := styleFor(c.out)
	names := 0
	for _, line := range all {
		names = max(names, utf8.RuneCountInString(line.Run))
	}
	for _, line := range all {
		word := pad(line.Status, 10)
		switch line.Status {
		case "done":
			word = style.green(word)
		case "failed", "unreadable":
			word = style.red(word)
		case "stopped", "killed":
			word = style.yellow(word)
		}
		what := ""
		if line.Calls != nil {
			what = tally(*line.Calls)
			if line.Instances > 0 {
				what = count(line.Instances, "instance") + ": " + what
			}
		}
		if line.Reason != "" && what != "" {
			what += "; "
		}
		if _, err := fmt.Fprintf(c.out, "%s  %s  %s\n", pad(diag.Escape(line.Run), names), word, diag.Escape(what+line.Reason)); err != nil {
			return err
		}
	}
	return nil
}
