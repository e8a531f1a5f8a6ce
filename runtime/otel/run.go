// Package otel sends the spans of runs to OpenTelemetry. It is a module of its
// own, so that who doesn't want its weight doesn't have it.
//
//	telemetry, shutdown, err := otel.Start(ctx)
//	if err != nil {
//		return err
//	}
//	defer shutdown(ctx)
//	result, err := plan.Run(ctx, obelus.RunOptions{Telemetry: telemetry})
//
// A run is a span, and so are its ticks and its calls. Spans hold names, times, and how and why things
// ended, never parameters or results: of what a plan works on only the message of a failure, without what is secret.
package otel

import (
	"context"
	"fmt"
	"time"

	"github.com/obelus-dev/obelus"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/session"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	tracing "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
)

// telemetry makes spans of runs.
type telemetry struct{ tracer trace.Tracer }

// A run makes the spans of one run.
type run struct {
	*telemetry
	session.Started
	ctx   context.Context         // of its span
	ticks map[int]context.Context // that continue
	known map[string]calls        // of instances that haven't left; "" is a run without
}

type calls map[runtime.Try]*call

type call struct {
	ctx     context.Context
	settled bool
}

// begin begins the span of a run.
func (o *telemetry) begin(ctx context.Context, r session.Started) func(time.Duration, runtime.Command) {
	t := &run{telemetry: o, Started: r, ticks: map[int]context.Context{}, known: map[string]calls{}}
	t.ctx = t.span(ctx, "run", r.At, "obelus.run", r.ID, "obelus.plan", r.Plan, "obelus.resumed", r.Resumed)
	return t.observe
}

// span begins a span as a part of another, with some attributes.
func (o *telemetry) span(above context.Context, name string, now time.Time, about ...any) context.Context {
	ctx, _ := o.tracer.Start(above, name, trace.WithTimestamp(now), trace.WithAttributes(attributes(about)...))
	return ctx
}

// attributes are some, each a key and a value, but for those that are "" or false.
func attributes(pairs []any) (all []attribute.KeyValue) {
	for ; len(pairs) > 0; pairs = pairs[2:] {
		switch key, value := attribute.Key(pairs[0].(string)), pairs[1]; v := value.(type) {
		case string:
			if v != "" {
				all = append(all, key.String(v))
			}
		case bool:
			if v {
				all = append(all, key.Bool(v))
			}
		case int:
			all = append(all, key.Int(v))
		}
	}
	return all
}

func add(ctx context.Context, about ...any) {
	trace.SpanFromContext(ctx).SetAttributes(attributes(about)...)
}

func end(ctx context.Context, now time.Time) {
	trace.SpanFromContext(ctx).End(trace.WithTimestamp(now))
}

// observe takes a command, with the time since the run began.
func (t *run) observe(at time.Duration, c runtime.Command) {
	now := t.At.Add(at)
	switch c.Kind {
	case runtime.Plan:
		t.ticks[c.Tick] = t.span(t.ctx, "tick", now, "obelus.tick", c.Tick)
	case runtime.EndTick:
		if tick := t.ticks[c.Tick]; tick != nil {
			if add(tick, "obelus.faults", len(c.End.Faults)); len(c.End.Faults) > 0 {
				trace.SpanFromContext(tick).SetStatus(codes.Error, c.End.Faults[0].Message)
			}
			end(tick, now)
			delete(t.ticks, c.Tick)
		}
	case runtime.Ask, runtime.Start:
		t.call(now, c)
	case runtime.Enter:
		if one := t.call(now, c); c.Of.Each != nil {
			add(one.ctx, "obelus.items", c.Count)
		}
	case runtime.Settle:
		t.settle(now, c)
	case runtime.Leave:
		delete(t.known, c.Left.ID)
	case runtime.Finish:
		t.finish(now, c.Outcome)
	}
}

