package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/project"
	"github.com/obelus-dev/obelus/runtime/session"
)

// mostSchedules is how many other orders are rehearsed for an answer.
const mostSchedules = 100

func (a *asked) mcpSimulate(in simulateGiven) (reply, error) {
	r, name, err := a.reads(in.planGiven)
	if err != nil {
		return reply{}, err
	}
	switch {
	case in.Schedules < 0 || in.Schedules > mostSchedules:
		return reply{}, usageErr("\"schedules\" can't be %d: expected a whole number from 0 to %d", in.Schedules, mostSchedules)
	case in.Schedules > 0 && in.Branches:
		return reply{}, usageErr("\"branches\" and \"schedules\" can't be given together: each is another set of rehearsals")
	}
	input, state, err := in.read(r)
	if err != nil {
		return reply{}, err
	}
	o := &simulating{
		reading: r, given: given{input: input, state: state}, concurrencyFlag: in.concurrencyFlag, chancesFlags: in.chancesFlags,
		Format: "json", Seed: 1,
	}
	if in.Seed != nil {
		o.Seed = uint64(*in.Seed)
	}
	o.watch = func(int) bool {
		a.advance("rehearsing")
		return a.ctx.Err() == nil
	}
	var ended ending
	if err := a.simulate(o, name); err != nil && (!errors.As(err, &ended) || ended != statusFound) {
		return reply{}, err
	}
	rehearsed, summary := a.lines()
	return simulationReply(rehearsed, summary, in.pageGiven, a.notes.String()), nil
}

// read gives input and state as files would: within the limits of values, and with whole numbers as
// such.
func (g *valuesGiven) read(r *project.Reader) (input, state map[string]any, err error) {
	if g.Concurrency < 0 {
		return nil, nil, usageErr("\"parallel\" can't be %d: expected a whole number from 1", g.Concurrency)
	}
	read := func(name string, values map[string]any) (map[string]any, error) {
		if values == nil {
			return nil, nil
		}
		text, err := json.Marshal(values)
		if err != nil {
			return nil, err
		}
		return valuesOf("\""+name+"\"", source.NewFile(name+".json", text), r.Limits)
	}
	if input, err = read("input", g.Input); err == nil {
		state, err = read("state", g.State)
	}
	return input, state, err
}

// simulationReply is the answer about simulated runs: all of the first, and of others what goes
// wrong in them.
func simulationReply(simulated []map[string]any, summary map[string]any, p pageGiven, notes string) reply {
	usual := simulated[0]
	value := map[string]any{"scenario": usual, "summary": reduced(summary)}
	var problems []map[string]any
	for _, one := range simulated[1:] {
		if one["problem"] != nil {
			of := map[string]any{}
			for _, key := range []string{"problem", "branch", "seen", "status", "errors"} {
				of[key] = one[key]
			}
			problems = append(problems, reduced(of))
		}
	}
	var left leftOut
	calls, _ := usual["calls"].([]any)
	if len(problems) > 0 {
		value["problems"], left = portion(problems, p)
		p = pageGiven{}
	}
	for i := range calls {
		calls[i] = reduced(calls[i].(map[string]any))
	}
	shown, more := portion(calls, p)
	if left.count == 0 {
		left = more
	}
	delete(usual, "calls")
	reduced(usual)["calls"] = shown
	if same, ok := summary["deterministic"].(bool); ok && !same {
		notes += "other orders of the same work end differently\n"
	}
	headline := fmt.Sprintf("%s%v after %v ms of virtual time, cost %v", notes, usual["status"], usual["makespan"], usual["cost"])
	return left.answer(headline, value)
}

// answer is a reply that says for who reads text how many entries are left out, and has its value as JSON.
func (l leftOut) answer(headline string, value map[string]any) reply {
	text, _ := json.Marshal(value) // all of it was JSON
	return reply{l.in(value), wording.Cut(headline+"\n"+l.words("")+diag.Escape(string(text)), mostAnswer)}
}

// reduced is an object with the beginnings of long texts and lists in it.
func reduced(object map[string]any) map[string]any {
	for key, value := range object {
		if list, ok := value.([]any); ok && len(list) > usualEntries {
			object[key], object["more "+key] = list[:usualEntries], len(list)-usualEntries
			value = object[key]
		}
		if text, err := json.Marshal(value); err == nil && len(text) > longestResult {
			object[key] = wording.Cut(string(text), longestResult)
		}
	}
	return object
}

// mcpRun runs a plan as it was approved. Nobody is asked: a call that leaves the approval
// stops the run.
func (a *asked) mcpRun(in runGiven) (reply, error) {
	if in.Path == "" {
		return reply{}, usageErr("there is no plan").Advise("name a file of the workspace that was approved as \"path\"")
	}
	r, name, err := a.reads(planGiven{Path: in.Path})
	if err != nil {
		return reply{}, err
	}
	r.Machine = project.ThisMachine
	p, err := a.sound(name, r, "json")
	if err != nil {
		return reply{}, err
	}
	input, state, err := in.read(r)
	if err != nil {
		return reply{}, err
	}
	if err := unreadInputs(p.Plan, input); err != nil {
		return reply{}, err
	}
	o := session.Options{
		Options: runtime.Options{Input: input, State: state, Parallel: in.Concurrency, Envelope: r.Envelope}, Host: a.host(&running{}), Digest: in.Digest,
	}
	if o.Approval, err = a.server.required(true, "", name, r); err != nil {
		return reply{}, err
	}
	if o.Runs, err = a.runsFolder(); err != nil {
		return reply{}, err
	}
	s, err := session.Begin(p, o)
	if err != nil {
		return reply{}, err
	}
	defer s.Close()
	events := session.NewEvents(&a.said, s.Journal())
	s.Observer = advancing{events, a}
	result, err := s.Run(a.ctx)
	if result == nil {
		return reply{}, err
	}
	if err := events.End(result.Outcome); err != nil {
		return reply{}, err
	}
	return a.ranAs(in.pageGiven, s.ID()), nil
}

// ranAs reports how a run went, by its events.
func (a *asked) ranAs(p pageGiven, id string) reply {
	var settled []map[string]any
	var end map[string]any
	lines, _ := a.lines()
	for _, event := range lines {
		switch {
		case event["event"] == "end":
			end = reduced(event)
		case event["event"] == "call" && event["status"] != "started", event["event"] == "ask":
			settled = append(settled, reduced(event))
		}
	}
	end["run"] = id
	shown, left := portion(settled, p)
	headline := fmt.Sprintf("%v: run %s", end["status"], id)
	if slices.ContainsFunc(settled, func(e map[string]any) bool { return e["event"] == "ask" }) {
		headline += "\nits approval doesn't cover a call: a person answers with \"obelus decide " + id + "\""
	}
	return left.answer(headline, map[string]any{"events": shown, "end": end})
}

// advancing reports progress of a run to the client.
type advancing struct {
	*session.Events
	a *asked
}

func (o advancing) Observe(at time.Duration, c runtime.Command) {
	switch c.Kind {
	case runtime.Progressed:
		o.a.advance("running")
		return // it isn't in the answer
	case runtime.Start, runtime.Settle:
		o.a.advance("running")
	}
	o.Events.Observe(at, c)
}
