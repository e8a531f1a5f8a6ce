package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/obelus-dev/obelus/dot"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/project"
	"github.com/obelus-dev/obelus/runtime/session"
	"github.com/obelus-dev/obelus/runtime/simulate"
)

// rehearsable prepares a plan for rehearsals. Calls that write over each other
// don't stand in the way: that is what a rehearsal may be asked to show.
func (c *cli) rehearsable(name string, reading *project.Reader, format string) (*project.Program, *analyzer.Rehearsal, error) {
	p, err := c.prepared(name, reading)
	if err != nil {
		return nil, nil, err
	}
	r := analyzer.Rehearse(p.Plan, p.Findings)
	if r == nil {
		return nil, nil, c.faultyPlan(p, format, statusError)
	}
	if r.Conflicts() {
		fmt.Fprintf(c.err, "obelus: calls of the plan write over each other (OB401), so what it ends in depends on the order; it can be rehearsed, but not run\n")
	} else {
		c.mentionWarnings(name, p, format)
	}
	return p, r, nil
}

// replays reads the schedules that a file holds.
func (c *cli) replays(name string, reading *project.Reader, r *analyzer.Rehearsal, o simulate.Options) ([]func() (*simulate.Scenario, error), error) {
	values, err := c.mapping(reading, "--schedule", name)
	if err != nil {
		return nil, err
	}
	if witness, ok := values["witness"].(map[string]any); ok {
		values = witness
	}
	list, many := values["schedules"].([]any)
	if !many {
		list = []any{values}
	}
	var plays []func() (*simulate.Scenario, error)
	for i, item := range list {
		text, err := json.Marshal(item)
		if err != nil {
			return nil, err
		}
		var schedule analyzer.Schedule
		strict := json.NewDecoder(bytes.NewReader(text))
		strict.DisallowUnknownFields()
		if err := strict.Decode(&schedule); err != nil || len(schedule.Events) == 0 {
			return nil, usageErr("--schedule: %q doesn't hold a schedule", name).
				Advise("it is {events: [{call, output, path?, fails?}, …]}, or the \"witness\" of an OB401 with two of them under \"schedules\"")
		}
		o := o
		o.Schedule = i
		plays = append(plays, func() (*simulate.Scenario, error) {
			s, err := simulate.Replay(r, schedule, o)
			if err != nil {
				return nil, usageErr("--schedule: %v", err)
			}
			return s, nil
		})
	}
	return plays, nil
}

// itemOf is the end of the name of a call for one item.
var itemOf = regexp.MustCompile(`\[(\d+)\]$`)

// failable reports whether a plan has what is to fail: a tool, a call by its name or path, or an
// item of a call, which is known only when the call runs.
func failable(compiled *plan.Plan, name string) error {
	known := map[string]bool{} // and whether it runs for the items of a list
	var add func(p *plan.Plan, under string, depth int)
	add = func(p *plan.Plan, under string, depth int) {
		for _, call := range p.Calls {
			path := runtime.Path(under, call.Name)
			if _, exists := known[call.ToolName]; !exists {
				known[call.ToolName] = false
			}
			known[call.Name], known[path] = call.Each != nil, call.Each != nil
			if below := p.Delegates[call.Plan()]; below != nil && depth < 8 && len(known) < 100_000 {
				add(below, path, depth+1)
			}
		}
	}
	add(compiled, "", 0)
	callName := itemOf.ReplaceAllString(name, "")
	items, there := known[callName]
	switch {
	case there && (items || callName == name):
		return nil
	case there:
		return usageErr("%q runs once, and not for items: there is no %q", callName, name).Suggest(name, []string{callName})
	}
	return usageErr("no call of the plan is %q or uses that tool", name).Suggest(name, slices.Sorted(maps.Keys(known)))
}

