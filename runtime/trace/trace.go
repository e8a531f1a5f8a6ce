// Package trace tells of a run in OpenTelemetry's terms: spans of the run, its ticks, its
// calls, their tries, the questions about them and the pauses between tries, with links
// from a call to those whose results it reads; and a few measures. It sees what an observer
// of a run sees ([session.Observer]), so that a run that goes on and one that is read from
// its journal give the same spans.
//
// Spans hold names, times, and how and why things ended, never parameters or results: of
// what a plan works on only the message of a failure is told, without what is secret.
//
// What tells whom is the embedding program's choice: the providers are its own. [Recording]
// is one that keeps the spans of a run, to be written in OTLP's JSON form.
package trace

import (
	"context"
	"slices"
	"time"

	"github.com/obelus-dev/obelus/runtime"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	nomeasures "go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/trace"
	nospans "go.opentelemetry.io/otel/trace/noop"
)

// scope is the name under which spans and measures are made.
const scope = "github.com/obelus-dev/obelus"

// A Run is what is told of a run as a whole.
type Run struct {
	ID, Plan string
	Began    time.Time // when it began; pauses between a kill and its resumption are left out of all times
	Resumed  bool      // what happened before isn't told again
	// Used is what models had used before, which isn't counted again.
	Used runtime.Usage
}

// A Tracer makes the spans of one run. It isn't for several goroutines.
type Tracer struct {
	tracer    trace.Tracer
	measures  measures
	began     time.Time
	run       context.Context         // with the run's span
	used      runtime.Usage           // before it was resumed
	ticks     map[int]context.Context // with the spans of ticks that go on
	instances map[string]*instance    // those that haven't left; "" is a run without

	// Room that is used again: what begins a span copies its options.
	attributes []attribute.KeyValue
	links      []trace.Link
	options    []trace.SpanStartOption
}

// An instance is what is known of the calls of one.
type instance struct {
	at    map[place]*call
	named map[string]*call // by name: the latest of it
}

// A place is that of a call in a run.
type place struct{ tick, frame, call int }

// A call is one whose spans are told.
type call struct {
	ctx     context.Context // with its span; nil as long as nothing is a part of it
	began   time.Time
	try     context.Context // with the span of its try; nil when none is at work
	other   trace.Span      // the question about it, or the pause before its next try; nil without
	settled bool
}

// New begins to tell of a run. What ctx holds of a span is the run's parent. Either
// provider may be nil; without both there is nothing to tell, and New gives nil, which is
// a Tracer that does nothing.
func New(ctx context.Context, spans trace.TracerProvider, meters metric.MeterProvider, r Run) *Tracer {
	if spans == nil && meters == nil {
		return nil
	}
	if spans == nil {
		spans = nospans.NewTracerProvider()
	}
	if meters == nil {
		meters = nomeasures.NewMeterProvider()
	}
	t := &Tracer{tracer: spans.Tracer(scope), measures: measuresOf(meters.Meter(scope)), began: r.Began, used: r.Used, ticks: map[int]context.Context{}, instances: map[string]*instance{}}
	t.run, _ = t.tracer.Start(ctx, "run", trace.WithTimestamp(r.Began), trace.WithAttributes(
		attribute.String("obelus.run", r.ID), attribute.String("obelus.plan", r.Plan), attribute.Bool("obelus.resumed", r.Resumed)))
	return t
}

// Within is the context in which what a command asks for is carried out, once the command
// was observed: a try in that of its span, a request for a plan in that of its tick.
func (t *Tracer) Within(ctx context.Context, c runtime.Command) context.Context {
	if t == nil {
		return ctx
	}
	inner := t.above(c)
	if c.Kind == runtime.Start {
		one := t.instance(c).at[placeOf(c)]
		if one == nil || one.try == nil {
			return ctx // whatever it is, it asks nobody
		}
		inner = one.try
	}
	return trace.ContextWithSpan(ctx, trace.SpanFromContext(inner))
}

// Waits tells that programs wait for what the system lacks; from any goroutine.
func (t *Tracer) Waits(why string) {
	if t != nil {
		trace.SpanFromContext(t.run).AddEvent("wait", trace.WithAttributes(attribute.String("obelus.reason", why)))
	}
}

