package main

import (
	"cmp"
	"context"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/cmd/obelus/internal/simulation"
)

type simulating struct {
	simulation.Flags
	given
	Concurrency int `least:"1" flag:"--concurrency N: parallel activities [the plan's limit, or 64]"`
	Schedule    int `least:"0" flag:"--schedule N: repeat one of --schedules"`
}

func (o *simulating) run(ctx context.Context, c *cli, args []string) error {
	p, err := o.withValues(c, c.newReading(), args[0])
	if err != nil {
		return err
	}
	s := &simulation.Simulation{
		Flags: o.Flags, Screen: c.out, Plan: p.Plan, Simulated: analyzer.Simulate(p.Plan, p.Findings),
	}
	if s.Simulated == nil {
		return c.faultyPlan(p, o.Format, statusError)
	}
	if s.Simulated.Conflicts() {
		c.note("calls of the plan write over each other (OB401), so its result depends on the order; " +
			"it can be simulated, but not run")
	}
	if s.Options, s.Made, err = simulation.Prepare(p.Plan, o.input, o.state, o.Seed); err != nil {
		return err
	}
	s.Options.Parallel, s.Options.Schedule, s.Options.Fail = o.Concurrency, o.Schedule, o.Fail
	s.Options.Abandoned = func() bool { return ctx.Err() != nil }
	if o.Unbounded {
		s.Options.Steps, s.Options.Unbounded = 0, true
	}
	isFine, err := s.Run()
	return cmp.Or(err, endFound(!isFine))
}
