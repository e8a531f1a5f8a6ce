package main

import (
	"fmt"
	"io"
	"strconv"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/session"
	"github.com/obelus-dev/obelus/runtime/simulate"
)

// A simulation is one use of the command: the same work once, in several orders, or with several seeds.
type simulation struct {
	*cli
	*simulating
	plan      *plan.Plan
	simulated *analyzer.Simulation
	options   simulate.Options
	generated simulate.MadeUp
	orders    []analyzer.Schedule // of a file
}

func (c *cli) simulate(o *simulating, name string) error {
	p, input, state, err := o.withValues(c, o.reading, name)
	if err != nil {
		return err
	}
	s := &simulation{cli: c, simulating: o, plan: p.Plan, simulated: analyzer.Simulate(p.Plan, p.Findings)}
	switch {
	case s.simulated == nil:
		return c.faultyPlan(p, o.Format, statusError)
	case s.simulated.Conflicts():
		c.note("calls of the plan write over each other (OB401), so its result depends on the order; " +
			"it can be simulated, but not run")
	default:
		c.mentionWarnings(name, p, o.Format)
	}
	if err := p.Demand(string(o.Digest)); err != nil {
		return err
	}
	if err := unreadInputs(p.Plan, input); err != nil {
		return err
	}
	input, state, s.generated = generated(p.Plan, input, state, o.Seed)
	if err := session.Fits(p.Plan, input, state); err != nil {
		return err
	}
	s.options = simulate.Options{
		Options: runtime.Options{Input: input, State: state, Parallel: o.Concurrency},
		Seed:    o.Seed, Fail: o.Fail, Steps: simulate.DefaultSteps(p.Plan), Watch: c.watch,
	}
	if o.Unbounded {
		s.options.Steps, s.options.Unbounded = 0, true
	}
	if o.Branches {
		return s.explore()
	}
	if s.options.Schedule, err = strconv.Atoi(o.Schedule); o.Schedule != "" && (err != nil || s.options.Schedule < 0) {
		if s.orders, err = readOrders(c, o.Schedule, o.reading); err != nil {
			return err
		}
	}
	return s.play()
}

// scenario simulates the plan for the nth time.
func (s *simulation) scenario(n int) (*simulate.Scenario, error) {
	options := s.options
	switch {
	case s.orders != nil:
		options.Schedule = n
		one, err := simulate.Replay(s.simulated, s.orders[n], options)
		if err != nil {
			err = usageErr("--schedule: %v", err)
		}
		return one, err
	case s.Seeds > 0:
		options.Seed += uint64(n)
	default:
		options.Schedule += n
	}
	return simulate.Run(s.simulated, options), nil
}

// A comparison is what several simulations show together.
type comparison struct {
	first, different *simulate.Scenario // different ends otherwise than the first; nil for none
	divergence       *divergence
	ends             map[runtime.RunStatus]int
	played, left     int // left had no room
}

func (s *simulation) play() error {
	all := comparison{ends: map[runtime.RunStatus]int{}}
	steps := 0
	for total := max(1, s.Schedules+1, s.Seeds, len(s.orders)); all.played < total; all.played++ {
		if all.played > 0 && !s.Unbounded &&
			(all.first.Outcome.Reason == simulate.TooLong || steps+all.first.Steps > 2*s.options.Steps) {
			all.left = total - all.played
			break
		}
		one, err := s.scenario(all.played)
		if err != nil {
			return err
		}
		if all.first == nil {
			all.first = one
			if err := s.hasFailing(one); err != nil {
				return err
			}
		} else if all.different == nil && s.Seeds == 0 {
			if all.divergence = s.diverge(all.first, one); all.divergence != nil {
				all.different = one
			}
		}
		steps += one.Steps
		all.ends[one.Outcome.Status]++
		if one == all.first || s.Format == "json" || s.orders != nil {
			if err := s.show(one); err != nil {
				return err
			}
		}
	}
	if err := s.conclude(&all); err != nil {
		return err
	}
	if all.ends[runtime.RunDone] < all.played || all.different != nil {
		return ending(statusFound)
	}
	return nil
}

func (s *simulation) show(one *simulate.Scenario) (err error) {
	switch {
	case s.Format == "json":
		return s.writeEvent(scenarioEventOf(one, s.generated))
	case timelines[s.Format] != nil:
		_, err = io.WriteString(s.out, timelines[s.Format](s.timeline(one)))
		return err
	case one.Schedule > 0 && s.orders != nil:
		fmt.Fprintln(s.out)
	}
	return s.report(one)
}
