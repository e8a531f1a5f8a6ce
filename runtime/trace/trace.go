// Package trace describes a run as spans: of the run, its ticks, its calls, their attempts, the
// questions about them and the pauses between attempts, with links from a call to those whose
// results it reads. What comes in is what an observer of a run sees ([session.Observer]).
//
// Spans hold names, times, and how and why things ended, never parameters or results: of what
// a plan works on only the message of a failure, without what is secret.
//
// The package sends nothing. An embedding program gives an [Observer]; the module
// github.com/obelus-dev/obelus/runtime/otel has one that sends spans to an OpenTelemetry
// collector.
package trace

import (
	"context"
	"slices"
	"time"

	"github.com/obelus-dev/obelus/compiler/kinds"
	"github.com/obelus-dev/obelus/runtime"
)

// Scope is the name under which spans are made.
const Scope = "github.com/obelus-dev/obelus"

// An Observer learns of the spans of runs. One that is given to several runs at a time is
// called from several goroutines.
type Observer interface {
	// Begin tells that a span has begun. That above it was reported before; of one without,
	// the run, ctx may hold what it is a part of.
	Begin(ctx context.Context, s *Span)
	// End tells that a span has ended. It doesn't change any more.
	End(s *Span)
}

// A Span is one thing that takes time in a run.
type Span struct {
	Name         string
	Client       bool // it asks something outside of obelus
	Above        *Span
	Links        []*Span
	Began, Ended time.Time // Ended is zero for one that continues
	Attributes   []Attribute
	Failed       bool
	Message      string        // why it failed
	Used         runtime.Usage // of a run: what models used since it began or was resumed
	Own          any           // for the observer
}

// An Attribute is something that is known of a span: a text, an integer or a boolean.
type Attribute struct {
	Key   string
	Value any
}

// add takes attributes up, each a key and its value, but for those that are "" or false.
func (s *Span) add(attributes ...any) {
	for ; len(attributes) > 0; attributes = attributes[2:] {
		if value := attributes[1]; value != "" && value != false {
			s.Attributes = append(s.Attributes, Attribute{attributes[0].(string), value})
		}
	}
}

func (s *Span) fail(failure *runtime.Failure) {
	if failure != nil {
		s.Failed, s.Message = true, failure.Message
		s.add("error.type", failure.Code)
	}
}

// A Run is what is known of a run as a whole.
type Run struct {
	ID, Plan string
	Began    time.Time // when it began; pauses between a kill and its resumption are left out of all times
	Resumed  bool      // what happened before isn't told again
	// Used is what models had used before, which isn't counted again.
	Used runtime.Usage
}

// A Tracer makes the spans of one run. It isn't for several goroutines. A nil Tracer does nothing.
type Tracer struct {
	observer Observer
	ctx      context.Context // of the run
	run      *Span
	used     runtime.Usage // before it was resumed
	began    time.Time
	ticks    map[int]*Span    // that go on
	calls    map[string]calls // of instances that haven't left; "" is a run without
}

type calls map[runtime.Try]*call

type call struct {
	span    *Span
	part    *Span // that continues: an attempt, the question about it, or the pause before the next attempt; or nil
	settled bool
}

// New begins to report a run. It is nil without an observer.
func New(ctx context.Context, o Observer, r Run) *Tracer {
	if o == nil {
		return nil
	}
	t := &Tracer{observer: o, ctx: ctx, began: r.Began, used: r.Used, ticks: map[int]*Span{},
		calls: map[string]calls{}}
	t.run = &Span{Name: "run", Began: r.Began,
		Attributes: []Attribute{{"obelus.run", r.ID}, {"obelus.plan", r.Plan}, {"obelus.resumed", r.Resumed}}}
	o.Begin(ctx, t.run)
	return t
}

// begin begins a span as a part of another.
func (t *Tracer) begin(s *Span, above *Span, now time.Time, attributes ...any) *Span {
	s.Above, s.Began = above, now
	s.add(attributes...)
	t.observer.Begin(t.ctx, s)
	return s
}

func (t *Tracer) end(s *Span, now time.Time) {
	s.Ended = now
	t.observer.End(s)
}

// Observe takes a command, with the time since the run began.
func (t *Tracer) Observe(at time.Duration, c runtime.Command) {
	if t == nil {
		return
	}
	now := t.began.Add(at)
	switch c.Kind {
	case runtime.Plan:
		t.ticks[c.Tick] = t.begin(&Span{Name: "tick"}, t.run, now, "obelus.tick", c.Tick)
	case runtime.EndTick:
		t.endTick(now, c)
	case runtime.Ask:
		one := t.call(now, c, nil)
		one.part = t.begin(&Span{Name: "question"}, one.span, now)
	case runtime.Enter:
		if one := t.call(now, c, nil); c.Of.Each != nil {
			one.span.add("obelus.items", c.Count)
		}
	case runtime.Start:
		one, a := t.call(now, c, nil), c.Plan.Activities[c.Of.Activity]
		if kinds.IsPure(a) {
			return // it is over at once, and hands nothing on
		}
		one.part = t.begin(&Span{Name: "try", Client: a == nil || a.Kind == "http" || a.Kind == "mcp"}, one.span, now,
			"obelus.attempt", c.Attempt)
	case runtime.Tried:
		if one := t.call(now, c, c.Failure); c.After > 0 {
			one.part = t.begin(&Span{Name: "pause"}, one.span, now)
		}
	case runtime.Settle:
		t.settle(now, c)
	case runtime.Leave:
		delete(t.calls, c.Left.ID)
	case runtime.Finish:
		t.finish(now, c.Outcome)
	}
}

