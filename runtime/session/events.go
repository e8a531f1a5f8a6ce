package session

import (
	"io"
	"slices"
	"sync"
	"time"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/runtime"
)

// Events shows a run to programs: one JSON object a line. It is an [Observer].
type Events struct {
	out     io.Writer
	journal string // its path; "" when the run keeps none

	mu   sync.Mutex
	at   time.Duration // of the last command
	seen time.Time     // when that came
	err  error         // the first that writing met
}

// NewEvents writes the events of a run whose journal is that file; "" when it keeps none.
func NewEvents(out io.Writer, journal string) *Events {
	return &Events{out: out, journal: journal, seen: time.Now()}
}

// callEvent is a call's start or settlement. Every key is always there.
type callEvent struct {
	Event       string       `json:"event"` // "call"
	Call        string       `json:"call"`
	Tool        string       `json:"tool"`
	Status      string       `json:"status"`
	Instance    *string      `json:"instance"`
	Under       *string      `json:"under"`           // the calls above one of a delegate: "digest#1/chapter#2"
	Tries       []int        `json:"tries,omitempty"` // which try of each of these it is, where one is tried again
	Output      any          `json:"output"`
	Error       *EventError  `json:"error"`
	Routed      bool         `json:"routed"`  // the failure went to the call's failure route
	Reason      *string      `json:"reason"`  // why it was skipped or cancelled
	Attempt     int          `json:"attempt"` // tries so far, this one included
	Tick        int          `json:"tick,omitzero"`
	Decision    any          `json:"decision,omitempty"` // what a person decided
	Uncertainty string       `json:"doubt,omitempty"`    // why the advisors are against a start
	At          Milliseconds `json:"at"`                 // since the run began
}

// An EventError is the failure of a call.
type EventError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Details any    `json:"details"`
}

// A callName says which call an event is about.
type callName struct {
	Call     string  `json:"call"`
	Tool     string  `json:"tool"`
	Instance *string `json:"instance"`
	Under    *string `json:"under"`
	Tries    []int   `json:"tries,omitempty"`
}

func nameOf(c runtime.Command) callName {
	return callName{c.Of.Name, c.Of.ToolName, diag.OrNull(c.Instance), diag.OrNull(c.Under), triesOf(c)}
}

// triesOf is which try of each call above it is, where one is tried again.
func triesOf(c runtime.Command) []int {
	if slices.ContainsFunc(c.Tries, func(n int) bool { return n > 1 }) {
		return c.Tries
	}
	return nil
}

// tickEvent describes a tick of a planned run: that the planner is asked, or that
// all calls of its solution have settled.
type tickEvent struct {
	Event  string              `json:"event"` // "tick"
	Tick   int                 `json:"tick"`
	Status string              `json:"status"`         // "started" or "ended"
	Errors []runtime.CallError `json:"errors"`         // of the solution as a whole
	Usage  runtime.Usage       `json:"usage,omitzero"` // so far
	At     Milliseconds        `json:"at"`
}

// askEvent tells that a person is asked about a call.
type askEvent struct {
	Event string `json:"event"` // "ask"
	callName
	Tick     int               `json:"tick,omitzero"`
	Question *runtime.Question `json:"question"`
	At       Milliseconds      `json:"at"`
}

// adviceEvent tells what the advisors make of the tools, the best first, for one
// instance or for all.
type adviceEvent struct {
	Event    string       `json:"event"` // "advice"
	Tick     int          `json:"tick"`
	Instance *string      `json:"instance"`
	Ranking  []plan.Rank  `json:"ranking"`
	At       Milliseconds `json:"at"`
}

// waitEvent reports what the run waits for, or what was noticed.
type waitEvent struct {
	Event  string       `json:"event"` // "wait"
	Reason string       `json:"reason"`
	At     Milliseconds `json:"at"`
}

// instanceEvent reports how the run went for an instance that has ended.
type instanceEvent struct {
	Event    string              `json:"event"` // "instance"
	Instance string              `json:"instance"`
	Status   runtime.RunStatus   `json:"status"`
	Output   any                 `json:"output"`
	Errors   []runtime.CallError `json:"errors"`
	At       Milliseconds        `json:"at"`
}

