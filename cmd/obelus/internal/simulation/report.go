package simulation

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/obelus-dev/obelus/cmd/obelus/internal/terminal"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/session"
	"github.com/obelus-dev/obelus/runtime/simulate"
)

// barWidth is how many characters the makespan has in the timeline, and maxTimeline how many lines a timeline has.
const (
	barWidth    = 40
	maxTimeline = 60
)

// head prints what is reported of the plan, and what of input and state was generated.
func (s *Simulation) head(style terminal.Style, what string, seed uint64, more string) {
	name := s.Plan.Name
	if name == "" && s.Plan.File != nil {
		name = s.Plan.File.Name
	}
	s.Print("%s\n", style.Bold(diag.Escape(fmt.Sprintf("%s of %s, seed %d, %s", what, name, seed, more))))
	for i, keys := range [][]string{s.Made.Input, s.Made.State} {
		if len(keys) > 0 {
			what := []string{"input", "state"}[i]
			s.Print("%s\n", style.Faint(diag.Escape("generated "+what+": "+strings.Join(keys, ", "))))
		}
	}
}

// report prints one simulation: its timeline, and what a run prints at its end.
func (s *Simulation) report(one *simulate.Scenario) {
	style := terminal.StyleFor(s.Screen)
	more := wording.Count(len(one.Calls), "call")
	if one.Schedule > 0 {
		more += fmt.Sprintf(", schedule %d", one.Schedule)
	}
	s.head(style, "simulation", one.Seed, more)
	s.Print("\n")
	s.bars(one, style)
	ending := terminal.NewRecorded(s.Screen, terminal.Run{Plan: s.Plan, Simulated: true})
	ending.Observe(one.Makespan, runtime.Command{Kind: runtime.Finish})
	for _, end := range one.Outcome.Instances {
		ending.Observe(one.Makespan, runtime.Command{Kind: runtime.Leave, Left: &end})
	}
	if one.Left > 0 {
		s.Print("%s left out: there was no room for all; --unbounded simulates them\n",
			wording.Count(one.Left, "more instance"))
	}
	if state, ok := one.Outcome.State.(map[string]any); ok && len(state) > 0 {
		s.Print("\n%s\n%s\n", style.Bold("state"), s.Plan.Secrets.Text(terminal.Display(state)))
	}
	s.Print("\n")
	if one.Outcome.Output != nil && one.Outcome.Status != runtime.RunStopped {
		s.Print("%s\n", style.Bold("output"))
	}
	_ = ending.End(one.Outcome)
	s.Print("  %d at once, of at most %d; lower bound %s; %s of work\n", one.Peak,
		cmp.Or(s.Options.Parallel,
			s.Plan.Limits.Together()), terminal.Duration(one.LowerBound), terminal.Duration(one.Work))
	if len(one.CriticalPath) > 0 {
		of := ""
		if id := CriticalInstance(one); id != nil {
			of = " of " + diag.Escape(*id)
		}
		path := diag.Escape(strings.Join(Names(one, one.CriticalPath), " → "))
		s.Print("  critical path%s: %s\n", of, terminal.Cut(path, 400))
	}
	if one.Cost > 0 {
		s.Print("  cost: %.4g\n", one.Cost)
	}
}

// bars draws when each call was at work, in the order of their starts.
func (s *Simulation) bars(one *simulate.Scenario, style terminal.Style) {
	columns, order := 0, make([]int, len(one.Calls))
	for i := range one.Calls {
		order[i], columns = i, min(48, max(columns, diag.Columns(nameOf(&one.Calls[i]))))
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(one.Calls[a].From, one.Calls[b].From) })
	lines, left := 0, 0
	for _, i := range order {
		call := &one.Calls[i]
		if lines >= maxTimeline && (call.Status != runtime.Failed || lines >= 2*maxTimeline) {
			left++
			continue
		}
		lines++
		bar := strings.Repeat(" ", barWidth)
		if call.Started && one.Makespan > 0 {
			along := func(at time.Duration) int { return int(int64(at) * barWidth / int64(one.Makespan)) }
			to := min(barWidth, max(along(call.To), along(call.From)+1))
			from := min(along(call.From), to-1)
			drawn := "━"
			if slices.Contains(one.CriticalPath, i) {
				drawn = "█"
			}
			bar = strings.Repeat(" ", from) + strings.Repeat(drawn, to-from) + strings.Repeat(" ", barWidth-to)
		}
		mark, text := s.settlement(call, style)
		line := fmt.Sprintf("  %s %s  %s  %s", mark, terminal.Pad(nameOf(call), columns), bar, text)
		s.Print("%s\n", strings.TrimRight(line, " "))
	}
	if left > 0 {
		s.Print("  … and %s; --format json has all\n", wording.Count(left, "more call"))
	}
	end := terminal.Duration(one.Makespan)
	gap := strings.Repeat(" ", barWidth-1-len(end))
	s.Print("  %s\n", style.Faint(strings.Repeat(" ", columns+4)+"0"+gap+end+"   █ critical path"))
}

