package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/activity"
	"github.com/obelus-dev/obelus/runtime/local"
	"github.com/spf13/cobra"
)

func (c *cli) runCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "run FILE | -",
		Short: "run a plan",
		Long: "Checks a plan and runs it: calls start as soon as what they read is there, in parallel. A\n" +
			"plan with errors isn't run.\n\n" +
			"The exit status is 0 when the run is done, 1 when it failed, 2 when the plan or the command\n" +
			"line has errors, and 3 when the run was stopped. Ctrl-C stops it; a second Ctrl-C kills it.",
		Example: "obelus run plan.yaml --input city=Paris\nobelus run plan.yaml --input @values.json --activities prod.yaml --confirm never",
		Args:    oneArg("a plan"),
	}
	reading := addReading(cmd)
	given := addGiven(cmd)
	format := choose(cmd, "format", "how progress and result are written; json is one event a line", "text", "json")
	confirm := choose(cmd, "confirm", "effects stops before the first call that may change the world: one whose tool isn't known to be "+
		"read-only and whose activity isn't an expression; never doesn't", "effects", "never")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		input, state, err := given.values(c, reading, args[0])
		if err != nil {
			return err
		}
		p, err := c.sound(args[0], reading, *format)
		if err != nil {
			return err
		}
		if err := accept(p.plan, input, state); err != nil {
			return err
		}
		c.unreadInputs(p.plan, input)
		o := local.Options{Options: runtime.Options{Input: input, State: state, Parallel: given.parallel}}
		return c.run(cmd.Context(), p, o, *confirm, *format)
	}
	return cmd
}

// sound prepares a plan that is to go further than a check. One with errors
// doesn't: its findings are shown, and the status is that of a usage error
// (S19.3).
func (c *cli) sound(name string, reading *reading, format string) (compiled, error) {
	p, err := c.prepared(name, reading)
	if err != nil {
		return compiled{}, err
	}
	if p.verified == nil {
		if err := c.showFaulty(p.found, format); err != nil {
			return compiled{}, err
		}
		return compiled{}, ending(statusTrouble)
	}
	c.mentionWarnings(name, p, format)
	return p, nil
}

func (c *cli) mentionWarnings(name string, p compiled, format string) {
	if warnings := diag.Summarize(1, p.found).Warnings; warnings > 0 && format == "text" {
		fmt.Fprintf(c.err, "obelus: the plan has %s; \"obelus check %s\" shows more\n", count(warnings, "warning"), diag.Escape(name))
	}
}

func (c *cli) run(ctx context.Context, p compiled, o local.Options, confirm, format string) error {
	if err := local.Runnable(p.plan); err != nil {
		message, help, _ := strings.Cut(err.Error(), "; ")
		return troubled("%s", message).advise("%s", help)
	}
	set, err := activity.Open(p.located(), nil, activity.Options{})
	if err != nil {
		return troubled("the plan can't be run: %v", err)
	}
	defer set.Close()
	o.Activities = set
	var asked *compiler.Call
	if confirm == "effects" {
		o.Asks = func(call *compiler.Call) bool {
			asks := mayChangeTheWorld(p.plan, call)
			if asks {
				asked = call
			}
			return asks
		}
	}
	ctx, interrupted := interruptible(ctx)
	defer interrupted()

	var show observer = newEvents(c.out, p.plan)
	if format == "text" {
		show = newProgress(c.out, p.plan, ctx)
	}
	o.Observe = show.observe
	outcome, err := local.Run(ctx, p.verified, o)
	if err != nil {
		show.abandon()
		return troubled("%v", err)
	}
	err = show.end(outcome)
	if outcome.Reason == "confirmation" && asked != nil {
		fmt.Fprintf(c.err, "obelus: stopped before the call \"%s\": its tool isn't known to be read-only, and nobody can be asked yet\n", diag.Escape(asked.Name))
		fmt.Fprintf(c.err, "  %s run with --confirm never, or say \"annotations: {readOnlyHint: true}\" of a tool that changes nothing\n", styleFor(c.err).green("help:"))
	}
	switch {
	case err != nil:
		return err
	case outcome.Status == "failed":
		return ending(statusFound)
	case outcome.Status == "stopped":
		return ending(statusStopped)
	}
	return nil
}

// An observer shows a run as it goes.
type observer interface {
	observe(at time.Duration, c runtime.Command)
	end(*runtime.Outcome) error
	abandon() // the run never began
}

// mayChangeTheWorld tells whether a person should be asked before a call: its
// tool isn't known to be read-only (S10.2).
func mayChangeTheWorld(p *compiler.Plan, call *compiler.Call) bool {
	if call.Tool != nil && call.Tool.Hints.ReadOnly != nil && *call.Tool.Hints.ReadOnly {
		return false
	}
	a := p.Activities[call.Activity]
	return a != nil && a.Kind != "expr"
}

// located lists the plan's activities with the folders that programs start in
// as this process sees them. The compiler knows them from the workspace root,
// but for files that were named on the command line.
func (p compiled) located() map[string]*compiler.Activity {
	all := make(map[string]*compiler.Activity, len(p.plan.Activities))
	for name, a := range p.plan.Activities {
		there := *a
		overlay := a.Node != nil && (slices.Contains(p.options.Activities, a.Node.File) || slices.Contains(p.options.Catalogues, a.Node.File))
		if !overlay {
			there.Dir = filepath.Join(p.dir, filepath.FromSlash(a.Dir))
		}
		all[name] = &there
	}
	return all
}

// interruptible gives a context that ends with Ctrl-C or a request to
// terminate. A second one kills: the programs that run, and then this one, as
// the signal would have done by itself.
func interruptible(parent context.Context) (ctx context.Context, release func()) {
	ctx, stop := context.WithCancel(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	over, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		select {
		case <-signals:
			stop()
		case <-over:
			return
		}
		select {
		case second := <-signals:
			activity.KillAll()
			signal.Reset()
			if self, err := os.FindProcess(os.Getpid()); err == nil && self.Signal(second) == nil {
				time.Sleep(time.Second) // it is on its way
			}
			os.Exit(statusStopped)
		case <-over:
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(over)
		<-done // the end that a second signal asked for isn't overtaken by ours
		stop()
	}
}
