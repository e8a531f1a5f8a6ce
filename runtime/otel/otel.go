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
// A run is a span, and so are its ticks, its calls, their attempts, the questions about them and the pauses between
// attempts, with links from a call to those whose results it reads. Spans hold names, times, and how and why things
// ended, never parameters or results: of what a plan works on only the message of a failure, without what is secret.
package otel

import (
	"context"
	"errors"
	"fmt"

	"github.com/obelus-dev/obelus"
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
	o := &telemetry{tracer: tracers.Tracer(scope)}
	// A meter whose provider refuses one measures nothing there.
	m := meters.Meter(scope)
	o.calls, _ = m.Float64Histogram("obelus.call.duration", metric.WithUnit("s"),
		metric.WithDescription("Time from the first that is heard of a call until it settles"))
	o.runs, _ = m.Float64Histogram("obelus.run.duration", metric.WithUnit("s"),
		metric.WithDescription("Time from the beginning of a run to its end or stop"))
	o.tokens, _ = m.Int64Counter("obelus.model.tokens", metric.WithUnit("{token}"),
		metric.WithDescription("Tokens that models read and wrote"))
	return o
}

// scope is the name under which spans and measures are made.
const scope = "github.com/obelus-dev/obelus"
