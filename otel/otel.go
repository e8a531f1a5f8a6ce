// Package otel sends what runs tell of themselves to an OpenTelemetry collector. It is a
// module of its own, so that who doesn't want its weight doesn't have it.
//
//	telemetry, shutdown, err := otel.Start(ctx)
//	if err != nil {
//		return err
//	}
//	defer shutdown(ctx)
//	result, err := plan.Run(ctx, obelus.RunOptions{Telemetry: telemetry})
//
// What is told is described in package runtime/trace of obelus. Of runs that were carried
// out without it, "obelus runs export" tells after the fact, without this package.
package otel

import (
	"context"
	"errors"
	"fmt"

	"github.com/obelus-dev/obelus"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
)

// Start gives what runs are to be told to: providers that send spans and measures by OTLP
// over HTTP, set up by the variables that OpenTelemetry names, such as
// OTEL_EXPORTER_OTLP_ENDPOINT (http://localhost:4318 without it), OTEL_EXPORTER_OTLP_HEADERS,
// OTEL_SERVICE_NAME ("obelus" without it) and OTEL_TRACES_SAMPLER. Shutdown sends what
// hasn't been sent; it is to be called once, after the last run.
func Start(ctx context.Context) (telemetry obelus.Telemetry, shutdown func(context.Context) error, err error) {
	of, err := resource.New(ctx, resource.WithAttributes(semconv.ServiceName("obelus")), resource.WithTelemetrySDK(), resource.WithFromEnv())
	if err != nil {
		return telemetry, nil, fmt.Errorf("what is said of this service can't be put together: %w", err)
	}
	spans, err := otlptracehttp.New(ctx)
	if err != nil {
		return telemetry, nil, fmt.Errorf("spans can't be sent: %w", err)
	}
	measures, err := otlpmetrichttp.New(ctx)
	if err != nil {
		return telemetry, nil, errors.Join(fmt.Errorf("measures can't be sent: %w", err), spans.Shutdown(ctx))
	}
	tracing := trace.NewTracerProvider(trace.WithBatcher(spans), trace.WithResource(of))
	measuring := metric.NewMeterProvider(metric.WithReader(metric.NewPeriodicReader(measures)), metric.WithResource(of))
	shutdown = func(ctx context.Context) error {
		return errors.Join(tracing.Shutdown(ctx), measuring.Shutdown(ctx))
	}
	return obelus.Telemetry{Spans: tracing, Meters: measuring}, shutdown, nil
}
