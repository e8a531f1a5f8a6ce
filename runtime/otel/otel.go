// Package otel sends the spans and measures of runs to OpenTelemetry. It is a module of its
// own, so that who doesn't want its weight doesn't have it.
//
//	telemetry, shutdown, err := otel.Start(ctx)
//	if err != nil {
//		return err
//	}
//	defer shutdown(ctx)
//	result, err := plan.Run(ctx, obelus.RunOptions{Telemetry: telemetry})
//
// Which spans there are is described in package runtime/trace of obelus.
package otel

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/obelus-dev/obelus"
	spans "github.com/obelus-dev/obelus/runtime/trace"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/metric"
	nomeasures "go.opentelemetry.io/otel/metric/noop"
	measuring "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	tracing "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
	nospans "go.opentelemetry.io/otel/trace/noop"
)

// Start gives an observer of runs that sends spans and measures by OTLP over HTTP, set up by
// the variables that OpenTelemetry names, such as OTEL_EXPORTER_OTLP_ENDPOINT
// (http://localhost:4318 without it), OTEL_EXPORTER_OTLP_HEADERS, OTEL_SERVICE_NAME ("obelus"
// without it) and OTEL_TRACES_SAMPLER. Shutdown sends what hasn't been sent; it is to be
// called once, after the last run.
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
	measures, err := otlpmetrichttp.New(ctx)
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("measures can't be sent: %w", err), exporter.Shutdown(ctx))
	}
	tracers := tracing.NewTracerProvider(tracing.WithBatcher(exporter), tracing.WithResource(of))
	meters := measuring.NewMeterProvider(measuring.WithReader(measuring.NewPeriodicReader(measures)),
		measuring.WithResource(of))
	shutdown = func(ctx context.Context) error {
		return errors.Join(tracers.Shutdown(ctx), meters.Shutdown(ctx))
	}
	return New(tracers, meters), shutdown, nil
}

// New gives an observer of runs that makes spans and measures with providers of your own.
// Either may be nil.
func New(tracers trace.TracerProvider, meters metric.MeterProvider) obelus.Telemetry {
	if tracers == nil {
		tracers = nospans.NewTracerProvider()
	}
	if meters == nil {
		meters = nomeasures.NewMeterProvider()
	}
	o := &observer{tracer: tracers.Tracer(spans.Scope)}
	// A meter whose provider refuses one measures nothing there.
	m := meters.Meter(spans.Scope)
	o.calls, _ = m.Float64Histogram("obelus.call.duration", metric.WithUnit("s"),
		metric.WithDescription("Time from the first that is heard of a call until it settles"))
	o.runs, _ = m.Float64Histogram("obelus.run.duration", metric.WithUnit("s"),
		metric.WithDescription("Time from the beginning of a run to its end or stop"))
	o.tokens, _ = m.Int64Counter("obelus.model.tokens", metric.WithUnit("{token}"),
		metric.WithDescription("Tokens that models read and wrote"))
	return o
}

type observer struct {
	tracer      trace.Tracer
	calls, runs metric.Float64Histogram
	tokens      metric.Int64Counter
}

func of(s *spans.Span) context.Context { return s.Own.(context.Context) }

func (o *observer) Begin(ctx context.Context, s *spans.Span) {
	if s.Above != nil {
		ctx = of(s.Above)
	}
	kind := trace.SpanKindInternal
	if s.Client {
		kind = trace.SpanKindClient
	}
	links := make([]trace.Link, len(s.Links))
	for i, l := range s.Links {
		links[i].SpanContext = trace.SpanContextFromContext(of(l))
	}
	s.Own, _ = o.tracer.Start(ctx, s.Name, trace.WithTimestamp(s.Began), trace.WithSpanKind(kind),
		trace.WithAttributes(listed(s)...), trace.WithLinks(links...))
}

func (o *observer) End(s *spans.Span) {
	span := trace.SpanFromContext(of(s))
	span.SetAttributes(listed(s)...)
	if s.Failed {
		span.SetStatus(codes.Error, s.Message)
	}
	span.End(trace.WithTimestamp(s.Ended))
	o.measure(s)
}

func (o *observer) measure(s *spans.Span) {
	text := func(key string) string {
		for _, a := range s.Attributes {
			if a.Key == key {
				value, _ := a.Value.(string)
				return value
			}
		}
		return ""
	}
	status := text("obelus.status")
	if status == "" {
		return
	}
	took, how := s.Ended.Sub(s.Began).Seconds(), attribute.String("obelus.status", status)
	if strings.HasPrefix(s.Name, "call ") {
		o.calls.Record(of(s), took, metric.WithAttributes(attribute.String("obelus.tool", text("obelus.tool")), how))
		return
	}
	o.runs.Record(of(s), took, metric.WithAttributes(how))
	for kind, n := range map[string]int{"input": s.Used.InputTokens, "output": s.Used.OutputTokens} {
		if n > 0 {
			o.tokens.Add(of(s), int64(n), metric.WithAttributes(attribute.String("gen_ai.token.type", kind)))
		}
	}
}

func listed(s *spans.Span) []attribute.KeyValue {
	all := make([]attribute.KeyValue, len(s.Attributes))
	for i, a := range s.Attributes {
		switch v := a.Value.(type) {
		case bool:
			all[i] = attribute.Bool(a.Key, v)
		case int:
			all[i] = attribute.Int(a.Key, v)
		default:
			all[i] = attribute.String(a.Key, fmt.Sprint(v))
		}
	}
	return all
}