// call is what is known of a command's call: a part of the call in whose stead it is carried out, of the tick, or of
// the run. The part of it that went on has ended, an attempt perhaps with a failure.
func (t *Tracer) call(now time.Time, c runtime.Command, failure *runtime.Failure) *call {
	own, at := t.calls[c.Instance], c.OfCall()
	if own == nil {
		own = calls{}
		t.calls[c.Instance] = own
	}
	if one := own[at]; one != nil && !one.settled {
		t.pass(one, now, failure)
		return one
	}
	span, above := &Span{Name: "call " + c.Of.ToolName, Links: own.read(c)}, t.run
	if under := own[runtime.Try{Tick: c.Tick, Frame: c.Parent, Call: c.ParentCall}]; under != nil {
		above = under.span
	} else if tick := t.ticks[c.Tick]; tick != nil {
		above = tick
	}
	span.add("obelus.call", runtime.Path(c.Under, c.Of.Name), "obelus.tool", c.Of.ToolName)
	if a := c.Plan.Activities[c.Of.Activity]; a != nil {
		span.add("obelus.activity", a.Kind)
	}
	if c.Tick > 0 {
		span.add("obelus.tick", c.Tick)
	}
	own[at] = &call{span: t.begin(span, above, now, "obelus.instance", c.Instance)}
	return own[at]
}

// read are the calls whose results a command's call may read and that have been reported.
func (own calls) read(c runtime.Command) (links []*Span) {
	for _, r := range c.Of.Reads {
		for _, w := range c.Plan.Reads[r].Writers {
			writer := own[runtime.Try{Tick: c.Tick, Frame: c.Frame, Call: int(w)}]
			if writer != nil && writer.settled && !slices.Contains(links, writer.span) {
				links = append(links, writer.span)
			}
		}
	}
	return links
}

// pass ends the part of a call that continues; an attempt may have failed.
func (t *Tracer) pass(one *call, now time.Time, failure *runtime.Failure) {
	if one.part == nil {
		return
	}
	if one.part.Name == "try" {
		one.part.fail(failure)
	}
	t.end(one.part, now)
	one.part = nil
}

func (t *Tracer) settle(now time.Time, c runtime.Command) {
	s := c.Settlement
	one, status := t.call(now, c, s.Failure), s.Status.String()
	if s.Left {
		status = "left"
	}
	one.span.add("obelus.status", status, "obelus.tries", s.Attempts, "obelus.reason", s.Reason, "obelus.routed",
		s.Routed)
	if d := s.Decision; d != nil {
		one.span.add("obelus.verdict", string(d.Verdict))
	}
	one.span.fail(s.Failure)
	t.end(one.span, now)
	one.settled = true
}

func (t *Tracer) endTick(now time.Time, c runtime.Command) {
	tick := t.ticks[c.Tick]
	if tick == nil {
		return
	}
	tick.add("obelus.faults", len(c.End.Faults))
	if len(c.End.Faults) > 0 {
		tick.Failed, tick.Message = true, c.End.Faults[0].Message
	}
	t.end(tick, now)
	delete(t.ticks, c.Tick)
}

// Break ends a run that couldn't go on, for a reason that no event tells.
func (t *Tracer) Break(why error) {
	if t == nil {
		return
	}
	now := time.Now()
	t.close(now)
	t.run.Failed, t.run.Message = true, why.Error()
	t.end(t.run, now)
}

func (t *Tracer) close(now time.Time) {
	for _, own := range t.calls {
		for _, one := range own {
			if !one.settled {
				t.pass(one, now, nil)
				t.end(one.span, now)
				one.settled = true
			}
		}
	}
	for _, tick := range t.ticks {
		t.end(tick, now)
	}
}

func (t *Tracer) finish(now time.Time, o *runtime.Outcome) {
	t.close(now)
	t.run.add("obelus.status", string(o.Status), "obelus.done", o.Counts.Done, "obelus.failed", o.Counts.Failed,
		"obelus.skipped", o.Counts.Skipped, "obelus.reason", string(o.Reason))
	if o.Usage.InputTokens+o.Usage.OutputTokens > 0 {
		t.run.add("gen_ai.usage.input_tokens", o.Usage.InputTokens, "gen_ai.usage.output_tokens", o.Usage.OutputTokens)
	}
	if o.Status == runtime.RunFailed {
		t.run.Failed, t.run.Message = true, string(o.Reason)
	}
	t.run.Used = runtime.Usage{InputTokens: o.Usage.InputTokens - t.used.InputTokens,
		OutputTokens: o.Usage.OutputTokens - t.used.OutputTokens}
	t.end(t.run, now)
}