// failed reports an item that --fail names and that there wasn't.
func (r *rehearsal) failed(s *simulate.Scenario) error {
	if r.replaying || s.Outcome.Reason == simulate.TooLong {
		return nil
	}
	for _, name := range r.fail {
		if err := missingItem(s, name); err != nil {
			return err
		}
	}
	return nil
}

func missingItem(s *simulate.Scenario, name string) error {
	callName := itemOf.ReplaceAllString(name, "")
	count := 0
	for i := range s.Calls {
		one := &s.Calls[i]
		if one.Call.ItemOf == nil {
			continue
		}
		if one.Call.Name == name || pathOf(one) == name {
			return nil
		}
		if one.Call.ItemOf.Name == callName || runtime.Path(one.Under, one.Call.ItemOf.Name) == callName {
			count++
		}
	}
	if callName == name {
		return nil
	}
	err := usageErr("there is no %q: %q ran for %s", name, callName, wording.Count(count, "item"))
	if count > 0 {
		err = err.Advise("the last is %q", fmt.Sprintf("%s[%d]", callName, count-1))
	}
	return err
}

// invented completes input and state with samples for what their schemas require and neither the
// plan nor the user gives, nor a call writes.
func invented(p *plan.Plan, input, state map[string]any, seed uint64) (_, _ map[string]any, made simulate.MadeUp) {
	value := func(of *schema.Schema, key string, n int) (any, bool) {
		place := of.At([]schema.Step{schema.Key(key)})
		if place.Schema == nil {
			return nil, false
		}
		return place.Schema.Sample(rand.New(rand.NewPCG(seed, uint64(n))))
	}
	if p.InputSchema != nil {
		there := session.Over(p.Input, input)
		for _, key := range p.InputSchema.Required() {
			if _, ok := there[key]; ok || haveOwn(p.Instances, func(one plan.Instance) any { return one.Input }, key) {
				continue
			}
			if v, ok := value(p.InputSchema, key, len(made.Input)); ok {
				input = session.Over(input, map[string]any{key: v})
				made.Input = append(made.Input, key)
			}
		}
	}
	for _, key := range runtime.Wanting(p, session.Over(p.State, state)) {
		if haveOwn(p.Instances, func(one plan.Instance) any { return one.State }, key) {
			continue
		}
		if v, ok := value(p.StateSchema, key, len(made.Input)+len(made.State)); ok {
			state = session.Over(state, map[string]any{key: v})
			made.State = append(made.State, key)
		}
	}
	return input, state, made
}

// haveOwn reports whether every instance has an input, or a state, of its own.
func haveOwn(instances []plan.Instance, values func(plan.Instance) any, key string) bool {
	return len(instances) > 0 && !slices.ContainsFunc(instances, func(one plan.Instance) bool {
		own, _ := values(one).(map[string]any)
		_, there := own[key]
		return !there
	})
}

// A rehearsal is one use of the command: the same work in one order or in
// several.
type rehearsal struct {
	*cli
	plan      *plan.Plan
	json      bool
	drawn     func(*dot.Timeline) string // how the timeline is drawn; nil for text and JSON
	seeds     bool                       // each play has another
	replaying bool                       // the orders are given, and each is worth showing
	madeUp    simulate.MadeUp
	fail      []string
	ends      map[runtime.RunStatus]int // of the rehearsals, where each has another seed
	plays     []func() (*simulate.Scenario, error)
	steps     int // what all of them may cost; 0 for no bound
	left      int // orders that weren't rehearsed
	most      int // activities that may be at work at once
}

