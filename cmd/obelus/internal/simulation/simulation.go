// Package simulation simulates a plan once, in several orders, with several seeds or in all its branches, and reports
// what happened, as text or as events. It reads no files, and starts nothing.
package simulation

import (
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/cmd/obelus/internal/terminal"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/resolve"
	"github.com/obelus-dev/obelus/runtime/session"
	"github.com/obelus-dev/obelus/runtime/simulate"
	"github.com/obelus-dev/obelus/runtime/state"
)

// Flags are what is simulated, and how it is reported.
type Flags struct {
	Format    string   `flag:"--format text|json: text, or events"`
	Fail      []string `flag:"--fail NAME: a tool, call or item (fetch#1[2]) that fails every time"`
	Branches  bool     `flag:"--branches: simulate every way in which calls and conditions can end"`
	Schedules int      `least:"0" flag:"--schedules N: simulate this many other orders of the same work, too"`
	Seed      uint64   `flag:"--seed N: seed of what is left to chance"`
	Seeds     int      `least:"0" flag:"--seeds N: simulate with this many seeds, from --seed on"`
	Unbounded bool     `flag:"--unbounded: don't limit steps and combinations"`
}

// A Simulation is one use of the command: the same work once, in several orders, or with several seeds.
type Simulation struct {
	Flags
	*terminal.Screen
	Plan      *plan.Plan
	Simulated *analyzer.Simulation
	Options   simulate.Options
	Made      MadeUp
}

// Run simulates and reports. It isn't fine if a run isn't done, or if two orders end differently.
func (s *Simulation) Run() (isFine bool, err error) {
	if s.Branches {
		return s.explore()
	}
	return s.play()
}

// hasFailing refuses names of --fail that neither the plan has nor its simulation: a tool, or a call or an item by its
// name or path. A call that runs a plan fails only with one of that plan's.
func (s *Simulation) hasFailing(one *simulate.Scenario) error {
	var known []string
	for _, call := range one.Calls {
		if call.Call.ItemOf != nil {
			known = append(known, call.Call.Name)
		}
	}
	for _, p := range append(slices.Collect(maps.Values(s.Plan.AllDelegates())), s.Plan) {
		for _, call := range p.Calls {
			if call.Delegate == "" {
				known = append(known, call.ToolName, call.Name)
			}
		}
	}
	for _, name := range s.Fail {
		if !slices.Contains(known, above.ReplaceAllString(name, "")) {
			return diag.NewError(nil, "no call of the plan that could fail is %q or uses that tool", name).
				Suggest(name, slices.Sorted(slices.Values(known)))
		}
	}
	return nil
}

// above are the calls above one.
var above = regexp.MustCompile(`^.*/`)

// A comparison is what several simulations show together.
type comparison struct {
	first     *simulate.Scenario
	diverging []int // two schedules that end differently; nil for none
	ends      map[runtime.RunStatus]int
	played    int
	left      int // had no room
}

func (s *Simulation) play() (isFine bool, err error) {
	all := comparison{ends: map[runtime.RunStatus]int{}, played: max(1, s.Schedules+1, s.Seeds)}
	steps := 0
	for n := range all.played {
		if n > 0 && !s.Unbounded &&
			(all.first.Outcome.Reason == simulate.TooLong || steps+all.first.Steps > 2*s.Options.Steps) {
			all.played, all.left = n, all.played-n
			break
		}
		options := s.Options
		if s.Seeds > 0 {
			options.Seed += uint64(n)
		} else {
			options.Schedule += n
		}
		one := simulate.Run(s.Simulated, options)
		if n == 0 {
			all.first = one
			if err := s.hasFailing(one); err != nil {
				return false, err
			}
		} else if all.diverging == nil && s.Seeds == 0 && endOf(one) != endOf(all.first) {
			all.diverging = []int{all.first.Schedule, one.Schedule}
		}
		steps += one.Steps
		all.ends[one.Outcome.Status]++
		if s.Format == "json" {
			s.JSON(scenarioEvent(one, s.Made, nil))
		} else if n == 0 {
			s.report(one)
		}
	}
	if s.Format == "json" {
		s.JSON(summaryEvent(all, nil, s.Seeds > 0))
	} else {
		s.conclude(all)
	}
	return all.ends[runtime.RunDone] == all.played && all.diverging == nil, nil
}

// endOf is in what a simulation ends: its state, its output and what became of the calls.
func endOf(one *simulate.Scenario) string {
	instances := map[string]any{}
	for _, end := range one.Outcome.Instances {
		instances[end.ID] = []any{end.State, end.Output}
	}
	calls := make([]runtime.Status, len(one.Calls))
	for i := range calls {
		calls[i] = one.Calls[i].Status
	}
	return terminal.JSON([]any{one.Outcome.Status, one.Outcome.State, one.Outcome.Output, instances, calls}, "")
}

const maxCombinations = 2_000 // are simulated; of more those that differ least from the usual one

