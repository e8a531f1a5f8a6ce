package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
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
	case in.Parallel < 0:
		return reply{}, usageErr("\"parallel\" can't be %d: expected a whole number from 1", in.Parallel)
	}
	input, state, err := valuesGiven(r, in.Input, in.State)
	if err != nil {
		return reply{}, err
	}
	o := simulating{reading: r, given: &given{input: input, state: state, parallel: in.Parallel}, format: "json", seed: 1, schedules: in.Schedules, fail: in.Fail, branches: in.Branches}
	if in.Seed != nil {
		o.seed = uint64(*in.Seed)
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

// valuesGiven are input and state as files would give them: within the limits of values, and
// with whole numbers as such.
func valuesGiven(r *reading, in, at map[string]any) (input, state map[string]any, err error) {
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
	if input, err = read("input", in); err == nil {
		state, err = read("state", at)
	}
	return input, state, err
}

// simulationReply is the answer about simulated runs: all of the first, and of others what goes
// wrong in them.
func simulationReply(rehearsed []map[string]any, summary map[string]any, p pageGiven, notes string) reply {
	usual := rehearsed[0]
	value := map[string]any{"scenario": usual, "summary": reduced(summary)}
	var problems []map[string]any
	for _, one := range rehearsed[1:] {
		if one["problem"] != nil {
			problems = append(problems, reduced(map[string]any{"problem": one["problem"], "branch": one["branch"], "seen": one["seen"], "status": one["status"], "errors": one["errors"]}))
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
	usual = reduced(usual)
	usual["calls"] = shown
	value["scenario"] = usual

	var text strings.Builder
	text.WriteString(notes)
	fmt.Fprintf(&text, "%v after %v ms of virtual time, cost %v", usual["status"], usual["makespan"], usual["cost"])
	if reason, ok := usual["reason"].(string); ok {
		text.WriteString(": " + diag.Escape(reason))
	}
	add := func(what string, value any) {
		words, _ := json.Marshal(value)
		text.WriteString("\n" + what + ": " + diag.Escape(string(words)))
	}
	for _, call := range shown {
		add("call", call)
	}
	if more.count > 0 {
		fmt.Fprintf(&text, "\n… and %d more calls", more.count)
	}
	add("output", usual["output"])
	if summary["branches"] != nil {
		add("branches", summary["branches"])
	}
	for _, one := range problems[:min(len(problems), usualEntries)] {
		add("problem", one)
	}
	if same, ok := summary["deterministic"].(bool); ok && !same {
		text.WriteString("\nother orders of the same work end differently")
	}
	if left.count > 0 {
		text.WriteString("\n" + strings.TrimSpace(left.words("")))
	}
	return reply{left.in(value), wording.Cut(text.String(), mostAnswer)}
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

// runGiven is what the tool run takes.
type runGiven struct {
	pageGiven
	Path     string         `json:"path" jsonschema:"a file of the workspace, by its path from the root; its approval lies beside it"`
	Digest   string         `json:"digest,omitempty" jsonschema:"run the plan of this digest or nothing"`
	Input    map[string]any `json:"input,omitempty" jsonschema:"input values, over the plan's own"`
	State    map[string]any `json:"state,omitempty" jsonschema:"a state to start from, where the approval is of one"`
	Parallel int            `json:"parallel,omitempty" jsonschema:"how many activities may run at once"`
}

// mcpRun runs a plan as it was approved. Nobody is asked: a call that leaves the approval
// stops the run.
func (a *asked) mcpRun(in runGiven) (reply, error) {
	if in.Path == "" {
		return reply{}, usageErr("there is no plan").Advise("name a file of the workspace that was approved as \"path\"")
	}
	if in.Parallel < 0 {
		return reply{}, usageErr("\"parallel\" can't be %d: expected a whole number from 1", in.Parallel)
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
	input, state, err := valuesGiven(r, in.Input, in.State)
	if err != nil {
		return reply{}, err
	}
	if err := unreadInputs(p.Plan, input); err != nil {
		return reply{}, err
	}
	runs := a.server.run
	o := session.Options{
		Options: runtime.Options{Input: input, State: state, Parallel: in.Parallel, Envelope: r.Envelope}, Host: a.host(&runs), Digest: in.Digest,
	}
	if o.Approval, err = runs.required(true, "", name, r); err != nil {
		return reply{}, err
	}
	if o.Runs, err = runs.runsFolder(); err != nil {
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
	calls, _ := json.Marshal(end["calls"])
	text := fmt.Sprintf("%v; calls %s", end["status"], calls)
	for _, key := range []string{"reason", "why"} {
		if words, ok := end[key].(string); ok {
			text += "; " + diag.Escape(words)
		}
	}
	if errs, _ := end["errors"].([]any); len(errs) > 0 {
		words, _ := json.Marshal(errs)
		text += "; errors " + diag.Escape(string(words))
	}
	output, _ := json.Marshal(end["output"])
	text += "\noutput: " + diag.Escape(string(output)) + "\nrun " + id
	if slices.ContainsFunc(settled, func(e map[string]any) bool { return e["event"] == "ask" }) {
		text += "\nit asks what its approval doesn't say: a person answers with \"obelus decide " + id + "\""
	}
	return reply{left.in(map[string]any{"events": shown, "end": end}), wording.Cut(text+"\n"+left.words(""), mostAnswer)}
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
