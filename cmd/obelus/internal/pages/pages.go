package pages

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/analyzer/facts"
	"github.com/obelus-dev/obelus/cmd/obelus/internal/simulation"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/dot"
	"github.com/obelus-dev/obelus/dot/page"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/project"
	"github.com/obelus-dev/obelus/runtime/session"
	"github.com/obelus-dev/obelus/runtime/simulate"
)

// What a page has room for: nodes of its drawing, and events of simulations in which something goes otherwise.
const (
	Nodes           = 2_000
	Edges           = 8_000
	pageEvents      = 20_000
	pageSimulations = 300
)

// OfRun draws the run of a journal, with the details of a page, which marks itself what happened.
func OfRun(path string, activities []string, o dot.Options, paged bool) (*page.Page, error) {
	look, err := session.LookAt(path, session.ResumeOptions{Activities: activities})
	if err != nil {
		return nil, err
	}
	happened := newExecution()
	look.Show(happened)
	if err := happened.End(look.Outcome()); err != nil {
		return nil, err
	}
	one := happened.page(look.Program, look.Manifest.Options.Planned, o)
	one.Kind, one.Scenarios = page.Run, []page.Scenario{{Name: look.ID, Events: happened.lines}}
	one.View.Name = cmp.Or(one.View.Name, "plan") + ": " + diag.Escape(look.ID)
	one.View.Notes = append(one.View.Notes,
		fmt.Sprintf("a run begun on %s, %s", look.Manifest.Started.UTC().Format(time.DateTime), look.Status))
	if !paged {
		mark(&one.View, look.Commands)
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
	one.View = dot.Steps(views, c.faults)
	one.View.Name = diag.Escape(p.Plan.Name)
	return one
}

// OfPlan is the page of a plan, with simulations of it: as it usually goes, and as one or several things go otherwise.
func OfPlan(p *project.Program, view dot.View) (*page.Page, error) {
	one := &page.Page{View: view, Kind: page.Simulation,
		Parts: []page.Part{{Plan: p.Plan, Facts: facts.Of(p.Plan, facts.Options{}), Findings: p.Findings}}}
	r := analyzer.Simulate(p.Plan, p.Findings)
	if r == nil {
		return one, nil
	}
	o, _, err := simulation.Prepare(p.Plan, nil, nil, 1)
	if err != nil {
		return one, nil // nobody can say what it would be given
	}
	return one, simulated(one, r, o)
}

// simulated adds simulations to a page: the usual one, with its results, and those in which something goes otherwise.
func simulated(one *page.Page, r *analyzer.Simulation, o simulate.Options) (err error) {
	happened, isOver := newExecution(), false
	o.Observe = func(at time.Duration, c runtime.Command) {
		if isOver {
			happened, isOver = newExecution(), false
		}
		if isOver = c.Kind == runtime.Finish; c.Kind == runtime.Settle && len(one.Scenarios) > 0 {
			settled := *c.Settlement
			settled.Output, c.Settlement = nil, &settled
		}
		if !isOver && c.Kind != runtime.Ask { // the answer is in how the call ends
			happened.Observe(at, c)
		}
	}
	found := simulate.Begin(r, o)
	events := 0
	found.Alternatives(pageSimulations, func(a *simulate.Alternative) bool {
		s, n := a.Scenario, len(a.Path)
		if events += len(happened.lines); n > 0 && events > pageEvents {
			return false
		}
		of := page.Scenario{
			Name: strings.Join(simulation.InWords(a.Path), ", "), Picks: a.Picks, Together: a.Together,
			Critical: simulation.Names(s.CriticalPath), Instance: simulation.CriticalInstance(s), Cost: s.Cost,
		}
		if n > 0 && a.Path[n-1].Fails {
			of.Fails = a.Path[n-1].Call
		}
		end := runtime.Outcome{Status: s.Outcome.Status, Reason: s.Outcome.Reason, Instances: []runtime.InstanceEnd{}}
		err = happened.End(&end)
		of.Events = happened.lines
		one.Scenarios = append(one.Scenarios, of)
		return err == nil
	})
	for _, options := range found.Choices {
		one.Choices = append(one.Choices, simulation.InWords(options))
	}
	return err
}