// explore simulates the branches of the plan. Its events are the usual scenario, one for each problem, and a summary.
func (s *Simulation) explore() (isFine bool, err error) {
	most := maxCombinations
	if s.Unbounded {
		most = 1 << 40
	}
	found := simulate.Explore(s.Simulated, s.Options, most)
	if err := s.hasFailing(found.Usual); err != nil {
		return false, err
	}
	if s.Format != "json" {
		s.reportBranches(found)
		return len(found.Problems) == 0, nil
	}
	s.JSON(scenarioEvent(found.Usual, s.Made, nil))
	problems := map[simulate.ProblemKind]int{}
	for i := range found.Problems {
		p := &found.Problems[i]
		problems[p.Kind]++
		s.JSON(scenarioEvent(p.Scenario, s.Made, p))
	}
	branches := diag.Ordered{"choices", len(found.Choices), "played", found.Played, "most", found.Most, "complete",
		found.Complete, "problems", problems}.If("idle", found.Idle)
	s.JSON(summaryEvent(comparison{first: found.Usual, played: 1 + len(found.Problems)}, branches, false))
	return len(found.Problems) == 0, nil
}

// scenarioEvent is the JSON of a simulation (EXECUTION.md#simulation), of a branch with what goes wrong there.
func scenarioEvent(s *simulate.Scenario, generated MadeUp, p *simulate.Problem) diag.Ordered {
	ms := session.InMilliseconds
	calls := make([]diag.Ordered, len(s.Calls))
	for i, call := range s.Calls {
		calls[i] = diag.Ordered{"call", call.Call.Name, "tool", call.Call.ToolName, "instance",
			diag.OrNull(call.Instance), "under", diag.OrNull(call.Under), "status", call.Status.String(), "reason",
			diag.OrNull(call.Reason), "error", session.FailureOf(call.Failure), "routed", call.Routed, "attempts",
			call.Attempts, "start", ms(call.From), "end", ms(call.To), "cost", call.Cost, "output", call.Output}
	}
	e := session.ResultOf(s.Outcome, diag.Ordered{"kind", "scenario", "seed", s.Seed, "schedule", s.Schedule, "status",
		s.Outcome.Status, "reason", diag.OrNull(s.Outcome.Reason), "makespan", ms(s.Makespan), "criticalPath",
		Names(s.CriticalPath), "criticalInstance", diag.OrNull(CriticalInstance(s)), "cost", s.Cost, "calls", calls})
	e = append(e, "errors", s.Outcome.Errors, "invented", diag.Listed(generated.Input)).
		If("inventedState", generated.State)
	if p != nil {
		problem := diag.Ordered{"kind", p.Kind, "call", diag.OrNull(p.Call), "message", p.Message}
		e = append(e, "problem", problem, "branch", diag.Listed(p.Path), "seen", p.Seen)
	}
	return e
}

func summaryEvent(all comparison, branches diag.Ordered, isOverSeeds bool) diag.Ordered {
	seeds, diverging := diag.Ordered(nil), diag.Ordered(nil)
	if isOverSeeds {
		seeds = diag.Ordered{"count", all.played, "done", all.ends[runtime.RunDone]}
	}
	if all.diverging != nil {
		diverging = diag.Ordered{"schedules", all.diverging}
	}
	return diag.Ordered{"kind", "summary", "scenarios", all.played, "makespan",
		session.InMilliseconds(all.first.Makespan), "criticalPath", Names(all.first.CriticalPath), "cost",
		all.first.Cost, "deterministic", all.diverging == nil}.
		If("leftOut", all.left).If("branches", branches).If("seeds", seeds).If("diverging", diverging)
}

// Names are those of calls, a delegate's with the calls above them.
func Names(calls []*simulate.CallReport) []string {
	names := make([]string, len(calls))
	for i, call := range calls {
		names[i] = runtime.Path(call.Under, call.Call.Name)
	}
	return names
}

// CriticalInstance is the one that ends last; "" without instances.
func CriticalInstance(s *simulate.Scenario) string {
	if len(s.CriticalPath) == 0 {
		return ""
	}
	return s.CriticalPath[0].Instance
}

// MadeUp are the keys of input and state that were generated.
type MadeUp struct{ Input, State []string }

// Prepare completes input and initial state with samples for what their schemas require and nothing else provides.
func Prepare(p *plan.Plan, input, initial map[string]any, seed uint64) (o simulate.Options, made MadeUp, err error) {
	count := uint64(0)
	add := func(to map[string]any, of *schema.Schema, key string, keys *[]string, own func(plan.Instance) any) {
		lacksIt := func(one plan.Instance) bool {
			values, _ := own(one).(map[string]any)
			_, exists := values[key]
			return !exists
		}
		at := of.Part(key)
		if at.Schema == nil || len(p.Instances) > 0 && !slices.ContainsFunc(p.Instances, lacksIt) {
			return
		}
		if value, ok := at.Schema.Sample(rand.New(rand.NewPCG(seed, count))); ok {
			count++
			*keys, to[key] = append(*keys, key), value
		}
	}
	ofInput, ofState := resolve.Missing(p, state.Over(p.Input, input), state.Over(p.State, initial))
	input, initial = state.Over(input), state.Over(initial)
	for _, key := range ofInput {
		add(input, p.InputSchema, key, &made.Input, func(one plan.Instance) any { return one.Input })
	}
	for _, key := range ofState {
		add(initial, p.StateSchema, key, &made.State, func(one plan.Instance) any { return one.State })
	}
	o = simulate.Options{Options: runtime.Options{Input: input, State: initial}, Seed: seed,
		Steps: simulate.DefaultSteps(p), Generated: made.Input}
	return o, made, session.Fits(p, input, initial, false)
}
