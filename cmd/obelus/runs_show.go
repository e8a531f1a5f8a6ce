package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/obelus-dev/obelus/cmd/obelus/internal/terminal"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/session"
	"github.com/spf13/cobra"
)

func (c *cli) showCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show RUN",
		Short: "tell of one run",
		Long: "Tells of one run from its journal: its calls with their times and results, what people decided,\n" +
			"what failed, and what models used. --state shows the state at the end. The run isn't touched, and\n" +
			"may go on meanwhile.",
		Example: "obelus runs show 20261121-0930\nobelus runs show 20261121-0930 --state\nobelus runs show 20261121-0930 --format json",
		Args:    oneArg("a run"),
	}
	o := new(running).addRuns(cmd)
	state := cmd.Flags().Bool("state", false, "show the state, as JSON, of each instance by its id where there are any")
	activities := addActivities(cmd)
	format := choose(cmd, "format", "how the run is written; json is its events, one a line", "text", "json")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		path, err := o.find(args[0])
		if err != nil {
			return err
		}
		options := session.ResumeOptions{Activities: *activities}
		look, err := session.LookAt(path, options, nil)
		if err != nil {
			return err
		}
		if *state {
			return c.showState(look.Replay.Machine.Stands(), *format)
		}
		journal := session.NewEvents(c.out, path)
		var show observer = lines{journal}
		if *format == "text" {
			show = c.tell(look, path)
		}
		show = &leftLast{observer: show}
		var decided []string
		_, err = session.LookAt(path, options, func(at time.Duration, command runtime.Command) {
			if d := command.Settlement; command.Kind == runtime.Settle && d.Decision != nil {
				for _, one := range append(slices.Clone(d.Earlier), d.Decision) {
					decided = append(decided, decidedLine(command, one))
				}
			}
			show.Observe(at, command)
		})
		if err != nil {
			return err
		}
		if *format == "text" && len(decided) > 0 {
			fmt.Fprintf(c.out, "\n  decided:\n%s", strings.Join(decided, ""))
		}
		return show.End(outcomeOf(look))
	}
	return cmd
}

// leftLast shows what a stop has left only where the run hasn't gone on since.
type leftLast struct {
	observer
	left  []func()
	ended bool
}

func (l *leftLast) Observe(at time.Duration, c runtime.Command) {
	if l.ended {
		l.left, l.ended = nil, false
	}
	if c.Kind == runtime.Settle && c.Settlement.Left {
		l.left = append(l.left, func() { l.observer.Observe(at, c) })
		return
	}
	l.ended = c.Kind == runtime.Finish
	l.observer.Observe(at, c)
}

func (l *leftLast) End(o *runtime.Outcome) error {
	for _, show := range l.left {
		if o.Status == runtime.RunStopped {
			show()
		}
	}
	return l.observer.End(o)
}

// outcomeOf is how a run ended, or how it stands.
func outcomeOf(look *session.Look) *runtime.Outcome {
	if look.Replay.Over() && look.Replay.Outcome != nil {
		return look.Replay.Outcome
	}
	stands := look.Replay.Machine.Stands()
	if !look.Replay.Machine.Stopped() && look.Status == string(runtime.RunGoesOn) {
		stands.Status, stands.Reason = runtime.RunGoesOn, ""
		for i := range stands.Instances {
			if one := &stands.Instances[i]; one.Status == runtime.RunStopped {
				one.Status = runtime.RunGoesOn
			}
		}
	}
	return stands
}

// tell prints the head of a run.
func (c *cli) tell(look *session.Look, path string) observer {
	m := look.Manifest
	fmt.Fprintf(c.out, "%s  %s\n", diag.Escape(look.Run), look.Status)
	fmt.Fprintf(c.out, "  begun %s", m.Started.Local().Format(time.DateTime))
	if who := m.Planner + m.Model; who != "" {
		fmt.Fprintf(c.out, ", with %s", diag.Escape(who))
	}
	if m.Approval != nil {
		fmt.Fprintf(c.out, ", approved by %s", diag.Escape(wording.And(m.Approval.Signers)))
	}
	if m.Forked != nil {
		fmt.Fprintf(c.out, ", from %s at %s", diag.Escape(m.Forked.Run), diag.Escape(m.Forked.At))
	}
	fmt.Fprint(c.out, "\n\n")
	return terminal.NewRecorded(c.out, terminal.Run{Plan: look.Program.Plan, Planned: m.Options.Planned, Journal: path})
}

