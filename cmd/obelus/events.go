package main

import (
	"io"
	"time"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/runtime"
)

// Events shows a run to programs: one JSON object a line (S19.3).
type events struct {
	out  io.Writer
	plan *compiler.Plan
	err  error // the first that writing met
}

func newEvents(out io.Writer, plan *compiler.Plan) *events { return &events{out: out, plan: plan} }

// callEvent is a call's start or settlement. Every key is always there.
type callEvent struct {
	Event    string       `json:"event"` // "call"
	Call     string       `json:"call"`
	Tool     string       `json:"tool"`
	Status   string       `json:"status"`
	Instance *string      `json:"instance"`
	Output   any          `json:"output"`
	Error    *eventError  `json:"error"`
	Routed   bool         `json:"routed"`  // the failure went to the call's failure route
	Reason   *string      `json:"reason"`  // why it was skipped or cancelled
	Attempt  int          `json:"attempt"` // tries so far, this one included
	At       milliseconds `json:"at"`      // since the run began
}

type eventError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Details any    `json:"details"`
}

// endEvent is the last line.
type endEvent struct {
	Event   string              `json:"event"` // "end"
	Status  string              `json:"status"`
	Reason  *string             `json:"reason"`
	Output  any                 `json:"output"`
	State   any                 `json:"state"`
	Calls   runtime.Counts      `json:"calls"`
	Errors  []runtime.CallError `json:"errors"`
	Ticks   int                 `json:"ticks"`
	Journal *string             `json:"journal"`
}

// Milliseconds are a duration as programs read it.
type milliseconds float64

func inMilliseconds(d time.Duration) milliseconds {
	return milliseconds(float64(d.Round(time.Microsecond)) / float64(time.Millisecond))
}

func (e *events) write(value any) {
	if e.err == nil {
		e.err = diag.JSONLine(e.out, value)
	}
}

func (e *events) observe(at time.Duration, c runtime.Command) {
	switch c.Kind {
	case runtime.Start:
		event := e.about(at, c)
		event.Status = "started"
		e.write(event)
	case runtime.Settle:
		event, s := e.about(at, c), c.Settlement
		event.Status, event.Output, event.Routed, event.Reason = s.Status.String(), s.Output, s.Routed, orNull(s.Reason)
		if s.Failure != nil {
			event.Error = &eventError{s.Failure.Code, s.Failure.Message, s.Failure.Details}
		}
		e.write(event)
	}
}

func (e *events) about(at time.Duration, c runtime.Command) callEvent {
	call := e.plan.Calls[c.Call]
	return callEvent{Event: "call", Call: call.Name, Tool: call.ToolName, Instance: orNull(call.Instance), Attempt: c.Attempt, At: inMilliseconds(at)}
}

func (e *events) end(o *runtime.Outcome) error {
	e.write(endEvent{
		Event: "end", Status: o.Status, Reason: orNull(o.Reason), Output: o.Output, State: stateOf(o), Calls: o.Counts, Errors: listed(o.Errors),
	})
	return e.err
}

func (e *events) abandon() {}

// stateOf is a run's last state: an object even when nothing was written.
func stateOf(o *runtime.Outcome) any {
	if o.State == nil {
		return map[string]any{}
	}
	return o.State
}

// listed is a list that JSON shows as one, also when it is empty.
func listed[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