// call is what is known of a command's call: a part of the call in whose stead it is carried out, of the tick, or of
// the run.
func (t *run) call(now time.Time, c runtime.Command) *call {
	own, at := t.known[c.Instance], c.OfCall()
	if own == nil {
		own = calls{}
		t.known[c.Instance] = own
	}
	if one := own[at]; one != nil && !one.settled {
		return one
	}
	above := t.ctx
	if under := own[runtime.Try{Tick: c.Tick, Frame: c.Parent, Call: c.ParentCall}]; under != nil {
		above = under.ctx
	} else if tick := t.ticks[c.Tick]; tick != nil {
		above = tick
	}
	one := &call{}
	one.ctx = t.span(above, "call "+c.Of.ToolName, now, "obelus.call", runtime.Path(c.Under, c.Of.Name),
		"obelus.tool", c.Of.ToolName, "obelus.instance", c.Instance, "obelus.tick", c.Tick)
	if a := c.Plan.Activities[c.Of.Activity]; a != nil {
		add(one.ctx, "obelus.activity", a.Kind)
	}
	own[at] = one
	return one
}

func (t *run) settle(now time.Time, c runtime.Command) {
	s := c.Settlement
	one, status := t.call(now, c), s.Status.String()
	if s.Left {
		status = "left"
	}
	add(one.ctx, "obelus.status", status, "obelus.tries", s.Attempts, "obelus.reason", s.Reason, "obelus.routed",
		s.Routed)
	if d := s.Decision; d != nil {
		add(one.ctx, "obelus.verdict", string(d.Verdict))
	}
	if s.Failure != nil {
		trace.SpanFromContext(one.ctx).SetStatus(codes.Error, s.Failure.Message)
		add(one.ctx, "error.type", s.Failure.Code)
	}
	end(one.ctx, now)
	one.settled = true
}

// finish ends the run, and what of it hasn't ended.
func (t *run) finish(now time.Time, o *runtime.Outcome) {
	add(t.ctx, "obelus.status", string(o.Status), "obelus.done", o.Counts.Done, "obelus.failed", o.Counts.Failed,
		"obelus.skipped", o.Counts.Skipped, "obelus.reason", string(o.Reason))
	add(t.ctx, "gen_ai.usage.input_tokens", o.Usage.InputTokens, "gen_ai.usage.output_tokens", o.Usage.OutputTokens)
	if o.Status == runtime.RunFailed {
		trace.SpanFromContext(t.ctx).SetStatus(codes.Error, string(o.Reason))
	}
	for _, own := range t.known {
		for _, one := range own {
			if !one.settled {
				end(one.ctx, now)
			}
		}
	}
	for _, tick := range t.ticks {
		end(tick, now)
	}
	end(t.ctx, now)
}

// Start gives an observer of runs that sends spans by OTLP over HTTP, set up by the variables that OpenTelemetry names,
// such as OTEL_EXPORTER_OTLP_ENDPOINT (http://localhost:4318 without it), OTEL_EXPORTER_OTLP_HEADERS, OTEL_SERVICE_NAME
// ("obelus" without it) and OTEL_TRACES_SAMPLER. Shutdown sends what hasn't been sent; it is to be called once, after
// the last run.
func Start(ctx context.Context) (telemetry obelus.Telemetry, shutdown func(context.Context) error, err error) {
	of, err := resource.New(ctx, resource.WithAttributes(semconv.ServiceName("obelus")), resource.WithTelemetrySDK(),
		resource.WithFromEnv())
	if err != nil {
		return nil, nil, fmt.Errorf("the resource can't be described: %w", err)
	}
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("spans can't be sent: %w", err)
	}
	tracers := tracing.NewTracerProvider(tracing.WithBatcher(exporter), tracing.WithResource(of))
	return New(tracers), tracers.Shutdown, nil
}

// New gives an observer of runs that makes spans with a provider of your own.
func New(tracers trace.TracerProvider) obelus.Telemetry {
	return (&telemetry{tracers.Tracer(scope)}).begin
}

// scope is the name under which spans are made.
const scope = "github.com/obelus-dev/obelus"
