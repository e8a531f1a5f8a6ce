package simulation

import (
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/session"
	"github.com/obelus-dev/obelus/runtime/simulate"
)

// The JSON of EXECUTION.md#simulation. Times are in milliseconds of the virtual clock.
type (
	scenarioEvent struct {
		Kind string `json:"kind"` // "scenario"
		Seed uint64 `json:"seed"`
		// 0 is the first; others are other orders of the same work
		Schedule      int                               `json:"schedule"`
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
		Generated     []string                          `json:"invented"`                // inputs
		InventedState []string                          `json:"inventedState,omitempty"` // keys of the state
		Problem       *branchProblem                    `json:"problem,omitzero"`        // of a branch
		// what differs from the usual run
		Branch []analyzer.BranchChoice `json:"branch,omitzero"`
		// combinations that have the problem
		Seen    int `json:"seen,omitzero"`
		LeftOut int `json:"instancesLeftOut,omitzero"`
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
		Stuck         int                  `json:"stuck"`            // simulations in which calls never settled
		LeftOut       int                  `json:"leftOut,omitzero"` // other orders for which there was no room
		Branches      *branchSummary       `json:"branches,omitzero"`
		Seeds         *seedSummary         `json:"seeds,omitzero"`
		Diverging     *divergence          `json:"diverging,omitzero"`
	}
)

func scenarioEventOf(s *simulate.Scenario, generated simulate.MadeUp) scenarioEvent {
	e := scenarioEvent{
		Kind: "scenario", Seed: s.Seed, Schedule: s.Schedule, Status: s.Outcome.Status,
		Reason:       diag.OrNull(s.Outcome.Reason),
		Makespan:     session.InMilliseconds(s.Makespan),
		CriticalPath: Names(s, s.CriticalPath), Critical: CriticalInstance(s),
		LowerBound: session.InMilliseconds(s.LowerBound), Work: session.InMilliseconds(s.Work),
		Parallel: s.Peak, Cost: s.Cost,
		Calls:     make([]scenarioCall, len(s.Calls)),
		Instances: session.ResultsOf(s.Outcome), Errors: s.Outcome.Errors,
		Generated: diag.Listed(generated.Input), InventedState: generated.State, LeftOut: s.Left,
	}
	if e.Instances == nil {
		e.Output, e.State = &s.Outcome.Output, &s.Outcome.State
	}
	for i, call := range s.Calls {
		e.Calls[i] = scenarioCall{
			Call: call.Call.Name, Tool: call.Call.ToolName, Instance: diag.OrNull(call.Instance),
			Under:  diag.OrNull(call.Under),
			Status: call.Status.String(), Reason: diag.OrNull(call.Reason), Routed: call.Routed,
			Attempts: call.Attempts,
			Start:    session.InMilliseconds(call.From), End: session.InMilliseconds(call.To), Cost: call.Cost,
			Output: call.Output,
		}
		if f := call.Failure; f != nil {
			e.Calls[i].Error = &session.EventError{Code: f.Code, Message: f.Message, Details: f.Details}
		}
	}
	return e
}

func summaryOf(all *comparison, hasSeeds bool) simulationSummary {
	first := all.first
	summary := simulationSummary{
		Kind: "summary", Scenarios: all.played, Makespan: session.InMilliseconds(first.Makespan),
		CriticalPath: Names(first, first.CriticalPath),
		LowerBound:   session.InMilliseconds(first.LowerBound), Cost: first.Cost, Deterministic: all.diverging == nil,
		LeftOut: all.left, Diverging: all.diverging,
	}
	if hasSeeds {
		summary.Seeds = &seedSummary{all.played, all.ends[runtime.RunDone]}
	}
	if slices.ContainsFunc(first.Calls, func(c simulate.CallReport) bool { return !c.Status.Settled() }) {
		summary.Stuck++
	}
	return summary
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
