package main

import (
	"context"
	"encoding/json"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/analyzer/permit"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/planner"
	"github.com/obelus-dev/obelus/runtime/project"
	"github.com/obelus-dev/obelus/runtime/session"
)

type starting struct {
	running
	given
	Concurrency int  `least:"1" flag:"--concurrency N: parallel activities [the plan's limit, or 64]"`
	PlanOnly    bool `flag:"--plan-only: write the plan that the planner makes, and run none of it"`
	outputFlag
	Planner   string `flag:"--planner PLANNER: who writes calls: none, replay:FILE, openai:MODEL, anthropic:MODEL"`
	Model     string `flag:"--model MODEL: who answers latent calls: replay:FILE, openai:MODEL, anthropic:MODEL"`
	Record    string `flag:"--record DIR: write the model's answers (solutions.json) and each tick (tick-N.json)"`
	Instances string `flag:"--instances FILE.jsonl: further instances: {\"id\", \"state\"?, \"input\"?} a line"`
	Out       string `flag:"--out FILE.jsonl: write the result of each instance, one a line"`
	Writes    string `flag:"--writes plan|last|once: which writes of a path count"`
	Terminate string `flag:"--terminate plan|output|calls: what a planned run ends with"`
	Continue  bool   `flag:"--continue: skip calls whose output is in the initial state"`
	Digest    string `flag:"--digest sha256:…: run only this plan, and compare its files before each start"`
	Approved  bool   `flag:"--require-approval: run the plan only as it was approved (obelus approve)"`
	Approval  string `flag:"--approval FILE: the approval [plan.approval.json beside plan.yaml]"`
	Permit    string `flag:"--permit FILE: limit the run to what FILE permits"`
	Unbounded bool   `flag:"--unbounded: don't limit what expressions compute"`
	NoJournal bool   `flag:"--no-journal: keep no journal; the run can't be resumed"`

	draft planner.Draft // of --plan-only
}

func (o *starting) run(ctx context.Context, c *cli, args []string) error {
	if o.PlanOnly || o.Output != "" {
		return o.plan(ctx, c, args[0])
	}
	s, err := o.start(c, args[0], c.newReading())
	if err != nil {
		return err
	}
	return c.run(ctx, s, &o.running)
}

func (o *starting) start(c *cli, name string, reading *project.Reader) (*session.Session, error) {
	if reading.Instances = o.Instances != ""; !o.PlanOnly {
		reading.Machine = &analyzer.Machine{}
	}
	if o.Writes != "plan" {
		reading.Override.Writes = o.Writes
	}
	if o.Terminate != "plan" {
		if o.Planner == "none" {
			return nil, usageErr("--terminate is for a run with a --planner")
		}
		reading.Override.Terminate = plan.Terminate(o.Terminate)
	}
	var err error
	if reading.Permit, err = c.permit(o.Permit); err != nil {
		return nil, err
	}
	p, err := o.withValues(c, reading, name)
	if err != nil {
		return nil, err
	}
	if p.Verified == nil {
		return nil, c.faultyPlan(p, o.Format, statusError)
	}
	if o.Out == "-" || o.Out != "" && o.Instances == "" && len(p.Plan.Instances) == 0 {
		return nil, usageErr("--out is a file for the results of a run over instances").
			Advise("--format json shows the result of any run")
	}
	options := session.Options{
		Options: runtime.Options{
			Input: o.input, State: o.state, Parallel: o.Concurrency, Continue: o.Continue, Unbounded: o.Unbounded,
			Permit: reading.Permit,
		},
		Record: o.Record, Instances: o.Instances, Results: o.Out, Digest: o.Digest, Model: o.Model,
	}
	if options.Confirm, options.Host, err = o.begin(c); err != nil {
		return nil, err
	}
	if o.Planner != "none" {
		options.PlannerName = o.Planner
	}
	if o.PlanOnly {
		options.Draft = &o.draft
		return session.Begin(p, options)
	}
	if options.Approval, err = o.required(p, reading, o.Approved, o.Approval); err != nil {
		return nil, err
	}
	if options.Approval != nil && !c.changed("confirm") {
		options.Confirm.Policy = ""
	}
	if !o.NoJournal {
		if options.Runs, err = c.runsFolder(); err != nil {
			return nil, err
		}
	}
	return session.Begin(p, options)
}

func (c *cli) permit(name string) (*permit.Permit, error) {
	if name == "" {
		return nil, nil
	}
	text, err := c.newReading().Text(name)
	if err != nil {
		return nil, err
	}
	var shown struct{ Envelope json.RawMessage }
	if json.Unmarshal(text, &shown) == nil && shown.Envelope != nil { // as approve shows it, among other things
		text = shown.Envelope
	}
	p, err := permit.Read(text)
	if err != nil {
		return nil, usageErr("--permit: %q holds no permit: %v", name, err).
			Advise("\"obelus approve PLAN --show --format json\" writes one; its --allow FILE adds calls")
	}
	return p, nil
}
