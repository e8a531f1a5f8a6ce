package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/obelus-dev/obelus/cmd/obelus/internal/terminal"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/session"
	"github.com/obelus-dev/obelus/runtime/simulate"
)

// A spread is what rehearsals with several seeds came to.
type spread struct {
	makespans []time.Duration
	costs     []float64
	ends      map[runtime.RunStatus]int
}

type (
	seedSummary struct {
		Count    int                               `json:"count"`
		Done     int                               `json:"done"`
		Makespan percentiles[session.Milliseconds] `json:"makespan"`
		Cost     percentiles[float64]              `json:"cost"`
	}
	percentiles[T any] struct {
		P50 T `json:"p50"`
		P95 T `json:"p95"`
		Max T `json:"max"`
	}
)

func (s *spread) take(one *simulate.Scenario) {
	if s.ends == nil {
		s.ends = map[runtime.RunStatus]int{}
	}
	s.makespans, s.costs = append(s.makespans, one.Makespan), append(s.costs, one.Cost)
	s.ends[one.Outcome.Status]++
}

func (s *spread) summary() *seedSummary {
	slices.Sort(s.makespans)
	slices.Sort(s.costs)
	at := func(of float64) session.Milliseconds {
		return session.InMilliseconds(simulate.Percentile(s.makespans, of))
	}
	return &seedSummary{
		Count: len(s.costs), Done: s.ends[runtime.RunDone], Makespan: percentiles[session.Milliseconds]{at(0.5), at(0.95), at(1)},
		Cost: percentiles[float64]{simulate.Percentile(s.costs, 0.5), simulate.Percentile(s.costs, 0.95), simulate.Percentile(s.costs, 1)},
	}
}

// words tell it to people.
func (s *spread) words(left int) string {
	sum := s.summary()
	var ends []string
	for _, status := range []runtime.RunStatus{runtime.RunDone, runtime.RunFailed, runtime.RunStopped} {
		if n := s.ends[status]; n > 0 {
			ends = append(ends, fmt.Sprintf("%d %s", n, status))
		}
	}
	at := func(of float64) string { return terminal.Duration(simulate.Percentile(s.makespans, of)) }
	text := fmt.Sprintf("\nover %s: %s\n  time  p50 %s, p95 %s, at most %s\n", wording.Count(sum.Count, "seed"), strings.Join(ends, ", "), at(0.5), at(0.95), at(1))
	if sum.Cost.Max > 0 {
		text += fmt.Sprintf("  cost  p50 %.4g, p95 %.4g, at most %.4g\n", sum.Cost.P50, sum.Cost.P95, sum.Cost.Max)
	}
	if left > 0 {
		text += fmt.Sprintf("%s left out: they would cost too much; --unbounded rehearses all\n", wording.Count(left, "more seed"))
	}
	return text
}

// observed is what runs show of the tools of a plan: each try of their calls.
func (c *cli) observed(plan *compiler.Plan, folder *running, runs []string) (map[string]*simulate.Observed, error) {
	if len(runs) == 0 {
		return nil, nil
	}
	seen := map[string]*simulate.Observed{}
	for _, name := range runs {
		path, err := folder.find(name)
		if err != nil {
			return nil, err
		}
		if err := observe(path, seen); err != nil {
			return nil, err
		}
	}
	var known, unknown []string
	tries := 0
	for _, tool := range plan.Tools {
		if o := seen[tool.Name]; o != nil {
			known, tries = append(known, tool.Name), tries+len(o.Durations)
		} else {
			unknown = append(unknown, fmt.Sprintf("%q", tool.Name))
		}
	}
	if len(known) == 0 {
		return nil, troubled("--from: no tool of the plan was called in %s", wording.Count(len(runs), "run")).Advise("take runs of this plan, or of others that call its tools")
	}
	text := fmt.Sprintf("obelus: times and failures of %s are those of %s in %s", wording.Count(len(known), "tool"), wording.Counted(tries, "try", "tries"), wording.Count(len(runs), "run"))
	if len(unknown) > 0 {
		text += "; of " + terminal.Cut(wording.And(unknown), 200) + " they show nothing"
	}
	fmt.Fprintln(c.err, text)
	return seen, nil
}

// observe takes the tries of a run's calls from its journal.
func observe(path string, seen map[string]*simulate.Observed) error {
	type try struct{ tick, frame, call, attempt int }
	type began struct {
		at   time.Duration
		tool string
	}
	started := map[try]began{}
	_, err := session.LookAt(path, "", session.ResumeOptions{}, func(at time.Duration, c runtime.Command) {
		if c.Kind == runtime.Start {
			started[try{c.Tick, c.Frame, c.Call, c.Attempt}] = began{at, c.Of.ToolName}
		}
	})
	if err != nil {
		return err
	}
	_, records, err := session.Read(path)
	if err != nil {
		return err
	}
	for record, err := range records {
		if err != nil {
			return err
		}
		e := record.Event
		if e == nil || e.Kind != runtime.Ended {
			continue
		}
		from, ok := started[try{e.Tick, e.Frame, e.Call, e.Attempt}]
		if !ok || e.At < from.at {
			continue
		}
		o := seen[from.tool]
		if o == nil {
			o = &simulate.Observed{}
			seen[from.tool] = o
		}
		if o.Durations = append(o.Durations, e.At-from.at); e.Failure != nil {
			o.Failed++
		}
		if e.Usage != nil && e.Usage.Cost > 0 {
			o.Costs = append(o.Costs, e.Usage.Cost)
		}
	}
	return nil
}
