package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/obelus-dev/obelus/cmd/obelus/internal/terminal"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/session"
)

type showing struct {
	State  bool   `flag:"--state: print the state, as JSON, of each instance by its id if there are any"`
	Format string `flag:"--format text|json: how the run is written; json is its events, one a line"`
}

func (o *showing) run(_ context.Context, c *cli, args []string) error {
	path, err := c.findRun(args[0])
	if err != nil {
		return err
	}
	options := session.ResumeOptions{Activities: c.Activities}
	look, err := session.LookAt(path, options, nil)
	if err != nil {
		return err
	}
	if o.State {
		return c.showState(look.Replay.Machine.Stands(), o.Format)
	}
	var show observer = lines{session.NewEvents(c.out, path)}
	if o.Format == "text" {
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
	if o.Format == "text" && len(decided) > 0 {
		fmt.Fprintf(c.out, "\n  decided:\n%s", strings.Join(decided, ""))
	}
	return show.End(outcomeOf(look))
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
