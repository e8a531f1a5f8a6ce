package main

import (
	"bytes"
	"cmp"
	"context"
	"strconv"

	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/project"
	"github.com/obelus-dev/obelus/runtime/session"
	"github.com/obelus-dev/obelus/runtime/simulate"
)

// simulating is a simulation: its flags, and what it reads.
type simulating struct {
	Format string `flag:"--format text|json|mermaid|svg: text, events, or a timeline; the ending of -o names it, too"`
	outputFlag
	Digest demanded `flag:"--digest sha256:…: simulate only the plan with this digest"`
	given
	concurrencyFlag
	Fail      []string `flag:"--fail NAME: a tool, call or item (fetch#1[2]) that fails every time"`
	Branches  bool     `flag:"--branches: simulate every way in which calls and conditions can end"`
	Schedules int      `flag:"--schedules N: simulate this many other orders of the same work, too"`
	Seed      uint64   `flag:"--seed N: seed of what is left to chance"`
	Seeds     int      `flag:"--seeds N: simulate with this many seeds, from --seed on"`
	Schedule  string   `flag:"--schedule N|FILE: replay one of --schedules, or the orders or witness in FILE"`
	Unbounded bool     `flag:"--unbounded: leave nothing out, whatever it costs"`

	reading *project.Reader
}

func (o *simulating) run(_ context.Context, c *cli, args []string) (err error) {
	if o.Format, err = formOf(o.Format, o.Output, c.changed("format")); err != nil {
		return err
	}
	if o.Schedules < 0 {
		return usageErr("--schedules can't be %d: expected a whole number from 0", o.Schedules)
	}
	if o.Seeds < 0 || o.Seeds > 100_000 {
		return usageErr("--seeds can't be %d: expected a whole number from 0 to 100000", o.Seeds)
	}
	if _, known := drawings[o.Format]; !known && o.Format != "json" && o.Format != "text" {
		return usageErr("simulate doesn't write %s", o.Format).Advise("draw the plan with obelus graph")
	} else if known && (o.Branches || o.Schedule != "" || o.Schedules+o.Seeds > 0) {
		return usageErr("--format %s draws one rehearsal", o.Format).Advise("--format json writes all; obelus graph -o plan.html draws what happens when a call fails")
	}
	if err := o.check(c); err != nil {
		return err
	}
	o.reading = c.newReading()
	if o.Output == "" {
		return c.simulate(o, args[0])
	}
	var text bytes.Buffer
	to := *c
	to.out = &text
	err = to.simulate(o, args[0])
	if text.Len() > 0 {
		if bad := c.write(o.Output, text.Bytes()); bad != nil {
			return bad
		}
	}
	return err
}

func (c *cli) simulate(o *simulating, name string) error {
	input, state, err := o.values(c, o.reading, name)
	if err != nil {
		return err
	}
	p, prepared, err := c.rehearsable(name, o.reading, o.Format)
	if err != nil {
		return err
	}
	if err := p.Demand(string(o.Digest)); err != nil {
		return err
	}
	if err := o.settle(p.Plan, input); err != nil {
		return err
	}
	if err := unreadInputs(p.Plan, input); err != nil {
		return err
	}
	input, state, madeUp := invented(p.Plan, input, state, o.Seed)
	if err := session.Fits(p.Plan, input, state); err != nil {
		return err
	}
	for _, name := range o.Fail {
		if err := failable(p.Plan, name); err != nil {
			return err
		}
	}
	each := simulate.Options{Options: runtime.Options{Input: input, State: state, Parallel: o.Concurrency}, Seed: o.Seed, Fail: o.Fail, Steps: simulate.DefaultSteps(p.Plan), Watch: c.watch}
	if o.Unbounded {
		each.Steps, each.Unbounded = 0, true
	}
	r := rehearsal{cli: c, plan: p.Plan, json: o.Format == "json", drawn: drawings[o.Format], madeUp: madeUp, fail: o.Fail, ends: map[runtime.RunStatus]int{}, steps: 2 * each.Steps, most: cmp.Or(o.Concurrency, p.Plan.Limits.Together())}
	if o.Branches {
		return r.explore(prepared, each)
	}
	number, err := strconv.Atoi(o.Schedule)
	numbered := err == nil && number >= 0
	r.seeds = o.Seeds > 0
	for n := range max(o.Schedules+1, o.Seeds) {
		each := each
		if each.Schedule = n; numbered {
			each.Schedule = number
		}
		if r.seeds {
			each.Schedule, each.Seed = 0, o.Seed+uint64(n)
		}
		r.plays = append(r.plays, func() (*simulate.Scenario, error) { return simulate.Run(prepared, each), nil })
	}
	if o.Schedule != "" && !numbered {
		r.replaying = true
		if r.plays, err = c.replays(o.Schedule, o.reading, prepared, each); err != nil {
			return err
		}
	}
	return r.play()
}
