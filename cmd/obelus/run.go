package main

import (
	"cmp"
	"context"

	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/project"
	"github.com/obelus-dev/obelus/runtime/session"
)

// starting is a run that begins.
type starting struct {
	running
	given
	concurrencyFlag
	Planner   string   `flag:"--planner PLANNER: who writes the calls: none, replay:FILE, openai:MODEL or anthropic:MODEL"`
	Model     string   `flag:"--model MODEL: who answers calls without an activity: replay:FILE, openai:MODEL, anthropic:MODEL"`
	Record    string   `flag:"--record DIR: write the model's answers (solutions.json) and each tick (tick-N.json)"`
	Instances string   `flag:"--instances FILE.jsonl: run over these instances, too: {\"id\", \"state\"?, \"input\"?} a line"`
	Out       string   `flag:"--out FILE.jsonl: write the result of each instance, one a line"`
	Continue  bool     `flag:"--continue: skip calls whose output is in the initial state"`
	Digest    demanded `flag:"--digest sha256:…: run only the plan with this digest, and compare files before each start"`
	Approved  bool     `flag:"--require-approval: run the plan only as it was approved (obelus approve)"`
	Approval  string   `flag:"--approval FILE: the approval [plan.approval.json beside plan.yaml]"`
	Envelope  string   `flag:"--envelope FILE: limit the run to what FILE permits"`
	Unbounded bool     `flag:"--unbounded: don't limit what expressions compute"`
	NoJournal bool     `flag:"--no-journal: keep no journal; the run can't be resumed"`
}

func (o *starting) run(ctx context.Context, c *cli, args []string) error {
	if err := cmp.Or(o.fitting(), o.check(c)); err != nil {
		return err
	}
	reading := c.newReading()
	reading.Machine, reading.Instances = project.ThisMachine, o.Instances != ""
	input, state, err := o.values(c, reading, args[0])
	if err != nil {
		return err
	}
	if reading.Envelope, err = c.envelope(o.Envelope); err != nil {
		return err
	}
	p, err := c.sound(args[0], reading, o.Format)
	if err != nil {
		return err
	}
	if err := o.fit(p.Plan, input, state, o.Planner != "none"); err != nil {
		return err
	}
	if o.Out != "" && o.Instances == "" && len(p.Plan.Instances) == 0 {
		return usageErr("--out is for runs over instances, and the plan has none").Advise("--format json shows the result of any run")
	}
	options := session.Options{
		Options: runtime.Options{
			Input: input, State: state, Parallel: o.Concurrency, Continue: o.Continue, Unbounded: o.Unbounded, Envelope: reading.Envelope,
		},
		Record: o.Record, Instances: o.Instances, Results: o.Out, Digest: string(o.Digest), Model: o.Model,
	}
	if options.Confirm, err = o.begin(c); err != nil {
		return err
	}
	options.Host = c.host(&o.running)
	if o.Planner != "none" {
		options.PlannerName = o.Planner
	}
	if options.Approval, err = o.required(o.Approved, o.Approval, args[0], reading); err != nil {
		return err
	}
	if options.Approval != nil && !c.changed("confirm") {
		options.Confirm.Policy = ""
	}
	if !o.NoJournal {
		if options.Runs, err = c.runsFolder(); err != nil {
			return err
		}
	}
	s, err := session.Begin(p, options)
	if err != nil {
		return err
	}
	return c.run(ctx, s, &o.running)
}

// fitting refuses flags that don't go together.
func (o *starting) fitting() error {
	switch {
	case o.Instances == "-":
		return usageErr("--instances can't be standard input").Advise("write the instances to a file: a run that is resumed reads it again")
	case o.Out == "-":
		return usageErr("--out can't be standard output").Advise("--format json shows the result of each instance there")
	case o.Model != "" && o.Planner != "none":
		return usageErr("--model and --planner can't be given together").Advise("a planner answers such calls itself")
	case o.Continue && o.Planner != "none":
		return usageErr("--continue and --planner can't be given together").Advise("a planner sees the state, and continues from there by itself")
	}
	return nil
}