// endEvent is the last line. With instances there is no one state and output.
type endEvent struct {
	Event     string                    `json:"event"` // "end"
	Status    runtime.RunStatus         `json:"status"`
	Reason    *string                   `json:"reason"`
	Output    *any                      `json:"output,omitempty"`
	State     *any                      `json:"state,omitempty"`
	Instances map[string]InstanceResult `json:"instances,omitzero"`
	Calls     runtime.Counts            `json:"calls"`
	Errors    []runtime.CallError       `json:"errors"`
	Ticks     int                       `json:"ticks"`
	Usage     runtime.Usage             `json:"usage,omitzero"` // of all requests to models
	Why       string                    `json:"why,omitzero"`   // of a run that stopped: what its reason means here
	Journal   *string                   `json:"journal"`
}

// InstanceResult is how a run ended for one instance; of a run that was stopped,
// how it stood.
type InstanceResult struct {
	Status runtime.RunStatus `json:"status"`
	State  any               `json:"state"`
	Output any               `json:"output"`
}

// Milliseconds are a duration as programs read it.
type Milliseconds float64

// InMilliseconds gives a duration as programs read it.
func InMilliseconds(d time.Duration) Milliseconds {
	return Milliseconds(float64(d.Round(time.Microsecond)) / float64(time.Millisecond))
}

func (e *Events) write(value any) {
	if e.err == nil {
		e.err = diag.JSONLine(e.out, value)
	}
}

// Waits writes what the run waits for, or what was noticed.
func (e *Events) Waits(why string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.write(waitEvent{"wait", why, InMilliseconds(e.at + time.Since(e.seen))})
}

// Observe writes the event of a command.
func (e *Events) Observe(at time.Duration, c runtime.Command) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.at, e.seen = at, time.Now()
	ms := InMilliseconds(at)
	switch c.Kind {
	case runtime.Start, runtime.Enter:
		event := e.about(at, c)
		event.Status, event.Uncertainty = "started", c.Uncertainty
		e.write(event)
	case runtime.Settle:
		event, s := e.about(at, c), c.Settlement
		event.Status, event.Output, event.Routed, event.Reason = s.Status.String(), s.Output, s.Routed,
			diag.OrNull(s.Reason)
		if s.Decision != nil {
			event.Decision = s.Decision
		}
		if s.Failure != nil {
			event.Error = &EventError{s.Failure.Code, s.Failure.Message, s.Failure.Details}
		}
		e.write(event)
	case runtime.Plan:
		e.write(tickEvent{Event: "tick", Tick: c.Tick, Status: "started", Errors: []runtime.CallError{},
			At: ms})
	case runtime.EndTick:
		e.write(tickEvent{Event: "tick", Tick: c.Tick, Status: "ended", Errors: diag.Listed(c.End.Faults),
			Usage: c.End.Usage, At: ms})
	case runtime.Advise:
		e.write(adviceEvent{"advice", c.Tick, diag.OrNull(c.Instance), diag.Listed(c.Ranking), ms})
	case runtime.Ask:
		e.write(askEvent{"ask", nameOf(c), c.Tick, c.Question, ms})
	case runtime.Leave:
		e.write(instanceEvent{"instance", c.Left.ID, c.Left.Status, c.Left.Output, c.Left.Errors, ms})
	}
}

func (e *Events) about(at time.Duration, c runtime.Command) callEvent {
	return callEvent{Event: "call", Call: c.Of.Name, Tool: c.Of.ToolName, Instance: diag.OrNull(c.Instance),
		Under: diag.OrNull(c.Under), Tries: triesOf(c), Attempt: c.Attempt, Tick: c.Tick, At: InMilliseconds(at)}
}

// End writes the last line. The error is the first that writing met.
func (e *Events) End(o *runtime.Outcome) error {
	event := endEvent{Event: "end", Status: o.Status, Reason: diag.OrNull(o.Reason), Calls: o.Counts,
		Errors: o.Errors, Ticks: o.Ticks, Usage: o.Usage, Why: o.Why, Journal: diag.OrNull(e.journal)}
	if o.Instances == nil {
		event.Output, event.State = &o.Output, &o.State
	} else {
		event.Instances = ResultsOf(o)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.write(event)
	return e.err
}

// ResultsOf is how a run went for each instance, by id; nil without instances.
func ResultsOf(o *runtime.Outcome) map[string]InstanceResult {
	if o.Instances == nil {
		return nil
	}
	all := make(map[string]InstanceResult, len(o.Instances))
	for _, end := range o.Instances {
		all[end.ID] = InstanceResult{end.Status, end.State, end.Output}
	}
	return all
}
