package simulation

import (
	"strings"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/session"
	"github.com/obelus-dev/obelus/runtime/simulate"
)

// scenarioEvent is the JSON of a simulation (EXECUTION.md#simulation), of a branch with what goes wrong there. Times
// are in milliseconds of the virtual clock.
func scenarioEvent(s *simulate.Scenario, generated simulate.MadeUp, p *simulate.Problem) diag.Ordered {
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
