package pages

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/analyzer/facts"
	"github.com/obelus-dev/obelus/cmd/obelus/internal/simulation"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/dot"
	"github.com/obelus-dev/obelus/dot/page"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/project"
	"github.com/obelus-dev/obelus/runtime/session"
	"github.com/obelus-dev/obelus/runtime/simulate"
)

// What a page has room for: nodes of its drawing, and events of simulations in which
// something goes otherwise.
const (
	Nodes      = 2_000
	Edges      = 8_000
	pageEvents = 20_000

	pageSimulations = 300
)

// OfRun draws the run of a journal, with the details of a page, which marks
// itself what happened.
func OfRun(path string, activities []string, o dot.Options, paged bool) (*page.Page, error) {
	r, err := ReadRun(path, activities)
	if err != nil {
		return nil, err
	}
	look, happened := r.Look, newExecution()
	r.ShowEvents(happened)
	if err := happened.End(r.Outcome()); err != nil {
		return nil, err
	}
	one := happened.page(look.Program, look.Manifest.Options.Planned, o)
	one.Kind, one.Scenarios = page.Run, []page.Scenario{{Name: look.Run, Events: happened.lines}}
	one.View.Name = cmp.Or(one.View.Name, "plan") + ": " + diag.Escape(look.Run)
	one.View.Notes = append(one.View.Notes,
		fmt.Sprintf("a run begun on %s, %s", look.Manifest.Started.UTC().Format(time.DateTime), look.Status))
	if !paged {
		happened.mark(&one.View)
	}
	return one, nil
}

// page is that of what happened: of the plan, or of those of all ticks of a planned run.
func (c *execution) page(p *project.Program, planned bool, o dot.Options) *page.Page {
	if !planned {
		return &page.Page{View: dot.FromPlan(p.Plan, p.Findings, o),
			Parts: []page.Part{{Plan: p.Plan, Facts: facts.Of(p.Plan, facts.Options{}), Findings: p.Findings}}}
	}
	one := &page.Page{}
	views := make([]dot.View, 0, len(c.plans))
	for _, tick := range slices.Sorted(maps.Keys(c.plans)) {
		of := c.plans[tick]
		for len(views) < tick-1 {
			views = append(views, dot.View{})
		}
		views = append(views, dot.FromPlan(of, nil, o))
		one.Parts = append(one.Parts,
			page.Part{Prefix: fmt.Sprintf("%d:", tick), Plan: of, Facts: facts.Of(of, facts.Options{Planned: true})})
	}
	one.View = dot.Steps(views, c.step)
	one.View.Name = diag.Escape(p.Plan.Name)
	return one
}

// OfPlan is the page of a plan, with simulations of it: as it usually goes, what comes when
// each thing goes otherwise, and when several do.
func OfPlan(p *project.Program, view dot.View) (*page.Page, error) {
	one := &page.Page{View: view, Kind: page.Simulation,
		Parts: []page.Part{{Plan: p.Plan, Facts: facts.Of(p.Plan, facts.Options{}), Findings: p.Findings}}}
	r := analyzer.Simulate(p.Plan, p.Findings)
	if r == nil {
		return one, nil
	}
	found, input := Explored(p.Plan, r)
	if session.Fits(p.Plan, input, nil) != nil {
		return one, nil // nobody can say what it would be given
	}
	return one, simulated(one, found)
}

// simulated adds the simulated runs of an exploration to a page: the usual one, and those in
// which a call fails or a condition changes.
func simulated(one *page.Page, found *simulate.Exploration) (err error) {
	events, crowded := 0, 0
	left := found.Alternatives(pageSimulations, func(a *simulate.Alternative) bool {
		s, n := a.Scenario, len(a.Path)
		if events += len(s.Moments); n > 0 && events > pageEvents {
			if !a.Together {
				crowded++
			}
			return false
		}
		of := page.Scenario{
			Name: strings.Join(simulation.InWords(a.Path), ", "), Picks: a.Picks, Together: a.Together,
			Critical: simulation.Names(s, s.CriticalPath), Cost: s.Cost,
		}
		if id := simulation.CriticalInstance(s); id != nil {
			of.Instance = *id
		}
		if n > 0 && a.Path[n-1].Fails {
			of.Fails = a.Path[n-1].Call
		}
		of.Events, err = eventsOf(s, n == 0)
		one.Scenarios = append(one.Scenarios, of)
		return err == nil
	})
	one.Left = left + crowded
	for _, options := range found.Choices() {
		one.Choices = append(one.Choices, simulation.InWords(options))
	}
	return err
}

// eventsOf are the events of a simulation as a run has them.
func eventsOf(s *simulate.Scenario, hasResults bool) ([]json.RawMessage, error) {
	happened := newExecution()
	for _, m := range s.Moments {
		call := &s.Calls[m.Call]
		c := runtime.Command{
			Kind: runtime.Start, Of: call.Call, Site: &runtime.Site{Under: call.Under, Instance: call.Instance},
		}
		if m.Status.Settled() {
			c.Kind, c.Settlement, c.Attempt = runtime.Settle, simulation.SettlementOf(call), call.Attempts
			if !hasResults {
				c.Settlement.Output = nil
			}
		}
		if m.Status == runtime.Running || m.Status.Settled() {
			happened.Observe(m.At, c)
		}
	}
	end := runtime.Outcome{Status: s.Outcome.Status, Reason: s.Outcome.Reason, Instances: []runtime.InstanceEnd{}}
	return happened.lines, happened.End(&end)
}

// Explored are the simulations of a plan that drawings and pages show, and what input they
// are given.
func Explored(plan *plan.Plan, r *analyzer.Simulation) (found *simulate.Exploration, input map[string]any) {
	input, state, made := simulation.Generated(plan, nil, nil, 1)
	return simulate.Begin(r, simulate.Options{Options: runtime.Options{Input: input, State: state}, Seed: 1,
		Steps: simulate.DefaultSteps(plan)}, made), input
}

// KnownCall refuses the name of a call that the plan doesn't have.
func KnownCall(plan *plan.Plan, name string) error {
	if name == "" {
		return nil
	}
	names := make([]string, len(plan.Calls))
	for i, call := range plan.Calls {
		if call.Name == name {
			return nil
		}
		names[i] = call.Name
	}
	return diag.NewError(nil, "the plan has no call %q", name).
		Advise("a call is named by its \"_id\", or by its tool and place, such as %q", "fetch#1").Suggest(name, names)
}
