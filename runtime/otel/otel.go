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

	"github.com/obelus-dev/obelus"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	tracing "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
)

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
