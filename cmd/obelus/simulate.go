package main

import (
	"bytes"
	"cmp"
	"context"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/cmd/obelus/internal/simulation"
	"github.com/obelus-dev/obelus/cmd/obelus/internal/terminal"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/project"
	"github.com/obelus-dev/obelus/runtime/session"
	"github.com/obelus-dev/obelus/runtime/simulate"
)

// simulating is a simulation: its flags, and what it reads.
type simulating struct {
	simulation.Flags
	outputFlag
	Digest demanded `flag:"--digest sha256:…: simulate only the plan with this digest"`
	given
	concurrencyFlag
	Schedule int `least:"0" flag:"--schedule N: repeat one of --schedules"`

	reading *project.Reader
}

func (o *simulating) run(ctx context.Context, c *cli, args []string) (err error) {
	if o.Format, err = o.formOf(c, o.Format); err != nil {
		return err
	}
	o.reading = c.newReading()
	var text bytes.Buffer
	to := *c
	if o.Output != "" {
		to.out = terminal.NewScreen(&text)
	}
	err = to.simulate(ctx, o, args[0])
	if text.Len() > 0 {
		err = cmp.Or(c.write(o.Output, text.Bytes()), err)
	}
	return err
}

func (c *cli) simulate(ctx context.Context, o *simulating, name string) error {
	p, input, state, err := o.withValues(c, o.reading, name)
	if err != nil {
		return err
	}
	s := &simulation.Simulation{
		Flags: o.Flags, Screen: c.out, Plan: p.Plan, Simulated: analyzer.Simulate(p.Plan, p.Findings),
	}
	switch {
	case s.Simulated == nil:
		return c.faultyPlan(p, o.Format, statusError)
	case s.Simulated.Conflicts():
		c.note("calls of the plan write over each other (OB401), so its result depends on the order; " +
			"it can be simulated, but not run")
	default:
		c.mentionWarnings(name, p, o.Format)
	}
	if err = cmp.Or(p.Demand(string(o.Digest)), unreadInputs(p.Plan, input)); err != nil {
		return err
	}
	input, state, s.Made = simulation.Generated(p.Plan, input, state, o.Seed)
	if err = session.Fits(p.Plan, input, state); err != nil {
		return err
	}
	s.Options = simulate.Options{
		Options: runtime.Options{Input: input, State: state, Parallel: o.Concurrency},
		Seed:    o.Seed, Schedule: o.Schedule, Fail: o.Fail, Steps: simulate.DefaultSteps(p.Plan),
		Watch: func(int) bool { return ctx.Err() == nil },
	}
	if o.Unbounded {
		s.Options.Steps, s.Options.Unbounded = 0, true
	}
	if isFine, err := s.Run(); err != nil || isFine {
		return err
	}
	return ending(statusFound)
}
