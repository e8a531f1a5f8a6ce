package session

import (
	"context"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/runtime"
)

// An Observer sees a run as it goes.
type Observer interface {
	// Observe sees every command before it is carried out, from one goroutine, with the time since the run began.
	Observe(at time.Duration, c runtime.Command)
	// Waits receives a sentence on what the run waits for, or what was noticed; from any goroutine.
	Waits(why string)
}

// Telemetry begins to trace a run, as a part of what ctx may hold, and gives what learns, in one goroutine, what
// happens in it, and last how it ended. It is called from several goroutines where several runs have it.
type Telemetry func(ctx context.Context, r Started) func(at time.Duration, c runtime.Command)

// Started is a run that has been started or resumed.
type Started struct {
	ID, Plan string
	At       time.Time // when it began; pauses between a kill and its resumption are left out of all times
	Resumed  bool      // what happened before isn't reported again
}

// Events shows a run to programs: one JSON object a line, as EXECUTION.md#events describes them. It is an [Observer].
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

// InMilliseconds gives a duration as programs read it.
func InMilliseconds(d time.Duration) float64 {
	return float64(d.Round(time.Microsecond)) / float64(time.Millisecond)
}

func (e *Events) write(event diag.Ordered) {
	if e.err == nil {
		e.err = diag.JSONLine(e.out, event)
	}
}

// Waits writes what the run waits for, or what was noticed.
func (e *Events) Waits(why string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.write(diag.Ordered{"event", "wait", "reason", why, "at", InMilliseconds(e.at + time.Since(e.seen))})
}

// Observe writes the event of a command.
func (e *Events) Observe(at time.Duration, c runtime.Command) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.at, e.seen = at, time.Now()
	var event diag.Ordered
	switch c.Kind {
	case runtime.Start, runtime.Enter:
		event = callEvent(c, "started", &runtime.Settlement{})
	case runtime.Settle:
		event = callEvent(c, c.Settlement.Status.String(), c.Settlement)
	case runtime.Plan:
		event = diag.Ordered{"event", "tick", "tick", c.Tick, "status", "started", "errors", []any{}}
	case runtime.EndTick:
		event = diag.Ordered{"event", "tick", "tick", c.Tick, "status", "ended", "errors", diag.Listed(c.End.Faults)}.
			If("usage", c.End.Usage)
	case runtime.Advise:
		event = diag.Ordered{"event", "advice", "tick", c.Tick, "instance", diag.OrNull(c.Instance), "ranking",
			diag.Listed(c.Ranking)}
	case runtime.Ask:
		event = append(placed(c, "event", "ask", "call", c.Of.Name, "tool", c.Of.ToolName).If("tick", c.Tick),
			"question", c.Question)
	case runtime.Leave:
		event = diag.Ordered{"event", "instance", "instance", c.Left.ID, "status", c.Left.Status, "output",
			c.Left.Output, "errors", c.Left.Errors}
	default:
		return
	}
	e.write(append(event, "at", InMilliseconds(at)))
}

// callEvent is a call's start or settlement.
func callEvent(c runtime.Command, status string, s *runtime.Settlement) diag.Ordered {
	return append(placed(c, "event", "call", "call", c.Of.Name, "tool", c.Of.ToolName, "status", status),
		"output", s.Output, "error", FailureOf(s.Failure), "routed", s.Routed, "reason", diag.OrNull(s.Reason),
		"attempt", c.Attempt).
		If("tick", c.Tick).If("decision", s.Decision).If("doubt", c.Uncertainty)
}

// placed adds where the call of a command is, and which try of each call above it, where one is tried again.
func placed(c runtime.Command, event ...any) diag.Ordered {
	event = append(event, "instance", diag.OrNull(c.Instance), "under", diag.OrNull(c.Under))
	if slices.ContainsFunc(c.Tries, func(n int) bool { return n > 1 }) {
		event = append(event, "tries", c.Tries)
	}
	return event
}

// FailureOf is the failure of a call as programs read it; nil for none.
func FailureOf(f *runtime.Failure) any {
	if f == nil {
		return nil
	}
	return diag.Ordered{"code", f.Code, "message", f.Message, "details", f.Details}
}

// End writes the last line. The error is the first that writing met.
func (e *Events) End(o *runtime.Outcome) error {
	if o == nil { // it never started
		return nil
	}
	event := append(ResultOf(o, diag.Ordered{"event", "end", "status", o.Status, "reason", diag.OrNull(o.Reason)}),
		"calls", o.Counts, "errors", o.Errors, "ticks", o.Ticks).If("usage", o.Usage).If("why", o.Why)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.write(append(event, "journal", diag.OrNull(e.journal)))
	return e.err
}

// ResultOf adds the output and the state of a run; with instances there is none, but for each how the run went.
func ResultOf(o *runtime.Outcome, to diag.Ordered) diag.Ordered {
	if o.Instances == nil {
		return append(to, "output", o.Output, "state", o.State)
	}
	all := make(map[string]any, len(o.Instances))
	for _, end := range o.Instances {
		all[end.ID] = diag.Ordered{"status", end.Status, "state", end.State, "output", end.Output}
	}
	return append(to, "instances", all)
}