// Observe takes a command, with the time since the run began.
func (t *Tracer) Observe(at time.Duration, c runtime.Command) {
	if t == nil {
		return
	}
	now := t.began.Add(at)
	switch c.Kind {
	case runtime.Plan:
		t.ticks[c.Tick], _ = t.tracer.Start(t.run, "tick", trace.WithTimestamp(now), trace.WithAttributes(attribute.Int("obelus.tick", c.Tick)))
	case runtime.EndTick:
		t.endTick(now, c)
	case runtime.Ask:
		one := t.opened(now, c)
		one.pass(now)
		_, one.other = t.tracer.Start(one.ctx, "question", trace.WithTimestamp(now))
	case runtime.Enter:
		one := t.opened(now, c)
		one.pass(now)
		if c.Of.Each != nil {
			trace.SpanFromContext(one.ctx).SetAttributes(attribute.Int("obelus.items", c.Count))
		}
	case runtime.Start:
		kind := trace.SpanKindInternal
		switch how := c.Plan.Activities[c.Of.Activity]; {
		case how == nil || how.Kind == "http" || how.Kind == "mcp":
			kind = trace.SpanKindClient
		case how.Kind == "expr":
			t.call(now, c).pass(now)
			return // it is over at once, and hands nothing on
		}
		one := t.opened(now, c)
		one.pass(now)
		one.try, _ = t.tracer.Start(one.ctx, "try", trace.WithTimestamp(now), trace.WithSpanKind(kind), trace.WithAttributes(attribute.Int("obelus.attempt", c.Attempt)))
	case runtime.Tried:
		one := t.opened(now, c)
		one.endTry(now, c.Failure)
		if c.After > 0 {
			_, one.other = t.tracer.Start(one.ctx, "pause", trace.WithTimestamp(now))
		}
	case runtime.Settle:
		t.settle(now, c)
	case runtime.Repeat:
		own := t.instance(c)
		if before := own.named[nameOf(c)]; before != nil {
			own.at[placeOf(c)] = before
		}
	case runtime.Leave:
		delete(t.instances, c.Left.ID)
	case runtime.Finish:
		t.finish(now, c.Outcome)
	}
}

func placeOf(c runtime.Command) place { return place{c.Tick, c.Frame, c.Call} }

// nameOf is how a command's call is found in a later tick, and by those that are carried
// out in its stead.
func nameOf(c runtime.Command) string { return runtime.Path(c.Under, c.Of.Name) }

func (t *Tracer) instance(c runtime.Command) *instance {
	own := t.instances[c.Instance]
	if own == nil {
		own = &instance{map[place]*call{}, map[string]*call{}}
		t.instances[c.Instance] = own
	}
	return own
}

// above is what a command's call is a part of: the call in whose stead it is carried out,
// the tick, or the run.
func (t *Tracer) above(c runtime.Command) context.Context {
	if c.Of != nil {
		if path := c.Above(); path != "" {
			if one := t.instance(c).named[path]; one != nil {
				return one.ctx
			}
		}
	}
	if tick := t.ticks[c.Tick]; tick != nil {
		return tick
	}
	return t.run
}

// call is the one that a command is about, begun with it if nothing was heard of it before.
func (t *Tracer) call(now time.Time, c runtime.Command) *call {
	own, at := t.instance(c), placeOf(c)
	one := own.at[at]
	if one == nil || one.settled {
		one = &call{began: now}
		own.at[at] = one
		if c.Kind == runtime.Enter || c.Tick > 0 { // else nobody asks for it by name
			own.named[nameOf(c)] = one
		}
	}
	return one
}

// opened is the call that a command is about, with its span.
func (t *Tracer) opened(now time.Time, c runtime.Command) *call {
	one := t.call(now, c)
	if one.ctx == nil {
		t.open(one, c, t.about(c))
	}
	return one
}

// about is what is said of a command's call whatever becomes of it, until it is asked again.
func (t *Tracer) about(c runtime.Command) []attribute.KeyValue {
	attributes := append(t.attributes[:0], attribute.String("obelus.call", nameOf(c)), attribute.String("obelus.tool", c.Of.ToolName))
	if how := c.Plan.Activities[c.Of.Activity]; how != nil {
		attributes = append(attributes, attribute.String("obelus.activity", how.Kind))
	}
	if c.Tick > 0 {
		attributes = append(attributes, attribute.Int("obelus.tick", c.Tick))
	}
	if c.Instance != "" {
		attributes = append(attributes, attribute.String("obelus.instance", c.Instance))
	}
	t.attributes = attributes
	return attributes
}

// open begins the span of a call.
func (t *Tracer) open(one *call, c runtime.Command, attributes []attribute.KeyValue) {
	t.links = t.instance(c).read(t.links[:0], c)
	t.options = append(t.options[:0], trace.WithTimestamp(one.began), trace.WithAttributes(attributes...), trace.WithLinks(t.links...))
	one.ctx, _ = t.tracer.Start(t.above(c), "call "+c.Of.ToolName, t.options...)
}

// read adds links to the calls whose results a command's call may read and that have
// been told of.
func (own *instance) read(links []trace.Link, c runtime.Command) []trace.Link {
	for _, r := range c.Of.Reads {
		for _, w := range c.Plan.Reads[r].Writers {
			writer := own.at[place{c.Tick, c.Frame, int(w)}]
			if writer == nil || !writer.settled {
				continue
			}
			link := trace.Link{SpanContext: trace.SpanContextFromContext(writer.ctx)}
			told := func(l trace.Link) bool { return l.SpanContext.Equal(link.SpanContext) }
			if link.SpanContext.IsValid() && !slices.ContainsFunc(links, told) {
				links = append(links, link)
			}
		}
	}
	return links
}