// settlement is a mark and a text for how a call settled.
func (s *Simulation) settlement(call *simulate.CallReport, style terminal.Style) (mark, text string) {
	settled := &runtime.Settlement{Status: call.Status, Routed: call.Routed, Attempts: call.Attempts,
		Output: call.Output, Failure: call.Failure, Reason: call.Reason}
	mark, text = terminal.Settlement(style, runtime.Command{Of: call.Call, Plan: s.Plan, Settlement: settled}, 60)
	if call.Status == runtime.Done && call.Attempts > 1 {
		text = strings.TrimSuffix(fmt.Sprintf("%d attempts: %s", call.Attempts, text), ": ")
	}
	return mark, text
}

// conclude reports what the simulations together show.
func (s *Simulation) conclude(all *comparison) {
	if s.Format == "json" {
		stuck, seeds := 0, diag.Ordered(nil)
		if slices.ContainsFunc(all.first.Calls, func(c simulate.CallReport) bool { return !c.Status.Settled() }) {
			stuck++
		}
		if s.Seeds > 0 {
			seeds = diag.Ordered{"count", all.played, "done", all.ends[runtime.RunDone]}
		}
		s.JSON(summaryEvent(all, stuck, nil, seeds))
		return
	}
	style := terminal.StyleFor(s.Screen)
	left := func(what string) {
		if all.left > 0 {
			s.Print("%s left out: they would cost too much; --unbounded simulates all\n",
				wording.Count(all.left, what))
		}
	}
	switch {
	case s.Seeds > 0:
		s.Print("\nover %s: %s\n", wording.Count(all.played, "seed"), terminal.Ends(all.ends))
		left("more seed")
	case all.diverging != nil:
		s.Print("\n%s schedule %d ends differently: simulate it with --seed %d --schedule %[2]d\n", style.Red("✗"),
			all.diverging[1], all.first.Seed)
	case all.played > 1:
		s.Print("\n%s %s in the same state\n", style.Green("✓"),
			wording.Counted(all.played-1, "other schedule ends", "other schedules end"))
		left("more schedule")
	}
}

// scenarioEvent is the JSON of a simulation (EXECUTION.md#simulation), of a branch with what goes wrong there. Times
// are in milliseconds of the virtual clock.
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
		Names(s, s.CriticalPath), "criticalInstance", CriticalInstance(s), "lowerBound", ms(s.LowerBound), "work",
		ms(s.Work), "parallel", s.Peak, "cost", s.Cost, "calls", calls})
	e = append(e, "errors", s.Outcome.Errors, "invented", diag.Listed(generated.Input)).
		If("inventedState", generated.State)
	if p != nil {
		problem := diag.Ordered{"kind", p.Kind, "call", diag.OrNull(p.Call), "message", p.Message}
		e = append(e, "problem", problem, "branch", diag.Listed(p.Path), "seen", p.Seen)
	}
	return e.If("instancesLeftOut", s.Left)
}

// summaryEvent is the last line: what simulations show together. Stuck are those in which calls never finished.
func summaryEvent(all *comparison, stuck int, branches, seeds diag.Ordered) diag.Ordered {
	first, ms, diverging := all.first, session.InMilliseconds, diag.Ordered(nil)
	if all.diverging != nil {
		diverging = diag.Ordered{"schedules", all.diverging}
	}
	return diag.Ordered{"kind", "summary", "scenarios", all.played, "makespan", ms(first.Makespan), "criticalPath",
		Names(first, first.CriticalPath), "lowerBound", ms(first.LowerBound), "cost", first.Cost, "deterministic",
		all.diverging == nil, "stuck", stuck}.
		If("leftOut", all.left).If("branches", branches).If("seeds", seeds).If("diverging", diverging)
}

// Names are those of calls, a delegate's with the calls above them.
func Names(s *simulate.Scenario, calls []int) []string {
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

// CriticalInstance is the one whose calls take the longest; null without instances.
func CriticalInstance(s *simulate.Scenario) *string {
	if len(s.CriticalPath) == 0 {
		return nil
	}
	return diag.OrNull(s.Calls[s.CriticalPath[0]].Instance)
}