func (r *rehearsal) play() error {
	var first, different *simulate.Scenario
	var usual []byte
	good, steps := true, 0
	for n, play := range r.plays {
		if r.steps > 0 && n > 0 && (first.Outcome.Reason == simulate.TooLong || steps+first.Steps > r.steps) {
			r.left = len(r.plays) - n
			break
		}
		s, err := play()
		if err != nil {
			return err
		}
		if first == nil {
			if err := r.failed(s); err != nil {
				return err
			}
			first, usual = s, fate(s)
		} else if different == nil && !r.seeds && !bytes.Equal(usual, fate(s)) {
			different = s
		}
		steps += s.Steps
		r.ends[s.Outcome.Status]++
		good = good && s.Outcome.Status == runtime.RunDone
		if n == 0 || r.json || r.replaying {
			if err := r.show(s); err != nil {
				return err
			}
		}
	}
	if err := r.conclude(first, different); err != nil {
		return err
	}
	if !good || different != nil {
		return ending(statusFound)
	}
	return nil
}

// fate is all that mustn't depend on the schedule: how every call settled, the
// state, and the output.
func fate(s *simulate.Scenario) []byte {
	statuses := make([]string, len(s.Calls))
	for i := range s.Calls {
		statuses[i] = s.Calls[i].Status.String()
	}
	text, err := json.Marshal([]any{s.Outcome.Status, statuses, s.Outcome.State, s.Outcome.Output, session.ResultsOf(s.Outcome)})
	if err != nil {
		panic(err) // all of it is JSON
	}
	return text
}

// The forms of EXECUTION.md#simulation. Times are in milliseconds of the virtual clock.
type (
	scenarioEvent struct {
		Kind          string                            `json:"kind"` // "scenario"
		Seed          uint64                            `json:"seed"`
		Schedule      int                               `json:"schedule"` // 0 is the first; others are other orders of the same work
		Status        runtime.RunStatus                 `json:"status"`
		Reason        *string                           `json:"reason"`
		Makespan      session.Milliseconds              `json:"makespan"`
		CriticalPath  []string                          `json:"criticalPath"`
		Critical      *string                           `json:"criticalInstance"` // whose calls these are
		LowerBound    session.Milliseconds              `json:"lowerBound"`
		Work          session.Milliseconds              `json:"work"`
		Parallel      int                               `json:"parallel"` // activities at work at once, at most
		Cost          float64                           `json:"cost"`
		Calls         []scenarioCall                    `json:"calls"`
		Output        *any                              `json:"output,omitempty"`
		State         *any                              `json:"state,omitempty"`
		Instances     map[string]session.InstanceResult `json:"instances,omitzero"` // in the place of output and state
		Errors        []runtime.CallError               `json:"errors"`
		Invented      []string                          `json:"invented"`                  // inputs that were made up
		InventedState []string                          `json:"inventedState,omitempty"`   // and keys of the state that it began with
		Problem       *branchProblem                    `json:"problem,omitzero"`          // of a branch: what goes wrong on it
		Branch        []analyzer.BranchChoice           `json:"branch,omitzero"`           // and what comes otherwise there than usual
		Seen          int                               `json:"seen,omitzero"`             // the combinations played that it happens in
		LeftOut       int                               `json:"instancesLeftOut,omitzero"` // for which there was no room
	}
	scenarioCall struct {
		Call     string               `json:"call"`
		Tool     string               `json:"tool"`
		Instance *string              `json:"instance"`
		Under    *string              `json:"under"` // the calls above one of a delegate
		Status   string               `json:"status"`
		Reason   *string              `json:"reason"`
		Error    *session.EventError  `json:"error"`
		Routed   bool                 `json:"routed"`
		Attempts int                  `json:"attempts"`
		Start    session.Milliseconds `json:"start"`
		End      session.Milliseconds `json:"end"`
		Cost     float64              `json:"cost"`
		Output   any                  `json:"output"`
	}
	seedSummary struct {
		Count int `json:"count"`
		Done  int `json:"done"`
	}
	simulationSummary struct {
		Kind          string               `json:"kind"` // "summary"
		Scenarios     int                  `json:"scenarios"`
		Makespan      session.Milliseconds `json:"makespan"`
		CriticalPath  []string             `json:"criticalPath"`
		LowerBound    session.Milliseconds `json:"lowerBound"`
		Cost          float64              `json:"cost"`
		Deterministic bool                 `json:"deterministic"`
		Stuck         int                  `json:"stuck"`            // rehearsals in which calls never settled
		LeftOut       int                  `json:"leftOut,omitzero"` // other orders for which there was no room
		Branches      *branchSummary       `json:"branches,omitzero"`
		Seeds         *seedSummary         `json:"seeds,omitzero"`
		Diverging     *divergence          `json:"diverging,omitzero"` // two orders of the same work that end differently
	}
)

