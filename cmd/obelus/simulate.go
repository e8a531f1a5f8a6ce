package main

import (
	"bytes"
	"cmp"
	"context"

	"github.com/obelus-dev/obelus/dot"
	"github.com/obelus-dev/obelus/runtime/project"
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
	Schedules int      `least:"0" flag:"--schedules N: simulate this many other orders of the same work, too"`
	Seed      uint64   `flag:"--seed N: seed of what is left to chance"`
	Seeds     int      `least:"0" most:"100000" flag:"--seeds N: simulate with this many seeds, from --seed on"`
	Schedule  string   `flag:"--schedule N|FILE: replay one of --schedules, or the orders or witness in FILE"`
	Unbounded bool     `flag:"--unbounded: leave nothing out, whatever it costs"`

	reading *project.Reader
}

// timelines are the formats in which a timeline is drawn.
var timelines = map[string]func(*dot.Timeline) string{"mermaid": (*dot.Timeline).Gantt, "svg": (*dot.Timeline).SVG}

func (o *simulating) run(_ context.Context, c *cli, args []string) (err error) {
	if o.Format, err = o.formOf(c, o.Format); err != nil {
		return err
	}
	if timelines[o.Format] != nil && (o.Branches || o.Schedule != "" || o.Schedules+o.Seeds > 0) {
		return usageErr("--format %s draws one simulation", o.Format).
			Advise("--format json writes all; obelus graph -o plan.html draws what happens when a call fails")
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
		err = cmp.Or(c.write(o.Output, text.Bytes()), err)
	}
	return err
}
