// Package simulation simulates a plan once, in several orders, with several seeds or in all its branches, and reports
// what happened, as text or as events. It reads no files, and starts nothing.
package simulation

import (
	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/cmd/obelus/internal/terminal"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/simulate"
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

// A comparison is what several simulations show together.
type comparison struct {
	first        *simulate.Scenario
	diverging    []int // two schedules that end differently; nil for none
	ends         map[runtime.RunStatus]int
	played, left int // left had no room
}

func (s *Simulation) play() (isFine bool, err error) {
	all := comparison{ends: map[runtime.RunStatus]int{}}
	steps := 0
	for total := max(1, s.Schedules+1, s.Seeds); all.played < total; all.played++ {
		if all.played > 0 && !s.Unbounded &&
			(all.first.Outcome.Reason == simulate.TooLong || steps+all.first.Steps > 2*s.Options.Steps) {
			all.left = total - all.played
			break
		}
		options := s.Options
		if s.Seeds > 0 {
			options.Seed += uint64(all.played)
		} else {
			options.Schedule += all.played
		}
		one := simulate.Run(s.Simulated, options)
		if all.first == nil {
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
		} else if one == all.first {
			s.report(one)
		}
	}
	s.conclude(&all)
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