func (r *rehearsal) show(s *simulate.Scenario) error {
	if r.drawn != nil {
		_, err := fmt.Fprint(r.out, r.drawn(r.drawing(s)))
		return err
	}
	if !r.json {
		if s.Schedule > 0 && r.replaying {
			fmt.Fprintln(r.out)
		}
		_, err := fmt.Fprint(r.out, r.report(s))
		return err
	}
	return diag.JSONLine(r.out, r.event(s))
}

// event is a rehearsal as programs read it.
func (r *rehearsal) event(s *simulate.Scenario) scenarioEvent {
	e := scenarioEvent{
		Kind: "scenario", Seed: s.Seed, Schedule: s.Schedule, Status: s.Outcome.Status, Reason: diag.OrNull(s.Outcome.Reason),
		Makespan: session.InMilliseconds(s.Makespan), CriticalPath: names(s, s.CriticalPath), Critical: criticalInstance(s), LowerBound: session.InMilliseconds(s.LowerBound),
		Work: session.InMilliseconds(s.Work), Parallel: s.Peak, Cost: s.Cost,
		Calls: make([]scenarioCall, len(s.Calls)), Instances: session.ResultsOf(s.Outcome), Errors: diag.Listed(s.Outcome.Errors), Invented: diag.Listed(r.madeUp.Input), InventedState: r.madeUp.State, LeftOut: s.Left,
	}
	if e.Instances == nil {
		state := session.LastState(s.Outcome.State)
		e.Output, e.State = &s.Outcome.Output, &state
	}
	for i, call := range s.Calls {
		e.Calls[i] = scenarioCall{
			Call: call.Call.Name, Tool: call.Call.ToolName, Instance: diag.OrNull(call.Instance), Under: diag.OrNull(call.Under), Status: call.Status.String(), Reason: diag.OrNull(call.Reason), Routed: call.Routed,
			Attempts: call.Attempts, Start: session.InMilliseconds(call.From), End: session.InMilliseconds(call.To), Cost: call.Cost, Output: call.Output,
		}
		if f := call.Failure; f != nil {
			e.Calls[i].Error = &session.EventError{Code: f.Code, Message: f.Message, Details: f.Details}
		}
	}
	return e
}

// names are those of calls, a delegate's with the calls above them.
func names(s *simulate.Scenario, calls []int) []string {
	names := make([]string, len(calls))
	for i, call := range calls {
		names[i] = pathOf(&s.Calls[call])
	}
	return names
}

func pathOf(c *simulate.CallReport) string { return runtime.Path(c.Under, c.Call.Name) }

// nameOf is the name of a call for people.
func nameOf(c *simulate.CallReport) string {
	return diag.Escape(strings.TrimPrefix(c.Instance+" "+pathOf(c), " "))
}

// criticalInstance is the one whose calls take the longest; null without
// instances.
func criticalInstance(s *simulate.Scenario) *string {
	if len(s.CriticalPath) == 0 {
		return nil
	}
	return diag.OrNull(s.Calls[s.CriticalPath[0]].Instance)
}

func summaryOf(first *simulate.Scenario) simulationSummary {
	return simulationSummary{
		Kind: "summary", Makespan: session.InMilliseconds(first.Makespan), CriticalPath: names(first, first.CriticalPath), LowerBound: session.InMilliseconds(first.LowerBound), Cost: first.Cost,
	}
}