// decidedLine is what a person decided about a call, on a line.
func decidedLine(c runtime.Command, d *runtime.Decision) string {
	name := runtime.Path(c.Under, c.Of.Name)
	if c.Instance != "" {
		name += " of " + c.Instance
	}
	words := fmt.Sprintf("%s: %s", name, d.Verdict)
	if d.By != "" {
		words += " by " + d.By
	}
	if d.Params != nil {
		words += ", to " + terminal.JSON(d.Params, "")
	}
	if d.Reason != "" {
		words += " (" + d.Reason + ")"
	}
	return "  " + diag.Escape(words) + "\n"
}

func (c *cli) showState(o *runtime.Outcome, format string) error {
	state := session.LastState(o.State)
	if all := session.ResultsOf(o); all != nil {
		states := map[string]any{}
		for id, one := range all {
			states[id] = one.State
		}
		state = states
	}
	if format == "json" {
		return diag.JSONLine(c.out, state)
	}
	_, err := fmt.Fprintf(c.out, "%s\n", terminal.Display(state))
	return err
}

func (c *cli) pruneCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "prune",
		Short: "remove journals that aren't needed any more",
		Long: "Removes the journals of runs that are done or failed: those that ended longer ago than\n" +
			"--older-than, or all but the newest --keep of them. Runs that were stopped or killed can be gone on\n" +
			"with, and stay unless --stopped says otherwise; a run that goes on is never touched.",
		Example: "obelus runs prune --older-than 30d\nobelus runs prune --keep 100 --stopped --dry-run",
		Args:    cobra.NoArgs,
	}
	o := new(running).addRuns(cmd)
	flags := cmd.Flags()
	older := addText(cmd, new(string), "older-than", "TIME", "remove runs of which the journal was written last longer ago than this: a time such as 12h, or days such as 30d")
	keep := flags.Int("keep", -1, "keep so many of the newest, and remove those before them")
	stands(cmd, "keep", "N")
	stopped := flags.Bool("stopped", false, "also runs that were stopped or killed")
	dry := flags.Bool("dry-run", false, "only say what would be removed")
	cmd.RunE = func(*cobra.Command, []string) error {
		if *older == "" && *keep < 0 {
			return usageErr("prune needs to know which runs aren't needed any more").Advise("say --older-than 30d, or --keep 100")
		}
		age, ok := periodOf(*older)
		if *older != "" && !ok {
			return usageErr("--older-than can't be %q: expected a time such as 12h, or days such as 30d", *older)
		}
		folder, err := o.runsFolder()
		if err != nil {
			return err
		}
		all, err := session.List(folder)
		if err != nil {
			return usageErr("%v", err)
		}
		var ended []session.Entry
		for _, one := range all {
			if one.Status == "done" || one.Status == "failed" || *stopped && (one.Status == "stopped" || one.Status == "killed") {
				ended = append(ended, one)
			}
		}
		if *keep >= 0 {
			ended = ended[:max(0, len(ended)-*keep)]
		}
		if *older != "" {
			ended = slices.DeleteFunc(ended, func(one session.Entry) bool { return time.Since(one.Last) < age })
		}
		for _, one := range ended {
			if !*dry {
				if err := session.Remove(one.File); err != nil {
					return err
				}
			}
			fmt.Fprintf(c.out, "%s  %s\n", diag.Escape(one.Run), one.Status)
		}
		word := "removed"
		if *dry {
			word = "would be removed"
		}
		_, err = fmt.Fprintf(c.out, "%s %s\n", wording.Count(len(ended), "run"), word)
		return err
	}
	return cmd
}

// addActivities adds the flag that names activities for a run that was begun before.
func addActivities(cmd *cobra.Command) *[]string {
	files := cmd.Flags().StringArray("activities", nil, "a file of activities in the place of those that the run was begun with; may be given several times")
	stands(cmd, "activities", "FILE")
	return files
}

// addRuns adds the flag that names the folder of journals.
func (o *running) addRuns(cmd *cobra.Command) *running {
	addText(cmd, &o.folder, "runs", "DIR", "the folder of journals; by default obelus/runs below $XDG_STATE_HOME or ~/.local/state")
	_ = cmd.MarkFlagDirname("runs")
	return o
}
