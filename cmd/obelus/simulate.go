package main

import (
	"cmp"
	"context"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/cmd/obelus/internal/simulation"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/session"
	"github.com/obelus-dev/obelus/runtime/simulate"
)

// simulating is a simulation: its flags, and what it reads.
type simulating struct {
	simulation.Flags
	given
	concurrencyFlag
	Schedule int `least:"0" flag:"--schedule N: repeat one of --schedules"`
}

func (o *simulating) run(ctx context.Context, c *cli, args []string) error {
	p, err := o.withValues(c, c.newReading(), args[0])
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
		c.mentionWarnings(args[0], p, o.Format)
	}
	var input, state map[string]any
	input, state, s.Made = simulation.Generated(p.Plan, o.input, o.state, o.Seed)
	if err = session.Fits(p.Plan, input, state, false); err != nil {
		return err
	}
	s.Options = simulate.Options{
		Options: runtime.Options{Input: input, State: state, Parallel: o.Concurrency}, Generated: s.Made.Input,
		Seed: o.Seed, Schedule: o.Schedule, Fail: o.Fail, Steps: simulate.DefaultSteps(p.Plan),
		Abandoned: func() bool { return ctx.Err() != nil },
	}
	if o.Unbounded {
		s.Options.Steps, s.Options.Unbounded = 0, true
	}
	isFine, err := s.Run()
	return cmp.Or(err, endFound(!isFine))
}