// pass ends what a call was in before its next try.
func (one *call) pass(now time.Time) {
	if one.other != nil {
		one.other.End(trace.WithTimestamp(now))
		one.other = nil
	}
	one.endTry(now, nil)
}

func (one *call) endTry(now time.Time, failure *runtime.Failure) {
	if one.try == nil {
		return
	}
	span := trace.SpanFromContext(one.try)
	fail(span, failure)
	span.End(trace.WithTimestamp(now))
	one.try = nil
}

func fail(span trace.Span, failure *runtime.Failure) {
	if failure != nil {
		span.SetStatus(codes.Error, failure.Message)
		span.SetAttributes(attribute.String("error.type", failure.Code))
	}
}

// settle ends a call, or what a stop has left of it.
func (t *Tracer) settle(now time.Time, c runtime.Command) {
	one, s := t.call(now, c), c.Settlement
	one.endTry(now, s.Failure)
	one.pass(now)
	status := s.Status.String()
	if s.Left {
		status = "left"
	}
	var attributes []attribute.KeyValue
	if one.ctx == nil {
		attributes = t.about(c)
	}
	attributes = append(attributes, attribute.String("obelus.status", status), attribute.Int("obelus.tries", s.Attempts))
	if s.Reason != "" {
		attributes = append(attributes, attribute.String("obelus.reason", s.Reason))
	}
	if s.Routed {
		attributes = append(attributes, attribute.Bool("obelus.routed", true))
	}
	if d := s.Decision; d != nil {
		attributes = append(attributes, attribute.String("obelus.verdict", string(d.Verdict)))
	}
	if one.ctx == nil {
		t.open(one, c, attributes)
	} else {
		trace.SpanFromContext(one.ctx).SetAttributes(attributes...)
	}
	span := trace.SpanFromContext(one.ctx)
	fail(span, s.Failure)
	span.End(trace.WithTimestamp(now))
	one.settled = true
	t.measures.settled(one.ctx, now.Sub(one.began), c.Of.ToolName, status)
}

func (t *Tracer) endTick(now time.Time, c runtime.Command) {
	tick := t.ticks[c.Tick]
	if tick == nil {
		return
	}
	span := trace.SpanFromContext(tick)
	span.SetAttributes(attribute.Int("obelus.faults", len(c.End.Faults)))
	if len(c.End.Faults) > 0 {
		span.SetStatus(codes.Error, c.End.Faults[0].Message)
	}
	span.End(trace.WithTimestamp(now))
	delete(t.ticks, c.Tick)
}

// Break ends a run that couldn't go on, for a reason that no event tells.
func (t *Tracer) Break(why error) {
	if t == nil {
		return
	}
	now := time.Now()
	t.close(now)
	span := trace.SpanFromContext(t.run)
	span.SetStatus(codes.Error, why.Error())
	span.End(trace.WithTimestamp(now))
}

// close ends whatever of the run is still open.
func (t *Tracer) close(now time.Time) {
	for _, own := range t.instances {
		for _, one := range own.at {
			if !one.settled && one.ctx != nil {
				one.pass(now)
				trace.SpanFromContext(one.ctx).End(trace.WithTimestamp(now))
			}
		}
	}
	for _, tick := range t.ticks {
		trace.SpanFromContext(tick).End(trace.WithTimestamp(now))
	}
}

// finish ends the run.
func (t *Tracer) finish(now time.Time, o *runtime.Outcome) {
	t.close(now)
	span := trace.SpanFromContext(t.run)
	span.SetAttributes(attribute.String("obelus.status", string(o.Status)), attribute.Int("obelus.done", o.Counts.Done),
		attribute.Int("obelus.failed", o.Counts.Failed), attribute.Int("obelus.skipped", o.Counts.Skipped))
	if o.Reason != "" {
		span.SetAttributes(attribute.String("obelus.reason", string(o.Reason)))
	}
	if o.Usage.InputTokens+o.Usage.OutputTokens > 0 {
		span.SetAttributes(attribute.Int("gen_ai.usage.input_tokens", o.Usage.InputTokens), attribute.Int("gen_ai.usage.output_tokens", o.Usage.OutputTokens))
	}
	if o.Status == runtime.RunFailed {
		span.SetStatus(codes.Error, string(o.Reason))
	}
	span.End(trace.WithTimestamp(now))
	t.measures.finished(t.run, now.Sub(t.began), o.Status, o.Usage.InputTokens-t.used.InputTokens, o.Usage.OutputTokens-t.used.OutputTokens)
}
